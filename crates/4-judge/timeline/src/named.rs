//! Ranges that a user named, summed by name.
//!
//! A range has what was launched while it was open, on any thread: autograd launches on a second one.

use crate::category::COMMUNICATION;
use crate::intervals::Intervals;
use crate::kernels::KernelSum;
use crate::links::Links;
use crate::steps::step_number;
use sorting::Sort;
use std::collections::HashMap;
use trace::{GpuKind, HostKind, Name, Timeline};

/// Ranges open at a time that are followed; deeper ones have their work counted by the outer ones only.
const DEEPEST: usize = 64;

/// All ranges of one name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedRange {
    /// Name.
    pub name: Name,
    /// How often it was opened.
    pub calls: u64,
    /// On the host, ns.
    pub host: i64,
    /// Spans launched in it, inner ranges included.
    pub spans: u64,
    /// Part of them that are element-wise kernels.
    pub element_wise: u64,
    /// Time of those, ns.
    pub element_wise_ns: i64,
    /// Sum of the spans' durations, ns.
    pub gpu: i64,
    /// Time in which any of them runs, ns.
    pub busy: i64,
    /// From the first start to the last end of each opening, added, ns.
    pub span: i64,
    /// Time of kernels launched in it and in no inner range, without communication, ns.
    pub own: i64,
}

/// Rows of ranges, outer ones first, and GPU spans by the time of their launch.
fn in_order(timeline: &Timeline, links: &Links) -> (Vec<usize>, Vec<(i64, usize)>) {
    let host = &timeline.host;
    let mut rows: Vec<usize> = (0..host.len())
        .filter(|at| host.kind[*at] == HostKind::Annotation)
        .filter(|at| step_number(timeline.names.get(host.name[*at])).is_none())
        .collect();
    if rows.is_empty() {
        return (rows, Vec::new());
    }
    rows.in_order_by_key(|at| (host.start[*at], std::cmp::Reverse(host.end[*at])));
    let launched = |gpu: usize| links.launch_of(gpu).map(|row| (host.start[row], gpu));
    let mut launched: Vec<(i64, usize)> = (0..timeline.gpu.len()).filter_map(launched).collect();
    launched.in_order();
    (rows, launched)
}

/// Passes each launched GPU span with the ranges open at its launch, outermost first.
fn each_launched(
    timeline: &Timeline,
    rows: &[usize],
    launched: Vec<(i64, usize)>,
    mut take: impl FnMut(usize, &[usize]),
) {
    let host = &timeline.host;
    let mut next = rows.iter().copied().peekable();
    let mut open: Vec<usize> = Vec::new();
    for (time, gpu) in launched {
        while let Some(row) = next.next_if(|row| host.start[*row] <= time) {
            open.retain(|other| host.end[*other] > host.start[row]);
            if open.len() < DEEPEST {
                open.push(row);
            }
        }
        open.retain(|row| host.end[*row] > time);
        take(gpu, &open);
    }
}

/// Ranges by name, most time on the GPU first, then on the host. Steps of the profiler are left out.
pub fn named_ranges(timeline: &Timeline, links: &Links, kernels: &[KernelSum]) -> Vec<NamedRange> {
    #[derive(Default)]
    struct Sum {
        spans: u64,
        element_wise: (u64, i64),
        gpu: i64,
        own: i64,
        intervals: Vec<(i64, i64)>,
    }
    let host = &timeline.host;
    let gpu = &timeline.gpu;
    let (rows, launched) = in_order(timeline, links);
    if rows.is_empty() {
        return Vec::new();
    }
    let categories = categories(timeline, kernels);
    let mut sums: HashMap<Name, Sum> = HashMap::new();
    let mut extents: HashMap<usize, (i64, i64)> = HashMap::new();
    each_launched(timeline, &rows, launched, |at, open| {
        let (start, end, ns) = (gpu.start[at], gpu.end[at], gpu.duration(at));
        let category = categories.get(gpu.name[at].0 as usize).copied().unwrap_or("");
        let kernel = gpu.kind[at] == GpuKind::Kernel;
        for (depth, row) in open.iter().enumerate() {
            let name = host.name[*row];
            let extent = extents.entry(*row).or_insert((start, end));
            *extent = (extent.0.min(start), extent.1.max(end));
            // A range within one of the same name has its work counted once.
            if open[..depth].iter().any(|outer| host.name[*outer] == name) {
                continue;
            }
            let sum = sums.entry(name).or_default();
            sum.spans += 1;
            sum.gpu += ns;
            sum.intervals.push((start, end));
            if kernel && category == "element-wise" {
                sum.element_wise.0 += 1;
                sum.element_wise.1 += ns;
            }
        }
        if let Some(inner) = open.last().filter(|_| kernel && category != COMMUNICATION) {
            sums.entry(host.name[*inner]).or_default().own += ns;
        }
    });
    let mut calls: HashMap<Name, (u64, i64, i64)> = HashMap::new();
    for row in rows {
        let sum = calls.entry(host.name[row]).or_default();
        sum.0 += 1;
        sum.1 += host.duration(row);
        sum.2 += extents.get(&row).map_or(0, |(start, end)| end - start);
    }
    let mut out: Vec<NamedRange> = calls
        .into_iter()
        .map(|(name, (calls, host, span))| {
            let sum = sums.remove(&name).unwrap_or_default();
            let (element_wise, element_wise_ns) = sum.element_wise;
            let busy = Intervals::union(sum.intervals).total();
            let (spans, gpu, own) = (sum.spans, sum.gpu, sum.own);
            NamedRange { name, calls, host, spans, element_wise, element_wise_ns, gpu, busy, span, own }
        })
        .collect();
    out.in_order_by_key(|it| (std::cmp::Reverse(it.gpu), std::cmp::Reverse(it.host), it.name));
    out
}

/// Category of each name's kernel.
fn categories(timeline: &Timeline, kernels: &[KernelSum]) -> Vec<&'static str> {
    let mut out = vec![""; timeline.names.len()];
    for kernel in kernels.iter().filter(|it| it.kind == GpuKind::Kernel) {
        if let Some(category) = out.get_mut(kernel.name.0 as usize) {
            *category = kernel.category;
        }
    }
    out
}
