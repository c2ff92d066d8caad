//! Dashboards for Grafana: the panels of `data/dashboards.toml` and the tables of the metric definitions as JSON.

mod model;
mod panel;
mod provisioning;

pub use provisioning::{DataSource, provisioning};

use metrics::Definitions;
use model::{File, Metrics, Variable};
use panel::Panels;
use serde_json::{Value, json};
use std::sync::OnceLock;

const DATA: &str = include_str!("../data/dashboards.toml");
/// Identifier of the data source in Grafana.
const SOURCE: &str = "rockhound";
/// Version of Grafana's form of dashboards: the one of Grafana 11, which later versions read.
const SCHEMA: u32 = 39;

/// The database behind the dashboards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Engine {
    /// Grafana's own data source.
    Postgres,
    /// The plugin `frser-sqlite-datasource`.
    Sqlite,
}

impl Engine {
    /// Grafana's name of the type of data source.
    const fn source_type(self) -> &'static str {
        match self {
            Engine::Postgres => "grafana-postgresql-datasource",
            Engine::Sqlite => "frser-sqlite-datasource",
        }
    }

    /// The schema before the name of a table.
    const fn schema(self) -> &'static str {
        match self {
            Engine::Postgres => "rockhound.",
            Engine::Sqlite => "",
        }
    }

    fn source(self) -> Value {
        json!({ "type": self.source_type(), "uid": SOURCE })
    }

    /// A query of a panel. `is_series`: its rows have a column `time`.
    fn query(self, letter: char, sql: &str, is_series: bool) -> Value {
        let (id, source) = (letter.to_string(), self.source());
        match self {
            Engine::Postgres => json!({
                "refId": id, "datasource": source, "editorMode": "code", "rawQuery": true, "rawSql": sql,
                "format": if is_series { "time_series" } else { "table" },
            }),
            Engine::Sqlite => json!({
                "refId": id, "datasource": source, "queryText": sql, "rawQueryText": sql,
                "queryType": if is_series { "time series" } else { "table" }, "timeColumns": ["time"],
            }),
        }
    }
}

/// A file to write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DashboardFile {
    /// Path below the folder.
    pub path: String,
    /// Content.
    pub text: String,
}

fn data() -> &'static File {
    static READ: OnceLock<File> = OnceLock::new();
    READ.get_or_init(|| toml::from_str(DATA).expect("validated by a test"))
}

/// The dashboards of an engine.
pub fn dashboards(engine: Engine) -> Vec<DashboardFile> {
    let metrics = Metrics::of(Definitions::built_in());
    data().dashboards.iter().map(|it| dashboard(it, engine, &metrics)).collect()
}

fn dashboard(from: &model::Dashboard, engine: Engine, metrics: &Metrics) -> DashboardFile {
    let mut panels = Panels::new(engine, metrics, &data().variables);
    from.panels.iter().for_each(|it| panels.add(it));
    let annotations: Vec<Value> = from.annotations.iter().map(|it| annotation(it, engine)).collect();
    let variables: Vec<Value> = from.variables.iter().map(|name| variable(name, engine)).collect();
    let document = json!({
        "uid": format!("rockhound-{}", from.name),
        "title": from.title,
        "tags": ["rockhound"],
        "schemaVersion": SCHEMA,
        "version": 1,
        "editable": true,
        "graphTooltip": 1,
        "timezone": "utc",
        "time": { "from": "now-1y", "to": "now" },
        "refresh": "",
        "annotations": { "list": annotations },
        "templating": { "list": variables },
        "links": [{
            "title": "Rockhound", "type": "dashboards", "tags": ["rockhound"], "asDropdown": true, "includeVars": true,
            "keepTime": true, "targetBlank": false, "icon": "external link", "tooltip": "", "url": "",
        }],
        "panels": panels.finish(),
    });
    DashboardFile { path: format!("dashboards/{}.json", from.name), text: format!("{document:#}\n") }
}

fn annotation(from: &model::Annotation, engine: Engine) -> Value {
    json!({
        "name": from.name, "enable": true, "iconColor": "red", "datasource": engine.source(),
        "target": engine.query('A', &model::sql(&from.sql, engine, &data().variables), false),
    })
}

fn variable(name: &str, engine: Engine) -> Value {
    let Some(it) = data().variables.get(name) else { return Value::Null };
    let Variable { label, sql, options, text, .. } = it;
    let mut out = json!({ "name": name, "label": label, "hide": 0, "skipUrlSync": false });
    let more = match (sql, text) {
        (Some(sql), _) => json!({
            "type": "query", "datasource": engine.source(), "query": model::sql(sql, engine, &data().variables),
            "refresh": 1, "sort": 0, "multi": false, "includeAll": false, "options": [],
        }),
        (None, Some(text)) => {
            let only = json!({ "selected": true, "text": text, "value": text });
            json!({ "type": "textbox", "query": text, "current": only, "options": [only] })
        }
        (None, None) => {
            let option = |(at, it): (usize, &String)| json!({ "selected": at == 0, "text": it, "value": it });
            let all: Vec<Value> = options.iter().enumerate().map(option).collect();
            json!({
                "type": "custom", "query": options.join(","), "multi": false, "includeAll": false,
                "current": all.first(), "options": all,
            })
        }
    };
    if let (Value::Object(out), Value::Object(more)) = (&mut out, more) {
        out.extend(more);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_of_the_definitions_is_shown_and_every_variable_is_known() {
        for engine in [Engine::Postgres, Engine::Sqlite] {
            let all = dashboards(engine);
            assert_eq!(all.len(), data().dashboards.len());
            let workload = all.iter().find(|it| it.path.ends_with("workload.json")).unwrap();
            for table in Definitions::built_in().tables() {
                let (a, b) = table.id;
                let is_shown = workload.text.contains(&format!("\"{a}.{b} "))
                    || ["2.1", "3.1"].contains(&format!("{a}.{b}").as_str())
                    || !Metrics::has_averages(table.style);
                assert!(is_shown, "{a}.{b} {}", table.title);
            }
            for it in &all {
                assert!(!it.text.contains("{s}"), "{}", it.path);
                let rest = it.text.replace("${", "");
                assert!(!rest.contains("{gpu}") && !rest.contains("{recording}"), "{}", it.path);
            }
        }
        for it in &data().dashboards {
            assert!(it.variables.iter().all(|name| data().variables.contains_key(name)), "{}", it.name);
        }
    }

    #[test]
    fn panels_do_not_overlap() {
        for it in dashboards(Engine::Postgres) {
            let document: Value = serde_json::from_str(&it.text).unwrap();
            let places: Vec<[u64; 4]> = document["panels"]
                .as_array()
                .unwrap()
                .iter()
                .map(|panel| ["x", "y", "w", "h"].map(|name| panel["gridPos"][name].as_u64().unwrap()))
                .collect();
            for (at, [x, y, w, h]) in places.iter().enumerate() {
                assert!(x + w <= 24);
                for [x2, y2, w2, h2] in &places[..at] {
                    assert!(x2 + w2 <= *x || x + w <= *x2 || y2 + h2 <= *y || y + h <= *y2, "{}", it.path);
                }
            }
        }
    }
}
