//! Words of a question about recordings: selection, units, kind of list.

/// The part of a recording that is selected, as written on a command line.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Wanted {
    /// Kernels: index among the kernels by time, name, or regular expression.
    pub kernels: Vec<String>,
    /// Dispatch IDs: `3`, `1-5`, `>10`, `<=4`.
    pub dispatches: Vec<String>,
    /// GPUs as recorded.
    pub gpus: Vec<u32>,
    /// Launches of each kernel to select, counted from 1: written like dispatch IDs, also in brackets.
    pub iterations: Vec<String>,
}

/// Averaging over dispatches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Average {
    /// Sum over sum: a dispatch counts as much as it did.
    #[default]
    Weighted,
    /// Every dispatch counts the same: the unweighted mean of the ratios.
    Dispatches,
}

/// Divisor of totals.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Norm {
    /// The dispatch.
    #[default]
    Kernel,
    /// Waves.
    Wave,
    /// Cycles.
    Cycle,
    /// Seconds.
    Second,
}

impl Norm {
    /// Text of the divisor in a unit.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Wave => "wave",
            Self::Cycle => "cycle",
            Self::Second => "s",
        }
    }
}

/// Unit in which times are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TimeUnit {
    /// Nanoseconds, as recorded.
    #[default]
    Nanoseconds,
    /// Microseconds.
    Microseconds,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
}

/// A list instead of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum List {
    /// Kernels by time.
    Kernels,
    /// Dispatches.
    Dispatches,
    /// Metrics of the target.
    Metrics,
    /// Facts of the machine, each with its source.
    Specs,
    /// Panels of the target with their names.
    Blocks,
}
