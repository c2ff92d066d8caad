//! Sharing of memory lines between XCDs, estimated from samples.
//!
//! A line that several XCDs read comes from memory once, for the first reader; the others hit the memory-side
//! cache. The readers of a sample of lines are known, and the lines of a region are assumed to have as many
//! readers as the samples in it.

use mem::Sample;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Most lines of the sample; beyond that it is halved.
const MOST_LINES: usize = 1 << 13;
/// Sample lines of a region all of whose lines are read, as a power of two.
const OF_REGION: u32 = 3;
/// Cycles for which one XCD stays the first reader, as a power of two: about the latency of memory.
const AHEAD: u32 = 10;

/// Sample of the lines that XCDs have read.
#[derive(Debug)]
pub(crate) struct Footprint {
    /// By line: its readers, as bits.
    lines: HashMap<u64, u64, Scattered>,
    /// Highest rank of the sample's lines.
    kept: u32,
    /// By region: sample lines and their readers.
    regions: HashMap<u64, Region, Scattered>,
}

#[derive(Clone, Copy, Default, Debug)]
struct Region {
    lines: u32,
    bits: u32,
}

/// Readers of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Read {
    /// One XCD.
    Alone,
    /// Several XCDs; the requesting one is the first, or a later one.
    Ahead,
    Behind,
}

impl Default for Footprint {
    fn default() -> Footprint {
        Footprint { lines: HashMap::default(), kept: u32::MAX, regions: HashMap::default() }
    }
}

impl Footprint {
    /// Adds lines that an XCD reads.
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

    /// Shrinks the sample; regions grow by the same factor.
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

    /// Readers of a line requested at a cycle.
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

/// Mixes the bits of a number.
#[inline]
fn scattered(number: u64) -> u64 {
    let number = number.wrapping_add(1).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (number ^ number >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// Hash for line and region numbers.
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
    fn each_xcd_fetches_its_part_of_shared_lines() {
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
        let near = |found: [f64; 3], expected: [f64; 3]| {
            assert!(
                found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.02),
                "{found:?} instead of {expected:?}"
            );
        };
        // Each its own, then one part that all read, then more than are kept.
        let [alone, behind] = [[1.0, 0.0, 0.0], [0.0, 0.125, 0.875]];
        for (lines, expected) in [
            ((|xcd| xcd * 16_384..(xcd + 1) * 16_384) as fn(u64) -> Range<u64>, [alone, alone]),
            (|_| 1 << 20..(1 << 20) + 16_384, [alone, behind]),
            (|_| 2 << 20..10 << 20, [alone, behind]),
        ] {
            let (found, kept) = read(lines);
            found.into_iter().zip(expected).for_each(|(found, expected)| near(found, expected));
            assert!(kept <= MOST_LINES);
        }
    }
}
