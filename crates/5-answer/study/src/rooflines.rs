//! Rooflines of several recordings, with kernels lettered through all of them.

use analysis::WorkloadEvidence;
use analysis::roofline_chart;
use analysis::workload::Subject;
use metrics::Compiled;
use sorting::Sort;
use std::collections::BTreeSet;
use view::{Answer, Input, NoteKind, ROOFLINE_SCHEMA, RooflineChart, Rooflines, WorkloadRoofline};

/// Items placed below the roofs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Placed {
    /// Kernels, all their dispatches together.
    #[default]
    Kernels,
    /// Single dispatches.
    Dispatches,
}

/// Content of the chart.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// Levels of memory; of none all.
    pub levels: &'a [&'a str],
    /// Types; of none those that a machine has ceilings of.
    pub types: &'a [&'a str],
    /// Most kernels or dispatches of a recording, longest first.
    pub top: usize,
    /// Items placed below the roofs.
    pub placed: Placed,
}

/// The rooflines of recordings.
pub(crate) fn rooflines(
    compiled: &[&Compiled],
    subjects: &[Subject],
    shown: &Shown<'_>,
) -> Answer<Rooflines> {
    let mut workloads = Vec::new();
    for (subject, compiled) in subjects.iter().zip(compiled) {
        let placed = match shown.placed {
            Placed::Kernels => WorkloadEvidence::gather(compiled, &subject.workload, &subject.rows),
            Placed::Dispatches => dispatches(compiled, subject, shown.top),
        };
        let mut chart = roofline_chart::chart(&placed, shown.top);
        roofline_chart::count_integers(&mut chart, &placed, shown.types);
        roofline_chart::restrict(&mut chart, shown.levels, shown.types);
        if shown.placed == Placed::Dispatches {
            name_dispatches(&mut chart, &placed, subject);
        }
        workloads.push(WorkloadRoofline {
            name: subject.name.clone(),
            path: subject.path.clone(),
            roofline: chart,
        });
    }
    roofline_chart::letter(workloads.iter_mut().map(|it| &mut it.roofline));
    let charts: Vec<_> = workloads.iter().map(|it| (it.name.as_str(), &it.roofline)).collect();
    let together = roofline_chart::merge(&charts);
    let mut answer = Answer::new(ROOFLINE_SCHEMA, Rooflines { workloads, together });
    answer.inputs = subjects
        .iter()
        .map(|it| {
            let used = view::counted(it.rows.len() as u64, "dispatch");
            Input { used, ..Input::new(&it.name, &it.path, it.workload.generation.describe()) }
        })
        .collect();
    for name in without_roof(&answer.part, shown.types) {
        answer.note(NoteKind::Warning, format!("no roof of {name} is known of this GPU"));
    }
    answer
}

/// The types that have a roof on none of the machines.
fn without_roof<'a>(rooflines: &Rooflines, types: &[&'a str]) -> Vec<&'a str> {
    let there: BTreeSet<&str> = rooflines
        .workloads
        .iter()
        .flat_map(|it| &it.roofline.rates)
        .flat_map(|ceiling| ceiling.name.rsplit(' ').next().unwrap_or_default().split('/'))
        .collect();
    types.iter().copied().filter(|name| !there.contains(name)).collect()
}

/// The longest dispatches, each as separate evidence.
fn dispatches<'a>(compiled: &'a Compiled, subject: &'a Subject, top: usize) -> Vec<WorkloadEvidence<'a>> {
    let w = &subject.workload;
    let time = |row: &u32| w.dispatches.duration(*row as usize).unwrap_or(0.0);
    let whole: f64 = subject.rows.iter().map(time).sum();
    let mut rows = subject.rows.clone();
    rows.in_order_by(|a, b| time(b).total_cmp(&time(a)));
    rows.truncate(top);
    let one = |row: &u32| {
        let mut of_row = WorkloadEvidence::gather(compiled, w, std::slice::from_ref(row));
        for it in &mut of_row {
            it.time_percent = it.time.clone().map(|time| 100.0 * time / whole);
        }
        of_row
    };
    rows.iter().flat_map(one).collect()
}

/// Names dispatches of one kernel by their IDs.
fn name_dispatches(chart: &mut RooflineChart, placed: &[WorkloadEvidence<'_>], subject: &Subject) {
    for (kernel, evidence) in chart.kernels.iter_mut().zip(placed) {
        let row = evidence.evaluation.rows().first();
        if let Some(id) = row.and_then(|row| subject.workload.dispatches.id.get(*row as usize)) {
            kernel.name = format!("{} #{id}", kernel.name);
        }
    }
    let more = subject.rows.len() - placed.len().min(subject.rows.len());
    if more > 0 {
        chart.notes.push(format!("{more} more dispatches; `--top N` shows more"));
    }
}
