//! Result of a simulated dispatch.
//!
//! Times are cycles of the engine clock.

use crate::level::Level;
use mem::Tally;

mem::named! {
    /// Why a wave does not issue.
    pub enum Stall {
        Memory "memory" "Waits for vector memory"
        Local "lds_scalar" "Waits for the LDS or for scalar memory"
        Barrier "barrier" "Waits for other waves at a barrier"
        Dependency "dependency" "Waits for a result of an earlier instruction"
        Issue "issue" "Its unit is busy with another wave, or has no room for its access"
        Matrix "matrix" "The matrix unit is busy"
        Fetch "fetch" "Waits for code"
    }
}

/// Cycles from the start of an access to its end, summed over all accesses of a kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UnderWay {
    /// Vector memory instructions, from issue to completion.
    pub vector: u64,
    /// LDS instructions, from issue to completion.
    pub local: u64,
    /// Reads of vector L1s, from the L1 to the L2 and back.
    pub l2_reads: u64,
    /// Writes of vector L1s, from the L1 to the L2 and back.
    pub l2_writes: u64,
    /// Reads of memory, from the L2 to memory and back.
    pub reads: u64,
    /// Writes to memory, from the L2 to memory and back.
    pub writes: u64,
}

/// A dispatch simulated on some XCDs that represent all.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RepresentativeXcds {
    /// XCDs that were simulated.
    pub simulated: u32,
    /// XCDs of the GPU.
    pub xcds: u32,
    /// Half the relative difference of the times of single XCDs: the likely error of the time.
    pub time_error: f64,
    /// The same for request counts, of the count that differs most.
    pub count_error: f64,
}

/// A dispatch whose first workgroups were simulated and whose others were extrapolated.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FollowedWorkgroups {
    /// Workgroups that were simulated.
    pub followed: u64,
    /// Workgroups of the dispatch, or of the representative XCDs.
    pub workgroups: u64,
    /// Likely error of the time as a share of it: half the difference between two parts of the simulation,
    /// times the share of the time that is extrapolated.
    pub time_error: f64,
}

/// How long a dispatch took, and why.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outcome {
    /// Counts of the caches.
    pub tally: Tally,
    /// Cycles from the start to the last write.
    pub cycles: u64,
    /// Cycles from the start to the end of the last wave.
    pub waves_end: u64,
    /// Cycles that waves were resident, summed.
    pub wave_cycles: u64,
    /// Cycles that compute units had waves, summed.
    pub unit_cycles: u64,
    /// Cycles that shader engines had waves, summed.
    pub engine_cycles: u64,
    /// Cycles that a workgroup waited for a full XCD all of whose waves had started, summed over XCDs.
    pub full_cycles: u64,
    /// Cycles that matrix instructions kept the matrix units of SIMDs busy, summed.
    pub matrix_cycles: u64,
    /// Cycles that f64 instructions kept the vector ALUs of SIMDs busy, summed.
    pub f64_cycles: u64,
    /// Cycles that accesses were outstanding.
    pub under_way: UnderWay,
    /// Resident waves over time, on the simulated XCDs.
    pub waves: Level,
    /// Compute units with waves over time, on the simulated XCDs.
    pub units: Level,
    /// By instruction and reason: cycles that waves waited before the instruction.
    pub stalls: Vec<[u64; Stall::COUNT]>,
    /// Waves ran before the GPU was full, because the host lacked memory for streams.
    pub hurried: bool,
    /// Set if only representative XCDs were simulated.
    pub shared: Option<RepresentativeXcds>,
    /// Set if the last workgroups were extrapolated.
    pub followed: Option<FollowedWorkgroups>,
    /// Workgroups are missing and could not be extrapolated: times and counts are those of a part.
    pub incomplete: bool,
}

impl Outcome {
    /// Adds cycles that a wave waited before an instruction.
    #[inline]
    pub(crate) fn wait(&mut self, instruction: u32, stall: Stall, cycles: u64) {
        if let Some(of) = self.stalls.get_mut(instruction as usize) {
            of[stall as usize] += cycles;
        }
    }

    /// Average resident waves, and compute units with waves, in each of `count` equal parts of the dispatch.
    pub fn occupancy(&self, count: usize) -> [Vec<f64>; 2] {
        let all = self.shared.map_or(1.0, |it| f64::from(it.xcds) / f64::from(it.simulated));
        [&self.waves, &self.units].map(|level| {
            let mut means = level.means(self.cycles, count);
            means.iter_mut().for_each(|mean| *mean *= all);
            means
        })
    }

    /// Cycles that waves waited for a reason, over all instructions.
    pub fn stalled(&self, stall: Stall) -> u64 {
        self.stalls.iter().map(|of| of[stall as usize]).sum()
    }
}
