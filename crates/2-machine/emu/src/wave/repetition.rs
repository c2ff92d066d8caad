//! Waves whose registers repeat from one turn to a later one.

use super::Wave;
use crate::lanes::{Mode, Row};
use crate::lds_dma::LdsDma;

/// Turns before a wave's registers are first saved; most waves have fewer.
const FIRST: u64 = 16;

/// Snapshot of the state that determines a wave's next steps, without memory.
#[derive(Debug)]
pub(crate) struct WaveSnapshot {
    pc: usize,
    scc: bool,
    mode: Mode,
    s: [u32; 128],
    v: Vec<Row>,
    scratch: Vec<u8>,
    dma: LdsDma,
}

impl WaveSnapshot {
    pub(crate) fn of(wave: &Wave) -> WaveSnapshot {
        let Wave { pc, scc, mode, s, .. } = *wave;
        WaveSnapshot {
            pc,
            scc,
            mode,
            s,
            v: wave.v.clone(),
            scratch: wave.scratch.clone(),
            dma: wave.dma.clone(),
        }
    }

    pub(crate) fn is(&self, wave: &Wave) -> bool {
        self.pc == wave.pc
            && self.s == wave.s
            && (self.scc, self.mode) == (wave.scc, wave.mode)
            && self.v == wave.v
            && self.scratch == wave.scratch
            && self.dma.is_like(&wave.dma)
    }
}

/// Brent's cycle detection over a wave's turns.
#[derive(Debug, Default)]
pub(crate) struct Repetition {
    turns: u64,
    kept: Option<Box<WaveSnapshot>>,
    /// The snapshot has recurred.
    repeats: bool,
    /// First turn at which a recurrence counts.
    from: u64,
}

impl Repetition {
    /// Records a wave's state after a turn.
    fn note(&mut self, wave: &Wave) {
        self.turns += 1;
        if self.turns < FIRST {
            return;
        }
        self.repeats |= self.kept.as_ref().is_some_and(|kept| kept.is(wave));
        if self.turns.is_power_of_two() {
            self.kept = Some(Box::new(WaveSnapshot::of(wave)));
        }
    }
}

impl Wave {
    /// Records a turn that was used up.
    pub(crate) fn record_turn(&mut self) {
        let mut repetition = std::mem::take(&mut self.repetition);
        repetition.note(self);
        self.repetition = repetition;
    }

    /// Ignores recurrences until the wave has had twice as many turns, because it progressed.
    pub(crate) fn record_progress(&mut self) {
        self.repetition.repeats = false;
        self.repetition.from = self.repetition.turns * 2;
    }

    /// True if the wave's registers repeat those of an earlier turn.
    pub(crate) fn repeats(&self) -> bool {
        self.repetition.repeats && self.repetition.turns >= self.repetition.from
    }
}
