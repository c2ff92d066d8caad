//! Part of `raw` that moves several lanes with each vector instruction.
//!
//! The one idea to keep in mind: memory holds the dwords of a lane consecutively, and a register holds one dword
//! of all lanes. So eight lanes are transposed at a time, as two groups of four in the halves of a vector. Memory
//! accesses are assembly, because other threads may write at the same time: Rust allows only atomic accesses
//! then, of at most eight bytes. Each dword is read and written as a whole.
#![cfg(target_arch = "x86_64")]

use crate::lanes::{LANES, Row, Step};
use std::arch::asm;
use std::arch::x86_64::*;

/// Defines a load to `$out` from the sum of two registers.
macro_rules! load {
    ($name:ident, $class:ident, $ty:ty, $text:literal) => {
        #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
        #[inline]
        unsafe fn $name(start: *const u8, distance: i64) -> $ty {
            let value;
            // SAFETY: the caller promises that the bytes exist.
            unsafe {
                asm!($text, out = lateout($class) value, start = in(reg) start, distance = in(reg) distance,
                     options(pure, readonly, nostack, preserves_flags));
            }
            value
        }
    };
}

/// Defines a load into other elements of a vector.
macro_rules! load_beside {
    ($name:ident, $from:ident, $into:ident, $of:ty, $ty:ty, $text:literal) => {
        #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
        #[inline]
        unsafe fn $name(value: $of, start: *const u8, distance: i64) -> $ty {
            let both;
            // SAFETY: the caller promises that the bytes exist.
            unsafe {
                asm!($text, out = lateout($into) both, value = in($from) value, start = in(reg) start,
                     distance = in(reg) distance, options(pure, readonly, nostack, preserves_flags));
            }
            both
        }
    };
}

/// Defines a store.
macro_rules! store {
    ($name:ident, $class:ident, $ty:ty, $text:literal) => {
        #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
        #[inline]
        unsafe fn $name(value: $ty, start: *mut u8, distance: i64) {
            // SAFETY: the caller promises that the bytes exist.
            unsafe {
                asm!($text, value = in($class) value, start = in(reg) start, distance = in(reg) distance,
                     options(nostack, preserves_flags));
            }
        }
    };
}

load!(load4, xmm_reg, __m128i, "vmovd {out}, dword ptr [{start} + {distance}]");
load!(load8, xmm_reg, __m128i, "vmovq {out}, qword ptr [{start} + {distance}]");
load!(load16, ymm_reg, __m256i, "vmovdqu {out:x}, xmmword ptr [{start} + {distance}]");
load!(load32, ymm_reg, __m256i, "vmovdqu {out}, ymmword ptr [{start} + {distance}]");
load!(load_all, ymm_reg, __m256i, "vpbroadcastd {out}, dword ptr [{start} + {distance}]");
load_beside!(
    second4,
    xmm_reg,
    xmm_reg,
    __m128i,
    __m128i,
    "vpinsrd {out}, {value}, dword ptr [{start} + {distance}], 1"
);
load_beside!(
    third4,
    xmm_reg,
    xmm_reg,
    __m128i,
    __m128i,
    "vpinsrd {out}, {value}, dword ptr [{start} + {distance} + 8], 2"
);
load_beside!(
    second8,
    xmm_reg,
    xmm_reg,
    __m128i,
    __m128i,
    "vmovhps {out}, {value}, qword ptr [{start} + {distance}]"
);
load_beside!(
    second16,
    ymm_reg,
    ymm_reg,
    __m256i,
    __m256i,
    "vinserti128 {out}, {value}, xmmword ptr [{start} + {distance}], 1"
);
store!(store4, xmm_reg, __m128i, "vmovd dword ptr [{start} + {distance}], {value}");
store!(store4_third, xmm_reg, __m128i, "vpextrd dword ptr [{start} + {distance} + 8], {value}, 2");
store!(store8, xmm_reg, __m128i, "vmovq qword ptr [{start} + {distance}], {value}");
store!(store8_second, xmm_reg, __m128i, "vmovhps qword ptr [{start} + {distance}], {value}");
store!(store16, xmm_reg, __m128i, "vmovdqu xmmword ptr [{start} + {distance}], {value}");
store!(store32, ymm_reg, __m256i, "vmovdqu ymmword ptr [{start} + {distance}], {value}");

/// Writes eight lanes of a register.
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
#[inline]
fn put(row: &mut Row, eight: usize, value: __m256i) {
    // SAFETY: eight 32-bit numbers.
    unsafe { _mm256_storeu_si256(row.0.as_chunks_mut::<8>().0[eight].as_mut_ptr().cast(), value) };
}

/// Reads eight lanes of a register.
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
#[inline]
fn get(row: &Row, eight: usize) -> __m256i {
    // SAFETY: eight 32-bit numbers.
    unsafe { _mm256_loadu_si256(row.0.as_chunks::<8>().0[eight].as_ptr().cast()) }
}

/// Permutes the lanes of a row by steps.
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
pub(crate) fn permute_avx2(steps: &[Step], from: &Row, into: &mut Row) {
    let mut steps = steps.iter().peekable();
    for group in 0..LANES / 8 {
        let mut lanes = _mm256_setzero_si256();
        while let Some(step) = steps.next_if(|step| step.into == group) {
            // SAFETY: both are eight 32-bit numbers.
            let (index, keep) = unsafe {
                (
                    _mm256_loadu_si256(step.index.as_ptr().cast()),
                    _mm256_loadu_si256(step.keep.as_ptr().cast()),
                )
            };
            let more = _mm256_permutevar8x32_epi32(get(from, step.from & 7), index);
            lanes = _mm256_or_si256(lanes, _mm256_and_si256(more, keep));
        }
        put(into, group, lanes);
    }
}

/// Transposes four lanes of four dwords in each half of the vectors; its own inverse.
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
#[inline]
fn turn([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    let (low_ab, low_cd) = (_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d));
    let (high_ab, high_cd) = (_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
    [
        _mm256_unpacklo_epi64(low_ab, low_cd),
        _mm256_unpackhi_epi64(low_ab, low_cd),
        _mm256_unpacklo_epi64(high_ab, high_cd),
        _mm256_unpackhi_epi64(high_ab, high_cd),
    ]
}

/// Reads `N` dwords of every lane; `each` holds the lanes' distances from `start`.
///
/// # Safety
/// The CPU has AVX2, and the bytes of all lanes exist.
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
#[inline]
pub(super) unsafe fn load<const N: usize>(start: *const u8, each: &[i64; LANES], rows: &mut [Row; N]) {
    for (eight, each) in each.as_chunks::<8>().0.iter().enumerate() {
        match N {
            1 => {
                // SAFETY: the caller's promise.
                let four = |first: usize| unsafe {
                    let low = second4(load4(start, each[first]), start, each[first + 1]);
                    let high = second4(load4(start, each[first + 2]), start, each[first + 3]);
                    _mm_unpacklo_epi64(low, high)
                };
                put(&mut rows[0], eight, _mm256_set_m128i(four(4), four(0)));
            }
            2 => {
                // SAFETY: the caller's promise.
                let two =
                    |first: usize| unsafe { second8(load8(start, each[first]), start, each[first + 1]) };
                let first = _mm256_castsi256_ps(_mm256_set_m128i(two(4), two(0)));
                let second = _mm256_castsi256_ps(_mm256_set_m128i(two(6), two(2)));
                let low = _mm256_shuffle_ps::<0b1000_1000>(first, second);
                let high = _mm256_shuffle_ps::<0b1101_1101>(first, second);
                put(&mut rows[0], eight, _mm256_castps_si256(low));
                put(&mut rows[1], eight, _mm256_castps_si256(high));
            }
            _ => {
                // SAFETY: the caller's promise.
                let lane = |lane: usize| unsafe {
                    if N == 3 {
                        let one = |lane: usize| third4(load8(start, each[lane]), start, each[lane]);
                        return _mm256_set_m128i(one(lane + 4), one(lane));
                    }
                    second16(load16(start, each[lane]), start, each[lane + 4])
                };
                for (row, dword) in rows.iter_mut().zip(turn([lane(0), lane(1), lane(2), lane(3)])) {
                    put(row, eight, dword);
                }
            }
        }
    }
}

/// Reads `N` dwords of every lane, where the data of a lane is followed by the data of the lane `APART` lanes
/// later, as in rows of a matrix for matrix instructions. Adjacent data is read together.
///
/// # Safety
/// The CPU has AVX2, and the bytes of all lanes exist.
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
#[inline]
pub(super) unsafe fn load_beside<const N: usize, const APART: usize>(
    start: *const u8,
    each: &[i64; LANES],
    rows: &mut [Row; N],
) {
    for (eight, each) in each.as_chunks::<8>().0.iter().take(APART / 8).enumerate() {
        for four in 0..LANES / APART * N / 4 {
            let from = |lane: usize| each[lane] + 16 * four as i64;
            // SAFETY: the caller's promise.
            let lane = |lane: usize| unsafe { second16(load16(start, from(lane)), start, from(lane + 4)) };
            let dwords = turn([lane(0), lane(1), lane(2), lane(3)]);
            for (number, dword) in dwords.into_iter().enumerate() {
                let place = 4 * four + number;
                put(&mut rows[place % N], place / N * (APART / 8) + eight, dword);
            }
        }
    }
}

/// Reads `N` dwords that are the same for all lanes.
///
/// # Safety
/// The CPU has AVX2, and the bytes exist.
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
#[inline]
pub(super) unsafe fn load_same<const N: usize>(start: *const u8, rows: &mut [Row; N]) {
    for (number, row) in rows.iter_mut().enumerate() {
        // SAFETY: the caller's promise.
        let value = unsafe { load_all(start, 4 * number as i64) };
        for eight in 0..LANES / 8 {
            put(row, eight, value);
        }
    }
}

/// Reads one dword of every lane from consecutive addresses.
///
/// # Safety
/// The CPU has AVX2, and the bytes of all lanes exist.
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
#[inline]
pub(super) unsafe fn load_row(start: *const u8, row: &mut Row) {
    for eight in 0..LANES / 8 {
        // SAFETY: the caller's promise.
        put(row, eight, unsafe { load32(start, 32 * eight as i64) });
    }
}

/// Writes one dword of every lane to consecutive addresses.
///
/// # Safety
/// The CPU has AVX2, and the bytes of all lanes exist.
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
#[inline]
pub(super) unsafe fn store_row(start: *mut u8, row: &Row) {
    for eight in 0..LANES / 8 {
        // SAFETY: the caller's promise.
        unsafe { store32(get(row, eight), start, 32 * eight as i64) };
    }
}

/// Writes `N` dwords of every lane in order of lanes; `each` as in [`load`].
///
/// # Safety
/// The CPU has AVX2, and the bytes of all lanes exist.
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
#[inline]
pub(super) unsafe fn store<const N: usize>(start: *mut u8, each: &[i64; LANES], rows: &[Row; N]) {
    for (eight, each) in each.as_chunks::<8>().0.iter().enumerate() {
        let row = |number: usize| match rows.get(number) {
            Some(row) => get(row, eight),
            None => _mm256_setzero_si256(),
        };
        // A vector holds one lane in its low half and the lane four later in its high half; with two dwords, two
        // lanes per half.
        let vectors = match N {
            1 | 3 | 4 => turn([row(0), row(1), row(2), row(3)]),
            _ => {
                let (low, high) = (row(0), row(1));
                let first = _mm256_unpacklo_epi32(low, high);
                [first, _mm256_unpackhi_epi32(low, high), first, first]
            }
        };
        for half in 0..2 {
            for (number, vector) in vectors.iter().enumerate().take(if N == 2 { 2 } else { 4 }) {
                let lanes = match half {
                    0 => _mm256_castsi256_si128(*vector),
                    _ => _mm256_extracti128_si256::<1>(*vector),
                };
                // SAFETY: the caller's promise.
                unsafe {
                    match N {
                        1 => store4(lanes, start, each[4 * half + number]),
                        2 => {
                            store8(lanes, start, each[4 * half + 2 * number]);
                            store8_second(lanes, start, each[4 * half + 2 * number + 1]);
                        }
                        3 => {
                            store8(lanes, start, each[4 * half + number]);
                            store4_third(lanes, start, each[4 * half + number]);
                        }
                        _ => store16(lanes, start, each[4 * half + number]),
                    }
                }
            }
        }
    }
}
