//! Arithmetic with directed rounding.
//!
//! The one idea to keep in mind: the name of such a kernel is the mnemonic and ` rounded`. Results are first
//! computed in a wider type and rounded to odd, which loses nothing that a directed rounding needs. f64 results
//! are corrected by the sign of the exact error.

use crate::half::{f16_to_f32, f32_to_f16};
use crate::lanes::*;

/// Rounding: 0 to nearest, 1 up, 2 down, 3 to zero.
type Direction = u8;

/// Moves to the next number up or down, if the rounded value is on the wrong side of the exact one. `error` is
/// exact minus rounded.
macro_rules! nudge {
    ($name:ident, $float:ty) => {
        #[inline(always)]
        fn $name(value: $float, error: $float, direction: Direction) -> $float {
            if error == 0.0 || error.is_nan() || value.is_nan() {
                return value;
            }
            let up = match direction {
                1 => error > 0.0,
                3 => error > 0.0 && value < 0.0,
                _ => false,
            };
            let down = match direction {
                2 => error < 0.0,
                3 => error < 0.0 && value > 0.0,
                _ => false,
            };
            if up {
                value.next_up()
            } else if down {
                value.next_down()
            } else {
                value
            }
        }
    };
}

nudge!(nudge64, f64);
nudge!(nudge32, f32);

/// Sum and its exact error.
#[inline(always)]
pub(super) fn sum(a: f64, b: f64) -> (f64, f64) {
    let total = a + b;
    if !total.is_finite() {
        // Finite numbers overflowed: the exact sum is nearer to 0 than infinity.
        let finite = a.is_finite() && b.is_finite();
        return (total, if finite { -total.signum() } else { 0.0 });
    }
    let other = total - a;
    (total, (a - (total - other)) + (b - other))
}

/// Product and its exact error.
#[inline(always)]
fn product(a: f64, b: f64) -> (f64, f64) {
    let value = a * b;
    if !value.is_finite() {
        let finite = a.is_finite() && b.is_finite();
        return (value, if finite { -value.signum() } else { 0.0 });
    }
    (value, f64::mul_add(a, b, -value))
}

/// Fused multiply-add and an error of the right sign.
#[inline(always)]
pub(super) fn fused(a: f64, b: f64, c: f64) -> (f64, f64) {
    let value = f64::mul_add(a, b, c);
    if !value.is_finite() {
        let finite = a.is_finite() && b.is_finite() && c.is_finite();
        return (value, if finite { -value.signum() } else { 0.0 });
    }
    let (high, low) = product(a, b);
    let (mid, rest) = sum(c, low);
    let (top, bottom) = sum(high, mid);
    let (gamma, small) = sum(top - value, bottom);
    (value, gamma + (small + rest))
}

/// Rounds a sum to odd.
#[inline(always)]
pub(super) fn odd(value: f64, error: f64) -> f64 {
    if error == 0.0 || error.is_nan() || !value.is_finite() || value.to_bits() & 1 == 1 {
        return value;
    }
    if error > 0.0 { value.next_up() } else { value.next_down() }
}

/// f64 to f32 with a rounding direction.
#[inline(always)]
fn to_single(value: f64, direction: Direction) -> f32 {
    let nearest = value as f32;
    if nearest.is_infinite() && value.is_finite() {
        return nudge32(nearest, -nearest.signum(), direction);
    }
    let error = value - f64::from(nearest);
    nudge32(nearest, if error == 0.0 { 0.0 } else { error.signum() as f32 }, direction)
}

/// f64 to f16 with a rounding direction.
#[inline(always)]
fn to_half(value: f64, direction: Direction) -> u16 {
    let nearest = crate::half::f64_to_f16(value);
    let error = value - f64::from(f16_to_f32(nearest));
    if error == 0.0 || value.is_nan() || value.is_infinite() || direction == 0 {
        return nearest;
    }
    // A step away from zero increments the code of the magnitude, a step towards zero decrements it.
    let negative = nearest & 0x8000 != 0;
    let up = direction == 1 || direction == 3 && negative;
    let step = if error > 0.0 && up {
        if negative { -1i32 } else { 1 }
    } else if error < 0.0 && (direction == 2 || direction == 3 && !negative) {
        if negative { 1 } else { -1 }
    } else {
        0
    };
    (i32::from(nearest) + step) as u16
}

/// An exact sum of opposite numbers is -0 when rounded down.
#[inline(always)]
fn zero_sign(value: f64, a: f64, b: f64, direction: Direction) -> f64 {
    if value == 0.0 && direction == 2 && a.is_sign_negative() != b.is_sign_negative() { -0.0 } else { value }
}

#[inline(always)]
fn single(
    o: &mut Pair,
    a: &Pair,
    b: &Pair,
    c: &Pair,
    x: &mut Extra,
    f: impl Fn(f64, f64, f64, Direction) -> f64,
) {
    let direction = x.mode.round32();
    for lane in 0..LANES {
        let of = |pair: &Pair| f64::from(f32::from_bits(pair[0].0[lane]));
        let [p, q, r] = [of(a), of(b), of(c)];
        o[0].0[lane] = to_single(f(p, q, r, direction), direction).to_bits();
    }
}

#[inline(always)]
fn half(
    o: &mut Pair,
    a: &Pair,
    b: &Pair,
    c: &Pair,
    x: &mut Extra,
    f: impl Fn(f64, f64, f64, Direction) -> f64,
) {
    let direction = x.mode.round64();
    for lane in 0..LANES {
        let of = |pair: &Pair| f64::from(f16_to_f32(pair[0].0[lane] as u16));
        let [p, q, r] = [of(a), of(b), of(c)];
        o[0].0[lane] = u32::from(to_half(f(p, q, r, direction), direction));
    }
}

#[inline(always)]
fn halves_of(
    o: &mut Pair,
    a: &Pair,
    b: &Pair,
    c: &Pair,
    x: &mut Extra,
    f: impl Fn(f64, f64, f64, Direction) -> f64,
) {
    let direction = x.mode.round64();
    for lane in 0..LANES {
        let of = |pair: &Pair| pair[0].0[lane];
        let words = [of(a), of(b), of(c)];
        let one = |shift: u32| {
            let of = |word: u32| f64::from(f16_to_f32((word >> shift) as u16));
            let [p, q, r] = [of(words[0]), of(words[1]), of(words[2])];
            u32::from(to_half(f(p, q, r, direction), direction))
        };
        o[0].0[lane] = one(0) | one(16) << 16;
    }
}

#[inline(always)]
fn double(
    o: &mut Pair,
    a: &Pair,
    b: &Pair,
    c: &Pair,
    x: &mut Extra,
    f: impl Fn(f64, f64, f64) -> (f64, f64),
) {
    let direction = x.mode.round64();
    for lane in 0..LANES {
        let of = |pair: &Pair| f64::from_bits(wide(pair, lane));
        let [p, q, r] = [of(a), of(b), of(c)];
        let (value, error) = f(p, q, r);
        set_wide(o, lane, nudge64(value, error, direction).to_bits());
    }
}

/// 32 bits to f32, through an exact f64.
#[inline(always)]
fn from_word(o: &mut Pair, a: &Pair, _: &Pair, _: &Pair, x: &mut Extra, f: impl Fn(u32) -> f64) {
    let direction = x.mode.round32();
    for lane in 0..LANES {
        o[0].0[lane] = to_single(f(a[0].0[lane]), direction).to_bits();
    }
}

#[inline(always)]
fn narrow(o: &mut Pair, a: &Pair, _: &Pair, _: &Pair, x: &mut Extra, (): ()) {
    let direction = x.mode.round32();
    for lane in 0..LANES {
        o[0].0[lane] = to_single(f64::from_bits(wide(a, lane)), direction).to_bits();
    }
}

#[inline(always)]
fn to_half_row(o: &mut Pair, a: &Pair, _: &Pair, _: &Pair, x: &mut Extra, (): ()) {
    let direction = x.mode.round64();
    for lane in 0..LANES {
        let value = f32::from_bits(a[0].0[lane]);
        let nan = value.is_nan();
        o[0].0[lane] = u32::from(if nan { f32_to_f16(value) } else { to_half(f64::from(value), direction) });
    }
}

#[inline(always)]
fn added(a: f64, b: f64, direction: Direction) -> f64 {
    let (value, error) = sum(a, b);
    zero_sign(odd(value, error), a, b, direction)
}

#[inline(always)]
fn multiplied_and_added(a: f64, b: f64, c: f64, direction: Direction) -> f64 {
    // The product of two f32 is exact in f64.
    added(a * b, c, direction)
}

kernels! {
    single {
        "v_add_f32 rounded" = |a, b, _, d| added(a, b, d);
        "v_sub_f32 rounded" = |a, b, _, d| added(a, -b, d);
        "v_subrev_f32 rounded" = |a, b, _, d| added(b, -a, d);
        "v_mul_f32 rounded" = |a, b, _, _| a * b;
        "v_fma_f32 rounded" = multiplied_and_added;
        "v_fmac_f32 rounded" = multiplied_and_added;
        "v_fmaak_f32 rounded" = multiplied_and_added;
        "v_fmamk_f32 rounded" = multiplied_and_added;
    }
    half {
        "v_add_f16 rounded" = |a, b, _, d| added(a, b, d);
        "v_sub_f16 rounded" = |a, b, _, d| added(a, -b, d);
        "v_subrev_f16 rounded" = |a, b, _, d| added(b, -a, d);
        "v_mul_f16 rounded" = |a, b, _, _| a * b;
        "v_fma_f16 rounded" = multiplied_and_added;
    }
    halves_of {
        "v_pk_add_f16 rounded" = |a, b, _, d| added(a, b, d);
        "v_pk_mul_f16 rounded" = |a, b, _, _| a * b;
        "v_pk_fma_f16 rounded" = multiplied_and_added;
    }
    double {
        "v_add_f64 rounded" = |a, b, _| sum(a, b);
        "v_mul_f64 rounded" = |a, b, _| product(a, b);
        "v_fma_f64 rounded" = fused;
        "v_fmac_f64 rounded" = fused;
    }
    from_word {
        "v_cvt_f32_i32 rounded" = |a| f64::from(a as i32);
        "v_cvt_f32_u32 rounded" = |a| f64::from(a);
    }
    narrow {
        "v_cvt_f32_f64 rounded" = ();
    }
    to_half_row {
        "v_cvt_f16_f32 rounded" = ();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_bracket_the_exact_value() {
        let third = 1.0 / 3.0;
        assert_eq!(to_single(third, 1), (third as f32).max((third as f32).next_down().next_up()));
        assert!(f64::from(to_single(third, 2)) < third && f64::from(to_single(third, 1)) > third);
        assert_eq!(to_single(-third, 3), to_single(-third, 1));
        assert_eq!(to_single(1e300, 3), f32::MAX);
        assert_eq!(to_single(1e300, 1), f32::INFINITY);
        assert_eq!(to_half(0.1, 2) + 1, to_half(0.1, 1));
        assert_eq!(to_half(-0.1, 1) + 1, to_half(-0.1, 2));
        assert_eq!(to_half(1e6, 3), 0x7bff);
        assert_eq!(to_single(added(1.0, 1e-40, 1), 1), 1.0f32.next_up());
        assert_eq!(to_single(added(1.0, -1e-40, 3), 3), 1.0f32.next_down());
        let (value, error) = sum(1.0, 1e-30);
        assert_eq!(nudge64(value, error, 1), 1.0f64.next_up());
        let (value, error) = fused(1.0 + f64::EPSILON, 1.0 + f64::EPSILON, -1.0);
        assert!(error > 0.0 && nudge64(value, error, 1) > value);
        assert!(added(1.0, -1.0, 2).is_sign_negative() && added(1.0, -1.0, 1).is_sign_positive());
    }
}
