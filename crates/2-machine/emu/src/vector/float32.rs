//! f32 arithmetic.
//!
//! The one idea to keep in mind: the host's IEEE arithmetic equals the GPU's when rounding is to nearest and
//! denormals are kept. Other modes are handled outside of these kernels.

use crate::lanes::*;

/// Legacy product: 0 times anything is 0.
#[inline(always)]
fn legacy(a: f32, b: f32) -> f32 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

/// Fraction `a - floor(a)`, less than 1.
#[inline(always)]
fn fract(a: f32) -> f32 {
    // A fraction that would round to 1 becomes the largest value below 1.
    let fraction = a - a.floor();
    if fraction >= 1.0 { f32::from_bits(0x3f7f_ffff) } else { fraction }
}

#[inline(always)]
fn quiet(a: f32) -> f32 {
    if a.is_nan() { f32::from_bits(a.to_bits() | 0x0040_0000) } else { a }
}

kernels! {
    in place {
        f32_2 {
            "v_add_f32" = |a, b| a + b;
            "v_sub_f32" = |a, b| a - b;
            "v_subrev_f32" = |a, b| b - a;
            "v_mul_f32" = |a, b| a * b;
        }
        f32_3 {
            "v_fma_f32" = |a, b, c| f32::mul_add(a, b, c);
            "v_fmac_f32" = |a, b, c| f32::mul_add(a, b, c);
            "v_fmamk_f32" = |a, b, c| f32::mul_add(a, b, c);
            "v_fmaak_f32" = |a, b, c| f32::mul_add(a, b, c);
            "v_mad_f32" = |a, b, c| a * b + c;
            "v_mac_f32" = |a, b, c| a * b + c;
            "v_madmk_f32" = |a, b, c| a * b + c;
            "v_madak_f32" = |a, b, c| a * b + c;
        }
    }
    f32_2 {
        "v_mul_legacy_f32" = legacy;
    }
    f32_3 {
        "v_mad_legacy_f32" = |a, b, c| legacy(a, b) + c;
        "v_cubeid_f32" = cube::id;
        "v_cubesc_f32" = cube::sc;
        "v_cubetc_f32" = cube::tc;
        "v_cubema_f32" = cube::ma;
    }
    flushed2 {
        "v_add_f32 flushed" = |a, b| a + b;
        "v_sub_f32 flushed" = |a, b| a - b;
        "v_subrev_f32 flushed" = |a, b| b - a;
        "v_mul_f32 flushed" = |a, b| a * b;
    }
    flushed3 {
        "v_fma_f32 flushed" = |a, b, c| f32::mul_add(a, b, c);
        "v_fmac_f32 flushed" = |a, b, c| f32::mul_add(a, b, c);
        "v_fmamk_f32 flushed" = |a, b, c| f32::mul_add(a, b, c);
        "v_fmaak_f32 flushed" = |a, b, c| f32::mul_add(a, b, c);
    }
    f32_1 {
        "v_trunc_f32" = |a| quiet(a.trunc());
        "v_ceil_f32" = |a| quiet(a.ceil());
        "v_floor_f32" = |a| quiet(a.floor());
        "v_rndne_f32" = |a| quiet(a.round_ties_even());
        "v_fract_f32" = fract;
        "v_frexp_mant_f32" = mantissa;
    }
    f32_to_u32_1 {
        "v_frexp_exp_i32_f32" = exponent;
    }
    each {
        "v_ldexp_f32" = |_, a, b, _, _| ldexp(f32::from_bits(a), b as i32).to_bits();
    }
}

/// Replaces a denormal by zero of the same sign.
#[inline(always)]
fn zeroed(bits: u32) -> u32 {
    bits & if bits & 0x7f80_0000 == 0 { 0x8000_0000 } else { u32::MAX }
}

/// [`f32_3`] that flushes denormal sources and results.
#[inline(always)]
fn flushed3(o: &mut Pair, a: &Pair, b: &Pair, c: &Pair, _: &mut Extra, f: impl Fn(f32, f32, f32) -> f32) {
    for lane in 0..LANES {
        // Separate variables: with arrays of three the compiler vectorises across the array instead of along the
        // lanes.
        let p = f32::from_bits(zeroed(a[0].0[lane]));
        let q = f32::from_bits(zeroed(b[0].0[lane]));
        let r = f32::from_bits(zeroed(c[0].0[lane]));
        o[0].0[lane] = zeroed(f(p, q, r).to_bits());
    }
}

/// [`f32_2`] that flushes denormal sources and results.
#[inline(always)]
fn flushed2(o: &mut Pair, a: &Pair, b: &Pair, _: &Pair, _: &mut Extra, f: impl Fn(f32, f32) -> f32) {
    for lane in 0..LANES {
        let p = f32::from_bits(zeroed(a[0].0[lane]));
        let q = f32::from_bits(zeroed(b[0].0[lane]));
        o[0].0[lane] = zeroed(f(p, q).to_bits());
    }
}

/// Mantissa in [0.5, 1), with sign; NaN and infinity unchanged.
#[inline(always)]
fn mantissa(a: f32) -> f32 {
    if !a.is_finite() || a == 0.0 {
        return a;
    }
    let normal = if a.abs() < f32::MIN_POSITIVE { a * 16_777_216.0 } else { a };
    f32::from_bits(normal.to_bits() & 0x807f_ffff | 0x3f00_0000)
}

/// Exponent such that the mantissa lies in [0.5, 1); 0 for zero, infinity and NaN.
#[inline(always)]
fn exponent(a: f32) -> u32 {
    if !a.is_finite() || a == 0.0 {
        return 0;
    }
    let denormal = a.abs() < f32::MIN_POSITIVE;
    let normal = if denormal { a * 16_777_216.0 } else { a };
    ((normal.to_bits() >> 23 & 0xff) as i32 - 126 - if denormal { 24 } else { 0 }) as u32
}

/// `a * 2^n` with one rounding.
#[inline(always)]
pub(super) fn ldexp(a: f32, n: i32) -> f32 {
    // In f64 neither factor over- or underflows, and the product is exact; only the conversion rounds.
    let n = n.clamp(-300, 300);
    (f64::from(a) * f64::from_bits(((1023 + i64::from(n)) as u64) << 52)) as f32
}

/// Cube map faces, chosen by the coordinate of largest magnitude.
mod cube {
    #[inline(always)]
    fn face(x: f32, y: f32, z: f32) -> u8 {
        if z.abs() >= x.abs() && z.abs() >= y.abs() {
            2
        } else if y.abs() >= x.abs() {
            1
        } else {
            0
        }
    }

    #[inline(always)]
    pub(super) fn id(x: f32, y: f32, z: f32) -> f32 {
        let negative = |v: f32| if v < 0.0 { 1.0 } else { 0.0 };
        match face(x, y, z) {
            2 => 4.0 + negative(z),
            1 => 2.0 + negative(y),
            _ => negative(x),
        }
    }

    #[inline(always)]
    pub(super) fn sc(x: f32, y: f32, z: f32) -> f32 {
        match face(x, y, z) {
            2 => {
                if z < 0.0 {
                    -x
                } else {
                    x
                }
            }
            1 => x,
            _ => {
                if x < 0.0 {
                    z
                } else {
                    -z
                }
            }
        }
    }

    #[inline(always)]
    pub(super) fn tc(x: f32, y: f32, z: f32) -> f32 {
        match face(x, y, z) {
            1 => {
                if y < 0.0 {
                    -z
                } else {
                    z
                }
            }
            _ => -y,
        }
    }

    #[inline(always)]
    pub(super) fn ma(x: f32, y: f32, z: f32) -> f32 {
        2.0 * match face(x, y, z) {
            2 => z,
            1 => y,
            _ => x,
        }
    }
}
