//! A part of a timeline: by time, by step, by kernel.

use crate::links::Links;
use crate::steps::step_number;
use std::collections::HashSet;
use trace::{HostKind, Timeline};

/// Filter on a timeline.
#[derive(Default)]
pub struct Selection<'a> {
    /// Only kernels whose name this admits.
    pub kernel: Option<&'a dyn Fn(&str) -> bool>,
    /// Only spans that begin in this range, ns of the trace's clock.
    pub time: Option<(i64, i64)>,
    /// Only spans launched in these steps.
    pub steps: Vec<u64>,
}

impl Selection<'_> {
    /// Whether everything is selected.
    pub fn is_all(&self) -> bool {
        self.kernel.is_none() && self.time.is_none() && self.steps.is_empty()
    }
}

/// The selected part. A step includes the spans launched in it, wherever they ran.
pub fn select(timeline: &Timeline, selection: &Selection<'_>) -> Timeline {
    if selection.is_all() {
        return timeline.clone();
    }
    let links = Links::of(timeline);
    let host = &timeline.host;
    let steps: Vec<(i64, i64)> = (0..host.len())
        .filter(|at| host.kind[*at] == HostKind::Annotation)
        .filter(|at| {
            step_number(timeline.names.get(host.name[*at])).is_some_and(|n| selection.steps.contains(&n))
        })
        .map(|at| (host.start[at], host.end[at]))
        .collect();
    let in_steps = |time: i64| {
        selection.steps.is_empty() || steps.iter().any(|(start, end)| (*start..*end).contains(&time))
    };
    let in_time = |time: i64| selection.time.is_none_or(|(from, to)| (from..to).contains(&time));
    let named: Vec<bool> = match selection.kernel {
        Some(wanted) => timeline.names.iter().map(wanted).collect(),
        None => vec![true; timeline.names.len()],
    };
    let mut out = timeline.without_spans();
    // What launched a span that is kept is kept, too: without it the span would seem launched before the trace.
    let mut launches = HashSet::new();
    for at in 0..timeline.gpu.len() {
        let span = timeline.gpu.get(at);
        let launched = links.launch_of(at).map_or(span.start, |row| host.start[row]);
        let by_step = selection.steps.is_empty() || links.launch_of(at).is_some() && in_steps(launched);
        if in_time(span.start) && by_step && named.get(span.name.0 as usize).copied().unwrap_or(false) {
            out.gpu.push(span);
            launches.extend(links.launch_of(at));
            launches.extend(links.operator_of(at));
        }
    }
    for at in 0..host.len() {
        let span = host.get(at);
        if launches.contains(&at) || in_time(span.start) && in_steps(span.start) {
            out.host.push(span);
        }
    }
    out
}
