//! Vector kernels and row operations, compiled for the best instruction set of this CPU.
#![allow(unsafe_code, reason = "audited: choice of target features")]

use crate::in_place::InPlace;
use crate::lanes::{Kernel, RowOps};
use crate::raw;
#[cfg(target_arch = "x86_64")]
use crate::raw::has_avx2;
use crate::vector::{self, Key, Named, Variant};
use isa::Op;
use std::collections::HashMap;

/// Vector kernels by opcode and variant.
#[derive(Debug)]
pub(crate) struct Kernels(HashMap<Key, (Kernel, Option<InPlace>)>);

impl Kernels {
    /// The kernels of a list.
    pub(crate) fn of(list: Vec<Named>) -> Kernels {
        Kernels(list.into_iter().map(|(key, kernel, in_place)| (key, (kernel, in_place))).collect())
    }

    /// Kernel of an opcode.
    pub(crate) fn get(&self, op: Op, variant: Variant) -> Option<Kernel> {
        self.0.get(&Key { op: compared(op), variant }).map(|it| it.0)
    }

    /// The in-place form of a kernel.
    pub(crate) fn in_place(&self, op: Op, variant: Variant) -> Option<InPlace> {
        self.0.get(&Key { op, variant })?.1
    }
}

/// The comparison `v_cmp_*` of a `v_cmpx_*`; other opcodes as they are.
pub(crate) const fn compared(op: Op) -> Op {
    if let Some((b"v_cmpx_", relation)) = op.row().name.as_bytes().split_at_checked(7) {
        match Op::find(b"v_cmp_", relation) {
            Some(op) => return op,
            None => panic!("a comparison that writes EXEC has one that does not"),
        }
    }
    op
}

/// Vector kernels for this CPU.
pub(crate) fn kernels() -> Kernels {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: the CPU has every feature the function is compiled for.
        return Kernels::of(unsafe { vector::avx2() });
    }
    Kernels::of(vector::portable())
}

/// Row operations for any CPU.
pub(crate) fn portable_row_ops() -> RowOps {
    RowOps {
        halves: |row, low, high| raw::halves_to_singles(row, low, high),
        permute: |steps, from, into| raw::permute(steps, from, into),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
fn avx2_row_ops() -> RowOps {
    RowOps {
        halves: |row, low, high| raw::halves_to_singles_f16c(row, low, high),
        permute: |steps, from, into| raw::permute_avx2(steps, from, into),
    }
}

/// Row operations for this CPU.
pub(crate) fn row_ops() -> RowOps {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: the CPU has every feature the function is compiled for.
        return unsafe { avx2_row_ops() };
    }
    portable_row_ops()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{Extra, Kernel, Mode, Pair, Row};
    use std::cell::Cell;

    /// Values that stress every type: zeros, ones, infinities, NaNs, denormals, limits of integers.
    fn operand(seed: u32) -> Pair {
        const EDGES: [u32; 16] = [
            0,
            0x8000_0000,
            0x3f80_0000,
            0xbf80_0000,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
            0x0000_0001,
            0x7fff_ffff,
            0xffff_ffff,
            0x3c00_bc00,
            0x7c00_fc00,
            0x4b00_0000,
            0x0080_0000,
            0x0000_ffff,
            0x3ff0_0000,
        ];
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if state >> 29 == 0 { EDGES[(state >> 13 & 15) as usize] } else { state ^ state >> 15 }
        };
        let mut row = || Row(std::array::from_fn(|_| next()));
        [row(), row()]
    }

    /// NaN results may differ in payload and sign between compilations; all other results are equal.
    #[test]
    fn both_compilations_agree() {
        let (plain, best) = (Kernels::of(vector::portable()), kernels());
        assert_eq!(plain.0.len(), best.0.len());
        let mut differing = Vec::new();
        for (key, (kernel, _)) in &plain.0 {
            let ((other, _), name) = (best.0[key], key.op.info().name);
            for seed in 0..8 {
                let run = |kernel: Kernel| {
                    let mut out = [Row::ZERO; 2];
                    let mut extra = Extra {
                        mask_in: 0x1234_5678_9abc_def0,
                        mask_out: 0,
                        mode: Mode(0x3f0),
                        immediate: 0x5a,
                    };
                    kernel(&mut out, &operand(seed), &operand(seed + 99), &operand(seed + 999), &mut extra);
                    (out, extra.mask_out)
                };
                if !agree(name, run(*kernel), run(other)) {
                    differing.push(name);
                    break;
                }
            }
        }
        assert!(differing.is_empty(), "{differing:?}");
    }

    /// In-place kernels give the same results, also when a result overwrites a source.
    #[test]
    fn in_place_is_the_same() {
        // Packed operations: the first uses the low registers, the second the high ones.
        const HALVES: u32 = 0b11_1000;
        let mut compared = 0;
        for kernels in [Kernels::of(vector::portable()), kernels()] {
            for (key, (kernel, in_place)) in &kernels.0 {
                let (Some(in_place), name) = (in_place, key.op.info().name) else { continue };
                compared += 1;
                for into in 0..4 {
                    let before = [operand(1), operand(2), operand(3), [Row::ZERO; 2]];
                    let (mut rows, [a, b, c, mut expected]) = (before, before);
                    let mut extra = Extra { mask_in: 0, mask_out: 0, mode: Mode(0xf0), immediate: 0 };
                    kernel(&mut expected, &a, &b, &c, &mut extra);
                    let cells = Cell::from_mut(&mut rows[..]).as_slice_of_cells();
                    let [a, b, c, _] = [0, 1, 2, 3].map(|at: usize| cells[at].as_array_of_cells());
                    in_place(cells[into].as_array_of_cells(), a, b, c, HALVES);
                    if rows[into][1] == before[into][1] {
                        // A result of one register leaves the second register unchanged.
                        expected[1] = before[into][1];
                    }
                    assert!(agree(name, (rows[into], 0), (expected, 0)), "{name} into {into}");
                }
            }
        }
        assert!(compared > 50, "{compared}");
    }

    fn agree(name: &str, left: (Pair, u64), right: (Pair, u64)) -> bool {
        let both_nan = |p: u32, q: u32, p_high: u32, q_high: u32| {
            if name.contains("f64") {
                let join = |low: u32, high: u32| f64::from_bits(u64::from(high) << 32 | u64::from(low));
                return join(p, p_high).is_nan() && join(q, q_high).is_nan();
            }
            let half = |v: u32| v & 0x7fff > 0x7c00 || v >> 16 & 0x7fff > 0x7c00;
            (f32::from_bits(p).is_nan() && f32::from_bits(q).is_nan())
                || (f32::from_bits(p_high).is_nan() && f32::from_bits(q_high).is_nan() && p == q)
                || (name.contains("16") && half(p) && half(q))
        };
        left.1 == right.1
            && (0..64).all(|lane| {
                let (p, q) = (left.0.map(|row| row.0[lane]), right.0.map(|row| row.0[lane]));
                p == q || both_nan(p[0], q[0], p[1], q[1])
            })
    }
}
