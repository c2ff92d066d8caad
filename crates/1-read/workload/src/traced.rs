//! Thread-trace counts by kernel and instruction.
//!
//! A thread trace follows the waves of one compute unit of each shader engine, so its counts are exact for
//! these waves and cannot be extrapolated to others.

use crate::sampled::{SampledInstruction, SampledKernel};
use sorting::Sort;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Counts of the traced waves at one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TracedCounts {
    /// Executions by traced waves.
    pub hits: u64,
    /// Cycles from the first try to issue to the end of the issue, the stall counted in.
    pub latency: u64,
    /// Part of it in which the instruction could not issue.
    pub stall: u64,
    /// Cycles between the end of the instruction before and the first try to issue.
    pub idle: u64,
}

impl TracedCounts {
    /// Adds other executions.
    pub fn add(&mut self, other: &TracedCounts) {
        self.hits = self.hits.saturating_add(other.hits);
        self.latency = self.latency.saturating_add(other.latency);
        self.stall = self.stall.saturating_add(other.stall);
        self.idle = self.idle.saturating_add(other.idle);
    }
}

/// A dispatch that was traced.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TracedDispatch {
    /// ID as recorded.
    pub id: u64,
    /// Agent as recorded: a GPU.
    pub agent: u64,
    /// Its kernel, an index into [`Traces::kernels`]; absent if no wave was traced.
    pub kernel: Option<u32>,
    /// Waves whose instructions were traced; absent if the files do not say.
    pub waves: Option<u64>,
    /// Time and place of each wave, sorted by place and begin; empty if the files do not tell.
    pub spans: Vec<WaveSpan>,
}

/// A traced wave from its begin to its end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct WaveSpan {
    /// Shader engine, SIMD and slot of it.
    pub place: [u32; 3],
    /// Cycle of the GPU's clock.
    pub begin: u64,
    /// The cycle after its last.
    pub end: u64,
}

/// One instruction in one dispatch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TraceRow {
    pub(crate) dispatch: u64,
    /// An index into [`Traces::kernels`].
    pub(crate) kernel: u32,
    pub(crate) instruction: SampledInstruction,
    pub(crate) counts: TracedCounts,
}

/// The thread traces of a recording.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Traces {
    /// Files they were read from.
    pub sources: Vec<String>,
    /// Traces were taken in a separate run of the application, so their dispatches differ from the counters'
    /// dispatches.
    pub own_run: bool,
    /// Kernels, and functions that were not inlined.
    pub kernels: Vec<SampledKernel>,
    /// Dispatches.
    pub dispatches: Vec<TracedDispatch>,
    pub(crate) rows: Vec<TraceRow>,
}

/// The trace of one kernel, summed over dispatches.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KernelTrace {
    /// Kernel.
    pub kernel: SampledKernel,
    /// Dispatches that were traced.
    pub dispatches: u64,
    /// Waves of these dispatches; absent if the files do not say.
    pub waves: Option<u64>,
    /// All its instructions.
    pub total: TracedCounts,
    /// Instructions by address, then text; instructions that no traced wave ran have zeros.
    pub rows: BTreeMap<SampledInstruction, TracedCounts>,
}

impl Traces {
    /// Everything together.
    pub fn total(&self) -> TracedCounts {
        let mut total = TracedCounts::default();
        self.rows.iter().for_each(|row| total.add(&row.counts));
        total
    }

    /// Sums over the kernels and dispatches that `wanted` selects, kernels with most stalled cycles first.
    pub fn by_kernel(&self, wanted: &dyn Fn(&SampledKernel, u64) -> bool) -> Vec<KernelTrace> {
        let mut out: Vec<KernelTrace> = self
            .kernels
            .iter()
            .map(|kernel| KernelTrace { kernel: kernel.clone(), ..KernelTrace::default() })
            .collect();
        let waves: HashMap<u64, Option<u64>> = self.dispatches.iter().map(|it| (it.id, it.waves)).collect();
        let mut seen: HashMap<u32, HashSet<u64>> = HashMap::new();
        for row in &self.rows {
            let Some(sum) = out.get_mut(row.kernel as usize) else { continue };
            if !wanted(&sum.kernel, row.dispatch) {
                continue;
            }
            if seen.entry(row.kernel).or_default().insert(row.dispatch) {
                let own = waves.get(&row.dispatch).copied().flatten();
                sum.waves = if sum.dispatches == 0 { own } else { sum.waves.zip(own).map(|(a, b)| a + b) };
                sum.dispatches += 1;
            }
            sum.total.add(&row.counts);
            match sum.rows.get_mut(&row.instruction) {
                Some(counts) => counts.add(&row.counts),
                None => {
                    sum.rows.insert(row.instruction.clone(), row.counts);
                }
            }
        }
        out.retain(|kernel| kernel.dispatches > 0);
        out.in_order_by(|a, b| b.total.stall.cmp(&a.total.stall).then_with(|| a.kernel.cmp(&b.kernel)));
        out
    }
}
