//! Recordings as a page: the report on everything, and tables and charts of every kernel that takes time.
//!
//! A kernel's tables come from the same function as the tables of the whole run, over fewer dispatches.

use crate::judge;
use analysis::WorkloadEvidence;
use analysis::workload::{Blocks, Options, Renames, Subject, explain as define, report};
use metrics::{Compiled, Definitions, Style};
use sorting::Sort;
use std::collections::{BTreeMap, BTreeSet};
use view::{
    Answer, Cell, KernelChange, KernelDetail, Missing, Number, Page, PageCode, PageKernel, Recordings,
    RooflineChart, UsageError,
};

/// Kernels drawn in the roofline, one per letter (a-z, A-Z).
const DRAWN: usize = 52;
/// Most kernels with their own tables, longest first.
const DETAILED: usize = 200;
/// Kernels for which the tables of single channels, which are long, are made too.
const WITH_CHANNELS: usize = 4;
/// Dispatches listed.
pub(crate) const DISPATCHES: usize = 100_000;

/// The page of recordings: the last is shown, with the first as base. `code_of` returns the code of each
/// kernel that is found.
pub(crate) fn page(
    definitions: &Definitions,
    compiled: &[&Compiled],
    subjects: &mut Vec<Subject>,
    options: &Options,
    code_of: impl FnOnce(&Subject, &[PageKernel]) -> Vec<PageCode>,
) -> Result<Page, UsageError> {
    // The script puts the counters of the kernel that a reader chooses in their places.
    let options = &Options { blocks: options.blocks.clone().with_counters_together(), ..options.clone() };
    let mut whole = judge::report(definitions, compiled, subjects, options, &mut crate::Gate::default())?;
    let base_memory = (subjects.len() > 1).then(|| memory(&compiled[..1], subjects, options)).flatten();
    let mut rooflines = Vec::new();
    let mut kernels = Vec::new();
    for (at, (subject, compiled)) in subjects.iter().zip(compiled).enumerate() {
        let evidence = WorkloadEvidence::gather(compiled, &subject.workload, &subject.rows);
        // An unknown GPU has no roofs, but its kernels have numbers.
        if !subject.target().is_empty() {
            let chart = analysis::roofline_chart::chart(&evidence, DRAWN);
            rooflines.push(renamed(chart, &options.renames, at, subjects.len()));
        }
        if at + 1 == subjects.len() {
            kernels = evidence.iter().map(|it| kernel(it, &whole, &options.renames, at)).collect();
        }
    }
    details(definitions, compiled, subjects, options, &mut kernels);
    let code = subjects.last().map_or_else(Vec::new, |subject| code_of(subject, &kernels));
    merge(&mut whole, &kernels, &code);
    judge::say_once(&mut whole);
    let dispatches = take_table(&mut whole, "0.2");
    let found: BTreeSet<&str> = whole.findings.iter().map(|f| f.rule).collect();
    Ok(Page {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        rules: crate::rules().into_iter().filter(|rule| found.contains(rule.id)).collect(),
        metrics: definitions_of(definitions, compiled.last(), &whole),
        rooflines,
        base_memory,
        kernels,
        dispatches,
        code,
        timeline: None,
        live: None,
        report: whole,
    })
}

/// The memory chart of the first recording alone.
fn memory(
    compiled: &[&Compiled],
    subjects: &mut Vec<Subject>,
    options: &Options,
) -> Option<view::MemoryChart> {
    let rest = subjects.split_off(1);
    let blocks = Blocks::parse(&["3".to_owned()], Definitions::built_in(), subjects[0].target()).ok();
    let chart = blocks.and_then(|blocks| {
        let options = Options { blocks, ..options.clone() };
        report(Definitions::built_in(), compiled, subjects, &options).ok()?.part.memory_chart
    });
    subjects.extend(rest);
    chart
}

/// The kernels of the base under the names they have in the last recording.
fn renamed(mut chart: RooflineChart, renames: &Renames, at: usize, recordings: usize) -> RooflineChart {
    if at + 1 < recordings {
        for kernel in &mut chart.kernels {
            let name = renames.others(&kernel.name).next().map(str::to_owned);
            if let Some(name) = name {
                kernel.name = name;
            }
        }
    }
    chart
}

fn kernel(it: &WorkloadEvidence<'_>, whole: &Answer<Recordings>, renames: &Renames, at: usize) -> PageKernel {
    let bound = it.roof().known_bound().map_err(Missing::shortened);
    let count = it.dispatches().max(1) as f64;
    let occupancy = it.known("wave.occupancy_share");
    let part = bound.as_ref().ok().and_then(|bound| bound.part());
    PageKernel {
        name: it.kernel.to_owned(),
        dispatches: it.dispatches() as u64,
        time_ns: it.time.clone().into(),
        mean_ns: it.time.clone().map(|time| time / count).into(),
        time_trust: it.time_trust(),
        time_percent: it.time_percent.clone().into(),
        percent_trust: it.time_percent_trust(),
        occupancy_trust: occupancy.as_ref().ok().and_then(|it| it.trust),
        occupancy: occupancy.map(|it| it.value).into(),
        bound_by: match &bound {
            _ if it.runtime().is_some() => {
                Ok(it.runtime().map_or_else(String::new, |it| format!("{} ({})", it.what, it.calls)))
            }
            Ok(bound) => Ok(it.roof().names().unwrap_or_else(|| bound.name().to_owned())),
            Err(reason) => Err(reason.to_string()),
        },
        percent_of_roof: part
            .map_or_else(|| Number::missing("no rate is known"), |part| Number::from(100.0 * part)),
        roof_trust: it.roof().bound_trust,
        verdict: it.roof().describe(),
        base: (at > 0).then(|| change(whole, renames.in_base(it.kernel, at))).flatten(),
        detail: None,
    }
}

/// Change of a kernel's mean time, from the table of kernels.
fn change(whole: &Answer<Recordings>, name: &str) -> Option<KernelChange> {
    let table = whole.tables.iter().find(|t| t.id == "0.1")?;
    let row = table.rows.iter().find(|r| r.label == name)?;
    let cell = |recording: usize| {
        let at = table.columns.iter().position(|c| c.title == "mean" && c.recording == recording)?;
        row.cells.get(at)
    };
    let last = table.columns.iter().map(|c| c.recording).max()?;
    let Some(Cell::Change(delta)) = cell(last) else { return None };
    let mean_ns = match cell(0)? {
        Cell::Number(mean) => mean.clone(),
        _ => return None,
    };
    let mean_trust = whole.recordings().next().and_then(|base| base.time_trust);
    Some(KernelChange {
        mean_ns,
        mean_trust,
        change_percent: delta.change_percent,
        beyond_noise: delta.beyond_noise,
    })
}

/// Tables and charts of the kernels of most time.
fn details(
    definitions: &Definitions,
    compiled: &[&Compiled],
    subjects: &mut Vec<Subject>,
    options: &Options,
    kernels: &mut [PageKernel],
) {
    if kernels.len() < 2 {
        return;
    }
    let target = subjects.first().map(|s| s.target().to_owned()).unwrap_or_default();
    let by_channel = |t: &&metrics::Table| matches!(t.style, Style::Channels | Style::ChannelBox);
    let shown = |t: &&metrics::Table| !by_channel(t) || kernels.len() <= WITH_CHANNELS;
    let words = definitions.tables().iter().filter(shown).map(|t| format!("{}.{}", t.id.0, t.id.1));
    let words: Vec<String> = words.chain(["counters".to_owned()]).collect();
    let Ok(blocks) = Blocks::parse(&words, definitions, &target) else { return };
    let options = Options { blocks, ..options.clone() };
    let rows_of: Vec<BTreeMap<String, Vec<u32>>> =
        subjects.iter().enumerate().map(|(at, s)| by_kernel(s, &options.renames, at)).collect();
    let whole: Vec<Vec<u32>> = subjects.iter_mut().map(|s| std::mem::take(&mut s.rows)).collect();
    let last = subjects.len() - 1;
    for kernel in kernels.iter_mut().take(DETAILED) {
        let name = options.renames.in_base(&kernel.name, last);
        for (subject, rows) in subjects.iter_mut().zip(&rows_of) {
            subject.rows = rows.get(name).cloned().unwrap_or_default();
        }
        if subjects.iter().any(|s| s.rows.is_empty()) {
            continue;
        }
        let Ok(own) = report(definitions, compiled, subjects, &options) else { continue };
        kernel.detail = Some(KernelDetail {
            tables: own.tables,
            memory_chart: own.part.memory_chart,
            base_memory: (subjects.len() > 1).then(|| memory(&compiled[..1], subjects, &options)).flatten(),
        });
    }
    for (subject, rows) in subjects.iter_mut().zip(whole) {
        subject.rows = rows;
    }
}

/// Selected dispatches by the kernel's name in the base.
fn by_kernel(subject: &Subject, renames: &Renames, at: usize) -> BTreeMap<String, Vec<u32>> {
    let mut out: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    let mut of: Vec<Vec<u32>> = vec![Vec::new(); subject.workload.kernels.len()];
    for row in &subject.rows {
        of[subject.workload.dispatches.kernel[*row as usize] as usize].push(*row);
    }
    for (name, rows) in subject.workload.kernels.iter().zip(of) {
        out.entry(renames.in_base(name, at).to_owned()).or_default().extend(rows);
    }
    out
}

/// Adds the findings of the rules on the code of kernels, unless the recording gave the same finding.
fn merge(whole: &mut Answer<Recordings>, kernels: &[PageKernel], code: &[view::PageCode]) {
    let mut more = Vec::new();
    for it in code {
        let Some(kernel) = kernels.iter().find(|k| k.name == it.kernel) else { continue };
        let time_trust = whole.findings.iter().find(|f| f.kernel() == it.kernel).and_then(|f| f.time_trust);
        for finding in &it.findings {
            let known = whole.findings.iter_mut().find(|f| f.kernel() == it.kernel && f.rule == finding.rule);
            match known {
                // The recording says what it costs, the code where it is.
                Some(known) if known.places.is_empty() => known.places.clone_from(&finding.places),
                Some(_) => {}
                None => {
                    let percent = kernel.time_percent.clone();
                    more.push(finding.clone().of_kernel(it.kernel.clone(), percent, time_trust));
                }
            }
        }
    }
    whole.findings.extend(more);
    judge::sort(&mut whole.findings);
}

fn take_table(whole: &mut Answer<Recordings>, id: &str) -> Option<view::Table> {
    let at = whole.tables.iter().position(|t| t.id == id)?;
    Some(whole.tables.remove(at))
}

/// Definitions of the metrics in the tables.
fn definitions_of(
    definitions: &Definitions,
    compiled: Option<&&Compiled>,
    whole: &Answer<Recordings>,
) -> Vec<view::MetricCard> {
    let Some(compiled) = compiled else { return Vec::new() };
    let mut shown: Vec<String> = whole
        .tables
        .iter()
        .flat_map(|t| &t.rows)
        .map(|r| r.metric.clone())
        .filter(|m| definitions.metric(m).is_some())
        .collect();
    shown.in_order();
    shown.dedup();
    if shown.is_empty() {
        return Vec::new();
    }
    define(definitions, std::slice::from_ref(*compiled), &shown).map_or_else(|_| Vec::new(), |it| it.metrics)
}
