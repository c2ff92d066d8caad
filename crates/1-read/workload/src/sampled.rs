//! Samples of the program counter, by kernel and instruction.

use sorting::Sort;
use std::collections::{BTreeMap, HashMap};

/// Sampling method.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum SamplingMethod {
    /// The host interrupts the waves at equal times: the instruction is known, and not whether it issued.
    HostTrap,
    /// The hardware takes the samples: an instruction that did not issue has the reason.
    Stochastic,
}

impl SamplingMethod {
    /// Display text.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::HostTrap => "host trap",
            Self::Stochastic => "stochastic",
        }
    }
}

/// Stall reasons of a sampled wave: a word for tables, and the end of the profiler's name, in the order of
/// its numbers.
pub const SAMPLE_STALLS: [(&str, &str); 10] = [
    ("unknown", "NONE"),
    ("fetch", "NO_INSTRUCTION_AVAILABLE"),
    ("hazard", "ALU_DEPENDENCY"),
    ("waitcnt", "WAITCNT"),
    ("internal", "INTERNAL_INSTRUCTION"),
    ("barrier", "BARRIER_WAIT"),
    ("arbiter", "ARBITER_NOT_WIN"),
    ("busy", "ARBITER_WIN_EX_STALL"),
    ("other", "OTHER_WAIT"),
    ("sleep", "SLEEP_WAIT"),
];

/// Index in [`SAMPLE_STALLS`] of the reason that a profiler names; 0 for an unknown name.
pub(crate) fn stall_reason(name: &str) -> usize {
    let name = name.rsplit("NOT_ISSUED_REASON_").next().unwrap_or(name).trim();
    SAMPLE_STALLS.iter().position(|(_, known)| known.eq_ignore_ascii_case(name)).unwrap_or(0)
}

/// Sample counts of one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SampleCounts {
    /// Samples.
    pub samples: u64,
    /// Part of them in which the wave issued the instruction. Zero, like `stalled`, if the method does not
    /// tell.
    pub issued: u64,
    /// Part of them in which the wave did not issue it.
    pub stalled: u64,
    /// Samples that did not issue by reason, in the order of [`SAMPLE_STALLS`].
    pub stalls: [u64; SAMPLE_STALLS.len()],
}

impl SampleCounts {
    /// Adds other samples.
    pub fn add(&mut self, other: &SampleCounts) {
        self.samples += other.samples;
        self.issued += other.issued;
        self.stalled += other.stalled;
        self.stalls.iter_mut().zip(other.stalls).for_each(|(sum, more)| *sum += more);
    }

    /// Whether the samples say if instructions issued.
    pub const fn says_issued(&self) -> bool {
        self.issued + self.stalled > 0
    }

    /// Counts one sample.
    pub(crate) fn one(&mut self, issued: Option<bool>, reason: usize) {
        self.samples += 1;
        match issued {
            Some(true) => self.issued += 1,
            Some(false) => {
                self.stalled += 1;
                self.stalls[reason.min(SAMPLE_STALLS.len() - 1)] += 1;
            }
            None => {}
        }
    }
}

/// An instruction that was sampled.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct SampledInstruction {
    /// Virtual address in the code object; absent in CSV files, which do not say it.
    pub address: Option<u64>,
    /// Its text; empty if not recorded.
    pub text: String,
    /// Source file and line as recorded, `a.cpp:12`; empty without debug information.
    pub source: String,
}

/// A kernel that was sampled.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct SampledKernel {
    /// Name as recorded.
    pub name: String,
    /// Linker name; empty if not recorded.
    pub symbol: String,
}

/// The samples of one instruction in one dispatch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SampleRow {
    /// Process, by the system's number; 0 if unknown.
    pub(crate) process: u64,
    pub(crate) dispatch: u64,
    /// An index into [`Samples::kernels`].
    pub(crate) kernel: u32,
    /// An index into `Samples::instructions`.
    pub(crate) instruction: u32,
    pub(crate) counts: SampleCounts,
}

/// The samples of a recording.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Samples {
    /// Sampling methods, each once.
    pub methods: Vec<SamplingMethod>,
    /// Files they were read from.
    pub sources: Vec<String>,
    /// Samples were taken in a separate run of the application, so their dispatches differ from the counters'
    /// dispatches.
    pub own_run: bool,
    /// Kernels.
    pub kernels: Vec<SampledKernel>,
    pub(crate) instructions: Vec<SampledInstruction>,
    pub(crate) rows: Vec<SampleRow>,
}

/// The samples of one kernel, summed over dispatches.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KernelSamples {
    /// Kernel.
    pub kernel: SampledKernel,
    /// Dispatches with samples.
    pub dispatches: u64,
    /// All its samples.
    pub total: SampleCounts,
    /// Instructions by address, then text.
    pub rows: BTreeMap<SampledInstruction, SampleCounts>,
    /// Number of samples of an instruction by process, if several processes were sampled.
    pub processes: BTreeMap<SampledInstruction, BTreeMap<u64, u64>>,
}

impl Samples {
    /// All samples.
    pub fn total(&self) -> u64 {
        self.rows.iter().map(|row| row.counts.samples).sum()
    }

    /// Sums over the kernels and dispatches that `wanted` selects, kernels with most samples first.
    pub fn by_kernel(&self, wanted: &dyn Fn(&SampledKernel, u64) -> bool) -> Vec<KernelSamples> {
        let mut out: Vec<KernelSamples> = self
            .kernels
            .iter()
            .map(|kernel| KernelSamples { kernel: kernel.clone(), ..KernelSamples::default() })
            .collect();
        let several = self.rows.iter().any(|row| row.process != self.rows[0].process);
        let mut seen: HashMap<u32, std::collections::HashSet<(u64, u64)>> = HashMap::new();
        for row in &self.rows {
            let (Some(sum), Some(instruction)) =
                (out.get_mut(row.kernel as usize), self.instructions.get(row.instruction as usize))
            else {
                continue;
            };
            if !wanted(&sum.kernel, row.dispatch) {
                continue;
            }
            if seen.entry(row.kernel).or_default().insert((row.process, row.dispatch)) {
                sum.dispatches += 1;
            }
            sum.total.add(&row.counts);
            if several {
                let own = sum.processes.entry(instruction.clone()).or_default();
                *own.entry(row.process).or_default() += row.counts.samples;
            }
            match sum.rows.get_mut(instruction) {
                Some(counts) => counts.add(&row.counts),
                None => {
                    sum.rows.insert(instruction.clone(), row.counts);
                }
            }
        }
        out.retain(|kernel| kernel.total.samples > 0);
        out.in_order_by(|a, b| b.total.samples.cmp(&a.total.samples).then_with(|| a.kernel.cmp(&b.kernel)));
        out
    }
}
