//! How far XCDs read the same lines of memory.
//!
//! The one idea to keep in mind: a line that several XCDs read comes from memory once, for the XCD that is ahead at the time, and
//! the others find it in the memory-side cache. Which lines XCDs read is known of a sample of all lines; a line of a region is
//! taken to be read by as many as those of its sample are.

use mem::Sample;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Most lines of the sample that are kept; then it is halved.
const MOST_LINES: usize = 1 << 13;
/// Lines of the sample that a region has when all are read, as a power of two.
const OF_REGION: u32 = 3;
/// Cycles after which another XCD may be ahead, as a power of two: about as long as memory takes, which who is ahead waits for.
const AHEAD: u32 = 10;

/// Lines of the sample that XCDs have read.
#[derive(Debug)]
pub(crate) struct Footprint {
    /// By line: the XCDs that read it, as bits.
    lines: HashMap<u64, u64, Scattered>,
    /// What of the sample is kept.
    kept: u32,
    /// By region: its lines, and their bits.
    regions: HashMap<u64, Region, Scattered>,
}

#[derive(Clone, Copy, Default, Debug)]
struct Region {
    lines: u32,
    bits: u32,
}

/// Who reads a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Read {
    /// One XCD alone.
    Alone,
    /// Several, and the one that asks is ahead; or another is.
    Ahead,
    Behind,
}

impl Default for Footprint {
    fn default() -> Footprint {
        Footprint { lines: HashMap::default(), kept: u32::MAX, regions: HashMap::default() }
    }
}

impl Footprint {
    /// An XCD reads some lines.
    pub(crate) fn add(&mut self, xcd: usize, read: &Sample) {
        let bit = 1 << (xcd % 64);
        self.keep(self.kept.min(read.kept()));
        for &line in read.lines().iter().filter(|&&line| Sample::rank(line) <= self.kept) {
            let known = self.lines.entry(line).or_default();
            if *known & bit == 0 {
                let region = self.regions.entry(line >> region_bits(self.kept)).or_default();
                region.lines += u32::from(*known == 0);
                region.bits += 1;
                *known |= bit;
            }
        }
        while self.lines.len() > MOST_LINES && self.kept > 0 {
            self.keep(self.kept / 2);
        }
    }

    /// Keeps less of the sample; regions grow by as much.
    fn keep(&mut self, kept: u32) {
        if kept < std::mem::replace(&mut self.kept, kept) {
            self.lines.retain(|&line, _| Sample::rank(line) <= kept);
            self.regions.clear();
            for (line, known) in &self.lines {
                let region = self.regions.entry(line >> region_bits(kept)).or_default();
                region.lines += 1;
                region.bits += known.count_ones();
            }
        }
    }

    /// Who reads a line that an XCD asks memory for at a cycle.
    #[inline]
    pub(crate) fn read(&self, line: u64, cycle: u64) -> Read {
        let number = line >> region_bits(self.kept);
        let Some(region) = self.regions.get(&number).filter(|region| region.bits > region.lines) else {
            return Read::Alone;
        };
        let drawn = scattered(number.wrapping_add(scattered(cycle >> AHEAD))) >> 32;
        match drawn * u64::from(region.bits) < u64::from(region.lines) << 32 {
            true => Read::Ahead,
            false => Read::Behind,
        }
    }
}

/// Lines of a region, as a power of two.
fn region_bits(kept: u32) -> u32 {
    OF_REGION + kept.leading_zeros()
}

/// A number without visible order.
#[inline]
fn scattered(number: u64) -> u64 {
    let number = number.wrapping_add(1).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (number ^ number >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// Numbers of lines and regions need no better hash.
type Scattered = BuildHasherDefault<Scatter>;

#[derive(Default)]
struct Scatter(u64);

impl Hasher for Scatter {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = scattered(self.0 ^ number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::Range;

    #[test]
    fn of_what_all_read_each_brings_its_part() {
        let mut footprint = Footprint::default();
        let mut read = |lines: fn(u64) -> Range<u64>| {
            for xcd in 0..8 {
                let mut sample = Sample::default();
                lines(xcd).for_each(|line| sample.add(line));
                footprint.add(xcd as usize, &sample);
            }
            let who = |line: u64| {
                let count =
                    |who| (0..8000).filter(|cycle| footprint.read(line, cycle << AHEAD) == who).count();
                [Read::Alone, Read::Ahead, Read::Behind].map(|who| count(who) as f64 / 8000.0)
            };
            ([who(15_000), who((1 << 20) + 5000)], footprint.lines.len())
        };
        let near = |found: [f64; 3], want: [f64; 3]| {
            assert!(
                found.iter().zip(want).all(|(a, b)| (a - b).abs() < 0.02),
                "{found:?} instead of {want:?}"
            );
        };
        // Each its own, then one part that all read, then more than are kept.
        let [alone, behind] = [[1.0, 0.0, 0.0], [0.0, 0.125, 0.875]];
        for (lines, want) in [
            ((|xcd| xcd * 16_384..(xcd + 1) * 16_384) as fn(u64) -> Range<u64>, [alone, alone]),
            (|_| 1 << 20..(1 << 20) + 16_384, [alone, behind]),
            (|_| 2 << 20..10 << 20, [alone, behind]),
        ] {
            let (found, kept) = read(lines);
            found.into_iter().zip(want).for_each(|(found, want)| near(found, want));
            assert!(kept <= MOST_LINES);
        }
    }
}
