//! Values computed by hand from the formats: OCP E4M3, E5M2, E2M3, E3M2 and E2M1, with E8M0 scales.

use super::*;
use crate::lanes::Mode;
use crate::memory::Memory;
use crate::program::Program;
use crate::wave::WaveId;
use isa::Isa;
use isa::text::{Statement, parse_line};

/// Lane with the values; other lanes hold 0.
const LANE: usize = 37;

/// Registers of the lane after an instruction; before, all are 0 except `set`.
fn run(text: &str, op_sel: u8, mode: u32, set: &[(usize, u32)]) -> Vec<u32> {
    let line = parse_line(Isa::Gfx950, text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    let Statement::Inst(parsed) = line.statement else { panic!("{text}") };
    let mut inst = parsed.inst;
    inst.mods.op_sel = op_sel;
    let mut pool = Pool::default();
    let conversion = Conversion::resolve(&inst, Files { accumulators: 256 }, &mut pool).unwrap().unwrap();
    let mut program = Program::empty(Isa::Gfx950);
    program.pool = pool;
    let memory = Memory::new();
    let machine = Machine::new(&program.pool, 0, &memory, 0, 0);
    let id = WaveId { workgroup: [0; 3], workgroup_index: 0, wave: 0 };
    let mut wave = Wave::new(id, 256, Mode(mode), 0);
    wave.set_pair(crate::operand::EXEC, 1 << LANE);
    for &(row, value) in set {
        wave.v[row].0[LANE] = value;
    }
    let before = wave.v.clone();
    conversion.run(&machine, &mut wave);
    for lane in (0..LANES).filter(|lane| *lane != LANE) {
        assert!(
            wave.v.iter().zip(&before).all(|(new, old)| new.0[lane] == old.0[lane]),
            "{text}: lane {lane}"
        );
    }
    wave.v.iter().map(|row| row.0[LANE]).collect()
}

fn f(value: f32) -> u32 {
    value.to_bits()
}

const OLD: u32 = 0x1122_3344;

/// From (text, op_sel, registers 1 to 5) to register 0, which holds [`OLD`] before.
#[test]
fn one_register() {
    let three = |name: &str| format!("v_cvt_scalef32_{name} v0, v1, v2, v3");
    let two = |name: &str| format!("v_cvt_scalef32_{name} v0, v1, v3");
    let pair = |name: &str| format!("v_cvt_scalef32_{name} v0, v[4:5], v2, v3");
    type Case = (String, u8, Vec<(usize, u32)>, u32);
    let cases: Vec<Case> = vec![
        // 4 / 4 and -1792 / 4 = -448; mantissa and sign of a scale are ignored.
        (three("pk_fp8_f32"), 0, vec![(1, f(4.0)), (2, f(-1792.0)), (3, f(4.0))], 0x1122_fe38),
        (three("pk_fp8_f32"), 8, vec![(1, f(4.0)), (2, f(-1792.0)), (3, f(-7.5))], 0xfe38_3344),
        (three("pk_bf8_f32"), 0, vec![(1, f(1.0)), (2, f(57344.0)), (3, f(1.0))], 0x1122_7b3c),
        // Too large: NaN in E4M3, infinity in E5M2, the largest value in formats without either.
        (three("pk_fp8_f32"), 0, vec![(1, f(500.0)), (2, f(-1e30)), (3, f(1.0))], 0x1122_ff7f),
        (three("pk_bf8_f32"), 0, vec![(1, f(1e6)), (2, f(-1e6)), (3, f(1.0))], 0x1122_fc7c),
        (three("pk_fp4_f32"), 0, vec![(1, f(100.0)), (2, f(f32::NEG_INFINITY)), (3, f(1.0))], 0x1122_33f7),
        // A scale of all ones is NaN.
        (three("pk_fp8_f32"), 0, vec![(1, f(1.0)), (2, f(0.0)), (3, 0x7f80_0000)], 0x1122_7f7f),
        // The smallest scale is 2^-127: 2^-127 becomes 1.
        (three("pk_fp8_f32"), 0, vec![(1, 0x0040_0000), (2, 0), (3, 0)], 0x1122_0038),
        // 1.0625 is a tie between 1 and 1.125, 1.1875 one between 1.125 and 1.25.
        (three("pk_fp8_f32"), 0, vec![(1, f(1.0625)), (2, f(1.1875)), (3, f(1.0))], 0x1122_3a38),
        // Byte 2: 6 and -0.5. Ties: 2.5 is 2, 3.5 is 4, 5 is 4, 0.25 is 0, 0.75 is 1.
        (three("pk_fp4_f32"), 8, vec![(1, f(6.0)), (2, f(-0.5)), (3, f(1.0))], 0x1197_3344),
        (three("pk_fp4_f32"), 0, vec![(1, f(2.5)), (2, f(3.5)), (3, f(1.0))], 0x1122_3364),
        (three("pk_fp4_f32"), 0, vec![(1, f(5.0)), (2, f(0.25)), (3, f(1.0))], 0x1122_3306),
        (three("pk_fp4_f32"), 12, vec![(1, f(0.75)), (2, f(-0.75)), (3, f(1.0))], 0xa222_3344),
        // Half a unit: random values from one half on round up.
        (three("sr_fp8_f32"), 4, vec![(1, f(1.0625)), (2, 0x7fff_ffff), (3, f(1.0))], 0x1122_3844),
        (three("sr_fp8_f32"), 4, vec![(1, f(1.0625)), (2, 0x8000_0000), (3, f(1.0))], 0x1122_3944),
        (three("sr_bf8_f32"), 12, vec![(1, f(2.5)), (2, 0), (3, f(2.0))], 0x3d22_3344),
        // A quarter: the first random value is enough, the stepped one (0x800000c5) is not, for a half it is.
        (
            pair("sr_pk_fp4_f32"),
            0,
            vec![(4, f(2.25)), (5, f(2.25)), (2, 0xc000_0000), (3, f(1.0))],
            0x1122_3345,
        ),
        (
            pair("sr_pk_fp4_f32"),
            4,
            vec![(4, f(2.25)), (5, f(2.5)), (2, 0xc000_0000), (3, f(1.0))],
            0x1122_5544,
        ),
        // Halves: 1 and -10 = -1.25 * 8.
        (two("pk_fp8_f16"), 0, vec![(1, 0xc900_3c00), (3, f(1.0))], 0x1122_d238),
        (two("pk_bf8_bf16"), 8, vec![(1, 0xbfc0_3f80), (3, f(1.0))], 0xbe3c_3344),
        (two("pk_fp4_f16"), 4, vec![(1, 0xc600_3c00), (3, f(1.0))], 0x1122_f244),
        (two("pk_fp4_bf16"), 0, vec![(1, 0x40c0_bf80), (3, f(2.0))], 0x1122_3359),
        // An f16 has 7 bits below E4M3's last: 2^-7 of a unit needs the highest 7 random bits set.
        (three("sr_fp8_f16"), 0, vec![(1, 0x3c01), (2, 0xfe00_0000), (3, f(1.0))], 0x1122_3339),
        (three("sr_fp8_f16"), 0, vec![(1, 0x3c01), (2, 0xfdff_ffff), (3, f(1.0))], 0x1122_3338),
        // Denormal: 2^-10 * (1 + 2^-8) is cut off to half a unit of 2^-9 before the random value is added.
        (three("sr_fp8_f16"), 0, vec![(1, 0x1404), (2, 0x7fff_ffff), (3, f(1.0))], 0x1122_3300),
        (three("sr_fp8_f16"), 0, vec![(1, 0x1404), (2, 0x8000_0000), (3, f(1.0))], 0x1122_3301),
        (three("sr_bf8_bf16"), 0, vec![(1, 0xc040), (2, u32::MAX), (3, f(1.0))], 0x1122_33c2),
        // From small formats: 0xb8 is -1, 0x7e is 448, 0x01 is 2^-9; bytes and halves by op_sel.
        (two("f32_fp8"), 2, vec![(1, 0x00b8_0000), (3, f(4.0))], f(-4.0)),
        (two("f32_bf8"), 1, vec![(1, 0x0000_7b00), (3, f(0.5))], f(28672.0)),
        (two("f16_fp8"), 8, vec![(1, 0x38), (3, f(2.0))], 0x4000_3344),
        (two("f16_bf8"), 0, vec![(1, 0x3c), (3, f(1.0))], 0x1122_3c00),
        (two("pk_f16_fp8"), 0, vec![(1, 0x7e01), (3, f(1.0))], 0x5f00_1800),
        (two("pk_f16_bf8"), 1, vec![(1, 0xbc3c_0000), (3, f(1.0))], 0xbc00_3c00),
        (two("pk_bf16_fp8"), 0, vec![(1, 0xb838), (3, f(1.0))], 0xbf80_3f80),
        (two("pk_bf16_bf8"), 0, vec![(1, 0xfc7b), (3, f(1.0))], 0xff80_4760),
        // Too large for f16: infinity. 6 * 2^-26 is between f16's denormals 1 and 2 (units of 2^-24), at 1.5: even is 2.
        (two("pk_f16_fp4"), 0, vec![(1, 0xf7), (3, f(65536.0))], 0xfc00_7c00),
        (two("pk_f16_fp4"), 3, vec![(1, 0x7700_0000), (3, f(2f32.powi(-26)))], 0x0002_0002),
        (two("pk_bf16_fp4"), 1, vec![(1, 0x9100), (3, f(1.0))], 0xbf00_3f00),
    ];
    for (text, op_sel, mut set, expected) in cases {
        set.push((0, OLD));
        let found = run(&text, op_sel, 0x3f0, &set)[0];
        assert_eq!(found, expected, "{text} op_sel {op_sel:#x} {set:x?}: {found:#x}, not {expected:#x}");
    }
}

#[test]
fn mode_makes_large_values_finite() {
    let set = [(1, f(500.0)), (2, f(-1e30)), (3, f(1.0))];
    let (fp8, bf8) = ("v_cvt_scalef32_pk_fp8_f32 v0, v1, v2, v3", "v_cvt_scalef32_pk_bf8_f32 v0, v1, v2, v3");
    assert_eq!(run(fp8, 0, 1 << 23, &set)[0], 0xfe7e);
    assert_eq!(run(bf8, 0, 1 << 23, &set)[0], 0xfb60);
}

#[test]
fn signs_of_values_can_be_changed() {
    let set = [(1, f(1.0)), (2, f(-2.0)), (3, f(1.0))];
    assert_eq!(run("v_cvt_scalef32_pk_fp4_f32 v0, -v1, |v2|, v3", 0, 0x3f0, &set)[0], 0x4a);
}

#[test]
fn pairs_of_f32() {
    let fp8 = "v_cvt_scalef32_pk_f32_fp8 v[0:1], v2, v3";
    let set = [(2, 0x38b8_7e01), (3, f(0.5))];
    assert_eq!(run(fp8, 0, 0x3f0, &set)[..2], [f(2f32.powi(-10)), f(224.0)]);
    assert_eq!(run(fp8, 1, 0x3f0, &set)[..2], [f(-0.5), f(0.5)]);
    let bf8 = "v_cvt_scalef32_pk_f32_bf8 v[0:1], v2, v3";
    assert_eq!(run(bf8, 0, 0x3f0, &[(2, 0x013c), (3, f(1.0))])[..2], [f(1.0), f(2f32.powi(-16))]);
    let fp4 = "v_cvt_scalef32_pk_f32_fp4 v[0:1], v2, v3";
    assert_eq!(run(fp4, 3, 0x3f0, &[(2, 0xf100_0000), (3, f(2.0))])[..2], [f(1.0), f(-12.0)]);
    // 2^-9 * 2^-127 is a denormal of f32; 448 * 2^127 is infinite.
    assert_eq!(run(fp8, 0, 0x3f0, &[(2, 0x0001), (3, 0)])[0], 1 << 13);
    assert_eq!(run(fp8, 0, 0x3f0, &[(2, 0x7e00), (3, f(2f32.powi(127)))])[1], f(f32::INFINITY));
}

/// Value of a positive E2M3 code.
fn e2m3(code: u32) -> f32 {
    match code {
        0..8 => code as f32 / 8.0,
        8..16 => code as f32 / 8.0,
        16..24 => (code - 8) as f32 / 4.0,
        _ => (code - 16) as f32 / 2.0,
    }
}

/// Value of a positive E3M2 code.
fn e3m2(code: u32) -> f32 {
    if code < 4 { code as f32 / 16.0 } else { (4 + code % 4) as f32 * 2f32.powi(code as i32 / 4 - 5) }
}

/// Codes 0 to 31, packed in 6 bits each: the first dword is 1 << 6 | 2 << 12 | 3 << 18 | 4 << 24 | 5 << 30.
const FIRST: u32 = 0x440c_2040;

/// All codes, packed in six dwords.
fn codes() -> [u32; 6] {
    let mut bits = [0u32; 6];
    for bit in 0..192 {
        bits[bit / 32] |= (bit as u32 / 6 >> (bit % 6) & 1) << (bit % 32);
    }
    bits
}

#[test]
fn blocks_of_32() {
    let codes = codes();
    assert_eq!(codes[0], FIRST);
    for (name, value) in [("fp6", e2m3 as fn(u32) -> f32), ("bf6", e3m2)] {
        let values: Vec<f32> = (0..32).map(value).collect();
        let half = |value: f32| crate::half::f32_to_f16(value);
        let bf = |value: f32| (value.to_bits() >> 16) as u16;
        let words = |make: &dyn Fn(f32) -> u16, factor: f32| -> Vec<(usize, u32)> {
            (0..16)
                .map(|at| {
                    let word = |at: usize| u32::from(make(factor * values[at]));
                    (64 + at, word(2 * at) | word(2 * at + 1) << 16)
                })
                .collect()
        };
        let floats = |factor: f32| -> Vec<(usize, u32)> {
            values.iter().enumerate().map(|(at, value)| (64 + at, f(factor * value))).collect()
        };
        // Two runs of 16 that alternate.
        let mut turns: Vec<(usize, u32)> =
            (0..32).map(|n| (64 + 16 * (n % 2) + n / 2, f(4.0 * values[n]))).collect();
        turns.push((8, f(4.0)));
        let text = format!("v_cvt_scalef32_2xpk16_{name}_f32 v[0:5], v[64:79], v[80:95], v8");
        assert_eq!(run(&text, 0, 0x3f0, &turns)[..6], codes, "{text}");
        // Exact values do not depend on the random value.
        for (from, mut set) in [("f32", floats(4.0)), ("f16", words(&half, 4.0)), ("bf16", words(&bf, 4.0))] {
            set.extend([(8, f(4.0)), (9, 0xdead_beef)]);
            let last = if from == "f32" { 95 } else { 79 };
            let text = format!("v_cvt_scalef32_sr_pk32_{name}_{from} v[0:5], v[64:{last}], v9, v8");
            assert_eq!(run(&text, 0, 0x3f0, &set)[..6], codes, "{text}");
            if from != "f32" {
                let text = format!("v_cvt_scalef32_pk32_{name}_{from} v[0:5], v[64:79], v8");
                assert_eq!(run(&text, 0, 0x3f0, &set)[..6], codes, "{text}");
            }
        }
        let mut packed: Vec<(usize, u32)> =
            codes.iter().enumerate().map(|(at, code)| (32 + at, *code)).collect();
        packed.push((8, f(8.0)));
        for (to, last, expected) in
            [("f32", 95, floats(8.0)), ("f16", 79, words(&half, 8.0)), ("bf16", 79, words(&bf, 8.0))]
        {
            let text = format!("v_cvt_scalef32_pk32_{to}_{name} v[64:{last}], v[32:37], v8");
            let found = run(&text, 0, 0x3f0, &packed);
            for (row, value) in expected {
                assert_eq!(found[row], value, "{text}: v{row}");
            }
        }
    }
}

#[test]
fn random_values_are_stepped_from_number_to_number() {
    // All values are half a unit between codes: a number rounds up if the highest random bit is set.
    let mut set: Vec<(usize, u32)> = (0..32).map(|at| (64 + at, f(1.0 + 1.0 / 16.0))).collect();
    set.extend([(8, f(1.0)), (9, 0xa000_0000)]);
    let found = run("v_cvt_scalef32_sr_pk32_fp6_f32 v[0:5], v[64:95], v9, v8", 0, 0x3f0, &set);
    let mut noise = 0xa000_0000u32;
    for number in 0..32 {
        let code = (0..6).fold(0, |code, bit| {
            let at = 6 * number + bit;
            code | (found[at / 32] >> (at % 32) & 1) << bit
        });
        assert_eq!(code, 8 + (noise >> 31), "number {number}");
        noise = noise << 1 ^ if noise >> 31 != 0 { 197 } else { 0 };
    }
}
