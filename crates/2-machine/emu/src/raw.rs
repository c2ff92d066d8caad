//! Bytes shared by threads, and CPU intrinsics.
//!
//! The one idea to keep in mind: every access is checked against the range's length and uses relaxed atomic
//! operations. So a race of device code gives some value, and never undefined behaviour in the host program.
//!
//! Functions for some CPUs hand no closure to `map`, `for_each` and the like: these are compiled for all CPUs, so that
//! each intrinsic in the closure would be a call, with its vectors in memory. `v_fma_f64` took 30 times as long.
#![allow(unsafe_code, reason = "audited: shared bytes, target features and intrinsics")]

mod cells;
mod digest;
mod product;
mod spread;
mod wide;

pub(crate) use cells::eights;
#[cfg(target_arch = "x86_64")]
pub(crate) use cells::{add_f64, fma_f64, mul_f64};
pub use digest::Digest;
#[cfg(target_arch = "x86_64")]
pub(crate) use product::square_avx512;
pub(crate) use spread::{Distances, Lines};
#[cfg(target_arch = "x86_64")]
pub(crate) use wide::permute_avx2;

use crate::half::f16_to_f32;
use crate::lanes::{LANES, Row, Step, active, all_equal, are_contiguous_dwords};
use memmap2::MmapMut;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

/// A range of bytes that device code reads and writes from several threads.
#[derive(Debug)]
pub struct Shared {
    start: *mut u8,
    length: usize,
    /// Owner of the memory, if the range owns it.
    _owned: Option<Owned>,
}

/// Memory that a range owns.
#[derive(Debug)]
enum Owned {
    Words { _words: Vec<u64> },
    Pages { _pages: MmapMut },
}

/// Bytes of an allocation from which the host is asked for pages of 2 MiB: 4 GiB are then there after 1.5 s, and not 4 to 20.
pub const LARGE: usize = 8 << 20;

// SAFETY: all accesses after construction are atomic; the constructor's caller promises the range's lifetime.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

macro_rules! access {
    ($load:ident, $store:ident, $update:ident, $int:ty, $atomic:ty) => {
        /// Reads at a byte offset.
        ///
        /// # Panics
        /// If the access is not within the range.
        #[inline]
        pub fn $load(&self, at: usize) -> $int {
            let pointer = self.at(at, size_of::<$int>());
            if pointer.addr().is_multiple_of(align_of::<$int>()) {
                // SAFETY: in bounds (checked by `at`), aligned, and atomics may alias each other.
                unsafe { <$atomic>::from_ptr(pointer.cast()) }.load(Relaxed)
            } else {
                let mut bytes = [0; size_of::<$int>()];
                self.read(at, &mut bytes);
                <$int>::from_le_bytes(bytes)
            }
        }

        /// Writes at a byte offset.
        ///
        /// # Panics
        /// If the access is not within the range.
        #[inline]
        pub fn $store(&self, at: usize, value: $int) {
            let pointer = self.at(at, size_of::<$int>());
            if pointer.addr().is_multiple_of(align_of::<$int>()) {
                // SAFETY: as for reading.
                unsafe { <$atomic>::from_ptr(pointer.cast()) }.store(value, Relaxed)
            } else {
                self.write(at, &value.to_le_bytes());
            }
        }

        /// Atomic read-modify-write with a function; returns the old value, `None` when misaligned.
        ///
        /// # Panics
        /// If the access is not within the range.
        #[inline]
        pub fn $update(&self, at: usize, mut change: impl FnMut($int) -> $int) -> Option<$int> {
            let pointer = self.at(at, size_of::<$int>());
            if !pointer.addr().is_multiple_of(align_of::<$int>()) {
                return None;
            }
            // SAFETY: as for reading.
            let atomic = unsafe { <$atomic>::from_ptr(pointer.cast()) };
            let mut old = atomic.load(Relaxed);
            loop {
                match atomic.compare_exchange_weak(old, change(old), SeqCst, Relaxed) {
                    Ok(_) => return Some(old),
                    Err(now) => old = now,
                }
            }
        }
    };
}

impl Shared {
    /// A range with zeroed memory of its own.
    pub fn zeroed(length: usize) -> Shared {
        if length >= LARGE
            && let Ok(mut pages) = MmapMut::map_anon(length)
        {
            // A host that has no large pages gives small ones.
            #[cfg(target_os = "linux")]
            let _ = pages.advise(memmap2::Advice::HugePage);
            return Shared {
                start: pages.as_mut_ptr(),
                length,
                _owned: Some(Owned::Pages { _pages: pages }),
            };
        }
        let mut words = vec![0u64; length.div_ceil(8)];
        Shared { start: words.as_mut_ptr().cast(), length, _owned: Some(Owned::Words { _words: words }) }
    }

    /// A range in memory of another owner.
    ///
    /// # Safety
    /// The range must stay readable and writable as long as the value lives, and no Rust reference to what device code
    /// reaches of it may exist while the code runs.
    pub unsafe fn borrowed(start: *mut u8, length: usize) -> Shared {
        Shared { start, length, _owned: None }
    }

    /// Bytes in the range.
    pub fn len(&self) -> usize {
        self.length
    }

    /// True if the range has no bytes.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// True if a read-modify-write of `bytes` bytes at an offset is aligned.
    pub(crate) fn is_aligned(&self, at: usize, bytes: u32) -> bool {
        self.start.addr().wrapping_add(at).is_multiple_of(bytes as usize)
    }

    #[inline]
    fn at(&self, at: usize, size: usize) -> *mut u8 {
        assert!(at <= self.length && self.length - at >= size, "access checked before");
        // SAFETY: within the allocation.
        unsafe { self.start.add(at) }
    }

    access!(load_u8, store_u8, update_u8, u8, AtomicU8);
    access!(load_u16, store_u16, update_u16, u16, AtomicU16);
    access!(load_u32, store_u32, update_u32, u32, AtomicU32);
    access!(load_u64, store_u64, update_u64, u64, AtomicU64);

    /// Copies bytes out.
    ///
    /// # Panics
    /// If the access is not within the range.
    pub fn read(&self, at: usize, out: &mut [u8]) {
        let start = self.at(at, out.len());
        let (first, rest) = out.split_at_mut(start.align_offset(8).min(out.len()));
        let (words, last) = rest.as_chunks_mut::<8>();
        let behind = first.len() + 8 * words.len();
        for (index, word) in words.iter_mut().enumerate() {
            // SAFETY: checked for the whole length, and aligned.
            let from = unsafe { AtomicU64::from_ptr(start.add(first.len() + 8 * index).cast()) };
            *word = from.load(Relaxed).to_ne_bytes();
        }
        for (index, byte) in first.iter_mut().enumerate().chain((behind..).zip(last)) {
            // SAFETY: checked for the whole length.
            *byte = unsafe { AtomicU8::from_ptr(start.add(index)) }.load(Relaxed);
        }
    }

    /// Copies bytes in.
    ///
    /// # Panics
    /// If the access is not within the range.
    pub fn write(&self, at: usize, bytes: &[u8]) {
        let start = self.at(at, bytes.len());
        let (first, rest) = bytes.split_at(start.align_offset(8).min(bytes.len()));
        let (words, last) = rest.as_chunks::<8>();
        let behind = first.len() + 8 * words.len();
        for (index, word) in words.iter().enumerate() {
            // SAFETY: checked for the whole length, and aligned.
            let to = unsafe { AtomicU64::from_ptr(start.add(first.len() + 8 * index).cast()) };
            to.store(u64::from_ne_bytes(*word), Relaxed);
        }
        for (index, byte) in first.iter().enumerate().chain((behind..).zip(last)) {
            // SAFETY: checked for the whole length.
            unsafe { AtomicU8::from_ptr(start.add(index)) }.store(*byte, Relaxed);
        }
    }

    /// Common alignment of all active lanes' accesses, at most 8; 0 if the `size` bytes of some lane are not in
    /// the range. The range's first byte has the address `base`.
    #[inline(always)]
    fn alignment(&self, base: u64, addresses: &[u64; LANES], lanes: u64, size: usize) -> u64 {
        let Some(last) = (self.length as u64).checked_sub(size as u64) else { return 0 };
        let mut all = 0;
        let mut outside = false;
        if lanes == u64::MAX {
            for address in addresses {
                let at = address.wrapping_sub(base);
                all |= at;
                outside |= at > last;
            }
        } else {
            for lane in active(lanes) {
                let at = addresses[lane].wrapping_sub(base);
                all |= at;
                outside |= at > last;
            }
        }
        if outside { 0 } else { alignment_of(all | self.start.addr() as u64) }
    }

    /// Reads `N` dwords at each active lane's address, one row per dword. The range's first byte has the address
    /// `base`. False, and nothing is read, if the bytes of some lane are not in the range or not aligned.
    #[inline(always)]
    pub(crate) fn load_rows<const N: usize>(
        &self,
        base: u64,
        addresses: &[u64; LANES],
        lanes: u64,
        out: &mut [Row; N],
    ) -> bool {
        let alignment = self.alignment(base, addresses, lanes, 4 * N);
        if alignment < 4 {
            return false;
        }
        if lanes != u64::MAX {
            for lane in active(lanes) {
                for number in 0..N {
                    // SAFETY: this lane's bytes and their alignment are checked above.
                    out[number].0[lane] = unsafe { self.dword(base, addresses[lane], number) }.load(Relaxed);
                }
            }
        } else if all_equal(addresses) {
            for number in 0..N {
                // SAFETY: as above.
                let value = unsafe { self.dword(base, addresses[0], number) }.load(Relaxed);
                out[number].0 = [value; LANES];
            }
        } else if N == 1
            && are_contiguous_dwords(addresses)
            && alignment_of(self.start.addr() as u64 + addresses[0] - base) == 8
        {
            // Each load reads two lanes.
            let at = addresses[0].wrapping_sub(base) as usize;
            for lane in (0..LANES).step_by(2) {
                // SAFETY: as above; the first lane is aligned to 8 bytes, and so is every second one.
                let both = unsafe { AtomicU64::from_ptr(self.start.add(at + 4 * lane).cast()) }.load(Relaxed);
                out[0].0[lane] = both as u32;
                out[0].0[lane + 1] = (both >> 32) as u32;
            }
        } else if N.is_multiple_of(2) && alignment == 8 {
            // 8-byte loads: half as many, so more are in flight. Lanes that each walk along a row of their own
            // soon need the next lines.
            if addresses[0] & 63 == 0 && addresses[1].abs_diff(addresses[0]) >= 64 {
                for address in addresses {
                    prefetch(self.start.wrapping_add(address.wrapping_sub(base) as usize + 64));
                }
            }
            for lane in 0..LANES {
                for number in (0..N).step_by(2) {
                    let at = addresses[lane].wrapping_sub(base) as usize + 4 * number;
                    // SAFETY: as above.
                    let both = unsafe { AtomicU64::from_ptr(self.start.add(at).cast()) }.load(Relaxed);
                    out[number].0[lane] = both as u32;
                    out[number + 1].0[lane] = (both >> 32) as u32;
                }
            }
        } else {
            for lane in 0..LANES {
                for number in 0..N {
                    // SAFETY: as above.
                    out[number].0[lane] = unsafe { self.dword(base, addresses[lane], number) }.load(Relaxed);
                }
            }
        }
        true
    }

    /// Dword `number` at an address of the range.
    ///
    /// # Safety
    /// It is in the range and aligned.
    #[inline(always)]
    unsafe fn dword(&self, base: u64, address: u64, number: usize) -> &AtomicU32 {
        let at = address.wrapping_sub(base) as usize + 4 * number;
        // SAFETY: the caller's promise.
        unsafe { AtomicU32::from_ptr(self.start.add(at).cast()) }
    }

    /// Writes one dword of each row at each active lane's address; checks as in [`Shared::load_rows`].
    #[inline(always)]
    pub(crate) fn store_rows<const N: usize>(
        &self,
        base: u64,
        addresses: &[u64; LANES],
        lanes: u64,
        rows: &[Row; N],
    ) -> bool {
        if self.alignment(base, addresses, lanes, 4 * N) < 4 {
            return false;
        }
        if lanes != u64::MAX {
            for lane in active(lanes) {
                for number in 0..N {
                    // SAFETY: this lane's bytes and their alignment are checked above.
                    unsafe { self.dword(base, addresses[lane], number) }.store(rows[number].0[lane], Relaxed);
                }
            }
        } else {
            for lane in 0..LANES {
                for number in 0..N {
                    // SAFETY: as above.
                    unsafe { self.dword(base, addresses[lane], number) }.store(rows[number].0[lane], Relaxed);
                }
            }
        }
        true
    }
}

/// Prefetches a cache line; any address is allowed.
#[inline(always)]
fn prefetch(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing the program can see and never faults.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Largest power of two up to 8 that divides a number.
#[inline(always)]
fn alignment_of(value: u64) -> u64 {
    let value = value | 8;
    value & value.wrapping_neg()
}

/// CPU instructions that move data.
pub(crate) trait Mover: Copy {
    /// Reads rows of whole dwords of all lanes, as [`Shared::load_rows`].
    fn load(
        self,
        range: &Shared,
        at: u64,
        distances: &Distances,
        lines: Option<(&mut Lines, u64)>,
        rows: &mut [Row],
    ) -> bool;
    /// Writes rows of whole dwords.
    fn store(self, range: &Shared, at: u64, distances: &Distances, rows: &[Row]) -> bool;
    /// Reads rows of whole dwords from the LDS.
    fn load_lds(self, lds: &[u8], at: u64, distances: &Distances, rows: &mut [Row]) -> bool;
    /// Writes rows of whole dwords to the LDS.
    fn store_lds(self, lds: &mut [u8], at: u64, distances: &Distances, rows: &[Row]) -> bool;
}

/// Instructions of any CPU.
#[derive(Clone, Copy)]
pub(crate) struct Plain;

/// AVX2; a value exists only if the CPU has AVX2.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct Vectors(());

/// Proof that the CPU has AVX2: only code compiled for AVX2 can call this.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
pub(crate) fn vectors() -> Vectors {
    Vectors(())
}

/// Calls a function with the number of dwords as a constant; false for numbers that no instruction has.
macro_rules! by_count {
    ($rows:ident, $chunk:ident, $of:ident => $call:expr) => {{
        macro_rules! of {
            ($n:literal) => {
                match $rows.$chunk::<$n>() {
                    // SAFETY: the call needs no CPU feature, or a `Vectors` value proves that the CPU has AVX2.
                    Some($of) => unsafe { $call },
                    None => false,
                }
            };
        }
        match $rows.len() {
            1 => of!(1),
            2 => of!(2),
            3 => of!(3),
            4 => of!(4),
            _ => false,
        }
    }};
}

macro_rules! mover {
    ($ty:ty, $vectors:literal) => {
        impl Mover for $ty {
            #[inline(always)]
            fn load(
                self,
                range: &Shared,
                at: u64,
                distances: &Distances,
                lines: Option<(&mut Lines, u64)>,
                rows: &mut [Row],
            ) -> bool {
                by_count!(rows, first_chunk_mut, it => range.load_spread::<_, $vectors>(at, distances, lines, it))
            }

            #[inline(always)]
            fn store(self, range: &Shared, at: u64, distances: &Distances, rows: &[Row]) -> bool {
                by_count!(rows, first_chunk, it => range.store_spread::<_, $vectors>(at, distances, it))
            }

            #[inline(always)]
            fn load_lds(self, lds: &[u8], at: u64, distances: &Distances, rows: &mut [Row]) -> bool {
                by_count!(rows, first_chunk_mut, it => spread::load_lds::<_, $vectors>(lds, at, distances, it))
            }

            #[inline(always)]
            fn store_lds(self, lds: &mut [u8], at: u64, distances: &Distances, rows: &[Row]) -> bool {
                by_count!(rows, first_chunk, it => spread::store_lds::<_, $vectors>(lds, at, distances, it))
            }
        }
    };
}

mover!(Plain, false);
#[cfg(target_arch = "x86_64")]
mover!(Vectors, true);

/// True if the CPU has the features of the AVX2 compilation.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("f16c")
}

/// True if the CPU has the features of the AVX-512 compilation.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_avx512() -> bool {
    has_avx2()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}

/// Permutes the lanes of a row by steps.
pub(crate) fn permute(steps: &[Step], from: &Row, into: &mut Row) {
    into.0 = [0; LANES];
    for step in steps {
        for lane in 0..8 {
            let value = from.0[8 * (step.from & 7) + (step.index[lane] & 7) as usize];
            into.0[8 * (step.into & 7) + lane] |= value & step.keep[lane];
        }
    }
}

/// Converts the low and the high halves of a row to f32.
pub(crate) fn halves_to_singles(row: &Row, low: &mut [f32; LANES], high: &mut [f32; LANES]) {
    for lane in 0..LANES {
        low[lane] = f16_to_f32(row.0[lane] as u16);
        high[lane] = f16_to_f32((row.0[lane] >> 16) as u16);
    }
}

/// [`halves_to_singles`] with F16C instructions.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
pub(crate) fn halves_to_singles_f16c(row: &Row, low: &mut [f32; LANES], high: &mut [f32; LANES]) {
    // Byte order in each 128-bit half: low halves of the words, then high halves.
    let order = _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
    let order = _mm256_broadcastsi128_si256(order);
    let (low, high) = (low.as_chunks_mut::<8>().0, high.as_chunks_mut::<8>().0);
    for ((eight, low), high) in row.0.as_chunks::<8>().0.iter().zip(low).zip(high) {
        // SAFETY: both are eight 32-bit numbers.
        let words = unsafe { _mm256_loadu_si256(eight.as_ptr().cast()) };
        let sorted = _mm256_permute4x64_epi64::<0b1101_1000>(_mm256_shuffle_epi8(words, order));
        let (first, second) = (_mm256_castsi256_si128(sorted), _mm256_extracti128_si256::<1>(sorted));
        // SAFETY: as above.
        unsafe {
            _mm256_storeu_ps(low.as_mut_ptr(), _mm256_cvtph_ps(first));
            _mm256_storeu_ps(high.as_mut_ptr(), _mm256_cvtph_ps(second));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_conversions_of_halves_agree() {
        #[cfg(target_arch = "x86_64")]
        if has_avx2() {
            for first in (0..=u16::MAX).step_by(LANES) {
                let half = |lane: usize| u32::from(first + lane as u16);
                let row = Row(std::array::from_fn(|lane| half(lane) << 16 | (half(lane) ^ 0x1234)));
                let (mut plain, mut own) = ([[0.0; LANES]; 2], [[0.0; LANES]; 2]);
                let [low, high] = &mut plain;
                halves_to_singles(&row, low, high);
                let [low, high] = &mut own;
                // SAFETY: the CPU has every feature the function is compiled for.
                unsafe { halves_to_singles_f16c(&row, low, high) };
                let bits = |rows: [[f32; LANES]; 2]| rows.map(|row| row.map(f32::to_bits));
                assert_eq!(bits(plain), bits(own), "{first:#x}");
            }
        }
    }
}
