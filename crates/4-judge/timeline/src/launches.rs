//! Launch path to the GPU: calls, latency, queue depth.

use crate::by_name::ByName;
use crate::intervals::Intervals;
use crate::kernels::Durations;
use crate::links::{Links, is_graph_launch, is_launch, is_synchronising};
use sorting::Sort;
use std::collections::HashMap;
use trace::{GpuKind, HostKind, Name, Timeline};

/// One runtime call by name.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CallTime {
    /// Name.
    pub name: Name,
    /// Its durations.
    pub durations: Durations,
    /// Whether it launches a kernel.
    pub launches: bool,
    /// Whether it returns only when the GPU has done something.
    pub synchronises: bool,
}

/// Runtime and collective calls by name, most time first.
pub fn calls(timeline: &Timeline) -> Vec<CallTime> {
    let host = &timeline.host;
    let mut sums: ByName<Durations> = ByName::of(timeline);
    for at in 0..host.len() {
        if matches!(host.kind[at], HostKind::Runtime | HostKind::Collective) {
            sums.get(host.name[at], Durations::default).add(host.duration(at));
        }
    }
    let mut out: Vec<CallTime> = sums
        .into_values()
        .map(|(name, durations)| {
            let text = timeline.names.get(name);
            let launches = is_launch(text) || is_graph_launch(text);
            CallTime { name, durations, launches, synchronises: is_synchronising(text) }
        })
        .collect();
    out.in_order_by_key(|c| (std::cmp::Reverse(c.durations.total), c.name));
    out
}

/// Latency of launches and length of the queue.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Latency {
    /// Latency from the launch call's begin to the kernel's, for kernels that found the GPU idle, ns,
    /// ascending.
    pub idle: Vec<i64>,
    /// The same latency for all kernels, ns, ascending.
    pub all: Vec<i64>,
    /// Spans launched and not ended, at each launch: sum and greatest.
    depth_sum: u64,
    /// Greatest number of spans launched and not ended.
    pub depth_max: u64,
    /// Launches that found nothing queued.
    pub found_empty: u64,
}

impl Latency {
    /// Mean number of spans that a launch finds launched and not ended.
    pub fn depth_mean(&self) -> Option<f64> {
        (!self.all.is_empty()).then(|| self.depth_sum as f64 / self.all.len() as f64)
    }

    /// A quantile of ascending values.
    pub fn quantile(values: &[i64], part: f64) -> Option<i64> {
        let last = values.len().checked_sub(1)?;
        values.get((part * last as f64).round() as usize).copied()
    }
}

/// Measures them. Kernels that a graph replays have one launch together and do not count.
pub fn latency(timeline: &Timeline, links: &Links) -> Latency {
    // What was launched before the trace keeps a GPU busy, too, though nothing is known to be queued.
    let busy =
        Intervals::union((0..timeline.gpu.len()).map(|at| (timeline.gpu.start[at], timeline.gpu.end[at])));
    let (gpu, host) = (&timeline.gpu, &timeline.host);
    let mut launched: Vec<(i64, i64, i64)> = Vec::new();
    let mut graph: HashMap<Name, bool> = HashMap::new();
    for at in 0..gpu.len() {
        let Some(row) = links.launch_of(at) else { continue };
        let name = host.name[row];
        if *graph.entry(name).or_insert_with(|| is_graph_launch(timeline.names.get(name))) {
            continue;
        }
        launched.push((host.start[row], gpu.start[at], gpu.end[at]));
    }
    launched.in_order();
    let mut ends: Vec<i64> = launched.iter().map(|(_, _, end)| *end).collect();
    ends.in_order();
    let mut out = Latency::default();
    let mut ended = 0;
    for (before, (call, start, _)) in launched.iter().enumerate() {
        while ended < ends.len() && ends[ended] <= *call {
            ended += 1;
        }
        let depth = before.saturating_sub(ended) as u64;
        out.depth_sum += depth;
        out.depth_max = out.depth_max.max(depth);
        // Clocks of host and GPU may differ by more than a launch takes.
        let wait = (start - call).max(0);
        if depth == 0 && !busy.contains(*call) {
            out.found_empty += 1;
            out.idle.push(wait);
        }
        out.all.push(wait);
    }
    out.idle.in_order();
    out.all.in_order();
    out
}

/// One launch of a graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GraphLaunch {
    /// Row of the call.
    pub call: usize,
    /// Kernels it replayed.
    pub kernels: u64,
    /// Their time together, ns.
    pub gpu: i64,
    /// From the first start to the last end, ns.
    pub span: i64,
}

/// Launches of graphs, in the order of the file.
pub fn graphs(timeline: &Timeline, links: &Links) -> Vec<GraphLaunch> {
    let host = &timeline.host;
    let mut by_call: HashMap<usize, (u64, i64, i64, i64)> = HashMap::new();
    for at in 0..timeline.gpu.len() {
        if let Some(row) = links.launch_of(at) {
            let sum = by_call.entry(row).or_insert((0, 0, i64::MAX, i64::MIN));
            sum.0 += u64::from(timeline.gpu.kind[at] == GpuKind::Kernel);
            sum.1 += timeline.gpu.duration(at);
            sum.2 = sum.2.min(timeline.gpu.start[at]);
            sum.3 = sum.3.max(timeline.gpu.end[at]);
        }
    }
    let mut is: ByName<bool> = ByName::of(timeline);
    (0..host.len())
        .filter(|at| host.kind[*at] == HostKind::Runtime)
        .filter(|at| {
            let name = host.name[*at];
            *is.get(name, || is_graph_launch(timeline.names.get(name)))
        })
        .map(|call| {
            let (kernels, gpu, start, end) = by_call.get(&call).copied().unwrap_or((0, 0, 0, 0));
            GraphLaunch { call, kernels, gpu, span: end - start }
        })
        .collect()
}
