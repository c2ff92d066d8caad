//! Steps and ranges a user named: how long they take on the host and on the GPU.

use crate::intervals::Intervals;
use crate::links::Links;
use sorting::Sort;
use trace::{HostKind, Name, Timeline};

/// A named range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// Row on the host.
    pub row: usize,
    /// Name.
    pub name: Name,
    /// On the host, ns.
    pub host: i64,
    /// Spans launched in it.
    pub spans: u64,
    /// They run, ns.
    pub busy: i64,
    /// From their first start to their last end, ns.
    pub span: i64,
}

/// Prefix of PyTorch's names for the steps of a profile.
const STEP: &str = "ProfilerStep#";

/// Number of a step by its name.
pub fn step_number(name: &str) -> Option<u64> {
    name.strip_prefix(STEP)?.parse().ok()
}

/// Steps where the trace has them, else all named ranges, in the order of time.
pub fn ranges(timeline: &Timeline, links: &Links) -> Vec<Range> {
    let host = &timeline.host;
    let named: Vec<usize> = (0..host.len()).filter(|at| host.kind[*at] == HostKind::Annotation).collect();
    let is_step = |at: &usize| timeline.names.get(host.name[*at]).starts_with(STEP);
    let steps: Vec<usize> = named.iter().copied().filter(is_step).collect();
    let mut rows = if steps.is_empty() { named } else { steps };
    rows.in_order_by_key(|at| host.start[*at]);
    let mut launched: Vec<(i64, usize)> = (0..timeline.gpu.len())
        .filter_map(|gpu| links.launch_of(gpu).map(|row| (host.start[row], gpu)))
        .collect();
    launched.in_order();
    rows.into_iter()
        .map(|row| {
            let from = launched.partition_point(|(time, _)| *time < host.start[row]);
            let to = launched.partition_point(|(time, _)| *time < host.end[row]).max(from);
            let spans = &launched[from..to];
            let busy = Intervals::union(
                spans.iter().map(|(_, gpu)| (timeline.gpu.start[*gpu], timeline.gpu.end[*gpu])),
            );
            Range {
                row,
                name: host.name[row],
                host: host.duration(row),
                spans: spans.len() as u64,
                busy: busy.total(),
                span: busy.span(),
            }
        })
        .collect()
}
