//! MODE.FP16_OVFL: f16 results that overflow become the largest number of their sign.
//!
//! The one idea to keep in mind: an infinity is exact if a source is infinite or the instruction divides by zero,
//! and then stays. Any other infinite result overflowed, whatever the rounding.

use super::Format;
use crate::lanes::{LANES, Pair, Row};
use isa::{Inst, Ty};

const INFINITY: u32 = 0x7c00;
const LARGEST: u32 = 0x7bff;

/// How an f16 result may become infinite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Overflow {
    /// Two results, one in each half.
    packed: bool,
    /// A source of 0 gives an exact infinity.
    divides: bool,
}

/// Opcodes with an infinite result for a source of 0.
const DIVIDING: &[&str] =
    &["v_rcp_f16", "v_rsq_f16", "v_log_f16", "v_div_fixup_f16", "v_div_fixup_legacy_f16"];

impl Overflow {
    /// For an instruction with an f16 result.
    pub(super) fn of(inst: &Inst) -> Option<Overflow> {
        let info = inst.info();
        let packed = match info.operands.first()?.ty {
            Ty::F16 if info.name != "v_fma_mix_f32" => false,
            Ty::PkF16 => true,
            _ => return None,
        };
        Some(Overflow { packed, divides: DIVIDING.contains(&info.name) })
    }

    /// Replaces infinities that no source explains. The format of an absent source is `None`; sources are as the
    /// kernel received them.
    pub(super) fn limit(self, formats: [Option<Format>; 3], sources: [&Pair; 3], out: &mut Row) {
        for lane in 0..LANES {
            for half in 0..if self.packed { 2 } else { 1 } {
                let shift = 16 * half as u32;
                if out.0[lane] >> shift & 0x7fff != INFINITY {
                    continue;
                }
                let reason = formats.iter().zip(sources).enumerate().any(|(index, (format, source))| {
                    let magnitude = match format {
                        Some(Format::Packed16) => source[0].0[lane] >> shift & 0x7fff,
                        // Each half of the result has its own source.
                        Some(_) if self.packed && index != half => return false,
                        Some(Format::F16) => source[0].0[lane] & 0x7fff,
                        Some(Format::F32 | Format::Mixed) => {
                            let wide = source[0].0[lane] & 0x7fff_ffff;
                            if wide == f32::INFINITY.to_bits() { INFINITY } else { wide.min(1) }
                        }
                        _ => return false,
                    };
                    magnitude == INFINITY || (self.divides && magnitude == 0)
                });
                if !reason {
                    out.0[lane] ^= (INFINITY ^ LARGEST) << shift;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::execute::{self, Executor};
    use crate::lanes::Mode;
    use crate::memory::Memory;
    use crate::operand::EXEC;
    use crate::program::Program;
    use crate::wave::Wave;
    use crate::wave::WaveId;
    use codeobj::Descriptor;
    use isa::Isa;
    use isa::text::{Statement, parse_line};

    /// Register 0 after an instruction on registers 1 to 3; before, register 0 holds ones.
    fn result(text: &str, mode: u32, sources: [u32; 3]) -> u32 {
        let line = parse_line(Isa::Gfx950, text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        let Statement::Inst(parsed) = line.statement else { panic!("{text}") };
        let descriptor = Descriptor { vgprs_allocated: 8, ..Descriptor::default() };
        let program = Program::of(Isa::Gfx950, descriptor, vec![parsed.inst]);
        let memory = Memory::new();
        let mut executor = Executor::new(&program, &memory, 0, 0, crate::engine::portable());
        let id = WaveId { workgroup: [0; 3], workgroup_index: 0, wave: 0 };
        let mut wave = Wave::new(id, program.rows, Mode(mode), 0);
        wave.set_pair(EXEC, 1 << 5);
        wave.v[0].0[5] = u32::MAX;
        for (row, value) in wave.v[1..].iter_mut().zip(sources) {
            row.0[5] = value;
        }
        execute::run(&mut executor, &mut wave, &mut (), 1).unwrap();
        wave.v[0].0[5]
    }

    #[test]
    fn constants_of_mixed_precision_have_the_type_that_their_source_says() {
        let (one, three) = (0x3c00, 3f32.to_bits());
        for (text, expected) in [
            ("v_fma_mix_f32 v0, v1, 1.0, v2 op_sel_hi:[1,1,0]", 4f32.to_bits()),
            ("v_fma_mix_f32 v0, v1, 1.0, v2 op_sel_hi:[1,0,0]", 4f32.to_bits()),
            ("v_fma_mix_f32 v0, -v1, 2.0, v2 op_sel_hi:[1,0,0]", 1f32.to_bits()),
            ("v_fma_mixlo_f16 v0, v1, 1.0, v2 op_sel_hi:[1,0,0]", 0xffff_4400),
            ("v_fma_mixlo_f16 v0, v1, 1.0, v2 op_sel_hi:[1,1,0]", 0xffff_4400),
        ] {
            assert_eq!(result(text, 0xf0, [one, three, 0]), expected, "{text}");
        }
    }

    #[test]
    fn results_that_overflow_are_the_largest_number_and_true_infinities_stay() {
        const LIMITED: u32 = 1 << 23;
        // Denormals are kept; rounding up also gives infinity for values that are too large.
        const MODE: u32 = 0xf0;
        const UP: u32 = 1 << 2;
        let f = |value: f32| value.to_bits();
        let cases = [
            ("v_add_f16 v0, v1, v2", [0x7bff, 0x7bff, 0], 0x7c00, 0x7bff),
            ("v_add_f16 v0, v1, v2", [0x7c00, 0x3c00, 0], 0x7c00, 0x7c00),
            ("v_mul_f16 v0, v1, v2", [0x7bff, 0xfbff, 0], 0xfc00, 0xfbff),
            ("v_mul_f16 v0, v1, v2", [0x7bff, 0xfc00, 0], 0xfc00, 0xfc00),
            ("v_fma_f16 v0, v1, v2, v3", [0x7bff, 0x7bff, 0], 0xffff_7c00, 0xffff_7bff),
            ("v_add_f16 v0, v1, v2 mul:2", [0x7800, 0, 0], 0x7c00, 0x7bff),
            ("v_exp_f16 v0, v1", [0x4d00, 0, 0], 0x7c00, 0x7bff),
            // 1 / 0 is infinite; the reciprocal of the smallest denormal overflows.
            ("v_rcp_f16 v0, v1", [0x8000, 0, 0], 0xfc00, 0xfc00),
            ("v_rcp_f16 v0, v1", [0x0001, 0, 0], 0x7c00, 0x7bff),
            ("v_div_fixup_f16 v0, v1, v2, v3", [0x3c00, 0, 0xbc00], 0xffff_fc00, 0xffff_fc00),
            // The exponent is an integer; its bits are not an infinity.
            ("v_ldexp_f16 v0, v1, v2", [0x3c00, 0x7c00, 0], 0x7c00, 0x7bff),
            ("v_cvt_f16_f32 v0, v1", [f(-1e6), 0, 0], 0xfc00, 0xfbff),
            ("v_cvt_f16_f32 v0, v1", [f(f32::INFINITY), 0, 0], 0x7c00, 0x7c00),
            ("v_cvt_f16_u16 v0, v1", [0xffff, 0, 0], 0x7c00, 0x7bff),
            ("v_cvt_pk_f16_f32 v0, v1, v2", [f(1e6), f(f32::INFINITY), 0], 0x7c00_7c00, 0x7c00_7bff),
            ("v_pk_mul_f16 v0, v1, v2", [0x7c00_7bff, 0x3c00_7bff, 0], 0x7c00_7c00, 0x7c00_7bff),
            (
                "v_pk_fma_f16 v0, v1, v2, v3",
                [0x7bff_3c00, 0x7bff_3c00, 0x0000_7c00],
                0x7c00_7c00,
                0x7bff_7c00,
            ),
            ("v_fma_mixlo_f16 v0, v1, v2, v3", [f(300.0), f(300.0), f(0.0)], 0xffff_7c00, 0xffff_7bff),
            // Not an f16 result.
            ("v_mul_f32 v0, v1, v2", [f(f32::MAX), f(2.0), 0], 0x7f80_0000, 0x7f80_0000),
            ("v_cvt_scalef32_f16_fp8 v0, v1, v2", [0x7e, f(1e9), 0], 0xffff_7c00, 0xffff_7bff),
        ];
        for (text, sources, free, limited) in cases {
            assert_eq!(result(text, MODE, sources), free, "{text} {sources:x?}");
            assert_eq!(result(text, MODE | LIMITED, sources), limited, "{text} {sources:x?}, limited");
        }
        let (text, sources) = ("v_add_f16 v0, v1, v2", [0x7bff, 0x7bff, 0]);
        assert_eq!(result(text, MODE | UP, sources), 0x7c00);
        assert_eq!(result(text, MODE | UP | LIMITED, sources), 0x7bff);
    }
}
