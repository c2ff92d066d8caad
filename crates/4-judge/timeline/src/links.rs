//! Links from kernels to the calls that launched them and to the operators they belong to.
//!
//! Launch and kernel share a correlation, operator and kernel an external id; a kernel whose correlation no
//! call of the trace has was launched before the trace began.

use sorting::Sort;
use std::collections::HashSet;
use trace::{Format, GpuKind, HostKind, Timeline};

/// No row.
pub(crate) const NONE: u32 = u32::MAX;

/// Connections between rows of a timeline.
#[derive(Clone, Debug, Default)]
pub struct Links {
    /// Row of the runtime call that launched each GPU span, or [`NONE`].
    pub launch: Vec<u32>,
    /// Row of the operator of each GPU span, or [`NONE`].
    pub operator: Vec<u32>,
    /// Whether the trace has runtime calls with correlations, so that an absent launch says something.
    pub has_launches: bool,
    /// Whether the trace has operators.
    pub has_operators: bool,
    /// Whether the tool records the launch of every span, so that one without was launched before the trace
    /// began.
    records_all: bool,
}

impl Links {
    /// Finds the connections.
    pub fn of(timeline: &Timeline) -> Links {
        let host = &timeline.host;
        let (mut launches, mut operators, mut annotations) = (Vec::new(), Vec::new(), Vec::new());
        let mut has_operators = false;
        for (at, kind) in host.kind.iter().enumerate() {
            let row = u32::try_from(at).unwrap_or(NONE);
            match kind {
                HostKind::Runtime if host.correlation[at] != 0 => launches.push((host.correlation[at], row)),
                HostKind::Operator => {
                    has_operators = true;
                    if host.external[at] != 0 {
                        operators.push((host.external[at], row));
                    }
                }
                HostKind::Annotation if host.external[at] != 0 => annotations.push((host.external[at], row)),
                _ => {}
            }
        }
        // Ids grow with the file nearly everywhere, and such a list is sorted in one pass.
        launches.in_order();
        operators.in_order();
        annotations.in_order();
        let gpu = &timeline.gpu;
        let operator = |id: &u64| match last(&operators, *id) {
            NONE => first(&annotations, *id),
            row => row,
        };
        Links {
            launch: gpu.correlation.iter().map(|id| first(&launches, *id)).collect(),
            operator: gpu.external.iter().map(operator).collect(),
            has_launches: !launches.is_empty(),
            has_operators,
            records_all: timeline.format == Format::Kineto,
        }
    }

    /// Row of the call that launched a GPU span.
    pub fn launch_of(&self, gpu: usize) -> Option<usize> {
        self.launch.get(gpu).filter(|row| **row != NONE).map(|row| *row as usize)
    }

    /// Row of the operator of a GPU span.
    pub fn operator_of(&self, gpu: usize) -> Option<usize> {
        self.operator.get(gpu).filter(|row| **row != NONE).map(|row| *row as usize)
    }

    /// Whether a GPU span was launched before the trace began: the trace has launches, and none is its.
    pub fn is_stale(&self, gpu: usize) -> bool {
        self.records_all && self.has_launches && self.launch[gpu] == NONE
    }
}

/// The first row of an id in a sorted list, or [`NONE`].
fn first(list: &[(u64, u32)], id: u64) -> u32 {
    let at = list.partition_point(|(other, _)| *other < id);
    list.get(at).filter(|(other, _)| *other == id && id != 0).map_or(NONE, |(_, row)| *row)
}

/// The last one.
fn last(list: &[(u64, u32)], id: u64) -> u32 {
    let after = list.partition_point(|(other, _)| *other <= id);
    let found = after.checked_sub(1).and_then(|at| list.get(at));
    found.filter(|(other, _)| *other == id && id != 0).map_or(NONE, |(_, row)| *row)
}

/// Names of calls that launch kernels.
pub fn is_launch(call: &str) -> bool {
    call.contains("LaunchKernel") || call.contains("LaunchCooperative")
}

/// Names of calls that launch a graph.
pub fn is_graph_launch(call: &str) -> bool {
    call.contains("GraphLaunch")
}

/// Names of calls that return only when the GPU has done something.
pub fn is_synchronising(call: &str) -> bool {
    call.contains("Synchronize")
        || matches!(call, "hipMemcpy" | "hipMemcpyWithStream" | "hipMemcpyDtoH" | "hipFree")
}

/// Launches whose kernels did not run within the trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Launched {
    /// Launch calls of kernels.
    pub calls: u64,
    /// Part of them without a kernel in the trace: captured into a graph, or cut off at the trace's end.
    pub without_kernel: u64,
    /// Launches of graphs.
    pub graphs: u64,
    /// Kernels that those replayed.
    pub replayed: u64,
    /// Whether a stream was being captured.
    pub capturing: bool,
}

impl Launched {
    /// Counts them.
    pub fn of(timeline: &Timeline, links: &Links) -> Launched {
        let kinds: Vec<(bool, bool, bool)> = timeline
            .names
            .iter()
            .map(|text| {
                let capture = text.contains("StreamBeginCapture") || text.contains("StreamEndCapture");
                (is_launch(text), is_graph_launch(text), capture)
            })
            .collect();
        let kind_of = |row: usize| kinds.get(timeline.host.name[row].0 as usize).copied().unwrap_or_default();
        let ran: HashSet<u32> = links.launch.iter().copied().collect();
        let mut out = Launched::default();
        for at in 0..timeline.host.len() {
            if timeline.host.kind[at] != HostKind::Runtime {
                continue;
            }
            let (launch, graph, capture) = kind_of(at);
            out.capturing |= capture;
            out.graphs += u64::from(graph);
            if launch {
                out.calls += 1;
                out.without_kernel += u64::from(!ran.contains(&(at as u32)));
            }
        }
        for at in 0..timeline.gpu.len() {
            let graph = links.launch_of(at).is_some_and(|row| kind_of(row).1);
            out.replayed += u64::from(graph && timeline.gpu.kind[at] == GpuKind::Kernel);
        }
        out
    }
}
