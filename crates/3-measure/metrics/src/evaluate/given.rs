//! Metrics whose values were printed in place of counters.

use super::{Value, Window};
use crate::compile::{Compiled, Leaf, Node, leaves_of};
use crate::definitions::{Definitions, Metric, Style};
use crate::facts::Property;
use std::collections::HashMap;
use view::{Missing, Norm};
use workload::{PrintedRow, Workload};

/// Older labels of rows: panel, label, label of the definitions.
const OLDER: &str = include_str!("../../data/printed.tsv");
/// Metrics that the rows of others give, added up.
const SUMS: [(&str, &[&str]); 2] = [
    ("roofline.hbm_bandwidth", &["fabric.read_bandwidth", "fabric.write_bandwidth"]),
    ("l2.hit_rate", &["l2.hit_rate_or_zero"]),
];
/// Metric of the time of a dispatch.
const TIME: &str = "dispatch.duration";
/// Metric of its cycles, as the window counter has them.
const CYCLES: &str = "dispatch.cycles";
/// Ratios of the counted window to the dispatch that are believed.
const PLAUSIBLE: std::ops::Range<f64> = 0.5..10.0;
/// Metric by which values per wave become values per dispatch.
const WAVES: &str = "dispatch.waves";

/// A printed metric.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Given {
    pub(super) mean: f64,
    pub(super) extremes: Option<(f64, f64)>,
    /// Divisor of a metric that has one.
    norm: Option<Norm>,
}

/// The printed metrics of a workload by name.
pub(super) struct AllGiven {
    metrics: HashMap<String, Given>,
    /// Panel and label of each row that is no metric, or of which the unit is not understood.
    unused: Vec<String>,
}

impl AllGiven {
    /// The metrics of a workload's rows.
    pub(super) fn of(workload: &Workload, compiled: &Compiled, window: Window) -> AllGiven {
        let definitions = Definitions::built_in();
        let mut all: HashMap<String, Given> = HashMap::new();
        // Some versions print `ns` for the unit of rows that have the divisor of the report.
        let of_report = workload.printed.iter().find_map(|it| norm(&it.unit));
        let mut unused = Vec::new();
        for row in &workload.printed {
            let found = metric(definitions, row, compiled.target()).and_then(|metric| {
                let norm = norm(&row.unit).or(of_report).filter(|_| metric.is_per_norm());
                let is_clear = metric.is_per_norm() == norm.is_some();
                Some((metric, scale(&metric.unit_text, &row.unit)?, norm)).filter(|_| is_clear)
            });
            let Some((metric, scale, norm)) = found else {
                unused.push(format!("{} {}", row.panel, row.label));
                continue;
            };
            // Reports of recordings without times print it as 0.
            if metric.id == TIME && row.mean == 0.0 {
                continue;
            }
            let given = Given {
                mean: scale * row.mean,
                extremes: row.extremes.map(|(least, most)| (scale * least, scale * most)),
                norm,
            };
            // A panel of details has extremes, which an overview of the same metric lacks.
            let have = all.entry(metric.id.clone()).or_insert(given);
            if have.extremes.is_none() {
                have.extremes = given.extremes;
            }
        }
        for (name, parts) in SUMS {
            let values: Option<Vec<f64>> = parts.iter().map(|it| Some(all.get(*it)?.mean)).collect();
            if let Some(values) = values.filter(|_| !all.contains_key(name)) {
                all.insert(name.to_owned(), Given { mean: values.iter().sum(), extremes: None, norm: None });
            }
        }
        if window == Window::Dispatch {
            let mhz = workload.machine.number("max_sclk").unwrap_or(f64::NAN);
            to_dispatches(&mut all, compiled, mhz / 1e3);
        }
        AllGiven { metrics: all, unused }
    }

    /// A metric per `norm`; `None` if it was not printed.
    pub(super) fn get(&self, metric: &str, norm: Norm) -> Option<Result<Given, Missing>> {
        let given = *self.metrics.get(metric)?;
        let Some(printed) = given.norm.filter(|it| *it != norm) else { return Some(Ok(given)) };
        let waves = self.metrics.get(WAVES).map(|it| it.mean).filter(|it| *it > 0.0);
        let factor = match (printed, norm, waves) {
            (Norm::Wave, Norm::Kernel, Some(waves)) => waves,
            (Norm::Kernel, Norm::Wave, Some(waves)) => 1.0 / waves,
            _ => {
                let text = format!("printed per {}, and how many there are is not", printed.name());
                return Some(Err(Missing::because(text)));
            }
        };
        let extremes = given.extremes.map(|(least, most)| (factor * least, factor * most));
        Some(Ok(Given { mean: factor * given.mean, extremes, norm: Some(norm) }))
    }

    /// Counts of a dispatch that a row is the number of, by leaf. From values per wave below 1 they would be too coarse.
    pub(super) fn counts(&self, compiled: &Compiled) -> Vec<(usize, f64)> {
        let mut counts = Vec::new();
        for (metric, printed) in &self.metrics {
            let node = compiled.metrics.get(metric).and_then(|it| it.value.as_ref().ok()).map(|it| &it.node);
            let Some((leaf, factor)) = node.and_then(|it| multiple(it)) else { continue };
            let is_count = match compiled.leaves.get(leaf) {
                Some(Leaf::Counter { run, .. }) => run.is_none(),
                Some(Leaf::Property(property)) => *property != Property::Time,
                _ => false,
            };
            let is_fine = printed.norm != Some(Norm::Wave) || printed.mean >= 1.0;
            if let (true, Some(Ok(given))) = (is_count && is_fine, self.get(metric, Norm::Kernel)) {
                counts.push((leaf, given.mean / factor));
            }
        }
        counts
    }

    pub(super) fn unused(&self) -> &[String] {
        &self.unused
    }

    /// Fails for a metric of which only the mean is printed.
    pub(super) fn is_of_each_dispatch(&self, metric: &str) -> Result<(), Missing> {
        if self.has(metric) { mean_alone() } else { Ok(()) }
    }

    pub(super) fn has(&self, metric: &str) -> bool {
        self.metrics.contains_key(metric)
    }
}

/// A leaf and its factor, of a node that is nothing else.
fn multiple(node: &Node) -> Option<(usize, f64)> {
    match node {
        Node::Leaf(leaf) => Some((*leaf, 1.0)),
        Node::Scale(factor, inner) => multiple(inner).map(|(leaf, inner)| (leaf, factor * inner)),
        Node::StandIn(all) => multiple(all.own.as_ref().ok()?),
        _ => None,
    }
}

/// Makes percentages of the length of the dispatches from percentages of the counted window, where both are printed.
fn to_dispatches(all: &mut HashMap<String, Given>, compiled: &Compiled, ghz: f64) {
    let mean = |metric: &str| all.get(metric).map(|it| it.mean);
    let (Some(cycles), Some(ns)) = (mean(CYCLES), mean(TIME)) else { return };
    let excess = cycles / (ns * ghz);
    if !PLAUSIBLE.contains(&excess) {
        return;
    }
    for (metric, given) in all {
        let node = compiled.metrics.get(metric).and_then(|it| it.value.as_ref().ok()).map(|it| &it.node);
        let mut leaves = Vec::new();
        node.iter().for_each(|it| leaves_of(it, &mut leaves));
        let is_of_window =
            leaves.iter().any(|it| matches!(compiled.leaves.get(*it), Some(Leaf::Window { .. })));
        // Everything but the window itself is divided by it.
        let factor = if metric == CYCLES { 1.0 / excess } else { excess };
        if is_of_window {
            given.mean *= factor;
            given.extremes = given.extremes.map(|(least, most)| (factor * least, factor * most));
        }
    }
}

/// Why a value of some dispatches is not known.
pub(super) fn of_all_dispatches<T>() -> Result<T, Missing> {
    Err(Missing::because("printed as a mean over all kernels"))
}

/// Why a value of a single dispatch is not known.
fn mean_alone<T>() -> Result<T, Missing> {
    Err(Missing::because("printed as a mean"))
}

/// A printed extreme.
pub(super) fn extreme(value: Option<f64>) -> Value {
    value.map_or_else(mean_alone, Ok)
}

/// The metric of a row: a table of its panel has the label; of several such tables the one with the printed title counts.
fn metric<'a>(definitions: &'a Definitions, row: &PrintedRow, target: &str) -> Option<&'a Metric> {
    let older = OLDER.lines().filter(|it| !it.starts_with('#')).find_map(|line| {
        let (panel, names) = line.split_once('\t')?;
        let (old, label) = names.split_once('\t')?;
        (panel.parse() == Ok(row.panel) && old.eq_ignore_ascii_case(&row.label)).then_some(label)
    });
    let is_it = |label: &str| label.eq_ignore_ascii_case(&row.label) || older.is_some_and(|it| it == label);
    let shown = |style: Style| matches!(style, Style::Speed | Style::Value | Style::Stats | Style::Aggregate);
    let tables = definitions.tables().iter().filter(|it| it.id.0 == row.panel && shown(it.style));
    let found: Vec<(bool, &str)> = tables
        .flat_map(|table| {
            let titled = table.title.eq_ignore_ascii_case(&row.table);
            table.rows(target).filter(|it| is_it(&it.label)).map(move |it| (titled, it.metric.as_str()))
        })
        .collect();
    let (_, first) = found.iter().find(|it| it.0).or_else(|| found.first())?;
    let is_clear = found.iter().any(|it| it.0) || found.iter().all(|it| it.1 == *first);
    definitions.metric(first).filter(|_| is_clear)
}

/// Factor from a printed unit to the metric's; `None` where one has a prefix and the other has none.
fn scale(unit: &str, printed: &str) -> Option<f64> {
    let prefix = |text: &str| {
        let mut letters = text.chars();
        let first = letters.next()?;
        let power = ['k', 'm', 'g', 't'].iter().position(|it| *it == first.to_ascii_lowercase())?;
        let quantity = letters.as_str().to_ascii_lowercase();
        ["b", "f", "i", "o"].iter().any(|it| quantity.starts_with(it)).then_some(power as i32 + 1)
    };
    match (prefix(unit), prefix(printed)) {
        (None, None) => Some(1.0),
        (Some(unit), Some(printed)) => Some(1000f64.powi(printed - unit)),
        _ => None,
    }
}

/// The divisor that a unit names: `Req per wave`.
fn norm(unit: &str) -> Option<Norm> {
    let last = unit.to_ascii_lowercase().rsplit_once("per")?.1.trim().replace(' ', "");
    match last.as_str() {
        "wave" => Some(Norm::Wave),
        "kernel" => Some(Norm::Kernel),
        "cycle" => Some(Norm::Cycle),
        "second" | "s" | "sec" => Some(Norm::Second),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(panel: u16, table: &str, label: &str, mean: f64, unit: &str) -> PrintedRow {
        let (table, label, unit) = (table.to_owned(), label.to_owned(), unit.to_owned());
        PrintedRow { panel, table, label, mean, extremes: None, unit }
    }

    fn given(rows: Vec<PrintedRow>) -> AllGiven {
        all_of(rows, Window::Recorded)
    }

    fn all_of(rows: Vec<PrintedRow>, window: Window) -> AllGiven {
        let mut workload = Workload { printed: rows, ..Workload::empty(workload::Generation::Printed) };
        workload.machine.facts.insert("max_sclk".to_owned(), "1700".to_owned());
        let compiled = Definitions::built_in().compile("gfx90a").unwrap();
        AllGiven::of(&workload, &compiled, window)
    }

    #[test]
    fn percentages_are_of_the_window_or_of_the_dispatch() {
        let rows = vec![
            row(7, "Wavefront Runtime Stats", "Kernel Time", 1000.0, "ns"),
            row(7, "Wavefront Runtime Stats", "Kernel Time (Cycles)", 2550.0, "Cycle"),
            row(2, "Speed-of-Light", "VALU Utilization", 40.0, "Pct"),
            row(2, "Speed-of-Light", "vL1D Cache Hit Rate", 50.0, "Pct"),
        ];
        for (window, cycles, busy) in [(Window::Recorded, 2550.0, 40.0), (Window::Dispatch, 1700.0, 60.0)] {
            let all = all_of(rows.clone(), window);
            let value = |metric: &str| all.get(metric, Norm::Kernel).unwrap().unwrap().mean;
            let have = ["dispatch.cycles", "issue.valu", "vl1d.hit_rate"].map(value);
            assert_eq!(have.map(|it| (1e6 * it).round() / 1e6), [cycles, busy, 50.0]);
        }
    }

    #[test]
    fn rows_are_metrics_by_panel_and_label() {
        let all = given(vec![
            row(16, "Speed-of-Light", "Buffer Coalescing", 25.0, "Pct of peak"),
            row(16, "vL1D cache access metrics", "Cache Hit Rate", 50.0, "Pct"),
            row(17, "Speed-of-Light", "L2-Fabric Read BW", 125.0, "Gb/s"),
            row(17, "Speed-of-Light", "L2-Fabric Write and Atomic BW", 5000.0, "Mb/s"),
            row(17, "Speed-of-Light", "Hit Rate", 93.0, "Pct"),
            row(99, "", "Hit Rate", 1.0, "Pct"),
            row(16, "", "Nothing of ours", 1.0, "Pct"),
        ]);
        for (metric, value) in [
            ("vl1d.coalescing", Some(25.0)),
            ("vl1d.hit_rate", Some(50.0)),
            ("fabric.write_bandwidth", Some(5.0)),
            ("roofline.hbm_bandwidth", Some(130.0)),
            ("l2.hit_rate", Some(93.0)),
            ("l2.requests", None),
        ] {
            assert_eq!(all.get(metric, Norm::Kernel).map(|it| it.unwrap().mean), value, "{metric}");
        }
    }

    #[test]
    fn what_is_printed_per_wave_needs_the_waves_to_be_of_the_kernel() {
        let reads = row(16, "", "Read Req", 8.0, "Req per wave");
        let all = given(vec![reads.clone()]);
        assert_eq!(all.get("vl1d.reads", Norm::Wave).unwrap().unwrap().mean, 8.0);
        assert!(all.get("vl1d.reads", Norm::Kernel).unwrap().is_err());
        let all = given(vec![reads, row(7, "", "Total Wavefronts", 100.0, "Wavefronts")]);
        assert_eq!(all.get("vl1d.reads", Norm::Kernel).unwrap().unwrap().mean, 800.0);
        assert!(all.get("vl1d.reads", Norm::Second).unwrap().is_err());
    }
}
