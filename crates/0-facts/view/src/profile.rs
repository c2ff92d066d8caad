//! Workloads that a machine is checked for.

/// Workload that a machine is checked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Profile {
    /// Times that can be compared.
    Benchmark,
    /// Training.
    Training,
    /// Serving models.
    Inference,
    /// Looking for faults.
    Debug,
    /// Several nodes.
    Distributed,
}

impl Profile {
    /// All.
    pub const ALL: [Profile; 5] =
        [Profile::Benchmark, Profile::Training, Profile::Inference, Profile::Debug, Profile::Distributed];

    /// The word used in every format and in `data/checks.tsv`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Profile::Benchmark => "benchmark",
            Profile::Training => "training",
            Profile::Inference => "inference",
            Profile::Debug => "debug",
            Profile::Distributed => "distributed",
        }
    }
}
