//! Part of `raw` that multiplies matrices with AVX-512.
//!
//! The one idea to keep in mind: four registers of 64 sums are 16 vectors, which stay in CPU registers during the
//! loop over depth. Each vector uses one factor of A.
#![cfg(target_arch = "x86_64")]

use crate::lanes::{LANES, Row};
use crate::square::{Four, MOST, Square};
use std::arch::x86_64::*;

/// Numbers per vector.
const WIDE: usize = 16;

/// Adds the product of a square block to its sums; false, and nothing is changed, for unsupported sizes.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
pub(crate) fn square_avx512(square: Square<'_>, [a, b]: [&[f32; MOST]; 2], sums: &mut [Row]) -> bool {
    // All factors of a step are in one row of lanes, and the rows of four steps exist.
    let size = square.size;
    let holds =
        |(row, lane): (u8, u8)| usize::from(row) + 4 <= MOST / LANES && usize::from(lane) + size <= LANES;
    if sums.len() * LANES != size * size || !square.depth.iter().all(|it| holds(it.a) && holds(it.b)) {
        return false;
    }
    // SAFETY: the places are checked.
    unsafe {
        match size {
            16 => blocks::<16, 1>(square.depth, a.as_ptr(), b.as_ptr(), sums),
            32 => blocks::<32, 2>(square.depth, a.as_ptr(), b.as_ptr(), sums),
            _ => return false,
        }
    }
    true
}

/// [`square_avx512`] for one size; a row of the result takes `PARTS` vectors.
///
/// # Safety
/// From each place in `depth`, four rows of lanes exist, with `SIZE` lanes from the place's lane. `sums` has
/// `SIZE` rows and columns.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
#[inline]
unsafe fn blocks<const SIZE: usize, const PARTS: usize>(
    depth: &[Four],
    a: *const f32,
    b: *const f32,
    sums: &mut [Row],
) {
    let place = |(row, lane): (u8, u8)| LANES * usize::from(row) + usize::from(lane);
    for (number, four) in sums.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        let mut kept = [[_mm512_setzero_ps(); 4]; LANES / WIDE];
        for (part, kept) in kept.iter_mut().enumerate() {
            for (row, kept) in four.iter().zip(kept) {
                // SAFETY: 16 32-bit numbers.
                *kept = unsafe { _mm512_loadu_ps(row.0.as_chunks::<WIDE>().0[part].as_ptr().cast()) };
            }
        }
        // First row of the block in these sums, at most `SIZE` minus their rows: loads stay in bounds.
        let first = 4 * number * (LANES / SIZE);
        for four in depth {
            // SAFETY: the caller's promise.
            let (a, b) = unsafe { (a.add(place(four.a) + first), b.add(place(four.b))) };
            for step in 0..4 {
                let mut columns = [_mm512_setzero_ps(); PARTS];
                for (part, columns) in columns.iter_mut().enumerate() {
                    // SAFETY: the caller's promise.
                    *columns = unsafe { _mm512_loadu_ps(b.add(LANES * step + WIDE * part)) };
                }
                for part in 0..LANES / WIDE {
                    for row in 0..4 {
                        // SAFETY: the caller's promise.
                        let factor = unsafe { *a.add(LANES * step + 4 * (part / PARTS) + row) };
                        let sum = &mut kept[part][row];
                        *sum = _mm512_fmadd_ps(_mm512_set1_ps(factor), columns[part % PARTS], *sum);
                    }
                }
            }
        }
        for (part, kept) in kept.iter().enumerate() {
            for (row, kept) in four.iter_mut().zip(kept) {
                // SAFETY: as above.
                unsafe {
                    _mm512_storeu_ps(row.0.as_chunks_mut::<WIDE>().0[part].as_mut_ptr().cast(), *kept);
                }
            }
        }
    }
}
