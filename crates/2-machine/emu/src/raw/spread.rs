//! The part of `raw` that moves the data of lanes whose distances are known beforehand.
//!
//! The one idea to keep in mind: one check of the first lane's place is a check of all lanes, because the smallest and
//! the largest distance and their alignment were worked out when the distances were.

#[cfg(target_arch = "x86_64")]
use super::wide;
use super::{Shared, prefetch};
use crate::lanes::{LANES, Row, active};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Bytes of a line of the CPU's caches.
const LINE: usize = 64;

/// Most bytes from one access to the next for which whole lines are kept.
const STEP: usize = 16;

/// How far the address of each lane lies behind the first lane's.
#[derive(Clone, Debug)]
pub(crate) struct Distances {
    each: [i64; LANES],
    least: i64,
    most: i64,
    /// All of them or-ed.
    bits: u64,
    /// What it is from each lane to the next, where that is always the same.
    step: Option<i64>,
    /// What it is from each of the first lanes to the lane so many behind it, and so on to the last, where that is always
    /// the same.
    beside: Option<(usize, i64)>,
}

impl Distances {
    /// Works out what is true of all lanes.
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

    /// The smallest and the largest.
    pub(crate) fn limits(&self) -> (i64, i64) {
        (self.least, self.most)
    }

    /// Whether `size` bytes of every lane lie in so many bytes, the first lane's at an offset.
    #[inline(always)]
    pub(crate) fn lie_in(&self, length: usize, at: u64, size: usize) -> bool {
        i64::try_from(at).is_ok_and(|at| holds(length, at, self, size))
    }

    /// Addresses of all lanes.
    #[inline(always)]
    pub(crate) fn place(&self, first: u64, addresses: &mut [u64; LANES]) {
        for lane in 0..LANES {
            addresses[lane] = first.wrapping_add(self.each[lane] as u64);
        }
    }

    /// Lanes that between them have all lines, if the first lane stands at the start of one.
    #[cold]
    fn lanes_of_lines(&self) -> u64 {
        let line = |lane: usize| self.each[lane].div_euclid(LINE as i64);
        let first = |lane: &usize| (0..*lane).all(|other| line(other) != line(*lane));
        (0..LANES).filter(first).fold(0, |lanes, lane| lanes | 1 << lane)
    }

    /// All lanes stand at the same place of a line, not all in one.
    #[inline(always)]
    fn walks(&self) -> bool {
        self.bits.is_multiple_of(LINE as u64) && self.bits != 0
    }
}

/// Lines that the lanes of one instruction walk along, one of each lane. As in a GPU's vector L1, what other threads
/// write meanwhile is not seen; `time` tells when it has to be.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// Address of the last access of the first lane.
    last: usize,
    /// Address of the first lane's line, or 0.
    line: usize,
    /// When it was read.
    time: u64,
    /// Lanes that between them have all lines, once that was asked for.
    lanes: Option<u64>,
    /// Its words, of all lanes.
    words: Option<Box<[[u64; LANES]; LINE / 8]>>,
}

impl Lines {
    /// Keeps nothing any more.
    #[inline(always)]
    pub(crate) fn forget(&mut self) {
        (self.line, self.lanes) = (0, None);
    }

    /// Reads `N` dwords of each lane out of the lines, if they are in them.
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

    /// Takes note of an access; whether it goes on to a next line that it will stay in for some time.
    #[inline(always)]
    fn enters(&mut self, start: usize) -> bool {
        let step = start.wrapping_sub(self.last);
        let next = start / LINE != self.last / LINE;
        self.last = start;
        next && step <= STEP
    }
}

impl Shared {
    /// Where the first lane's bytes lie, if `size` bytes of every lane lie in the range and are aligned to dwords.
    #[inline(always)]
    fn place(&self, at: u64, distances: &Distances, size: usize) -> Option<*mut u8> {
        let at = i64::try_from(at).ok()?;
        let start = self.start.wrapping_add(at as usize);
        let aligned = (start.addr() as u64 | distances.bits) & 3 == 0;
        (aligned && holds(self.length, at, distances, size)).then_some(start)
    }

    /// Reads `N` dwords of every lane, as [`Shared::load_rows`]; the first lane's lie at the offset `at`. `lines` are
    /// those of the instruction, where it may see them as they were at `time`.
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
                // Lanes that go on will soon need the next lines.
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

    /// Reads the whole lines that all lanes are at, if they lie in the range, and asks for those behind them.
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
                // SAFETY: the lines of all lanes lie in the range; they begin at multiples of their size.
                words[lane] = unsafe { qword(from.wrapping_add(8 * number), distances, lane) };
            }
        }
        (lines.line, lines.time) = (start - within, time);
    }

    /// Writes one dword of each row for every lane; as [`Shared::load_spread`].
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

/// Whether `size` bytes of every lane lie in a range of so many bytes.
#[inline(always)]
fn holds(length: usize, at: i64, distances: &Distances, size: usize) -> bool {
    let first = at.checked_add(distances.least);
    let end = at.checked_add(distances.most).and_then(|last| last.checked_add(size as i64));
    first.is_some_and(|first| first >= 0) && end.is_some_and(|end| end as u64 <= length as u64)
}

/// Reads `N` dwords of every lane from the LDS; false, and nothing is read, when some lane's do not lie in it.
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
        // SAFETY: every lane's bytes lie in the LDS; the caller promises the CPU's features.
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

/// Writes one dword of each row for every lane to the LDS, as [`load_lds`].
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
        // SAFETY: every lane's bytes lie in the LDS; the caller promises the CPU's features.
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

/// Reads `N` dwords of every lane from the first one's place on.
///
/// # Safety
/// The CPU has AVX2, and the bytes of all lanes are there.
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

/// Writes `N` dwords of every lane from the first one's place on.
///
/// # Safety
/// The CPU has AVX2, and the bytes of all lanes are there.
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

/// The 64 bits of a lane.
///
/// # Safety
/// They lie in a range, aligned to 8 bytes.
#[inline(always)]
unsafe fn qword(start: *mut u8, distances: &Distances, lane: usize) -> u64 {
    let from = start.wrapping_offset(distances.each[lane] as isize);
    // SAFETY: the caller's promise.
    unsafe { AtomicU64::from_ptr(from.cast()) }.load(Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ways in which lanes stand to each other.
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

    /// Every way of reading gives what lies at the addresses, and every way of writing puts it there.
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
                    // SAFETY: with vectors, the caller has looked whether the CPU has them.
                    let done = unsafe { memory.load_spread::<N, VECTORS>(at, &distances, lines, &mut rows) };
                    assert!(done);
                    check(rows, "memory");
                }
                let mut rows = [Row::ZERO; N];
                // SAFETY: as above.
                assert!(unsafe { load_lds::<N, VECTORS>(&lds, at, &distances, &mut rows) });
                check(rows, "lds");
            }
            // The last of the lanes that write to one place wins.
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
        // The range begins where it does in a line of the host.
        let skip = (LINE - memory.start.addr() % LINE) % LINE;
        let mut read = |at: usize, time: u64| {
            let mut pair = [Row::ZERO; 2];
            let lines = Some((&mut lines, time));
            // SAFETY: without vectors nothing is asked of the CPU.
            let done = unsafe { memory.load_spread::<2, false>(at as u64, &distances, lines, &mut pair) };
            done.then(|| pair[0].0[3])
        };
        for step in 0..8 {
            assert_eq!(read(skip + 8 * step, 1), Some(0));
        }
        // The next line is read as a whole.
        let place = skip + 72 + 3 * 128;
        memory.store_u32(place, 7);
        assert_eq!(read(skip + 64, 1), Some(0));
        memory.store_u32(place, 8);
        assert_eq!(read(skip + 72, 1), Some(7));
        assert_eq!(read(skip + 72, 2), Some(8));
        // To the last eight bytes, whose line of the last lane does not lie in the range as a whole, and not beyond.
        let last = memory.len() - 63 * 128 - 8;
        for at in (last - 24..=last).step_by(8) {
            assert_eq!(read(at, 2), Some(0));
        }
        assert_eq!(read(last + 8, 2), None);
    }
}
