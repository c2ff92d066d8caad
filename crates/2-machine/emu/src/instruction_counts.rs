//! Counts of executions per instruction.

use crate::observe::Observer;
use crate::program::Program;
use crate::wave::WaveId;

/// Executions and active lanes of each instruction.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct InstructionCounts {
    /// By instruction index: executions, and sum of active lanes.
    pub counts: Vec<[u64; 2]>,
    /// Waves started.
    pub waves: u64,
}

impl InstructionCounts {
    /// Counters for a program, all zero.
    pub fn new(program: &Program) -> Self {
        InstructionCounts { counts: vec![[0; 2]; program.instructions().len()], waves: 0 }
    }

    /// Adds another workgroup's counts.
    pub fn merge(&mut self, other: &InstructionCounts) {
        self.waves += other.waves;
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), [0; 2]);
        }
        for (sum, [executions, lanes]) in self.counts.iter_mut().zip(&other.counts) {
            sum[0] += executions;
            sum[1] += lanes;
        }
    }

    /// Executions of all instructions.
    pub fn total(&self) -> u64 {
        self.counts.iter().map(|count| count[0]).sum()
    }
}

impl Observer for InstructionCounts {
    #[inline(always)]
    fn wave_start(&mut self, _: WaveId, _: u64) {
        self.waves += 1;
    }

    #[inline(always)]
    fn issue_run(&mut self, _: WaveId, first: usize, count: usize, exec: u64) {
        let lanes = u64::from(exec.count_ones());
        for count in self.counts.get_mut(first..first + count).unwrap_or_default() {
            count[0] += 1;
            count[1] += lanes;
        }
    }
}
