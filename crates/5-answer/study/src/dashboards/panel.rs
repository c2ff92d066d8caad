//! Panels as Grafana's JSON.

use super::Engine;
use super::model::{Kind, MetricTable, Metrics, PanelData, Variable, quoted, sql};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Columns of a dashboard.
const WIDTH: u32 = 24;
/// Values of a kernel that is chosen, in the chosen normal unit.
const CHOSEN: &str = "v.recording = {recording} AND v.kernel = {kernel} AND v.normal_unit = {normal_unit}";

/// Panels of a dashboard, placed in rows.
pub(super) struct Panels<'a> {
    engine: Engine,
    metrics: &'a Metrics,
    variables: &'a BTreeMap<String, Variable>,
    all: Vec<Value>,
    /// Tables of metrics that are shown.
    shown: Vec<String>,
    /// Next place, and the end of the panels of the row.
    place: (u32, u32),
    bottom: u32,
}

impl<'a> Panels<'a> {
    pub(super) fn new(
        engine: Engine,
        metrics: &'a Metrics,
        variables: &'a BTreeMap<String, Variable>,
    ) -> Panels<'a> {
        Panels { engine, metrics, variables, all: Vec::new(), shown: Vec::new(), place: (0, 0), bottom: 0 }
    }

    pub(super) fn finish(self) -> Vec<Value> {
        self.all
    }

    /// Adds the panels of an entry.
    pub(super) fn add(&mut self, from: &PanelData) {
        if from.every_table {
            let mut panel = String::new();
            let (metrics, shown) = (self.metrics, self.shown.clone());
            for table in metrics.0.iter().filter(|it| !shown.contains(&it.id)) {
                if table.panel != panel {
                    panel.clone_from(&table.panel);
                    self.heading(&panel);
                }
                let query = self.query('A', &format!("{}{}", table.with(), from.sql), false);
                let title = format!("{} {}", table.id, table.title);
                self.put(
                    (&title, from.size),
                    "table",
                    json!({ "showHeader": true, "frameIndex": 0 }),
                    fields(from),
                    vec![query],
                );
            }
            return;
        }
        let title = (from.title.as_str(), from.size);
        match from.kind {
            Kind::Roofline => self.roofline(from),
            Kind::MemoryChart => {
                let Some(table) = from.rows.as_ref().and_then(|id| self.metrics.table(id)) else { return };
                self.shown.push(table.id.clone());
                let query = self.query('A', &pivot(table), false);
                self.put(title, "canvas", canvas(table, from.size), fields(from), vec![query]);
            }
            Kind::Table | Kind::Stat | Kind::Timeseries | Kind::Barchart => {
                let with = from.rows.as_ref().and_then(|id| self.metrics.table(id)).map(|table| {
                    self.shown.push(table.id.clone());
                    table.with()
                });
                let text = format!("{}{}", with.unwrap_or_default(), from.sql);
                let query = self.query('A', &text, from.kind == Kind::Timeseries);
                let (kind, options) = options(from);
                self.put(title, kind, options, fields(from), vec![query]);
            }
        }
    }

    fn query(&self, letter: char, text: &str, is_series: bool) -> Value {
        self.engine.query(letter, &sql(text, self.engine, self.variables), is_series)
    }

    /// Finds a place for a panel.
    fn placed(&mut self, (width, height): (u32, u32)) -> Value {
        if self.place.0 + width > WIDTH {
            self.place = (0, self.bottom);
        }
        let (x, y) = self.place;
        self.place.0 += width;
        self.bottom = self.bottom.max(y + height);
        json!({ "x": x, "y": y, "w": width, "h": height })
    }

    fn heading(&mut self, title: &str) {
        self.place = (0, self.bottom);
        let place = self.placed((WIDTH, 1));
        self.place = (0, self.bottom);
        let id = self.all.len() + 1;
        self.all.push(json!({
            "id": id, "type": "row", "title": title, "collapsed": false, "gridPos": place, "panels": [],
        }));
    }

    fn put(
        &mut self,
        (title, size): (&str, (u32, u32)),
        kind: &str,
        options: Value,
        fields: Value,
        queries: Vec<Value>,
    ) {
        let place = self.placed(size);
        self.all.push(json!({
            "id": self.all.len() + 1, "type": kind, "title": title, "gridPos": place,
            "datasource": self.engine.source(), "targets": queries, "options": options, "fieldConfig": fields,
        }));
    }

    /// Kernels at each level of memory, below the roofs.
    fn roofline(&mut self, from: &PanelData) {
        let mut queries = Vec::new();
        let mut series = Vec::new();
        let mut overrides = Vec::new();
        let letters = 'A'..='Z';
        let with_roofs = from.levels.iter().flat_map(|level| [(level, true), (level, false)]);
        for ((level, is_roof), letter) in with_roofs.zip(letters) {
            let text = if is_roof { roof(level) } else { points(level) };
            queries.push(self.query(letter, &text, false));
            let name = if is_roof { format!("{level} roof") } else { level.clone() };
            let by = |id: &str, option: Value| json!({ "matcher": { "id": id, "options": option } });
            series.push(json!({
                "name": { "fixed": name }, "frame": by("byIndex", json!(queries.len() - 1)),
                "x": by("byName", json!("flop per byte")), "y": by("byName", json!(name)),
            }));
            let show = if is_roof { "lines" } else { "points" };
            overrides.push(json!({
                "matcher": { "id": "byName", "options": name },
                "properties": [{ "id": "custom.show", "value": show }],
            }));
        }
        let options = json!({
            "mapping": "manual", "series": series,
            "legend": { "displayMode": "list", "placement": "bottom", "showLegend": true, "calcs": [] },
            "tooltip": { "mode": "single", "sort": "none" },
        });
        let custom = json!({
            "show": "points", "pointSize": { "fixed": 8 }, "lineWidth": 1,
            "scaleDistribution": { "type": "log", "log": 10 },
        });
        let fields = json!({ "defaults": { "custom": custom }, "overrides": overrides });
        self.put((&from.title, from.size), "xychart", options, fields, queries);
    }
}

/// Kernels of the recording at a level of memory.
fn points(level: &str) -> String {
    format!(
        "SELECT p.intensity AS \"flop per byte\", p.rate AS \"{level}\", k.name AS \"kernel\" FROM {{s}}roofline_points p
  JOIN {{s}}kernels k ON k.id = p.kernel
  WHERE p.recording = {{recording}} AND p.level = {} AND p.intensity > 0 AND p.rate > 0 ORDER BY p.intensity",
        quoted(level)
    )
}

/// The roof of a level: its bandwidth up to the highest rate in use, then that rate.
fn roof(level: &str) -> String {
    format!(
        "WITH b AS (SELECT value AS bytes FROM {{s}}roofline_ceilings
    WHERE recording = {{recording}} AND kind = 'bandwidth' AND name = {}),
  f AS (SELECT max(value) AS flops FROM {{s}}roofline_ceilings WHERE recording = {{recording}} AND kind = 'rate'
    AND unit = 'Gflop/s' AND (is_used = 1 OR NOT EXISTS (SELECT 1 FROM {{s}}roofline_ceilings o
      WHERE o.recording = {{recording}} AND o.kind = 'rate' AND o.is_used = 1)))
SELECT 0.01 AS \"flop per byte\", 0.01 * b.bytes AS \"{level} roof\" FROM b
  UNION ALL SELECT f.flops / b.bytes, f.flops FROM b CROSS JOIN f WHERE f.flops IS NOT NULL
  UNION ALL SELECT 100.0 * f.flops / b.bytes, f.flops FROM b CROSS JOIN f WHERE f.flops IS NOT NULL",
        quoted(level)
    )
}

/// One row with a column per row of a table.
fn pivot(table: &MetricTable) -> String {
    let column = |(label, metric): &(String, String)| {
        format!("max(CASE WHEN v.name = {} THEN v.value END) AS \"{label}\"", quoted(metric))
    };
    let columns: Vec<String> = table.rows.iter().map(column).collect();
    format!("SELECT {}\nFROM {{s}}values_by_unit v WHERE {CHOSEN}", columns.join(",\n  "))
}

/// Type of a panel, and its options.
fn options(from: &PanelData) -> (&'static str, Value) {
    let legend = json!({ "displayMode": "list", "placement": "bottom", "showLegend": true, "calcs": [] });
    let tooltip = json!({ "mode": "multi", "sort": "none" });
    match from.kind {
        Kind::Stat => (
            "stat",
            json!({
                "reduceOptions": { "calcs": ["lastNotNull"], "fields": "", "values": false }, "graphMode": "none",
                "colorMode": "none", "justifyMode": "auto", "textMode": "value_and_name", "orientation": "auto",
                "wideLayout": true, "showPercentChange": false, "percentChangeColorMode": "standard",
            }),
        ),
        Kind::Timeseries => ("timeseries", json!({ "legend": legend, "tooltip": tooltip })),
        Kind::Barchart => (
            "barchart",
            json!({
                "xField": "dispatch", "orientation": "auto", "showValue": "never", "stacking": "none", "groupWidth": 0.7,
                "barWidth": 0.97, "barRadius": 0, "fullHighlight": false, "xTickLabelRotation": 0,
                "xTickLabelMaxLength": 0, "legend": legend, "tooltip": tooltip,
            }),
        ),
        _ => ("table", json!({ "showHeader": true, "cellHeight": "sm", "frameIndex": 0 })),
    }
}

/// Units, bars and links of columns.
fn fields(from: &PanelData) -> Value {
    let mut defaults = Map::new();
    if let Some(unit) = &from.unit {
        defaults.insert("unit".to_owned(), json!(unit));
    }
    if from.kind == Kind::Timeseries {
        let custom = json!({ "drawStyle": "line", "showPoints": "always", "pointSize": 5, "lineWidth": 1 });
        defaults.insert("custom".to_owned(), custom);
    }
    if from.kind == Kind::MemoryChart {
        defaults.insert("decimals".to_owned(), json!(0));
    }
    let mut overrides: Vec<Value> = Vec::new();
    let mut add = |column: &str, properties: Value| {
        overrides.push(json!({ "matcher": { "id": "byName", "options": column }, "properties": properties }));
    };
    for (column, unit) in &from.units {
        add(column, json!([{ "id": "unit", "value": unit }]));
    }
    if let Some(column) = &from.bar {
        add(
            column,
            json!([
                { "id": "custom.cellOptions", "value": { "type": "gauge", "mode": "basic", "valueDisplayMode": "text" } },
                { "id": "min", "value": 0 }, { "id": "max", "value": 100 },
            ]),
        );
    }
    if let Some(link) = &from.link {
        let url = format!(
            "/d/rockhound-{}?var-{}=${{__data.fields.{}}}",
            link.dashboard, link.variable, link.value
        );
        add(&link.column, json!([{ "id": "links", "value": [{ "title": link.dashboard, "url": url }] }]));
    }
    json!({ "defaults": defaults, "overrides": overrides })
}

/// Pixels of a unit of height, of a row of the chart, and of the gap between boxes.
const UNIT: u32 = 36;
const ROW: u32 = 22;
const GAP: u32 = 16;
/// Columns of boxes in the memory chart.
const COLUMNS: u32 = 6;
/// Width of a box and of its labels.
const BOX: (u32, u32) = (190, 110);

/// The memory chart: a box for the labels that begin with the same word, and in it each value.
fn canvas(table: &MetricTable, (_, height): (u32, u32)) -> Value {
    let mut boxes: Vec<(&str, Vec<&str>)> = Vec::new();
    for (label, _) in &table.rows {
        let first = label.split([' ', '_']).next().unwrap_or(label);
        let name = if label.contains(' ') { first } else { "Instructions" };
        match boxes.iter_mut().find(|it| it.0 == name) {
            Some(it) => it.1.push(label),
            None => boxes.push((name, vec![label])),
        }
    }
    let mut elements = Vec::new();
    let mut tops = [GAP; COLUMNS as usize];
    for (name, labels) in boxes {
        // The column with most room.
        let column = (0..tops.len()).min_by_key(|it| tops[*it]).unwrap_or(0);
        let (left, top) = (GAP + column as u32 * (BOX.0 + GAP), tops[column]);
        let tall = ROW * (labels.len() as u32 + 1) + 8;
        tops[column] = top + tall + GAP;
        elements.push(element("rectangle", &format!("box {name}"), None, [left, top, BOX.0, tall]));
        elements.push(element(
            "text",
            &format!("title {name}"),
            Some(json!({ "mode": "fixed", "fixed": name })),
            [left + 6, top + 2, BOX.0 - 12, ROW],
        ));
        for (at, label) in labels.iter().enumerate() {
            let y = top + 4 + ROW * (at as u32 + 1);
            let fixed = json!({ "mode": "fixed", "fixed": label });
            elements.push(element("text", &format!("label {label}"), Some(fixed), [left + 6, y, BOX.1, ROW]));
            let field = json!({ "mode": "field", "field": label, "fixed": "" });
            let width = BOX.0 - BOX.1 - 12;
            elements.push(element("metric-value", label, Some(field), [left + 6 + BOX.1, y, width, ROW]));
        }
    }
    json!({
        "inlineEditing": false, "panZoom": height * UNIT < tops.iter().copied().max().unwrap_or(0), "zoomToContent": true,
        "showAdvancedTypes": true, "tooltip": { "mode": "single", "disableForOneClick": false },
        "root": { "name": "root", "type": "frame", "elements": elements },
    })
}

fn element(kind: &str, name: &str, text: Option<Value>, [left, top, width, height]: [u32; 4]) -> Value {
    let is_box = text.is_none();
    let align = if kind == "metric-value" { "right" } else { "left" };
    json!({
        "type": kind, "name": name,
        "config": {
            "text": text.unwrap_or_else(|| json!({ "mode": "fixed", "fixed": "" })), "size": 12, "align": align, "valign": "middle",
            "color": { "fixed": "text" },
        },
        "background": { "color": { "fixed": "transparent" } },
        "border": { "color": { "fixed": "text" }, "width": u32::from(is_box) },
        "constraint": { "horizontal": "left", "vertical": "top" },
        "placement": { "left": left, "top": top, "width": width, "height": height, "rotation": 0 },
    })
}
