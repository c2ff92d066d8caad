//! A report put together from its parts.

use super::machine::Filled;
use super::{overview, panels};
use metrics::{Compiled, Definitions, Evaluation, Settings};
use std::collections::BTreeMap;
use view::{
    ANALYZE_SCHEMA, Cell, MachineFact, MissingValues, Note, NoteKind, Number, Recording, Report,
    ReportSettings, Table,
};
use workload::{Severity, Workload};

/// A recording with what is selected of it.
#[derive(Debug)]
pub struct Subject {
    /// Name in headings.
    pub name: String,
    /// Path as given.
    pub path: String,
    /// What was read, machine facts filled in.
    pub workload: Workload,
    /// Which facts were filled in.
    pub filled: Vec<Filled>,
    /// Selected dispatches, as rows.
    pub rows: Vec<u32>,
    /// The selection in words; empty for everything.
    pub selection: String,
}

/// What to show.
#[derive(Clone, Debug)]
pub struct Options {
    /// How to evaluate.
    pub settings: Settings,
    /// Most rows of top kernels and of the dispatch list.
    pub top: usize,
}

/// The report on one recording.
pub fn report(
    definitions: &Definitions,
    compiled: &Compiled,
    subject: &Subject,
    options: &Options,
) -> Report {
    let w = &subject.workload;
    let evaluation = Evaluation::new(compiled, w, subject.rows.clone(), options.settings);
    let mut tables = vec![overview::top_kernels(subject, options.top)];
    for t in definitions.tables().iter().filter(|t| t.id == (2, 1)) {
        tables.push(panels::table(&metrics::table(definitions, t, &evaluation, options.settings), 0));
    }
    let missing = missing(&tables);
    Report {
        schema: ANALYZE_SCHEMA,
        recordings: vec![recording(subject)],
        settings: ReportSettings {
            average: match options.settings.average {
                metrics::Average::Weighted => "weighted",
                metrics::Average::Dispatches => "dispatches",
            },
            normalization: match options.settings.norm {
                metrics::Norm::Kernel => "per_kernel",
                metrics::Norm::Wave => "per_wave",
                metrics::Norm::Cycle => "per_cycle",
                metrics::Norm::Second => "per_second",
            },
        },
        findings: Vec::new(),
        not_checked: Vec::new(),
        tables,
        missing,
        notes: notes(subject),
    }
}

fn recording(subject: &Subject) -> Recording {
    let w = &subject.workload;
    let mut kernels: Vec<u32> = subject.rows.iter().map(|r| w.dispatches.kernel[*r as usize]).collect();
    kernels.sort_unstable();
    kernels.dedup();
    let mut names: Vec<&str> = w.counters.iter().map(|c| c.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let times: Vec<f64> = subject.rows.iter().filter_map(|r| w.dispatches.duration(*r as usize)).collect();
    let target = w.machine.target().unwrap_or_default().to_string();
    Recording {
        name: subject.name.clone(),
        path: subject.path.clone(),
        kind: w.generation.describe().to_string(),
        gpu: w.machine.text("gpu_model").map_or_else(|| target.clone(), str::to_string),
        target,
        kernels: kernels.len() as u64,
        dispatches: subject.rows.len() as u64,
        recorded_dispatches: w.dispatches.len() as u64,
        counters: names.len() as u64,
        time_ns: if times.is_empty() {
            Number::missing("the durations of the dispatches are not known")
        } else {
            Number::from(times.iter().sum::<f64>())
        },
        selection: subject.selection.clone(),
        machine: w
            .machine
            .facts
            .iter()
            .filter(|(name, _)| w.machine.text(name).is_some())
            .map(|(name, value)| MachineFact {
                name: name.clone(),
                value: value.clone(),
                filled_from: subject.filled.iter().find(|f| f.fact == name).map(|f| f.source.clone()),
            })
            .collect(),
    }
}

/// Every reason once, with the rows it concerns.
fn missing(tables: &[Table]) -> Vec<MissingValues> {
    let mut by_reason: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for row in tables.iter().flat_map(|t| &t.rows) {
        for cell in &row.cells {
            let (Cell::Number(n) | Cell::Change(view::Delta { value: n, .. })) = cell else { continue };
            let Some(reason) = n.reason() else { continue };
            let rows = by_reason.entry(reason).or_default();
            if rows.last() != Some(&row.id) {
                rows.push(row.id.clone());
            }
        }
    }
    by_reason
        .into_iter()
        .map(|(reason, rows)| MissingValues { reason: reason.to_string(), rows, hint: None })
        .collect()
}

fn notes(subject: &Subject) -> Vec<Note> {
    let mut out: Vec<Note> = subject
        .workload
        .problems
        .iter()
        .map(|p| Note {
            kind: if p.severity == Severity::Error { NoteKind::Error } else { NoteKind::Warning },
            text: p.to_string(),
        })
        .collect();
    let mut by_source: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for f in &subject.filled {
        by_source.entry(&f.source).or_default().push(format!("{} = {}", f.fact, f.value));
    }
    out.extend(by_source.into_iter().map(|(source, facts)| Note {
        kind: NoteKind::Info,
        text: format!("{}: the recording does not say; taken from the {source}", facts.join(", ")),
    }));
    out
}
