//! Operators of the framework: time on the host and on the GPU.

use crate::by_name::ByName;
use crate::links::Links;
use sorting::Sort;
use std::collections::HashMap;
use trace::{GpuKind, HostKind, Name, Timeline};

/// One operator, by name.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OperatorSum {
    /// Name.
    pub name: Name,
    /// Calls.
    pub calls: u64,
    /// Time on the host with everything called, ns.
    pub host_total: i64,
    /// Time on the host in itself, ns.
    pub host_self: i64,
    /// Kernels it launched itself.
    pub kernels: u64,
    /// Their time, ns.
    pub gpu: i64,
}

/// Operators by name, most GPU time first, then host time.
pub fn operators(timeline: &Timeline, links: &Links) -> Vec<OperatorSum> {
    let host = &timeline.host;
    let mut sums: ByName<OperatorSum> = ByName::of(timeline);
    let blank = |name| OperatorSum { name, calls: 0, host_total: 0, host_self: 0, kernels: 0, gpu: 0 };
    let own = self_times(timeline);
    for at in (0..host.len()).filter(|at| host.kind[*at] == HostKind::Operator) {
        let sum = sums.get(host.name[at], || blank(host.name[at]));
        sum.calls += 1;
        sum.host_total += host.duration(at);
        sum.host_self += own[at];
    }
    for at in 0..timeline.gpu.len() {
        let Some(row) = links.operator_of(at) else { continue };
        let sum = sums.get(host.name[row], || blank(host.name[row]));
        sum.kernels += u64::from(timeline.gpu.kind[at] == GpuKind::Kernel);
        sum.gpu += timeline.gpu.duration(at);
    }
    let mut out: Vec<OperatorSum> = sums.into_values().map(|(_, sum)| sum).collect();
    out.in_order_by_key(|o| (std::cmp::Reverse(o.gpu), std::cmp::Reverse(o.host_self), o.name));
    out
}

/// Self time of each operator (its time minus the time of the operators it calls), ns, by row; 0 for other
/// rows.
fn self_times(timeline: &Timeline) -> Vec<i64> {
    let host = &timeline.host;
    let mut own = vec![0; host.len()];
    let mut threads: Vec<Vec<u32>> = vec![Vec::new(); timeline.threads.len()];
    for at in (0..host.len()).filter(|at| host.kind[*at] == HostKind::Operator) {
        own[at] = host.duration(at);
        if let (Some(rows), Ok(row)) = (threads.get_mut(host.thread[at] as usize), u32::try_from(at)) {
            rows.push(row);
        }
    }
    for mut rows in threads {
        in_order(timeline, &mut rows);
        let mut stack: Vec<usize> = Vec::new();
        for at in rows.into_iter().map(|row| row as usize) {
            while stack.last().is_some_and(|top| host.end[*top] <= host.start[at]) {
                stack.pop();
            }
            if let Some(caller) = stack.last() {
                own[*caller] = (own[*caller] - host.duration(at)).max(0);
            }
            stack.push(at);
        }
    }
    own
}

/// Sorts rows of a thread by start, outer ones first. Files have them in this order, or nearly, which one
/// pass finds.
fn in_order(timeline: &Timeline, rows: &mut [u32]) {
    let host = &timeline.host;
    rows.in_order_by_key(|row| (host.start[*row as usize], std::cmp::Reverse(host.end[*row as usize])));
}

/// A kernel with its origin.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Origin {
    /// Kernel.
    pub kernel: Name,
    /// Operator.
    pub operator: Option<Name>,
    /// The innermost Python function with a file and line: `train.py(184): main`.
    pub python: Option<Name>,
}

/// Kernels by operator and Python line, most time first: time and count.
pub fn origins(timeline: &Timeline, links: &Links) -> Vec<(Origin, i64, u64)> {
    let lines = python_lines(timeline, links);
    let mut sums: HashMap<Origin, (i64, u64)> = HashMap::new();
    for at in 0..timeline.gpu.len() {
        let origin = Origin {
            kernel: timeline.gpu.name[at],
            operator: links.operator_of(at).map(|row| timeline.host.name[row]),
            python: lines.get(&at).copied(),
        };
        if origin.operator.is_none() && origin.python.is_none() {
            continue;
        }
        let sum = sums.entry(origin).or_default();
        sum.0 += timeline.gpu.duration(at);
        sum.1 += 1;
    }
    let mut out: Vec<_> = sums.into_iter().map(|(origin, (ns, n))| (origin, ns, n)).collect();
    out.in_order_by_key(|(origin, ns, _)| {
        (std::cmp::Reverse(*ns), origin.kernel, origin.operator, origin.python)
    });
    out
}

/// The Python line of each GPU span, by row.
fn python_lines(timeline: &Timeline, links: &Links) -> HashMap<usize, Name> {
    let host = &timeline.host;
    let names = &timeline.names;
    let mut user: ByName<bool> = ByName::of(timeline);
    let mut by_thread: Vec<Vec<u32>> = vec![Vec::new(); timeline.threads.len()];
    for at in (0..host.len()).filter(|at| host.kind[*at] == HostKind::Python) {
        let name = host.name[at];
        // Functions of the framework do not show where a user's program called it.
        let is = user.get(name, || {
            let text = names.get(name);
            text.contains(".py(") && !text.starts_with("torch/") && !text.contains("site-packages/torch/")
        });
        if let (true, Some(rows), Ok(row)) =
            (*is, by_thread.get_mut(host.thread[at] as usize), u32::try_from(at))
        {
            rows.push(row);
        }
    }
    // Some files have Python under another thread's number than everything else; one such thread is the only candidate.
    let mut with = (0..by_thread.len()).filter(|thread| !by_thread[*thread].is_empty());
    let only = with.next().filter(|_| with.next().is_none());
    let mut queries: HashMap<usize, Vec<(i64, usize)>> = HashMap::new();
    for gpu in 0..timeline.gpu.len() {
        let Some(launch) = links.launch_of(gpu) else { continue };
        let thread = host.thread[launch] as usize;
        let own = by_thread.get(thread).is_some_and(|rows| !rows.is_empty());
        if let Some(thread) = if own { Some(thread) } else { only } {
            queries.entry(thread).or_default().push((host.start[launch], gpu));
        }
    }
    let mut out = HashMap::new();
    for (thread, mut times) in queries {
        let Some(rows) = by_thread.get_mut(thread) else { continue };
        in_order(timeline, rows);
        times.in_order();
        let mut stack: Vec<usize> = Vec::new();
        let mut next = rows.iter().map(|row| *row as usize).peekable();
        for (time, gpu) in times {
            while let Some(row) = next.next_if(|row| host.start[*row] <= time) {
                while stack.last().is_some_and(|top| host.end[*top] <= host.start[row]) {
                    stack.pop();
                }
                stack.push(row);
            }
            while stack.last().is_some_and(|top| host.end[*top] <= time) {
                stack.pop();
            }
            if let Some(top) = stack.last() {
                out.insert(gpu, host.name[*top]);
            }
        }
    }
    out
}
