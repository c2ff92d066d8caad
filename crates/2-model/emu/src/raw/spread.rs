//! The part of `raw` that moves the data of lanes whose distances are known beforehand.
//!
//! The one idea to keep in mind: one check of the first lane's place is a check of all lanes, because the smallest and
//! the largest distance and their alignment were worked out when the distances were.

use super::{Shared, prefetch};
use crate::lanes::{LANES, Pair, Row};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
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
}

impl Distances {
    /// Works out what is true of all lanes.
    pub(crate) fn new(each: [i64; LANES]) -> Distances {
        let step = each[1];
        let even = (0..LANES).all(|lane| each[lane] == step.wrapping_mul(lane as i64));
        Distances {
            least: each.iter().copied().min().unwrap_or(0),
            most: each.iter().copied().max().unwrap_or(0),
            bits: each.iter().fold(0, |all, &distance| all | distance as u64),
            step: even.then_some(step),
            each,
        }
    }

    /// The smallest and the largest.
    pub(crate) fn limits(&self) -> (i64, i64) {
        (self.least, self.most)
    }

    /// Addresses of all lanes.
    #[inline(always)]
    pub(crate) fn place(&self, first: u64, addresses: &mut [u64; LANES]) {
        for lane in 0..LANES {
            addresses[lane] = first.wrapping_add(self.each[lane] as u64);
        }
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
    /// Its words, of all lanes.
    words: Option<Box<[[u64; LANES]; LINE / 8]>>,
}

impl Lines {
    /// Keeps nothing any more.
    #[inline(always)]
    pub(crate) fn forget(&mut self) {
        self.line = 0;
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
        (aligned && self.holds(at, distances, size)).then_some(start)
    }

    /// Whether `size` bytes of every lane lie in the range.
    #[inline(always)]
    fn holds(&self, at: i64, distances: &Distances, size: usize) -> bool {
        let first = at.checked_add(distances.least);
        let end = at.checked_add(distances.most).and_then(|last| last.checked_add(size as i64));
        first.is_some_and(|first| first >= 0) && end.is_some_and(|end| end as u64 <= self.length as u64)
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
        if distances.step == Some(0) {
            for number in 0..N {
                // SAFETY: every lane's bytes and their alignment are checked by `place`; this is the first lane.
                let value = unsafe { AtomicU32::from_ptr(start.add(4 * number).cast()) }.load(Relaxed);
                out[number].0 = [value; LANES];
            }
        } else if N == 1 && distances.step == Some(4) && start.addr().is_multiple_of(8) {
            // Two lanes with each load.
            for lane in (0..LANES).step_by(2) {
                // SAFETY: as above; the lanes lie in a row from a multiple of 8 bytes on.
                let both = unsafe { AtomicU64::from_ptr(start.add(4 * lane).cast()) }.load(Relaxed);
                out[0].0[lane] = both as u32;
                out[0].0[lane + 1] = (both >> 32) as u32;
            }
        } else if N.is_multiple_of(2) && wide {
            if let (Some((lines, time)), true) = (lines, distances.walks()) {
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
                for distance in &distances.each {
                    prefetch(start.wrapping_offset(*distance as isize + LINE as isize));
                }
            }
            for (number, pair) in out.as_chunks_mut::<2>().0.iter_mut().enumerate() {
                let from = start.wrapping_add(8 * number);
                #[cfg(target_arch = "x86_64")]
                if VECTORS {
                    // SAFETY: as above, every lane aligned to 8 bytes; the caller promises the CPU's features.
                    unsafe { gather(from, distances, pair) };
                    continue;
                }
                for lane in 0..LANES {
                    // SAFETY: as above; every lane is aligned to 8 bytes.
                    let both = unsafe { qword(from, distances, lane) };
                    pair[0].0[lane] = both as u32;
                    pair[1].0[lane] = (both >> 32) as u32;
                }
            }
        } else {
            for lane in 0..LANES {
                for number in 0..N {
                    // SAFETY: as above.
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
        if !self.holds(at, distances, LINE) {
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
    #[inline(always)]
    pub(crate) fn store_spread<const N: usize>(
        &self,
        at: u64,
        distances: &Distances,
        rows: &[Row; N],
    ) -> bool {
        let Some(start) = self.place(at, distances, 4 * N) else { return false };
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

/// The 64 bits of every lane as two rows.
///
/// # Safety
/// They lie in a range, aligned to 8 bytes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
#[inline]
unsafe fn gather(start: *mut u8, distances: &Distances, out: &mut Pair) {
    for eight in 0..LANES / 8 {
        // SAFETY: the caller's promise.
        let lane = |lane: usize| unsafe { qword(start, distances, 8 * eight + lane) } as i64;
        let first = _mm256_set_epi64x(lane(5), lane(4), lane(1), lane(0));
        let second = _mm256_set_epi64x(lane(7), lane(6), lane(3), lane(2));
        super::put_eight(out, eight, [first, second].map(|it| _mm256_castsi256_pd(it)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every way of reading gives what lies at the addresses.
    #[test]
    fn all_ways_read_the_same() {
        let bytes = 64 * 4096;
        let memory = Shared::zeroed(bytes);
        for at in (0..bytes).step_by(4) {
            memory.store_u32(at, at as u32 ^ 0x5555_0000);
        }
        let expected = |at: u64, distance: i64| (at as i64 + distance) as u32 ^ 0x5555_0000;
        let mut lines = Lines::default();
        for stride in [0i64, 4, 8, 16, 20, 64, 2048, -2048] {
            let distances = Distances::new(std::array::from_fn(|lane| stride * lane as i64));
            let first = if stride < 0 { 160_000 } else { 0 };
            for at in (first..first + 512).step_by(4) {
                for kept in [false, true] {
                    let mut pair = [Row::ZERO; 2];
                    let lines = kept.then_some((&mut lines, 1));
                    // SAFETY: without vectors nothing is asked of the CPU.
                    assert!(unsafe { memory.load_spread::<2, false>(at, &distances, lines, &mut pair) });
                    for (lane, &distance) in distances.each.iter().enumerate() {
                        let got = [pair[0].0[lane], pair[1].0[lane]];
                        assert_eq!(
                            got,
                            [expected(at, distance), expected(at, distance + 4)],
                            "{stride} {at}"
                        );
                    }
                }
            }
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
