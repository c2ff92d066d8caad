//! Instruction mix: how many instructions issue to each unit.
//!
//! Counts are static, one per instruction in the code; per-loop counts leave inner loops out, so that the
//! counts of all loops and of the code outside them add up to the kernel's.

use crate::{Class, Inst};

/// Instructions by [`Class`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mix {
    counts: [u32; Class::Unknown as usize + 1],
}

impl Mix {
    /// The mix of some instructions.
    pub fn of<'a>(insts: impl IntoIterator<Item = &'a Inst>) -> Mix {
        let mut mix = Mix::default();
        for inst in insts {
            mix.add(inst.op.info().class);
        }
        mix
    }

    /// Counts one more instruction.
    pub fn add(&mut self, class: Class) {
        self.counts[class as usize] += 1;
    }

    /// Instructions of `class`.
    pub fn count(&self, class: Class) -> u32 {
        self.counts[class as usize]
    }

    /// Instructions of every class.
    pub fn total(&self) -> u32 {
        self.counts.iter().sum()
    }
}
