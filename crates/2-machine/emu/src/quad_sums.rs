//! Four sums of absolute differences at a time, with 32-bit results.
//!
//! The one idea to keep in mind: sums and addends take four registers each, unlike in any other vector
//! instruction. Window *i* of the first operand begins at byte *i*.

use crate::indexing::{Indexing, Position};
use crate::lanes::Row;
use crate::machine::Machine;
use crate::operand::{Files, Pool, Src, source};
use crate::wave::Wave;
use isa::{Bits, Inst, Operand, Ty};

/// A resolved `v_mqsad_u32_u8`.
#[derive(Clone, Debug)]
pub(crate) struct QuadSums {
    window: Src,
    reference: Src,
    /// First row of the addends.
    added: u16,
    dst: u16,
    clamp: bool,
}

impl QuadSums {
    /// Resolves an instruction: `None` for other kinds, `Some(None)` if its operands are not supported.
    pub(crate) fn resolve(inst: &Inst, files: Files, pool: &mut Pool) -> Option<Option<QuadSums>> {
        (inst.info().name == "v_mqsad_u32_u8").then(|| Self::operands(inst, files, pool))
    }

    fn operands(inst: &Inst, files: Files, pool: &mut Pool) -> Option<QuadSums> {
        let [Operand::Reg(dst), window, reference, Operand::Reg(added)] = inst.operands() else {
            return None;
        };
        Some(QuadSums {
            window: source(*window, Ty::B64, files, pool)?,
            reference: source(*reference, Ty::B32, files, pool)?,
            added: files.row(*added)?,
            dst: files.row(*dst)?,
            clamp: inst.mods.bits.contains(Bits::CLAMP),
        })
    }

    /// The same instruction with registers indexed by M0; `None` if it does nothing.
    pub(crate) fn indexed(&self, by: Indexing) -> Option<QuadSums> {
        let mut it = self.clone();
        by.source(Position::Src0, &mut it.window, 2);
        by.source(Position::Src1, &mut it.reference, 1);
        it.added = by.row(Position::Src2, it.added, 4).unwrap_or(0);
        by.destination(&mut it.dst, 4)?;
        Some(it)
    }

    pub(crate) fn run(&self, machine: &Machine<'_>, wave: &mut Wave) {
        let (exec, window) = (wave.exec(), machine.pair(wave, self.window));
        let reference = machine.row(wave, self.reference);
        let results: [Row; 4] = std::array::from_fn(|sum| {
            let added = &wave.v[usize::from(self.added) + sum];
            Row(std::array::from_fn(|lane| {
                let bytes = u64::from(window[0].0[lane]) | u64::from(window[1].0[lane]) << 32;
                let difference = masked_difference((bytes >> (8 * sum)) as u32, reference.0[lane]);
                match self.clamp {
                    true => added.0[lane].saturating_add(difference),
                    false => added.0[lane].wrapping_add(difference),
                }
            }))
        });
        for (number, row) in results.iter().enumerate() {
            wave.store_row(usize::from(self.dst) + number, row, exec);
        }
    }
}

/// Sum of absolute differences of bytes, without bytes whose reference is 0.
fn masked_difference(bytes: u32, reference: u32) -> u32 {
    let pairs = bytes.to_le_bytes().into_iter().zip(reference.to_le_bytes());
    pairs
        .filter(|(_, reference)| *reference != 0)
        .map(|(byte, reference)| u32::from(byte.abs_diff(reference)))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::masked_difference;

    #[test]
    fn bytes_with_reference_zero_do_not_count() {
        for (bytes, reference, sum) in [
            (0x0403_0201, 0x0101_0101, 6),
            (0x0403_0201, 0x0001_0001, 2),
            (0x0000_0000, 0xffff_ffff, 1020),
            (0xff00_ff00, 0x00ff_0000, 255),
        ] {
            assert_eq!(masked_difference(bytes, reference), sum, "{bytes:#x} {reference:#x}");
        }
    }
}
