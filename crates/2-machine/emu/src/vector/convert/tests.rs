//! Conversions at the edges of their types, as the ISA documents define them: NaN, infinities, out-of-range
//! values and denormals, where C leaves the result undefined.

use super::*;
use crate::kernels::Kernels;

/// Result of a kernel for one value in all lanes, equal in every compilation.
fn converted(kernels: &Kernels, name: &str, [a, b, c]: [u64; 3]) -> u64 {
    let pair = |value: u64| [Row([value as u32; LANES]), Row([(value >> 32) as u32; LANES])];
    let mut extra = Extra { mask_in: 0, mask_out: 0, mode: Mode(0x3f0), immediate: 0 };
    let mut out = [Row::ZERO; 2];
    let kernel = kernels
        .get(isa::Op::by_name(name).unwrap(), crate::vector::Variant::Plain)
        .unwrap_or_else(|| panic!("no {name}"));
    kernel(&mut out, &pair(a), &pair(b), &pair(c), &mut extra);
    assert!((0..LANES).all(|lane| wide(&out, lane) == wide(&out, 0)), "{name}");
    wide(&out, 0)
}

/// Bits of an f32.
fn f(value: f32) -> u64 {
    u64::from(value.to_bits())
}

/// Bits of an f64.
fn d(value: f64) -> u64 {
    value.to_bits()
}

const NAN32: u64 = 0x7fc0_0000;
const NAN32_SIGNALLING: u64 = 0xff80_0001;
const NAN64: u64 = 0x7ff8_0000_0000_0000;
const INF: f32 = f32::INFINITY;
const TINY: f32 = f32::from_bits(1);

#[test]
fn to_integers_truncate_saturate_and_make_zero_of_nan() {
    let cases: &[(&str, &[(u64, u64)])] = &[
        (
            "v_cvt_i32_f32",
            &[
                (NAN32, 0),
                (NAN32_SIGNALLING, 0),
                (f(INF), 0x7fff_ffff),
                (f(-INF), 0x8000_0000),
                (f(2_147_483_648.0), 0x7fff_ffff),
                (f(2_147_483_520.0), 0x7fff_ff80),
                (f(-2_147_483_648.0), 0x8000_0000),
                (f(-3e9), 0x8000_0000),
                (f(1.9), 1),
                (f(-1.9), 0xffff_ffff),
                (f(-0.0), 0),
                (f(TINY), 0),
            ],
        ),
        (
            "v_cvt_u32_f32",
            &[
                (NAN32, 0),
                (f(INF), 0xffff_ffff),
                (f(-INF), 0),
                (f(4_294_967_296.0), 0xffff_ffff),
                (f(4_294_967_040.0), 0xffff_ff00),
                (f(-1.0), 0),
                (f(-0.5), 0),
                (f(0.999), 0),
                (f(-TINY), 0),
            ],
        ),
        (
            "v_cvt_i32_f64",
            &[
                (NAN64, 0),
                (d(f64::INFINITY), 0x7fff_ffff),
                (d(f64::NEG_INFINITY), 0x8000_0000),
                (d(2_147_483_647.9), 0x7fff_ffff),
                (d(2_147_483_648.0), 0x7fff_ffff),
                (d(-2_147_483_648.9), 0x8000_0000),
                (d(-2_147_483_649.0), 0x8000_0000),
                (d(-1.9), 0xffff_ffff),
                (1, 0),
            ],
        ),
        (
            "v_cvt_u32_f64",
            &[
                (NAN64, 0),
                (d(f64::INFINITY), 0xffff_ffff),
                (d(f64::NEG_INFINITY), 0),
                (d(4_294_967_295.9), 0xffff_ffff),
                (d(4_294_967_296.0), 0xffff_ffff),
                (d(-1.0), 0),
            ],
        ),
        (
            "v_cvt_i16_f16",
            &[
                (0x7e00, 0),
                (0x7c00, 0x7fff),
                (0xfc00, 0x8000),
                (0x7bff, 0x7fff),
                (0xfbff, 0x8000),
                (0x7800, 0x7fff),
                (0xf800, 0x8000),
                (0xbfff, 0xffff),
                (1, 0),
            ],
        ),
        (
            "v_cvt_u16_f16",
            &[(0x7e00, 0), (0x7c00, 0xffff), (0xfc00, 0), (0x7bff, 65504), (0xbc00, 0), (0x3bff, 0)],
        ),
        (
            "v_cvt_flr_i32_f32",
            &[
                (NAN32, 0),
                (f(INF), 0x7fff_ffff),
                (f(-INF), 0x8000_0000),
                (f(-0.5), 0xffff_ffff),
                (f(-TINY), 0xffff_ffff),
                (f(2.9), 2),
                (f(1e20), 0x7fff_ffff),
            ],
        ),
        (
            "v_cvt_rpi_i32_f32",
            &[
                (NAN32, 0),
                (f(INF), 0x7fff_ffff),
                (f(-INF), 0x8000_0000),
                (f(0.5), 1),
                (f(-0.5), 0),
                (f(2.5), 3),
                (f(-2.5), 0xffff_fffe),
                (f(TINY), 0),
            ],
        ),
        (
            "v_cvt_norm_i16_f16",
            &[
                (0x7e00, 0),
                (0x7c00, 0x7fff),
                (0xfc00, 0x8001),
                (0x3c00, 0x7fff),
                (0xbc00, 0x8001),
                (0x4000, 0x7fff),
            ],
        ),
        ("v_cvt_norm_u16_f16", &[(0x7e00, 0), (0x7c00, 0xffff), (0xfc00, 0), (0x3c00, 0xffff), (0xbc00, 0)]),
    ];
    check(cases);
}

#[test]
fn to_narrower_floats_round_to_even_and_overflow_to_infinity() {
    let cases: &[(&str, &[(u64, u64)])] = &[
        (
            "v_cvt_f16_f32",
            &[
                (NAN32, 0x7e00),
                (NAN32_SIGNALLING, 0xfe00),
                (f(INF), 0x7c00),
                (f(-INF), 0xfc00),
                (f(65504.0), 0x7bff),
                (f(65519.996), 0x7bff),
                (f(65520.0), 0x7c00),
                (f(-1e30), 0xfc00),
                (f(5.960_464_5e-8), 1),
                (f(2.980_232_2e-8), 0),
                (f(2.980_232_6e-8), 1),
                (f(6.097_555e-5), 0x3ff),
                (f(-0.0), 0x8000),
                (f(-TINY), 0x8000),
            ],
        ),
        (
            "v_cvt_f32_f64",
            &[
                (d(1e300), f(INF)),
                (d(-1e300), f(-INF)),
                (d(f64::INFINITY), f(INF)),
                (d(3.402_823_567_797_336_6e38), f(INF)),
                (d(3.402_823_567_797_336_6e38) - 1, f(f32::MAX)),
                (d(1e-46), 0),
                (d(-1e-46), 0x8000_0000),
                (d(1e-40), f(1e-40)),
                (d(1.000_000_059_604_644_8), f(1.0)),
            ],
        ),
        (
            "v_cvt_f32_f16",
            &[
                (1, f(5.960_464_5e-8)),
                (0x7c00, f(INF)),
                (0xfc00, f(-INF)),
                (0x8000, f(-0.0)),
                (0x7c01, 0x7fc0_2000),
            ],
        ),
        ("v_cvt_f64_f32", &[(f(TINY), d(1.401_298_464_324_817e-45)), (f(-INF), d(f64::NEG_INFINITY))]),
        ("v_cvt_f16_u16", &[(0xffff, 0x7c00), (65519, 0x7bff), (65520, 0x7c00), (2049, 0x6800)]),
        ("v_cvt_f16_i16", &[(0x8000, 0xf800), (0x7fff, 0x7800), (0xffff, 0xbc00)]),
        ("v_cvt_f32_u32", &[(0xffff_ffff, f(4_294_967_296.0)), (0x0100_0001, f(16_777_216.0))]),
        ("v_cvt_f32_i32", &[(0x8000_0000, f(-2_147_483_648.0)), (0xfeff_ffff, f(-16_777_216.0))]),
        ("v_cvt_off_f32_i4", &[(7, f(0.4375)), (8, f(-0.5)), (0xff, f(-0.0625)), (0, 0)]),
    ];
    check(cases);
    for kernels in both() {
        let found = converted(&kernels, "v_cvt_f32_f64", [NAN64, 0, 0]);
        assert!(f32::from_bits(found as u32).is_nan());
    }
}

#[test]
fn pairs_are_converted_one_by_one() {
    let cases: &[(&str, [u64; 3], u64)] = &[
        ("v_cvt_pkrtz_f16_f32", [f(65520.0), f(-1e30), 0], 0xfbff_7bff),
        ("v_cvt_pkrtz_f16_f32", [f(INF), f(-INF), 0], 0xfc00_7c00),
        ("v_cvt_pkrtz_f16_f32", [NAN32, f(8.9e-8), 0], 0x0001_7e00),
        ("v_cvt_pkrtz_f16_f32", [f(5.9e-8), f(-5.9e-8), 0], 0x8000_0000),
        ("v_cvt_pknorm_i16_f32", [NAN32, f(-INF), 0], 0x8001_0000),
        ("v_cvt_pknorm_i16_f32", [f(1.5), f(-1.0), 0], 0x8001_7fff),
        ("v_cvt_pknorm_u16_f32", [NAN32, f(2.0), 0], 0xffff_0000),
        ("v_cvt_pknorm_u16_f32", [f(-1.0), f(1.0), 0], 0xffff_0000),
        ("v_cvt_pk_i16_i32", [40_000, 0xffff_0000, 0], 0x8000_7fff),
        ("v_cvt_pk_u16_u32", [70_000, 0xffff, 0], 0xffff_ffff),
        ("v_cvt_pk_u8_f32", [NAN32, 0, 0xffff_ffff], 0xffff_ff00),
        ("v_cvt_pk_u8_f32", [f(300.0), 1, 0], 0xff00),
        ("v_cvt_pk_u8_f32", [f(-3.0), 3, 0xffff_ffff], 0x00ff_ffff),
        ("v_cvt_pk_bf16_f32", [f(INF), f(f32::MAX), 0], 0x7f80_7f80),
        ("v_cvt_pk_bf16_f32", [NAN32_SIGNALLING, f(TINY), 0], 0x0000_ffc0),
        ("v_cvt_pk_f16_f32", [f(65520.0), f(-TINY), 0], 0x8000_7c00),
    ];
    for kernels in both() {
        for (name, sources, expected) in cases {
            let found = converted(&kernels, name, *sources) & 0xffff_ffff;
            assert_eq!(found, *expected, "{name} {sources:x?}: {found:#x}");
        }
    }
}

/// All compilations that this CPU can run.
fn both() -> [Kernels; 2] {
    [crate::kernels::Kernels::of(crate::vector::portable()), crate::kernels::kernels()]
}

fn check(cases: &[(&str, &[(u64, u64)])]) {
    for kernels in both() {
        for (name, values) in cases {
            // 64-bit results are compared as a whole, others by their low dword.
            let mask = if name.starts_with("v_cvt_f64") { u64::MAX } else { 0xffff_ffff };
            for (source, expected) in *values {
                let found = converted(&kernels, name, [*source, 0, 0]) & mask;
                assert_eq!(found, *expected, "{name} {source:#x}: {found:#x}");
            }
        }
    }
}
