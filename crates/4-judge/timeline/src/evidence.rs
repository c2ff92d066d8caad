//! Everything of one timeline that tables and rules look at.

use crate::collectives::{CollectiveSum, collectives};
use crate::gemm::{ProductSum, products};
use crate::idle::{IdleTime, idle};
use crate::kernels::{KernelSum, kernels};
use crate::launches::{CallTime, GraphLaunch, Latency, calls, graphs, latency};
use crate::links::{Launched, Links};
use crate::named::{NamedRange, named_ranges};
use crate::operators::{OperatorSum, operators};
use crate::overview::{Overview, linked, overviews, together};
use crate::profiler::ProfilerCost;
use crate::streams::{CopySum, StreamTime, copies, streams};
use arch::Model;
use trace::{GpuKind, Timeline};

/// Facts derived from a timeline.
pub struct TimelineEvidence<'a> {
    /// The timeline.
    pub timeline: &'a Timeline,
    /// Launches and operators of GPU spans.
    pub links: Links,
    /// The time of each GPU.
    pub overviews: Vec<Overview>,
    /// All GPUs together.
    pub total: Overview,
    /// The total without spans launched before the trace began; absent if all were launched in it, or if the
    /// trace does not tell.
    pub linked: Option<Overview>,
    /// Kernels launched before the trace began, and copies and fills.
    pub stale: (u64, u64),
    /// Reasons for idle time of the GPUs.
    pub idle: IdleTime,
    /// Kernels, copies and fills by name.
    pub kernels: Vec<KernelSum>,
    /// Operators by name.
    pub operators: Vec<OperatorSum>,
    /// Runtime calls by name.
    pub calls: Vec<CallTime>,
    /// Latency of launches.
    pub latency: Latency,
    /// Launches of graphs.
    pub graphs: Vec<GraphLaunch>,
    /// Launches and their kernels.
    pub launched: Launched,
    /// Ranges that a user named.
    pub named: Vec<NamedRange>,
    /// The profiler's cost on the host.
    pub profiler: ProfilerCost,
    /// Streams.
    pub streams: Vec<StreamTime>,
    /// Copies and fills.
    pub copies: Vec<CopySum>,
    /// Collectives.
    pub collectives: Vec<CollectiveSum>,
    /// Matrix products.
    pub products: Vec<ProductSum>,
    /// The GPU, where its name is known.
    pub model: Option<&'static Model>,
}

impl<'a> TimelineEvidence<'a> {
    /// Gathers everything.
    pub fn gather(timeline: &'a Timeline) -> TimelineEvidence<'a> {
        let links = Links::of(timeline);
        let all = overviews(timeline, &|_| true);
        let stale = |kernel: bool| {
            let is =
                |at: &usize| links.is_stale(*at) && (timeline.gpu.kind[*at] == GpuKind::Kernel) == kernel;
            (0..timeline.gpu.len()).filter(is).count() as u64
        };
        let stale = (stale(true), stale(false));
        // Sums over what the host did take longest, each pass as long as all over the GPUs together.
        let ((operators, calls, profiler), ((launched, products), (idle, (graphs, latency)))) = rayon::join(
            || {
                let calls = calls(timeline);
                let profiler = ProfilerCost::of(timeline, &calls);
                (operators(timeline, &links), calls, profiler)
            },
            || {
                rayon::join(
                    || (Launched::of(timeline, &links), products(timeline, &links)),
                    || (idle(timeline, &links, &all), (graphs(timeline, &links), latency(timeline, &links))),
                )
            },
        );
        let kernels = kernels(timeline, &links);
        TimelineEvidence {
            total: together(&all),
            linked: (stale != (0, 0)).then(|| together(&linked(timeline, &links))),
            stale,
            idle,
            operators,
            calls,
            latency,
            graphs,
            launched,
            named: named_ranges(timeline, &links, &kernels),
            kernels,
            profiler,
            streams: streams(timeline),
            copies: copies(timeline),
            collectives: collectives(timeline),
            products,
            model: model(timeline),
            overviews: all,
            links,
            timeline,
        }
    }

    /// Time of all GPU spans together, ns.
    pub fn gpu_time(&self) -> i64 {
        self.total.sum
    }

    /// True if most launches were captured into a graph and ran elsewhere, so that idle time is meaningless.
    pub fn is_capture(&self) -> bool {
        self.launched.calls > 20 && self.launched.without_kernel * 2 > self.launched.calls
    }

    /// A string of the timeline.
    pub fn text(&self, name: trace::Name) -> &'a str {
        self.timeline.names.get(name)
    }
}

/// The GPU that the trace names, in any words: `AMD Instinct MI300X VF`. One without a name is known by its
/// compute units.
fn model(timeline: &Timeline) -> Option<&'static Model> {
    let named = timeline.devices.iter().find_map(|device| {
        let words = device.name.split([' ', '_', '-', '(']);
        words.into_iter().find_map(Model::by_name)
    });
    let unnamed = timeline.devices.iter().find(|device| device.name.is_empty());
    let by_units = |device: &trace::Device| {
        let fits = |model: &&Model| {
            model.compute_units.value == device.compute_units
                && (device.target.is_empty() || device.target.starts_with(model.target().name))
        };
        Model::names().filter_map(Model::by_name).find(fits)
    };
    named.or_else(|| unnamed.and_then(by_units))
}
