//! Waves whose registers repeat from one turn to a later one.

use super::Wave;
use crate::lanes::{Mode, Row};
use crate::lds_dma::LdsDma;

/// Turns of a wave before its registers are first kept: most waves have fewer.
const FIRST: u64 = 16;

/// Everything a wave's next steps depend on besides memory.
#[derive(Debug)]
pub(crate) struct Kept {
    pc: usize,
    scc: bool,
    mode: Mode,
    s: [u32; 128],
    v: Vec<Row>,
    scratch: Vec<u8>,
    dma: LdsDma,
}

impl Kept {
    pub(crate) fn of(wave: &Wave) -> Kept {
        let Wave { pc, scc, mode, s, .. } = *wave;
        Kept { pc, scc, mode, s, v: wave.v.clone(), scratch: wave.scratch.clone(), dma: wave.dma.clone() }
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

/// What is known of a wave's turns: Brent's way to find a period.
#[derive(Debug, Default)]
pub(crate) struct Repetition {
    turns: u64,
    kept: Option<Box<Kept>>,
    /// It was in the state that is kept.
    repeats: bool,
    /// From this turn on that counts.
    from: u64,
}

impl Repetition {
    /// Takes note of how a wave stands after a turn.
    fn note(&mut self, wave: &Wave) {
        self.turns += 1;
        if self.turns < FIRST {
            return;
        }
        self.repeats |= self.kept.as_ref().is_some_and(|kept| kept.is(wave));
        if self.turns.is_power_of_two() {
            self.kept = Some(Box::new(Kept::of(wave)));
        }
    }
}

impl Wave {
    /// Takes note of a turn that was used up.
    pub(crate) fn note_turn(&mut self) {
        let mut repetition = std::mem::take(&mut self.repetition);
        repetition.note(self);
        self.repetition = repetition;
    }

    /// It was seen to go on, so it is left alone until it had twice as many turns.
    pub(crate) fn goes_on(&mut self) {
        self.repetition.repeats = false;
        self.repetition.from = self.repetition.turns * 2;
    }

    /// True if the wave's registers repeat those of an earlier turn.
    pub(crate) fn repeats(&self) -> bool {
        self.repetition.repeats && self.repetition.turns >= self.repetition.from
    }
}
