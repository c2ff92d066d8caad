//! What the clock found out about a dispatch.
//!
//! The one idea to keep in mind: times are cycles of the engine clock.

use crate::level::Level;
use crate::share::Shared;
use mem::Tally;

macro_rules! stalls {
    ($($name:ident $text:literal $meaning:literal)*) => {
        /// Why a wave does not issue.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Stall {
            $(#[doc = $meaning] $name,)*
        }

        impl Stall {
            /// All, in order.
            pub const ALL: &'static [Stall] = &[$(Stall::$name,)*];

            /// Name in files.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Stall::$name => $text,)*
                }
            }

            /// What it is.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Stall::$name => $meaning,)*
                }
            }
        }
    };
}

stalls! {
    Memory "memory" "Waits for vector memory"
    Local "lds_scalar" "Waits for the LDS or for scalar memory"
    Barrier "barrier" "Waits for other waves at a barrier"
    Dependency "dependency" "Waits for a result of an earlier instruction"
    Issue "issue" "Its unit is busy with another wave, or has no room for its access"
    Matrix "matrix" "The matrix unit is busy"
    Fetch "fetch" "Waits for code"
}

impl Stall {
    /// How many there are.
    pub const COUNT: usize = Stall::ALL.len();
}

/// Cycles from the beginning of accesses to their end, summed over accesses of a kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UnderWay {
    /// Instructions of vector memory, from issue on.
    pub vector: u64,
    /// Instructions of the LDS, from issue on.
    pub local: u64,
    /// Reads of vector L1s, to the L2 and back.
    pub l2_reads: u64,
    /// Writes of vector L1s, to the L2 and back.
    pub l2_writes: u64,
    /// Reads of memory, from the L2 on.
    pub reads: u64,
    /// Writes to memory, from the L2 on.
    pub writes: u64,
}

/// How long a dispatch took, and why.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outcome {
    /// What the caches counted.
    pub tally: Tally,
    /// From the start to when all is written.
    pub cycles: u64,
    /// From the start to the end of the last wave.
    pub waves_end: u64,
    /// Lives of all waves, summed.
    pub wave_cycles: u64,
    /// Cycles of compute units that had waves, summed.
    pub unit_cycles: u64,
    /// Cycles of shader engines that had waves, summed.
    pub engine_cycles: u64,
    /// Cycles in which a workgroup waited although every wave that has a place had started, summed over XCDs.
    pub full_cycles: u64,
    /// How long what was under way was so.
    pub under_way: UnderWay,
    /// Waves in flight over time, on the XCDs that were followed.
    pub waves: Level,
    /// Compute units that have waves over time, on the XCDs that were followed.
    pub units: Level,
    /// By instruction: cycles that waves waited before it, by reason.
    pub stalls: Vec<[u64; Stall::COUNT]>,
    /// Waves ran on before all places of the GPU were taken, for want of memory.
    pub hurried: bool,
    /// Some XCDs stand for all.
    pub shared: Option<Shared>,
}

impl Outcome {
    /// A wave waited before an instruction.
    #[inline]
    pub(crate) fn wait(&mut self, instruction: u32, stall: Stall, cycles: u64) {
        if let Some(of) = self.stalls.get_mut(instruction as usize) {
            of[stall as usize] += cycles;
        }
    }

    /// Waves in flight and compute units that have waves, on average over each of `count` equal parts of the dispatch.
    pub fn occupancy(&self, count: usize) -> [Vec<f64>; 2] {
        let all = self.shared.map_or(1.0, |it| f64::from(it.xcds) / f64::from(it.followed));
        [&self.waves, &self.units].map(|level| {
            let mut means = level.means(self.cycles, count);
            means.iter_mut().for_each(|mean| *mean *= all);
            means
        })
    }

    /// Cycles that waves waited for a reason.
    pub fn stalled(&self, stall: Stall) -> u64 {
        self.stalls.iter().map(|of| of[stall as usize]).sum()
    }
}
