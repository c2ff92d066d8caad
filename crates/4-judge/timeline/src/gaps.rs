//! Single gaps of a GPU: the longest, those that repeat, and what the host did in them.
//!
//! Rules ask for them only once a sum of idle time is worth a finding.

use crate::by_name::ByName;
use crate::evidence::TimelineEvidence;
use crate::idle::{Gap, Why, each_gap};
use crate::links::is_graph_launch;
use crate::steps::step_number;
use sorting::Sort;
use std::collections::HashMap;
use trace::{HostKind, Name, Timeline};

/// Gaps that are longer than any launch takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LongGaps {
    /// Their number.
    pub count: u64,
    /// Their time together, ns.
    pub ns: i64,
    /// The longest.
    pub longest: Option<Gap>,
}

/// Gaps of at least `least` ns that the host caused by launching late.
pub fn long_gaps(evidence: &TimelineEvidence<'_>, least: i64) -> LongGaps {
    let mut out = LongGaps::default();
    each_gap(evidence.timeline, &evidence.links, &evidence.overviews, |gap| {
        let length = gap.end - gap.start;
        if gap.why != Why::HostLate || length < least {
            return;
        }
        out.count += 1;
        out.ns += length;
        if out.longest.is_none_or(|longest| length > longest.end - longest.start) {
            out.longest = Some(gap);
        }
    });
    out
}

/// Where in a graph a queued span is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GraphPlace {
    /// Both spans around the gap are of one graph launch.
    Within,
    /// The span before ends a graph launch.
    After,
    /// Neither.
    Elsewhere,
}

/// Gaps with the same kernels around them whose next span was queued before the gap began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueuedGaps {
    /// Kernel before the gap.
    pub before: Name,
    /// Kernel after it.
    pub after: Name,
    /// Place in graphs.
    pub place: GraphPlace,
    /// Number of gaps.
    pub count: u64,
    /// Time, ns.
    pub ns: i64,
    /// Longest, ns.
    pub longest: i64,
    /// Gaps after which another stream goes on.
    pub other_stream: u64,
}

/// Gaps before queued spans, by the kernels around them, most time first.
pub fn queued_gaps(evidence: &TimelineEvidence<'_>) -> Vec<QueuedGaps> {
    let timeline = evidence.timeline;
    let gpu = &timeline.gpu;
    let mut last: HashMap<(u64, i64), usize> = HashMap::new();
    for at in 0..gpu.len() {
        let device = timeline.queues.get(gpu.queue[at] as usize).map_or(0, |queue| queue.device);
        last.insert((device, gpu.end[at]), at);
    }
    let graph: Vec<bool> = timeline.names.iter().map(is_graph_launch).collect();
    let graph_of = |at: usize| {
        let row = evidence.links.launch_of(at)?;
        let name = timeline.host.name[row].0 as usize;
        graph.get(name).copied().unwrap_or(false).then_some(row)
    };
    let mut sums: HashMap<(Name, Name, GraphPlace), QueuedGaps> = HashMap::new();
    each_gap(timeline, &evidence.links, &evidence.overviews, |gap| {
        let before = last.get(&(gap.device, gap.start)).copied();
        let (Why::Queued, Some(before), Some(after)) = (gap.why, before, gap.next) else { return };
        let place = match (graph_of(before), graph_of(after)) {
            (Some(a), Some(b)) if a == b => GraphPlace::Within,
            (Some(_), _) => GraphPlace::After,
            _ => GraphPlace::Elsewhere,
        };
        let (before_name, after_name) = (gpu.name[before], gpu.name[after]);
        let sum = sums.entry((before_name, after_name, place)).or_insert(QueuedGaps {
            before: before_name,
            after: after_name,
            place,
            count: 0,
            ns: 0,
            longest: 0,
            other_stream: 0,
        });
        sum.count += 1;
        sum.ns += gap.end - gap.start;
        sum.longest = sum.longest.max(gap.end - gap.start);
        sum.other_stream += u64::from(gpu.queue[before] != gpu.queue[after]);
    });
    let mut out: Vec<QueuedGaps> = sums.into_values().collect();
    out.in_order_by_key(|it| (std::cmp::Reverse(it.ns), it.before, it.after));
    out
}

/// The kernel, copy or fill that ends where a gap begins.
pub fn before(evidence: &TimelineEvidence<'_>, gap: &Gap) -> Option<Name> {
    let (timeline, gpu) = (evidence.timeline, &evidence.timeline.gpu);
    let of_device =
        |at: usize| timeline.queues.get(gpu.queue[at] as usize).is_some_and(|it| it.device == gap.device);
    (0..gpu.len()).rev().find(|at| gpu.end[*at] == gap.start && of_device(*at)).map(|at| gpu.name[at])
}

/// The host's span in a gap: the shortest span of the launching thread that covers at least four fifths of it.
pub fn host_in(timeline: &Timeline, gap: &Gap) -> Option<usize> {
    let host = &timeline.host;
    let thread = host.thread[gap.launch?];
    let covered = |at: usize| host.end[at].min(gap.end) - host.start[at].max(gap.start);
    (0..host.len())
        .filter(|at| host.thread[*at] == thread && covered(*at) >= (gap.end - gap.start) / 5 * 4)
        .filter(|at| step_number(timeline.names.get(host.name[*at])).is_none())
        .min_by_key(|at| (host.duration(*at), *at))
}

/// The innermost range that a user named around a moment; backward passes launch on another thread.
pub fn range_at(timeline: &Timeline, time: i64) -> Option<usize> {
    let host = &timeline.host;
    (0..host.len())
        .filter(|at| host.kind[*at] == HostKind::Annotation)
        .filter(|at| host.start[*at] <= time && time < host.end[*at])
        .filter(|at| step_number(timeline.names.get(host.name[*at])).is_none())
        .max_by_key(|at| host.start[*at])
}

/// Operators in which the host waits for the GPU and leaves it idle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitSum {
    /// The outermost operator of the library around the call: `aten::item`.
    pub operator: Option<Name>,
    /// The call.
    pub call: Name,
    /// Idle time, ns.
    pub ns: i64,
    /// Number of gaps.
    pub gaps: u64,
    /// Whether the operator copies just before it waits.
    pub copies: bool,
}

/// Waits that leave the GPU idle, by operator and call, most idle time first.
pub fn waits(evidence: &TimelineEvidence<'_>) -> Vec<WaitSum> {
    let timeline = evidence.timeline;
    let host = &timeline.host;
    let idle = &evidence.idle.waits;
    let rows: Vec<usize> = idle.iter().map(|(row, _)| *row).collect();
    let outer = enclosing(timeline, &rows);
    let mut sums: HashMap<(Option<Name>, Name), WaitSum> = HashMap::new();
    for (row, ns) in idle.iter().copied() {
        let (operator, copies) = match outer.get(&row) {
            Some((operator, copies)) => (Some(host.name[*operator]), *copies),
            None => (None, false),
        };
        let call = host.name[row];
        let blank = WaitSum { operator, call, ns: 0, gaps: 0, copies: false };
        let sum = sums.entry((operator, call)).or_insert(blank);
        sum.ns += ns;
        sum.gaps += 1;
        sum.copies |= copies || timeline.names.get(call).contains("Memcpy");
    }
    let mut out: Vec<WaitSum> = sums.into_values().collect();
    out.in_order_by_key(|it| (std::cmp::Reverse(it.ns), it.operator, it.call));
    out
}

/// For calls, the outermost operator of those around it that are the library's; and whether a copy was called in it.
fn enclosing(timeline: &Timeline, calls: &[usize]) -> HashMap<usize, (usize, bool)> {
    let host = &timeline.host;
    let mut by_thread: HashMap<u32, Vec<usize>> = HashMap::new();
    for row in calls {
        by_thread.entry(host.thread[*row]).or_default().push(*row);
    }
    let mut out = HashMap::new();
    for (thread, mut calls) in by_thread {
        let mut copies: ByName<bool> = ByName::of(timeline);
        let mut is_copy =
            |at: usize| *copies.get(host.name[at], || timeline.names.get(host.name[at]).contains("Memcpy"));
        calls.in_order_by_key(|at| host.start[*at]);
        let times: Vec<i64> = calls.iter().map(|at| host.start[*at]).collect();
        // Operators in which no call waits would be most of what is sorted.
        let around = |at: usize| {
            let next = times.partition_point(|time| *time < host.start[at]);
            times.get(next).is_some_and(|time| *time < host.end[at])
        };
        let mut rows: Vec<usize> = Vec::new();
        for at in 0..host.len() {
            let wanted = match host.kind[at] {
                HostKind::Operator => host.thread[at] == thread && around(at),
                HostKind::Runtime => host.thread[at] == thread && is_copy(at),
                _ => false,
            };
            if wanted {
                rows.push(at);
            }
        }
        rows.in_order_by_key(|at| (host.start[*at], std::cmp::Reverse(host.end[*at])));
        let mut next = rows.into_iter().peekable();
        let (mut stack, mut copied): (Vec<usize>, i64) = (Vec::new(), i64::MIN);
        for call in calls {
            let time = host.start[call];
            while let Some(row) = next.next_if(|row| host.start[*row] <= time) {
                if host.kind[row] == HostKind::Runtime {
                    copied = host.start[row];
                    continue;
                }
                while stack.last().is_some_and(|top| host.end[*top] <= host.start[row]) {
                    stack.pop();
                }
                stack.push(row);
            }
            while stack.last().is_some_and(|top| host.end[*top] <= time) {
                stack.pop();
            }
            let is_library = |row: &&usize| timeline.names.get(host.name[**row]).starts_with("aten::");
            let outer = stack.iter().rev().take_while(is_library).last().or(stack.last());
            if let Some(operator) = outer {
                out.insert(call, (*operator, copied >= host.start[*operator]));
            }
        }
    }
    out
}
