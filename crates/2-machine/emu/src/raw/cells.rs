//! Part of `raw` for instructions whose operands may be the same registers.
//!
//! The one idea to keep in mind: registers are cells, which may be read and written through several references.
//! This module only accesses their lanes, eight at a time, and computes with doubles in the CPU's lane order.

use crate::lanes::{Cells, LANES, Row};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
use std::cell::Cell;

/// Lanes of a register in groups of eight.
#[inline(always)]
pub(crate) fn eights(row: &Cell<Row>) -> &[Cell<[u32; 8]>; LANES / 8] {
    // SAFETY: a row consists of its lanes only, and a cell has the layout of its content.
    unsafe { &*std::ptr::from_ref(row).cast() }
}

/// Eight 64-bit lanes from their low and high dwords: 0, 1, 4 and 5, then 2, 3, 6 and 7.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
#[inline]
fn eight_doubles(pair: &Cells, eight: usize) -> [__m256d; 2] {
    let (low, high) = (eights(&pair[0])[eight].as_ptr(), eights(&pair[1])[eight].as_ptr());
    // SAFETY: each is eight 32-bit numbers.
    let (low, high) = unsafe { (_mm256_loadu_si256(low.cast()), _mm256_loadu_si256(high.cast())) };
    let (first, second) = (_mm256_unpacklo_epi32(low, high), _mm256_unpackhi_epi32(low, high));
    [_mm256_castsi256_pd(first), _mm256_castsi256_pd(second)]
}

/// Stores the dwords of eight lanes, in the order of [`eight_doubles`], to their rows.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
#[inline]
fn put_eight(rows: &Cells, eight: usize, [first, second]: [__m256d; 2]) {
    let (first, second) = (_mm256_castpd_ps(first), _mm256_castpd_ps(second));
    let low = _mm256_shuffle_ps::<0b1000_1000>(first, second);
    let high = _mm256_shuffle_ps::<0b1101_1101>(first, second);
    let (into_low, into_high) = (eights(&rows[0])[eight].as_ptr(), eights(&rows[1])[eight].as_ptr());
    // SAFETY: each is eight 32-bit numbers.
    unsafe {
        _mm256_storeu_ps(into_low.cast(), low);
        _mm256_storeu_ps(into_high.cast(), high);
    }
}

/// Sum of doubles.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
pub(crate) fn add_f64(o: &Cells, a: &Cells, b: &Cells) {
    for eight in 0..LANES / 8 {
        let (a, b) = (eight_doubles(a, eight), eight_doubles(b, eight));
        put_eight(o, eight, [_mm256_add_pd(a[0], b[0]), _mm256_add_pd(a[1], b[1])]);
    }
}

/// Product of doubles.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
pub(crate) fn mul_f64(o: &Cells, a: &Cells, b: &Cells) {
    for eight in 0..LANES / 8 {
        let (a, b) = (eight_doubles(a, eight), eight_doubles(b, eight));
        put_eight(o, eight, [_mm256_mul_pd(a[0], b[0]), _mm256_mul_pd(a[1], b[1])]);
    }
}

/// `a * b + c` of doubles, rounded once.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
pub(crate) fn fma_f64(o: &Cells, a: &Cells, b: &Cells, c: &Cells) {
    for eight in 0..LANES / 8 {
        let (a, b, c) = (eight_doubles(a, eight), eight_doubles(b, eight), eight_doubles(c, eight));
        put_eight(o, eight, [_mm256_fmadd_pd(a[0], b[0], c[0]), _mm256_fmadd_pd(a[1], b[1], c[1])]);
    }
}
