//! Breakdown of the GPUs' time: computing, communicating, copying, idle.

use crate::by_name::ByName;
use crate::category::{COMMUNICATION, category};
use crate::intervals::Intervals;
use crate::links::Links;
use std::collections::BTreeMap;
use trace::{GpuKind, Timeline};

/// One GPU's time, ns.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Overview {
    /// GPU as the trace numbers it.
    pub device: u64,
    /// Spans: kernels, copies and fills.
    pub spans: u64,
    /// Kernels.
    pub kernels: u64,
    /// From the first start to the last end.
    pub span: i64,
    /// Anything runs.
    pub busy: i64,
    /// Sum of durations.
    pub sum: i64,
    /// A kernel runs that does not communicate.
    pub computing: i64,
    /// Communication runs.
    pub communicating: i64,
    /// Part of it during which nothing else runs.
    pub exposed_communication: i64,
    /// Copies and fills run.
    pub copying: i64,
    /// Part of it during which nothing else runs.
    pub exposed_copies: i64,
    /// Intervals in which anything runs.
    pub busy_intervals: Intervals,
}

impl Overview {
    /// Idle time, ns.
    pub fn idle(&self) -> i64 {
        self.span - self.busy
    }

    /// Percent of the span in which nothing runs; `None` without a span.
    pub fn idle_percent(&self) -> Option<f64> {
        (self.span > 0).then(|| 100.0 * self.idle() as f64 / self.span as f64)
    }
}

/// True for each name that is a communication kernel.
pub(crate) fn communication(timeline: &Timeline) -> Vec<bool> {
    let mut known: ByName<bool> = ByName::of(timeline);
    let gpu = &timeline.gpu;
    (0..gpu.len())
        .map(|at| {
            gpu.kind[at] == GpuKind::Kernel
                && *known
                    .get(gpu.name[at], || category(timeline.names.get(gpu.name[at]), None) == COMMUNICATION)
        })
        .collect()
}

/// The time of each GPU, over the spans that `wanted` accepts; GPUs by number.
pub fn overviews(timeline: &Timeline, wanted: &dyn Fn(usize) -> bool) -> Vec<Overview> {
    let communication = communication(timeline);
    let gpu = &timeline.gpu;
    let mut by_device: BTreeMap<u64, [Vec<(i64, i64)>; 3]> = BTreeMap::new();
    let mut counts: BTreeMap<u64, (u64, u64, i64)> = BTreeMap::new();
    for at in (0..gpu.len()).filter(|at| wanted(*at)) {
        let device = timeline.queues.get(gpu.queue[at] as usize).map_or(0, |q| q.device);
        let kind = match gpu.kind[at] {
            GpuKind::Kernel if communication[at] => 1,
            GpuKind::Kernel => 0,
            GpuKind::Copy | GpuKind::Set => 2,
        };
        by_device.entry(device).or_default()[kind].push((gpu.start[at], gpu.end[at]));
        let count = counts.entry(device).or_default();
        count.0 += 1;
        count.1 += u64::from(gpu.kind[at] == GpuKind::Kernel);
        count.2 += gpu.duration(at);
    }
    by_device
        .into_iter()
        .map(|(device, [compute, comm, copy])| {
            let all = compute.iter().chain(&comm).chain(&copy).copied();
            let start = all.clone().map(|(start, _)| start).min().unwrap_or(0);
            let end = all.clone().map(|(_, end)| end).max().unwrap_or(0);
            let busy = Intervals::union(all);
            let but_comm = Intervals::union(compute.iter().chain(&copy).copied());
            let but_copies = Intervals::union(compute.iter().chain(&comm).copied());
            let (compute, comm, copy) =
                (Intervals::union(compute), Intervals::union(comm), Intervals::union(copy));
            let (spans, kernels, sum) = counts[&device];
            Overview {
                device,
                spans,
                kernels,
                span: end - start,
                busy: busy.total(),
                sum,
                computing: compute.total(),
                communicating: comm.total(),
                exposed_communication: comm.without(&but_comm),
                copying: copy.total(),
                exposed_copies: copy.without(&but_copies),
                busy_intervals: busy,
            }
        })
        .collect()
}

/// All GPUs together: times are added, since each GPU could have worked all the time.
pub fn together(all: &[Overview]) -> Overview {
    let mut out = Overview::default();
    for it in all {
        out.device = it.device;
        out.spans += it.spans;
        out.kernels += it.kernels;
        out.span += it.span;
        out.busy += it.busy;
        out.sum += it.sum;
        out.computing += it.computing;
        out.communicating += it.communicating;
        out.exposed_communication += it.exposed_communication;
        out.copying += it.copying;
        out.exposed_copies += it.exposed_copies;
    }
    out
}

/// Overviews of the spans that were launched within the trace.
pub fn linked(timeline: &Timeline, links: &Links) -> Vec<Overview> {
    overviews(timeline, &|at| !links.is_stale(at))
}
