//! Data-parallel primitives (DPP): a source operand taken from other lanes.
//!
//! The one idea to keep in mind: a lane whose source lane does not exist or is inactive reads 0 with
//! `bound_ctrl`, and is not written without it.

use crate::lanes::{LANES, Pair, Row, RowOps, Step, mask_of, spread};
use isa::Dpp;

/// Source lane of a lane; `None` if it does not exist.
fn source(ctrl: u16, lane: usize) -> Option<usize> {
    let (row, column) = (lane & !15, lane & 15);
    let amount = usize::from(ctrl & 15);
    match ctrl {
        0x000..=0x0ff => Some(lane & !3 | usize::from(ctrl >> (2 * (lane & 3))) & 3),
        0x101..=0x10f => (column + amount < 16).then_some(lane + amount),
        0x111..=0x11f => (column >= amount).then(|| lane - amount),
        0x121..=0x12f => Some(row | (column + 16 - amount) & 15),
        0x130 => (lane < 63).then_some(lane + 1),
        0x134 => Some((lane + 1) & 63),
        0x138 => lane.checked_sub(1),
        0x13c => Some((lane + 63) & 63),
        0x140 => Some(row | (15 - column)),
        0x141 => Some(lane & !7 | (7 - (lane & 7))),
        0x142 => row.checked_sub(1),
        0x143 => (lane >= 32).then_some(31),
        0x150..=0x15f => Some(row | amount),
        _ => None,
    }
}

/// A lane exchange with resolved source lanes.
#[derive(Clone, Debug)]
pub(super) struct Exchange {
    /// Source lane of each lane; arbitrary if none exists.
    from: [u8; LANES],
    /// Lanes whose source lane exists.
    sourced: u64,
    /// Lanes enabled by `row_mask` and `bank_mask`.
    enabled: u64,
    bound_ctrl: bool,
    /// The exchange as steps between groups of eight lanes.
    steps: Vec<Step>,
}

impl Exchange {
    pub(super) fn new(dpp: Dpp) -> Exchange {
        let mut exchange = Exchange {
            from: [0; LANES],
            sourced: 0,
            enabled: 0,
            bound_ctrl: dpp.bound_ctrl,
            steps: Vec::new(),
        };
        for lane in 0..LANES {
            if let Some(source) = source(dpp.ctrl, lane) {
                exchange.from[lane] = source as u8;
                exchange.sourced |= 1 << lane;
            }
            if dpp.row_mask >> (lane / 16) & 1 != 0 && dpp.bank_mask >> (lane / 4 % 4) & 1 != 0 {
                exchange.enabled |= 1 << lane;
            }
        }
        exchange.steps = Step::all(&exchange.from, exchange.sourced);
        exchange
    }

    /// Lanes whose source lane exists and is active.
    #[inline(always)]
    fn valid(&self, exec: u64) -> u64 {
        let mut valid = self.sourced;
        if exec != u64::MAX {
            let mut active = [0; LANES];
            for lane in 0..LANES {
                active[lane] = (exec >> (self.from[lane] & 63)) as u8 & 1;
            }
            valid &= mask_of(|lane| active[lane] != 0);
        }
        valid
    }

    /// [`Exchange::run`] from one row to another.
    #[inline(always)]
    pub(super) fn run_one(&self, row_ops: &RowOps, exec: u64, from: &Row, into: &mut Row) -> u64 {
        (row_ops.permute)(&self.steps, from, into);
        let valid = self.valid(exec);
        if exec != u64::MAX {
            let keep = spread(valid);
            for lane in 0..LANES {
                into.0[lane] &= keep.0[lane];
            }
        }
        self.enabled & if self.bound_ctrl { u64::MAX } else { valid }
    }

    /// Replaces the operand by the values of the source lanes; returns the lanes that may be written.
    #[inline(always)]
    pub(super) fn run(&self, exec: u64, operand: &mut Pair) -> u64 {
        let valid = self.valid(exec);
        let keep = spread(valid);
        for row in operand {
            let values = *row;
            for lane in 0..LANES {
                row.0[lane] = values.0[usize::from(self.from[lane] & 63)] & keep.0[lane];
            }
        }
        self.enabled & if self.bound_ctrl { u64::MAX } else { valid }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::Row;

    #[test]
    fn controls_name_their_lanes() {
        for (ctrl, lane, expected) in [
            (0x1b, 5, Some(6)),
            (0x101, 14, Some(15)),
            (0x101, 15, None),
            (0x112, 17, None),
            (0x112, 18, Some(16)),
            (0x121, 16, Some(31)),
            (0x138, 0, None),
            (0x13c, 0, Some(63)),
            (0x140, 17, Some(30)),
            (0x141, 9, Some(14)),
            (0x142, 5, None),
            (0x142, 20, Some(15)),
            (0x143, 40, Some(31)),
            (0x143, 3, None),
            (0x155, 33, Some(37)),
        ] {
            assert_eq!(source(ctrl, lane), expected, "{ctrl:#x} {lane}");
        }
    }

    #[test]
    fn one_row_goes_the_same_way() {
        let values = Row(std::array::from_fn(|lane| lane as u32 * 3 + 1));
        for engine in [crate::kernels::portable_row_ops(), crate::kernels::row_ops()] {
            for ctrl in (0..0x160).filter(|&ctrl| source(ctrl, 33).is_some() || source(ctrl, 40).is_some()) {
                for exec in [u64::MAX, 0x0123_4567_89ab_cdef] {
                    let exchange =
                        Exchange::new(Dpp { ctrl, row_mask: 0xf, bank_mask: 0xe, bound_ctrl: ctrl & 1 != 0 });
                    let (mut operand, mut one) = ([values, values], values);
                    let written = exchange.run(exec, &mut operand);
                    assert_eq!(exchange.run_one(&engine, exec, &values, &mut one), written, "{ctrl:#x}");
                    assert_eq!(one, operand[0], "{ctrl:#x}");
                }
            }
        }
    }

    #[test]
    fn masks_and_bounds_decide_what_is_written() {
        let values = Row(std::array::from_fn(|lane| lane as u32));
        let dpp = Dpp { ctrl: 0x111, row_mask: 0xf, bank_mask: 0xf, bound_ctrl: false };
        let mut operand = [values, values];
        // Lane 0 of each row has no source; lane 5's is inactive.
        assert_eq!(Exchange::new(dpp).run(!(1 << 4), &mut operand), !0x0001_0001_0001_0021);
        assert_eq!(operand[0].0[7], 6);
        let mut operand = [values, values];
        assert_eq!(
            Exchange::new(Dpp { bound_ctrl: true, row_mask: 2, bank_mask: 1, ..dpp }).run(!0, &mut operand),
            0x000f_0000
        );
        assert_eq!(operand[0].0[16], 0);
    }
}
