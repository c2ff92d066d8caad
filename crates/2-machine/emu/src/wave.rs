//! State of a wave.
//!
//! The one idea to keep in mind: a vector register is a row of 64 lanes, so an instruction is one loop over
//! contiguous memory. VGPRs and accumulation registers share one array.

mod repetition;

use crate::lanes::{Mode, Row, spread};
use crate::lds_dma::LdsDma;
use crate::operand::{EXEC, VCC};
use repetition::Repetition;
pub(crate) use repetition::WaveSnapshot;

/// Wave of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaveId {
    /// Workgroup in the grid.
    pub workgroup: [u32; 3],
    /// Number of the workgroup in dispatch order.
    pub workgroup_index: u64,
    /// Number of the wave in its workgroup.
    pub wave: u32,
}

/// Scheduling state of a wave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WaveState {
    Running,
    AtBarrier,
    /// Waits at the grid barrier until this many waves have reached it.
    AtGrid(u32),
    Ended,
}

/// One wave.
#[derive(Debug)]
pub(crate) struct Wave {
    /// Scalar registers by operand code.
    pub(crate) s: [u32; 128],
    pub(crate) v: Vec<Row>,
    pub(crate) scc: bool,
    pub(crate) mode: Mode,
    /// Index of the next instruction.
    pub(crate) pc: usize,
    pub(crate) id: WaveId,
    pub(crate) state: WaveState,
    /// Scratch of all lanes, one lane after the other.
    pub(crate) scratch: Vec<u8>,
    /// Scratch bytes of one lane.
    pub(crate) scratch_bytes: u32,
    /// Instructions issued.
    pub(crate) issued: u64,
    /// Instructions that other waves could issue while this one slept or waited at barriers.
    pub(crate) waited: u64,
    /// Outstanding loads into the LDS.
    pub(crate) dma: LdsDma,
    /// Detection of repeating registers.
    pub(crate) repetition: Repetition,
    /// EXEC as a row of masks, and the EXEC value of that row.
    exec_row: Row,
    exec_of_row: u64,
}

impl Wave {
    pub(crate) fn new(id: WaveId, rows: usize, mode: Mode, scratch_bytes: u32) -> Wave {
        Wave {
            s: [0; 128],
            v: vec![Row::ZERO; rows],
            scc: false,
            mode,
            pc: 0,
            id,
            state: WaveState::Running,
            scratch: vec![0; scratch_bytes as usize * 64],
            scratch_bytes,
            issued: 0,
            waited: 0,
            dma: LdsDma::default(),
            repetition: Repetition::default(),
            exec_row: Row::ZERO,
            exec_of_row: 0,
        }
    }

    /// Resets everything for the start of a wave; registers become zero.
    pub(crate) fn restart(&mut self, id: WaveId, mode: Mode, entry: usize) {
        self.s = [0; 128];
        self.v.fill(Row::ZERO);
        self.scratch.fill(0);
        self.scc = false;
        self.mode = mode;
        self.pc = entry;
        self.id = id;
        self.state = WaveState::Running;
        (self.issued, self.waited) = (0, 0);
        self.dma = LdsDma::default();
        self.repetition = Repetition::default();
    }

    /// Time since the start of the workgroup, in instructions: waves that run at the same time issue equally many.
    pub(crate) fn time(&self) -> u64 {
        self.issued + self.waited
    }

    /// Ends a wait for others at a time.
    pub(crate) fn go_on(&mut self, time: u64) {
        self.waited += time.saturating_sub(self.time());
        self.state = WaveState::Running;
    }

    #[inline(always)]
    pub(crate) fn pair(&self, index: u8) -> u64 {
        let index = usize::from(index);
        u64::from(self.s[index & 127]) | u64::from(self.s[(index + 1) & 127]) << 32
    }

    #[inline(always)]
    pub(crate) fn set_pair(&mut self, index: u8, value: u64) {
        let index = usize::from(index);
        self.s[index & 127] = value as u32;
        self.s[(index + 1) & 127] = (value >> 32) as u32;
    }

    #[inline(always)]
    pub(crate) fn exec(&self) -> u64 {
        self.pair(EXEC)
    }

    #[inline(always)]
    pub(crate) fn vcc(&self) -> u64 {
        self.pair(VCC)
    }

    /// Writes a result row in the lanes of a mask.
    #[inline(always)]
    pub(crate) fn store_row(&mut self, row: usize, values: &Row, mask: u64) {
        let target = &mut self.v[row];
        if mask == u64::MAX {
            target.copy_from(values);
            return;
        }
        if self.exec_of_row != mask {
            self.exec_row = spread(mask);
            self.exec_of_row = mask;
        }
        for ((old, new), lanes) in target.0.iter_mut().zip(&values.0).zip(&self.exec_row.0) {
            *old = *new & lanes | *old & !lanes;
        }
    }
}
