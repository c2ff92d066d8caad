//! The profiler's own cost on the host, estimated from the trace.
//!
//! An operator that does nothing but call another one spends its own time on the record of that call, so the
//! median of such times is the cost of a record. Launches are compared with what they take without a profiler.

use crate::launches::CallTime;
use sorting::Sort;
use trace::{Format, HostKind, Timeline};

/// A launch without a profiler takes about this long, ns: 2 to 4 us on ROCm and CUDA.
const PLAIN_LAUNCH: f64 = 3_000.0;
/// Spans that are looked at for a median.
const SAMPLE: usize = 1 << 12;
/// A median needs this many.
const FEW: usize = 16;

/// Time of the profiler on the host.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ProfilerCost {
    /// Operators recorded, and the cost of each, ns.
    pub operators: (u64, i64),
    /// Python functions recorded (`with_stack`), and the cost of each, ns.
    pub python: (u64, i64),
    /// Launches, copies and fills called, and the cost of each beyond a plain one, ns.
    pub launches: (u64, i64),
    /// Spans in which the profiler itself worked, and their time, ns.
    pub overhead: (u64, i64),
}

impl ProfilerCost {
    /// All of it, ns.
    pub fn total(&self) -> i64 {
        let each = |(count, ns): (u64, i64)| i64::try_from(count).unwrap_or(0).saturating_mul(ns);
        each(self.operators) + each(self.python) + each(self.launches) + self.overhead.1
    }

    /// Estimates it; 0 for traces that do not record operators.
    pub fn of(timeline: &Timeline, calls: &[CallTime]) -> ProfilerCost {
        let mut out = ProfilerCost::default();
        if timeline.format != Format::Kineto {
            return out;
        }
        let host = &timeline.host;
        for at in 0..host.len() {
            match host.kind[at] {
                HostKind::Operator => out.operators.0 += 1,
                HostKind::Python => out.python.0 += 1,
                HostKind::Overhead => {
                    out.overhead.0 += 1;
                    out.overhead.1 += host.duration(at);
                }
                _ => {}
            }
        }
        out.operators.1 = record(timeline, HostKind::Operator);
        out.python.1 = record(timeline, HostKind::Python);
        let moves = |text: &str| text.contains("MemcpyAsync") || text.contains("MemsetAsync");
        let launches = |call: &&CallTime| call.launches || moves(timeline.names.get(call.name));
        let (mut count, mut time) = (0u64, 0.0);
        for call in calls.iter().filter(launches) {
            // A launch of a graph takes longer because of its kernels.
            if crate::links::is_graph_launch(timeline.names.get(call.name)) {
                continue;
            }
            count += call.durations.count;
            time += (call.durations.mean() - PLAIN_LAUNCH).max(0.0) * call.durations.count as f64;
        }
        out.launches = (count, if count == 0 { 0 } else { (time / count as f64) as i64 });
        out
    }
}

/// Median time that a span of a kind spends in itself if it calls exactly one other of its kind, ns.
fn record(timeline: &Timeline, kind: HostKind) -> i64 {
    let host = &timeline.host;
    let mut rows: Vec<usize> = (0..host.len()).filter(|at| host.kind[*at] == kind).take(SAMPLE).collect();
    rows.in_order_by_key(|at| (host.thread[*at], host.start[*at], std::cmp::Reverse(host.end[*at])));
    // Open spans with the number of their calls and the time of those.
    let mut open: Vec<(usize, u32, i64)> = Vec::new();
    let mut own: Vec<i64> = Vec::new();
    let mut close = |(row, calls, inner): (usize, u32, i64)| {
        if calls == 1 {
            own.push((host.duration(row) - inner).max(0));
        }
    };
    for row in rows {
        while let Some(top) =
            open.pop_if(|top| host.thread[top.0] != host.thread[row] || host.end[top.0] <= host.start[row])
        {
            close(top);
        }
        if let Some(top) = open.last_mut() {
            top.1 += 1;
            top.2 += host.duration(row);
        }
        open.push((row, 0, 0));
    }
    open.into_iter().for_each(&mut close);
    if own.len() < FEW {
        return 0;
    }
    let middle = own.len() / 2;
    *own.select_nth_unstable(middle).1
}
