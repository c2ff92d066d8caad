//! Reasons for idle time: the event that each gap between the spans of a GPU waited for.
//!
//! A gap ends with a span, and the call that launched this span says how long the host was to blame.

use crate::by_name::ByName;
use crate::links::{Links, is_synchronising};
use crate::overview::Overview;
use sorting::Sort;
use std::collections::{BTreeMap, HashMap};
use trace::{HostKind, Name, Timeline};

/// Reason why a GPU was idle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Why {
    /// The host waited for the GPU before it launched more.
    Synchronised,
    /// The host had not launched the next span yet.
    HostLate,
    /// The launch was called after the gap began, and the span had not started yet.
    Launching,
    /// The span was queued before the gap began: dependencies, and the latency from one span to the next.
    Queued,
    /// The trace does not link the span to its launch.
    Unknown,
}

impl Why {
    /// All reasons, in the order of tables.
    pub const ALL: [Why; 5] = [Why::Synchronised, Why::HostLate, Why::Launching, Why::Queued, Why::Unknown];

    /// Display name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Why::Synchronised => "host waits for the GPU before it launches more",
            Why::HostLate => "host launches late",
            Why::Launching => "launch under way",
            Why::Queued => "next span queued, not started",
            Why::Unknown => "launch not in the trace",
        }
    }
}

/// Idle time for one reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Idle {
    /// ns.
    pub ns: i64,
    /// Gaps with a part of it.
    pub gaps: u64,
    /// Longest part, ns.
    pub longest: i64,
}

/// Idle time by reason, and what the host did in it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct IdleTime {
    /// Idle time by reason.
    pub by_reason: BTreeMap<Why, Idle>,
    /// Calls the host waited in, ns.
    pub calls: Vec<(Name, i64, u64)>,
    /// Operators whose kernels the GPU waited for while the host was late, ns.
    pub operators: Vec<(Name, i64, u64)>,
    /// Part of [`Why::Launching`] in gaps that began with a wait of the host, ns.
    pub launching_after_waits: i64,
    /// Gaps that began with a wait of the host: row of its call, and the gap's length, ns.
    pub waits: Vec<(usize, i64)>,
}

/// Divides the gaps of all GPUs.
pub fn idle(timeline: &Timeline, links: &Links, overviews: &[Overview]) -> IdleTime {
    let mut out = IdleTime::default();
    let (mut calls, mut operators) = (HashMap::new(), HashMap::new());
    each_gap(timeline, links, overviews, |gap| {
        let (before, after) = (gap.called - gap.start, gap.end - gap.called);
        if matches!(gap.why, Why::Unknown | Why::Queued) {
            return add(&mut out, gap.why, gap.end - gap.start);
        }
        add(&mut out, gap.why, before);
        add(&mut out, Why::Launching, after);
        if let Some(call) = gap.wait {
            count(&mut calls, timeline.host.name[call], before);
            out.launching_after_waits += after;
            out.waits.push((call, before + after));
        }
        if let Some(operator) = gap.next.and_then(|gpu| links.operator_of(gpu)) {
            count(&mut operators, timeline.host.name[operator], before);
        }
    });
    out.calls = sorted(calls);
    out.operators = sorted(operators);
    out
}

/// A time in which a GPU runs nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gap {
    /// GPU as the trace numbers it.
    pub device: u64,
    /// Begin: the end of the span before, ns.
    pub start: i64,
    /// End: the start of the next span, ns.
    pub end: i64,
    /// The span that ends the gap.
    pub next: Option<usize>,
    /// The call that launched it.
    pub launch: Option<usize>,
    /// When it was called, or the gap's begin if that was later, ns.
    pub called: i64,
    /// Why the GPU was idle until the call; [`Why::Queued`] and [`Why::Unknown`] are about the whole gap.
    pub why: Why,
    /// The call in which the host waited.
    pub wait: Option<usize>,
}

/// Passes all gaps of all GPUs, each GPU's in the order of time.
pub(crate) fn each_gap(
    timeline: &Timeline,
    links: &Links,
    overviews: &[Overview],
    mut take: impl FnMut(Gap),
) {
    let syncs = synchronising_calls(timeline);
    for overview in overviews {
        let device = overview.device;
        let first = first_spans(timeline, device);
        for (start, end) in overview.busy_intervals.gaps() {
            let next = first.get(&end).copied();
            let launch = next.and_then(|gpu| links.launch_of(gpu));
            let blank =
                Gap { device, start, end, next, launch, called: start, why: Why::Unknown, wait: None };
            let Some(row) = launch else {
                take(blank);
                continue;
            };
            let called = timeline.host.start[row].clamp(start, end);
            if called == start {
                take(Gap { why: Why::Queued, ..blank });
                continue;
            }
            let wait = waiting(&syncs, timeline, timeline.host.thread[row], start, called);
            let why = if wait.is_some() { Why::Synchronised } else { Why::HostLate };
            take(Gap { called, why, wait, ..blank });
        }
    }
}

fn add(out: &mut IdleTime, why: Why, ns: i64) {
    if ns > 0 {
        let idle = out.by_reason.entry(why).or_default();
        idle.ns += ns;
        idle.gaps += 1;
        idle.longest = idle.longest.max(ns);
    }
}

fn count(map: &mut HashMap<Name, (i64, u64)>, name: Name, ns: i64) {
    let sum = map.entry(name).or_default();
    sum.0 += ns;
    sum.1 += 1;
}

fn sorted(map: HashMap<Name, (i64, u64)>) -> Vec<(Name, i64, u64)> {
    let mut all: Vec<_> = map.into_iter().map(|(name, (ns, n))| (name, ns, n)).collect();
    all.in_order_by_key(|(name, ns, _)| (std::cmp::Reverse(*ns), *name));
    all
}

/// A span by its start, of one GPU; of several at a time the last in the file.
fn first_spans(timeline: &Timeline, device: u64) -> HashMap<i64, usize> {
    let gpu = &timeline.gpu;
    let of_device: Vec<bool> = timeline.queues.iter().map(|q| q.device == device).collect();
    let mut out = HashMap::new();
    for at in 0..gpu.len() {
        if of_device.get(gpu.queue[at] as usize).copied().unwrap_or(false) && gpu.end[at] > gpu.start[at] {
            out.insert(gpu.start[at], at);
        }
    }
    out
}

/// Rows of synchronising calls by thread, in the order of their starts, with the latest end so far.
type Syncs = HashMap<u32, Vec<(i64, i64, usize)>>;

fn synchronising_calls(timeline: &Timeline) -> Syncs {
    let mut is: ByName<bool> = ByName::of(timeline);
    let mut out: Syncs = HashMap::new();
    let host = &timeline.host;
    for at in (0..host.len()).filter(|at| host.kind[*at] == HostKind::Runtime) {
        let name = host.name[at];
        if *is.get(name, || is_synchronising(timeline.names.get(name))) {
            out.entry(host.thread[at]).or_default().push((host.start[at], host.end[at], at));
        }
    }
    out.values_mut().for_each(|all| all.in_order());
    out
}

/// The call in which a thread waited when a gap began, or last within it. It must have lasted beyond the
/// gap's begin: a wait that was over before had nothing to do with the gap.
fn waiting(syncs: &Syncs, timeline: &Timeline, thread: u32, start: i64, called: i64) -> Option<usize> {
    let all = syncs.get(&thread)?;
    let before = all.partition_point(|(begin, _, _)| *begin < called);
    all[..before]
        .iter()
        .rev()
        .take(8)
        .filter(|(_, end, _)| *end > start)
        // A query of a stream that has already finished does not wait.
        .find(|(_, _, row)| timeline.host.duration(*row) > 1_000 || timeline.host.start[*row] <= start)
        .map(|(_, _, row)| *row)
}
