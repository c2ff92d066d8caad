//! Data of the page's script, as JSON in the page.
//!
//! It is long tables in columns, and numbers as texts that are ready to be shown; `<` is written as an
//! escape, so no name can end the script element.

use super::cells;
use super::code::CodeData;
use super::tables::{kernel_rows, swapped};
use super::timeline::Lanes;
use crate::svg;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use view::{Number, Page};

#[derive(Serialize)]
struct Data<'a> {
    compared: bool,
    kernels: Kernels<'a>,
    /// By position of the kernel.
    details: BTreeMap<usize, Detail>,
    /// The whole run's memory chart: new, then base.
    memory: Vec<svg::Slots>,
    dispatches: Option<Dispatches<'a>>,
    metrics: BTreeMap<&'a str, Metric<'a>>,
    counters: BTreeMap<&'a str, [&'a str; 2]>,
    code: Vec<CodeData<'a>>,
    timeline: Option<Lanes>,
}

/// Kernels in columns.
#[derive(Serialize, Default)]
struct Kernels<'a> {
    name: Vec<Cow<'a, str>>,
    short: Vec<String>,
    dispatches: Vec<u64>,
    time: Vec<Option<f64>>,
    time_text: Vec<String>,
    mean: Vec<Option<f64>>,
    mean_text: Vec<String>,
    percent: Vec<Option<f64>>,
    percent_sign: Vec<&'static str>,
    occupancy: Vec<Option<f64>>,
    occupancy_sign: Vec<&'static str>,
    bound: Vec<&'a str>,
    known: Vec<u8>,
    roof: Vec<Option<f64>>,
    roof_sign: Vec<&'static str>,
    verdict: Vec<Cow<'a, str>>,
    severe: Vec<usize>,
    warning: Vec<usize>,
    info: Vec<usize>,
    base_text: Vec<String>,
    change: Vec<Option<f64>>,
    beyond: Vec<u8>,
    /// Position in each recording's roofline.
    drawn: Vec<Vec<Option<usize>>>,
}

#[derive(Serialize)]
struct Detail {
    /// Cells of the tables.
    cells: String,
    /// Memory chart: new, then base.
    memory: Vec<svg::Slots>,
}

#[derive(Serialize)]
struct Dispatches<'a> {
    names: Vec<String>,
    id: Vec<&'a str>,
    kernel: Vec<usize>,
    columns: Vec<Vec<Option<f64>>>,
}

#[derive(Serialize)]
struct Metric<'a> {
    unit: &'a str,
    rows: Vec<&'a str>,
    formula: Vec<String>,
    names: Vec<[&'a str; 2]>,
    counters: Vec<&'a str>,
}

/// The JSON of a page.
pub(crate) fn of(page: &Page) -> String {
    let data = Data {
        compared: page.report.is_comparison(),
        kernels: kernels(page),
        details: details(page),
        memory: memory(page, page.report.part.memory_chart.as_ref(), page.base_memory.as_ref()),
        dispatches: dispatches(page),
        metrics: metrics(page),
        counters: page
            .metrics
            .iter()
            .flat_map(|m| &m.variants)
            .flat_map(|v| &v.counters)
            .map(|c| (c.name.as_str(), [c.block.as_str(), c.meaning.as_str()]))
            .collect(),
        code: page.code.iter().map(CodeData::of).collect(),
        timeline: page.timeline.as_ref().map(|chart| {
            let at: BTreeMap<&str, usize> =
                page.kernels.iter().enumerate().map(|(at, k)| (k.name.as_str(), at)).collect();
            Lanes::of(chart, &|name| at.get(name).copied())
        }),
    };
    text(&data)
}

/// A value as JSON that no script element ends in.
pub(crate) fn text(data: &impl Serialize) -> String {
    // Serialising plain values cannot fail; an empty object is what the script takes for no data.
    serde_json::to_string(data).map_or_else(|_| "{}".to_owned(), |json| json.replace('<', "\\u003c"))
}

/// Four digits are enough to sort and to draw.
fn coarse(n: &Number) -> Option<f64> {
    n.get().map(rounded)
}

/// Five digits. By way of text, since powers of ten differ in their last bits between builds.
fn rounded(v: f64) -> f64 {
    format!("{v:.4e}").parse().unwrap_or(v)
}

fn kernels(page: &Page) -> Kernels<'_> {
    let mut out = Kernels::default();
    for chart in &page.rooflines {
        let at: BTreeMap<&str, usize> =
            chart.kernels.iter().enumerate().map(|(at, k)| (k.name.as_str(), at)).collect();
        out.drawn.push(page.kernels.iter().map(|k| at.get(k.name.as_str()).copied()).collect());
    }
    for (row, k) in kernel_rows(page).into_iter().zip(&page.kernels) {
        // A name short enough to be shown in full is stored once.
        out.name.push(if row.name == row.short { Cow::Borrowed("") } else { row.name });
        out.short.push(row.short);
        out.dispatches.push(k.dispatches);
        out.time.push(coarse(&k.time_ns));
        out.time_text.push(row.time);
        out.mean.push(coarse(&k.mean_ns));
        out.mean_text.push(row.mean);
        out.percent.push(coarse(&k.time_percent));
        out.percent_sign.push(row.percent_sign);
        out.occupancy.push(coarse(&k.occupancy));
        out.occupancy_sign.push(row.occupancy_sign);
        out.bound.push(row.bound);
        out.known.push(u8::from(row.bound_known));
        out.roof.push(coarse(&k.percent_of_roof));
        out.roof_sign.push(row.roof_sign);
        out.verdict.push(row.verdict);
        out.severe.push(row.findings[0]);
        out.warning.push(row.findings[1]);
        out.info.push(row.findings[2]);
        if page.report.is_comparison() {
            out.base_text.push(row.base);
            out.change.push(k.base.as_ref().and_then(|b| b.change_percent).map(rounded));
            out.beyond.push(u8::from(row.beyond));
        }
    }
    out
}

fn memory(page: &Page, new: Option<&view::MemoryChart>, base: Option<&view::MemoryChart>) -> Vec<svg::Slots> {
    let Some(whole) = &page.report.part.memory_chart else { return Vec::new() };
    let mut out: Vec<svg::Slots> =
        new.into_iter().chain(base).map(|chart| svg::slots(whole, chart)).collect();
    for share in out.iter_mut().flat_map(|slots| &mut slots.shares) {
        *share = share.map(rounded);
    }
    out
}

fn details(page: &Page) -> BTreeMap<usize, Detail> {
    let tables: Vec<_> = swapped(page).map(|table| (table, super::alike::runs(page, table))).collect();
    page.kernels
        .iter()
        .enumerate()
        .filter_map(|(at, k)| Some((at, k.detail.as_ref()?)))
        .map(|(at, detail)| {
            let mut cells = String::new();
            for (table, runs) in &tables {
                let own = detail.tables.iter().find(|t| t.id == table.id);
                cells::places(table, runs.iter().map(|run| run.start), own, &mut cells);
            }
            let mut memory = memory(page, detail.memory_chart.as_ref(), detail.base_memory.as_ref());
            // The numbers of a kernel have the same accuracy as the numbers of the whole run.
            memory.iter_mut().for_each(|slots| slots.trust.clear());
            (at, Detail { cells, memory })
        })
        .collect()
}

fn dispatches(page: &Page) -> Option<Dispatches<'_>> {
    let table = page.dispatches.as_ref()?;
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    let mut names: Vec<String> = Vec::new();
    let kernel = table
        .rows
        .iter()
        .map(|row| {
            *known.entry(&row.label).or_insert_with(|| {
                names.push(super::tables::short_name(&row.label));
                names.len() - 1
            })
        })
        .collect();
    Some(Dispatches {
        id: table.rows.iter().map(|r| r.id.as_str()).collect(),
        kernel,
        columns: (0..table.columns.len())
            .map(|at| table.rows.iter().map(|r| r.cells.get(at).and_then(view::Cell::number)).collect())
            .collect(),
        names,
    })
}

fn metrics(page: &Page) -> BTreeMap<&str, Metric<'_>> {
    page.metrics
        .iter()
        .map(|m| {
            let first = m.variants.first();
            let metric = Metric {
                unit: &m.unit,
                rows: m.rows.iter().map(|r| r.id.as_str()).collect(),
                formula: first.map_or_else(Vec::new, |v| {
                    let mut lines = vec![match &v.formula {
                        Ok(formula) => formula.clone(),
                        Err(reason) => format!("no value: {reason}"),
                    }];
                    lines.extend(v.peak.as_ref().map(|peak| format!("peak: {peak}")));
                    lines
                }),
                names: first.map_or_else(Vec::new, |v| {
                    v.names.iter().map(|n| [n.name.as_str(), n.formula.as_str()]).collect()
                }),
                counters: first
                    .map_or_else(Vec::new, |v| v.counters.iter().map(|c| c.name.as_str()).collect()),
            };
            (m.metric.as_str(), metric)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_digits_stay() {
        for (value, expected) in [
            (0.0, 0.0),
            (123456.789, 123460.0),
            (0.012345678, 0.012346),
            (-9.87654321, -9.8765),
            (1e-300, 1e-300),
        ] {
            assert_eq!(rounded(value), expected, "{value}");
        }
    }
}
