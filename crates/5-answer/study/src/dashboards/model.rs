//! The file of dashboards, and what SQL needs of the metric definitions.

use super::Engine;
use metrics::{Definitions, Style};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) variables: BTreeMap<String, Variable>,
    pub(super) dashboards: Vec<Dashboard>,
}

/// A choice of the reader: rows of SQL, fixed options, or free text.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Variable {
    pub(super) label: String,
    #[serde(default)]
    pub(super) sql: Option<String>,
    #[serde(default)]
    pub(super) options: Vec<String>,
    #[serde(default)]
    pub(super) text: Option<String>,
    /// A whole number, not text.
    #[serde(default)]
    pub(super) number: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Dashboard {
    /// Name of the file.
    pub(super) name: String,
    pub(super) title: String,
    pub(super) variables: Vec<String>,
    #[serde(default)]
    pub(super) annotations: Vec<Annotation>,
    pub(super) panels: Vec<PanelData>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Annotation {
    pub(super) name: String,
    pub(super) sql: String,
}

#[derive(Deserialize, Default, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    #[default]
    Table,
    Stat,
    Timeseries,
    Barchart,
    Roofline,
    MemoryChart,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PanelData {
    #[serde(default)]
    pub(super) title: String,
    #[serde(default)]
    pub(super) kind: Kind,
    /// Width of 24, and height.
    pub(super) size: (u32, u32),
    #[serde(default)]
    pub(super) sql: String,
    /// Grafana's name of the unit of all values.
    #[serde(default)]
    pub(super) unit: Option<String>,
    /// The same per column.
    #[serde(default)]
    pub(super) units: BTreeMap<String, String>,
    /// A column of percentages that is drawn as a bar.
    #[serde(default)]
    pub(super) bar: Option<String>,
    /// Table of the metric definitions whose rows are shown.
    #[serde(default)]
    pub(super) rows: Option<String>,
    /// One panel for each table of the definitions that no other panel shows.
    #[serde(default)]
    pub(super) every_table: bool,
    /// Levels of memory of a roofline.
    #[serde(default)]
    pub(super) levels: Vec<String>,
    #[serde(default)]
    pub(super) link: Option<Link>,
}

/// A link from the cells of a column to a dashboard.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Link {
    pub(super) column: String,
    pub(super) dashboard: String,
    pub(super) variable: String,
    /// Column with the value of the variable.
    pub(super) value: String,
}

/// SQL with the schema of an engine and with variables as literals. Grafana quotes the text of a variable (`sqlstring`).
pub(super) fn sql(text: &str, engine: Engine, variables: &BTreeMap<String, Variable>) -> String {
    let mut out = text.replace("{s}", engine.schema());
    for (name, variable) in variables {
        let literal = format!("${{{name}:sqlstring}}");
        let value = match variable.number {
            true => format!("CAST(NULLIF({literal}, '') AS BIGINT)"),
            false => literal,
        };
        out = out.replace(&format!("{{{name}}}"), &value);
    }
    out
}

/// A table of the metric definitions.
pub(super) struct MetricTable {
    /// `2.1`.
    pub(super) id: String,
    pub(super) panel: String,
    pub(super) title: String,
    /// Labels with their metrics, of all targets.
    pub(super) rows: Vec<(String, String)>,
}

/// Tables of the metric definitions that have an average per row.
pub(super) struct Metrics(pub(super) Vec<MetricTable>);

impl Metrics {
    pub(super) fn has_averages(style: Style) -> bool {
        !matches!(style, Style::Box | Style::ChannelBox | Style::Channels)
    }

    pub(super) fn of(definitions: &Definitions) -> Metrics {
        let table = |it: &metrics::Table| {
            let mut rows: Vec<(String, String)> = Vec::new();
            for target in arch::Target::names() {
                // A row of some targets only has its place behind the row before it.
                let mut next = 0;
                for row in it.rows(target) {
                    let own = (row.label.clone(), row.metric.clone());
                    next = match rows.iter().position(|it| *it == own) {
                        Some(at) => at + 1,
                        None => {
                            rows.insert(next, own);
                            next + 1
                        }
                    };
                }
            }
            let id = format!("{}.{}", it.id.0, it.id.1);
            MetricTable { id, panel: it.panel.clone(), title: it.title.clone(), rows }
        };
        Metrics(definitions.tables().iter().filter(|it| Metrics::has_averages(it.style)).map(table).collect())
    }

    pub(super) fn table(&self, id: &str) -> Option<&MetricTable> {
        self.0.iter().find(|it| it.id == id)
    }
}

impl MetricTable {
    /// `WITH metrics (position, label, metric) AS (VALUES …)`, before a statement that reads it.
    pub(super) fn with(&self) -> String {
        let row = |(at, (label, metric)): (usize, &(String, String))| {
            format!("({at}, {}, {})", quoted(label), quoted(metric))
        };
        let rows: Vec<String> = self.rows.iter().enumerate().map(row).collect();
        format!("WITH metrics (position, label, metric) AS (VALUES {})\n", rows.join(", "))
    }
}

/// A literal of SQL.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
