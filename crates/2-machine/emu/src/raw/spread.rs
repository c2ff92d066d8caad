//! Part of `raw` that moves the data of lanes with known distances.
//!
//! The one idea to keep in mind: a check of the first lane's address covers all lanes, because the smallest and
//! largest distance and the alignment were computed together with the distances.

#[cfg(target_arch = "x86_64")]
use super::wide;
use super::{Shared, prefetch};
use crate::lanes::{LANES, Row, active};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Bytes of a cache line of the CPU.
const LINE: usize = 64;

/// Most bytes between accesses for which whole lines are cached.
const STEP: usize = 16;

/// Distance in bytes of each lane's address from the first lane's.
#[derive(Clone, Debug)]
pub(crate) struct Distances {
    each: [i64; LANES],
    least: i64,
    most: i64,
    /// Bitwise or of all distances, for alignment.
    bits: u64,
    /// Distance from each lane to the next, if constant.
    step: Option<i64>,
    /// A number of lanes (16 or 32) and the distance between lanes so far apart, if constant.
    beside: Option<(usize, i64)>,
}

impl Distances {
    /// Computes the facts about distances.
    pub(crate) fn new(each: [i64; LANES]) -> Distances {
        let step = each[1];
        let even = (0..LANES).all(|lane| each[lane] == step.wrapping_mul(lane as i64));
        let beside = [16, 32].into_iter().find(|&apart| {
            (apart..LANES).all(|lane| each[lane].wrapping_sub(each[lane - apart]) == each[apart])
        });
        Distances {
            least: each.iter().copied().min().unwrap_or(0),
            most: each.iter().copied().max().unwrap_or(0),
            bits: each.iter().fold(0, |all, &distance| all | distance as u64),
            step: even.then_some(step),
            beside: beside.map(|apart| (apart, each[apart])),
            each,
        }
    }

    /// Smallest and largest distance.
    pub(crate) fn limits(&self) -> (i64, i64) {
        (self.least, self.most)
    }

    /// True if `size` bytes of every lane are within `length` bytes; the first lane's are at offset `at`.
    #[inline(always)]
    pub(crate) fn fit_within(&self, length: usize, at: u64, size: usize) -> bool {
        i64::try_from(at).is_ok_and(|at| holds(length, at, self, size))
    }

    /// Addresses of all lanes.
    #[inline(always)]
    pub(crate) fn place(&self, first: u64, addresses: &mut [u64; LANES]) {
        for lane in 0..LANES {
            addresses[lane] = first.wrapping_add(self.each[lane] as u64);
        }
    }

    /// One lane per distinct line, if the first lane is at the start of a line.
    #[cold]
    fn lanes_of_lines(&self) -> u64 {
        let line = |lane: usize| self.each[lane].div_euclid(LINE as i64);
        let first = |lane: &usize| (0..*lane).all(|other| line(other) != line(*lane));
        (0..LANES).filter(first).fold(0, |lanes, lane| lanes | 1 << lane)
    }

    /// True if all lanes are at the same offset in a line, and not all at the same address.
    #[inline(always)]
    fn walks(&self) -> bool {
        self.bits.is_multiple_of(LINE as u64) && self.bits != 0
    }
}

/// Cached memory lines that the lanes of an instruction walk along, one per lane. As in a GPU's vector L1, writes
/// of other threads are not seen until `time` advances.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// Address of the first lane's last access.
    last: usize,
    /// Address of the first lane's line, or 0 if none is cached.
    line: usize,
    /// Time at which the line was read.
    time: u64,
    /// One lane per distinct line, once computed.
    lanes: Option<u64>,
    /// Words of the line, for all lanes.
    words: Option<Box<[[u64; LANES]; LINE / 8]>>,
}

impl Lines {
    /// Drops the cached lines.
    #[inline(always)]
    pub(crate) fn forget(&mut self) {
        (self.line, self.lanes) = (0, None);
    }

    /// Reads `N` dwords of each lane from the cached lines; false on a miss.
    #[inline(always)]
    fn read<const N: usize>(&self, start: usize, time: u64, out: &mut [Row; N]) -> bool {
        let within = start % LINE;
        if self.line == 0 || self.line != start - within || self.time != time || within + 4 * N > LINE {
            return false;
        }
        let Some(words) = &self.words else { return false };
        for (pair, words) in out.as_chunks_mut::<2>().0.iter_mut().zip(words.iter().skip(within / 8)) {
            let [low, high] = pair;
            for lane in 0..LANES {
                low.0[lane] = words[lane] as u32;
                high.0[lane] = (words[lane] >> 32) as u32;
            }
        }
        true
    }

    /// Records an access; true if it enters a new line with steps small enough for several accesses in it.
    #[inline(always)]
    fn enters(&mut self, start: usize) -> bool {
        let step = start.wrapping_sub(self.last);
        let next = start / LINE != self.last / LINE;
        self.last = start;
        next && step <= STEP
    }
}

impl Shared {
    /// Address of the first lane's bytes; `None` unless `size` bytes of every lane are in the range and aligned
    /// to dwords.
    #[inline(always)]
    fn place(&self, at: u64, distances: &Distances, size: usize) -> Option<*mut u8> {
        let at = i64::try_from(at).ok()?;
        let start = self.start.wrapping_add(at as usize);
        let aligned = (start.addr() as u64 | distances.bits) & 3 == 0;
        (aligned && holds(self.length, at, distances, size)).then_some(start)
    }

    /// Reads `N` dwords of every lane, as [`Shared::load_rows`]; the first lane's are at offset `at`. `lines` is
    /// the instruction's cache and the current time, if the instruction may read cached data.
    ///
    /// # Safety
    /// With `VECTORS` the CPU has AVX2.
    #[inline(always)]
    pub(super) unsafe fn load_spread<const N: usize, const VECTORS: bool>(
        &self,
        at: u64,
        distances: &Distances,
        lines: Option<(&mut Lines, u64)>,
        out: &mut [Row; N],
    ) -> bool {
        let Some(start) = self.place(at, distances, 4 * N) else { return false };
        let wide = (start.addr() as u64 | distances.bits) & 7 == 0;
        if let (true, Some((lines, time))) = (N.is_multiple_of(2) && wide, lines) {
            if distances.walks() {
                if lines.read(start.addr(), time, out) {
                    lines.last = start.addr();
                    return true;
                }
                if lines.enters(start.addr()) {
                    self.fill(at, distances, start.addr(), time, lines);
                    if lines.read(start.addr(), time, out) {
                        return true;
                    }
                }
            }
            if start.addr().is_multiple_of(LINE)
                && distances.step.is_none_or(|step| step.unsigned_abs() >= 64)
            {
                // Lanes that walk on soon need the next lines.
                for lane in active(*lines.lanes.get_or_insert_with(|| distances.lanes_of_lines())) {
                    prefetch(start.wrapping_offset(distances.each[lane] as isize + LINE as isize));
                }
            }
        }
        #[cfg(target_arch = "x86_64")]
        if VECTORS {
            // SAFETY: every lane's bytes are checked by `place`; the caller promises the CPU's features.
            unsafe { wide_load(start, distances, out) };
            return true;
        }
        if N.is_multiple_of(2) && wide {
            for (number, pair) in out.as_chunks_mut::<2>().0.iter_mut().enumerate() {
                let from = start.wrapping_add(8 * number);
                for lane in 0..LANES {
                    // SAFETY: every lane's bytes are checked by `place`; they are aligned to 8 bytes.
                    let both = unsafe { qword(from, distances, lane) };
                    pair[0].0[lane] = both as u32;
                    pair[1].0[lane] = (both >> 32) as u32;
                }
            }
        } else {
            for lane in 0..LANES {
                for number in 0..N {
                    // SAFETY: every lane's bytes and their alignment are checked by `place`.
                    out[number].0[lane] = unsafe {
                        let from = start.offset(distances.each[lane] as isize).add(4 * number);
                        AtomicU32::from_ptr(from.cast()).load(Relaxed)
                    };
                }
            }
        }
        true
    }

    /// Caches the current lines of all lanes, if they are in the range, and prefetches the next ones.
    #[cold]
    #[inline(never)]
    fn fill(&self, at: u64, distances: &Distances, start: usize, time: u64, lines: &mut Lines) {
        let within = start % LINE;
        lines.line = 0;
        let Some(at) = i64::try_from(at).ok().and_then(|at| at.checked_sub(within as i64)) else { return };
        if !holds(self.length, at, distances, LINE) {
            return;
        }
        let words = lines.words.get_or_insert_with(|| Box::new([[0; LANES]; LINE / 8]));
        let from = self.start.wrapping_offset(at as isize);
        for lane in 0..LANES {
            prefetch(from.wrapping_offset(distances.each[lane] as isize + LINE as isize));
            for (number, words) in words.iter_mut().enumerate() {
                // SAFETY: the lines of all lanes are in the range and begin at multiples of their size.
                words[lane] = unsafe { qword(from.wrapping_add(8 * number), distances, lane) };
            }
        }
        (lines.line, lines.time) = (start - within, time);
    }

    /// Writes one dword of each row for every lane; checks as in [`Shared::load_spread`].
    ///
    /// # Safety
    /// With `VECTORS` the CPU has AVX2.
    #[inline(always)]
    pub(super) unsafe fn store_spread<const N: usize, const VECTORS: bool>(
        &self,
        at: u64,
        distances: &Distances,
        rows: &[Row; N],
    ) -> bool {
        let Some(start) = self.place(at, distances, 4 * N) else { return false };
        #[cfg(target_arch = "x86_64")]
        if VECTORS {
            // SAFETY: every lane's bytes are checked by `place`; the caller promises the CPU's features.
            unsafe { wide_store(start, distances, rows) };
            return true;
        }
        for lane in 0..LANES {
            for number in 0..N {
                // SAFETY: every lane's bytes and their alignment are checked by `place`.
                unsafe {
                    let to = start.offset(distances.each[lane] as isize).add(4 * number);
                    AtomicU32::from_ptr(to.cast()).store(rows[number].0[lane], Relaxed);
                }
            }
        }
        true
    }
}

/// True if `size` bytes of every lane are in a range of `length` bytes.
#[inline(always)]
fn holds(length: usize, at: i64, distances: &Distances, size: usize) -> bool {
    let first = at.checked_add(distances.least);
    let end = at.checked_add(distances.most).and_then(|last| last.checked_add(size as i64));
    first.is_some_and(|first| first >= 0) && end.is_some_and(|end| end as u64 <= length as u64)
}

/// Reads `N` dwords of every lane from the LDS; false, and nothing is read, if some lane is out of range.
///
/// # Safety
/// With `VECTORS` the CPU has AVX2.
#[inline(always)]
pub(super) unsafe fn load_lds<const N: usize, const VECTORS: bool>(
    lds: &[u8],
    at: u64,
    distances: &Distances,
    out: &mut [Row; N],
) -> bool {
    let Some(at) = i64::try_from(at).ok().filter(|at| holds(lds.len(), *at, distances, 4 * N)) else {
        return false;
    };
    #[cfg(target_arch = "x86_64")]
    if VECTORS {
        // SAFETY: the bytes of every lane are in the LDS; the caller promises the CPU's features.
        unsafe { wide_load(lds.as_ptr().wrapping_offset(at as isize), distances, out) };
        return true;
    }
    for lane in 0..LANES {
        let from = lds.get((at + distances.each[lane]) as usize..).unwrap_or_default().as_chunks::<4>().0;
        for (row, dword) in out.iter_mut().zip(from) {
            row.0[lane] = u32::from_le_bytes(*dword);
        }
    }
    true
}

/// Writes one dword of each row for every lane to the LDS; checks as in [`load_lds`].
///
/// # Safety
/// With `VECTORS` the CPU has AVX2.
#[inline(always)]
pub(super) unsafe fn store_lds<const N: usize, const VECTORS: bool>(
    lds: &mut [u8],
    at: u64,
    distances: &Distances,
    rows: &[Row; N],
) -> bool {
    let Some(at) = i64::try_from(at).ok().filter(|at| holds(lds.len(), *at, distances, 4 * N)) else {
        return false;
    };
    #[cfg(target_arch = "x86_64")]
    if VECTORS {
        // SAFETY: the bytes of every lane are in the LDS; the caller promises the CPU's features.
        unsafe { wide_store(lds.as_mut_ptr().wrapping_offset(at as isize), distances, rows) };
        return true;
    }
    for lane in 0..LANES {
        let into = lds.get_mut((at + distances.each[lane]) as usize..).unwrap_or_default();
        for (row, dword) in rows.iter().zip(into.as_chunks_mut::<4>().0) {
            *dword = row.0[lane].to_le_bytes();
        }
    }
    true
}

/// Reads `N` dwords of every lane; `start` is the first lane's address.
///
/// # Safety
/// The CPU has AVX2, and the bytes of all lanes exist.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
#[inline]
unsafe fn wide_load<const N: usize>(start: *const u8, distances: &Distances, out: &mut [Row; N]) {
    // SAFETY: the caller's promises.
    unsafe {
        match (distances.step, out.first_mut()) {
            (Some(0), _) => wide::load_same(start, out),
            (Some(4), Some(row)) if N == 1 => wide::load_row(start, row),
            _ => match distances.beside {
                Some((16, 4)) if N == 1 => wide::load_beside::<N, 16>(start, &distances.each, out),
                Some((16, 8)) if N == 2 => wide::load_beside::<N, 16>(start, &distances.each, out),
                Some((32, 8)) if N == 2 => wide::load_beside::<N, 32>(start, &distances.each, out),
                _ => wide::load(start, &distances.each, out),
            },
        }
    }
}

/// Writes `N` dwords of every lane; `start` is the first lane's address.
///
/// # Safety
/// The CPU has AVX2, and the bytes of all lanes exist.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
#[inline]
unsafe fn wide_store<const N: usize>(start: *mut u8, distances: &Distances, rows: &[Row; N]) {
    // SAFETY: the caller's promises.
    unsafe {
        match (distances.step, rows.first()) {
            (Some(4), Some(row)) if N == 1 => wide::store_row(start, row),
            _ => wide::store(start, &distances.each, rows),
        }
    }
}

/// 64 bits at a lane's address.
///
/// # Safety
/// They are in a range, aligned to 8 bytes.
#[inline(always)]
unsafe fn qword(start: *mut u8, distances: &Distances, lane: usize) -> u64 {
    let from = start.wrapping_offset(distances.each[lane] as isize);
    // SAFETY: the caller's promise.
    unsafe { AtomicU64::from_ptr(from.cast()) }.load(Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Typical distances between lanes.
    fn formations() -> Vec<Distances> {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 45) as i64 % 9_000 * 4
        };
        let strides = [0i64, 4, 8, 12, 16, 20, 64, 2048, -2048];
        let even = strides.iter().map(|stride| std::array::from_fn(|lane| stride * lane as i64));
        let random = std::array::from_fn(|lane| if lane == 0 { 0 } else { random() });
        let groups = |apart: i64, bytes: i64| {
            std::array::from_fn(|lane| (lane as i64 % apart) * 2048 + lane as i64 / apart * bytes)
        };
        let groups = [groups(16, 4), groups(16, 8), groups(32, 8), groups(16, 16)];
        even.chain([random]).chain(groups).map(Distances::new).collect()
    }

    const BYTES: usize = 64 * 4096;

    fn first_of(distances: &Distances) -> u64 {
        if distances.least < 0 { 160_000 } else { 0 }
    }

    /// Every load returns the data at the addresses, and every store writes it there.
    fn agrees<const N: usize, const VECTORS: bool>() {
        let memory = Shared::zeroed(BYTES);
        let word = |at: u64| at as u32 ^ 0x5555_0000;
        let mut lds = Vec::new();
        for at in (0..BYTES).step_by(4) {
            memory.store_u32(at, word(at as u64));
            lds.extend(word(at as u64).to_le_bytes());
        }
        let mut lines = Lines::default();
        for distances in formations() {
            let (first, step) = (first_of(&distances), distances.step);
            for at in (first..first + 256).step_by(4) {
                let place = |lane: usize| at.wrapping_add(distances.each[lane] as u64);
                let check = |rows: [Row; N], how: &str| {
                    for lane in 0..LANES {
                        let expected: [u32; N] = std::array::from_fn(|n| word(place(lane) + 4 * n as u64));
                        assert_eq!(rows.map(|row| row.0[lane]), expected, "{how} {N} {step:?} {at} {lane}");
                    }
                };
                for kept in [false, true] {
                    let mut rows = [Row::ZERO; N];
                    let lines = kept.then_some((&mut lines, 1));
                    // SAFETY: with vectors, the caller has checked that the CPU has AVX2.
                    let done = unsafe { memory.load_spread::<N, VECTORS>(at, &distances, lines, &mut rows) };
                    assert!(done);
                    check(rows, "memory");
                }
                let mut rows = [Row::ZERO; N];
                // SAFETY: as above.
                assert!(unsafe { load_lds::<N, VECTORS>(&lds, at, &distances, &mut rows) });
                check(rows, "lds");
            }
            // Of several lanes that write to one address, the last wins.
            let rows: [Row; N] =
                std::array::from_fn(|n| Row(std::array::from_fn(|lane| (lane * 100 + n) as u32)));
            let (into, mut into_lds) = (Shared::zeroed(BYTES), vec![0; BYTES]);
            let mut expected = vec![0u32; BYTES / 4];
            for lane in 0..LANES {
                for (n, row) in rows.iter().enumerate() {
                    expected[(first as i64 + distances.each[lane]) as usize / 4 + n] = row.0[lane];
                }
            }
            // SAFETY: as above.
            unsafe {
                assert!(into.store_spread::<N, VECTORS>(first, &distances, &rows));
                assert!(store_lds::<N, VECTORS>(&mut into_lds, first, &distances, &rows));
            }
            for (number, expected) in expected.iter().enumerate() {
                assert_eq!(into.load_u32(4 * number), *expected, "{N} {step:?} {number}");
                assert_eq!(into_lds[4 * number..4 * number + 4], expected.to_le_bytes(), "{N} {step:?}");
            }
            let beyond = BYTES as u64 - distances.most as u64 - 4 * N as u64 + 4;
            let mut rows = rows;
            // SAFETY: as above.
            unsafe {
                assert!(!memory.load_spread::<N, VECTORS>(beyond, &distances, None, &mut rows));
                assert!(!memory.store_spread::<N, VECTORS>(beyond, &distances, &rows));
                assert!(!load_lds::<N, VECTORS>(&lds, beyond, &distances, &mut rows));
                assert!(!store_lds::<N, VECTORS>(&mut lds, beyond, &distances, &rows));
            }
        }
    }

    #[test]
    fn all_ways_move_the_same() {
        agrees::<1, false>();
        agrees::<2, false>();
        agrees::<3, false>();
        agrees::<4, false>();
        #[cfg(target_arch = "x86_64")]
        if crate::raw::has_avx2() {
            agrees::<1, true>();
            agrees::<2, true>();
            agrees::<3, true>();
            agrees::<4, true>();
        }
    }

    #[test]
    fn lines_are_kept_until_time_goes_on_and_never_beyond_the_range() {
        let memory = Shared::zeroed(64 * 128 + LINE);
        let distances = Distances::new(std::array::from_fn(|lane| 128 * lane as i64));
        let mut lines = Lines::default();
        // Offset of the first full cache line in the range.
        let skip = (LINE - memory.start.addr() % LINE) % LINE;
        let mut read = |at: usize, time: u64| {
            let mut pair = [Row::ZERO; 2];
            let lines = Some((&mut lines, time));
            // SAFETY: without vectors no CPU feature is needed.
            let done = unsafe { memory.load_spread::<2, false>(at as u64, &distances, lines, &mut pair) };
            done.then(|| pair[0].0[3])
        };
        for step in 0..8 {
            assert_eq!(read(skip + 8 * step, 1), Some(0));
        }
        // The second access in the next line caches it as a whole.
        let place = skip + 72 + 3 * 128;
        memory.store_u32(place, 7);
        assert_eq!(read(skip + 64, 1), Some(0));
        memory.store_u32(place, 8);
        assert_eq!(read(skip + 72, 1), Some(7));
        assert_eq!(read(skip + 72, 2), Some(8));
        // Up to the last eight bytes and not beyond; the last lane's line is only partly in the range.
        let last = memory.len() - 63 * 128 - 8;
        for at in (last - 24..=last).step_by(8) {
            assert_eq!(read(at, 2), Some(0));
        }
        assert_eq!(read(last + 8, 2), None);
    }
}
