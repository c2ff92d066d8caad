//! Accesses and their tag look-ups.
//!
//! The caller has decoded instruction bits into policies.

use crate::coalesce::group;
use serde::{Deserialize, Serialize};

/// Load, store or atomic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum AccessKind {
    /// Load.
    Load,
    /// Store.
    Store,
    /// Atomic that returns nothing.
    Atomic,
    /// Atomic that returns the old value.
    AtomicReturn,
}

/// Cache policy of a vector access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Policy {
    /// Load, store or atomic.
    pub kind: AccessKind,
    /// The access bypasses the vector L1.
    pub bypass: bool,
    /// Streaming: the data will not be reused.
    pub stream: bool,
    /// Addresses are offsets in the wave's scratch.
    pub scratch: bool,
}

impl Policy {
    /// An ordinary access.
    #[inline]
    pub const fn plain(kind: AccessKind) -> Policy {
        Policy { kind, bypass: false, stream: false, scratch: false }
    }
}

/// Lane addresses of a vector access.
#[derive(Clone, Copy, Debug)]
pub struct Lanes<'a> {
    /// Address of each lane.
    pub addresses: &'a [u64; 64],
    /// Mask of active lanes.
    pub active: u64,
    /// Bytes per lane.
    pub bytes: u32,
    /// Identifier of the distances between lanes, if known.
    pub formation: Option<u64>,
}

impl<'a> Lanes<'a> {
    /// Lanes without a known formation.
    pub fn new(addresses: &'a [u64; 64], active: u64, bytes: u32) -> Lanes<'a> {
        Lanes { addresses, active, bytes, formation: None }
    }
}

/// A tag look-up of the vector L1: a line, its accessed sectors, and its fully covered sectors. An atomic's
/// look-up holds a repeat code instead of the fully covered sectors. After [`gather`], a load's look-up holds
/// the number of further look-ups of the line instead of both.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Lookup(i64);

/// Bits of a sector mask.
const MASK: u32 = 4;

impl Lookup {
    fn new(line: i64, touched: u8, full: u8) -> Lookup {
        Lookup(line << (2 * MASK) | i64::from(full & 0xf) << MASK | i64::from(touched & 0xf))
    }

    /// Serialized form.
    #[inline]
    pub(crate) fn bits(self) -> i64 {
        self.0
    }

    /// From the serialized form.
    #[inline]
    pub(crate) fn from_bits(bits: i64) -> Lookup {
        Lookup(bits)
    }

    /// Line, relative to the access's block.
    #[inline]
    pub(crate) fn line(self) -> i64 {
        self.0 >> (2 * MASK)
    }

    /// Mask of accessed sectors.
    #[inline]
    pub(crate) fn touched(self) -> u8 {
        self.0 as u8 & 0xf
    }

    /// Mask of fully accessed sectors.
    #[inline]
    pub(crate) fn full(self) -> u8 {
        (self.0 >> MASK) as u8 & 0xf
    }

    /// For an atomic: the largest number of earlier lanes of the wave that update the address of one of its
    /// lanes, rounded up to the next number of the code.
    #[inline]
    pub(crate) fn repeats(self) -> u32 {
        REPEATS[usize::from(self.full())]
    }

    /// Further look-ups of the same line, for a gathered load.
    #[inline]
    pub(crate) fn more(self) -> u64 {
        u64::from(self.0 as u8)
    }
}

/// Compresses the look-ups of a load, from an entry on: consecutive look-ups of a line become one, and a
/// repeated sequence is kept once. Returns the repetitions.
pub(crate) fn gather(lookups: &mut Vec<Lookup>, from: usize) -> u32 {
    let mut end = from;
    for at in from..lookups.len() {
        let line = lookups[at].line();
        match lookups[from..end].last_mut() {
            Some(last) if last.line() == line && last.more() < u64::from(u8::MAX) => last.0 += 1,
            _ => {
                lookups[end] = Lookup::new(line, 0, 0);
                end += 1;
            }
        }
    }
    lookups.truncate(end);
    let all = &lookups[from..];
    let Some(next) = all.iter().skip(1).position(|it| Some(it) == all.first()) else { return 1 };
    let period = next + 1;
    if !all.len().is_multiple_of(period)
        || all[period..].iter().zip(all).any(|(later, before)| later != before)
    {
        return 1;
    }
    let times = all.len() / period;
    lookups.truncate(from + period);
    times as u32
}

/// Sizes that determine look-ups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LineSizes {
    /// Bytes of a line of the vector L1.
    pub(crate) line: u64,
    /// Bytes of a sector.
    pub(crate) sector: u64,
}

/// Appends the look-ups of a store, or of an atomic, with lines relative to the line of address `block`. A
/// look-up of a store has the mask of fully accessed sectors. A look-up of an atomic has the repeat code
/// instead: the largest of its lanes.
pub(crate) fn lookups<const ATOMIC: bool>(
    line_sizes: LineSizes,
    addresses: &[u64; 64],
    lanes: u64,
    bytes: u32,
    block: u64,
    out: &mut Vec<Lookup>,
) {
    let bytes = u64::from(bytes.max(1));
    let (size, _) = group(addresses, lanes, bytes);
    let shift = line_sizes.line.trailing_zeros();
    let origin = (block >> shift) as i64;
    let mut lines = Lines { seen: [(0, 0, 0); 32], count: 0 };
    for first in (0..64).step_by(size) {
        lines.count = 0;
        for lane in (first..first + size).filter(|lane| lanes >> lane & 1 != 0) {
            let repeats = if ATOMIC { repeat_code(addresses, lanes, lane) } else { 0 };
            let (from, to) = (addresses[lane], addresses[lane].wrapping_add(bytes - 1));
            let (start, end) = (from >> shift, to >> shift);
            let inside = line_sizes.line - 1;
            if start == end {
                lines.add(start, mask(from & inside, to & inside), repeats);
            } else {
                lines.add(start, mask(from & inside, inside), repeats);
                lines.add(end, mask(0, to & inside), repeats);
            }
        }
        for &(line, mask, repeats) in &lines.seen[..lines.count] {
            let (touched, full) = sectors(mask, line_sizes.sector);
            let line = (line as i64).wrapping_sub(origin);
            out.push(Lookup::new(line, touched, if ATOMIC { repeats } else { full }));
        }
    }
}

/// Numbers of lanes by their code of four bits. A number between two is rounded up.
const REPEATS: [u32; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 40, 48, 63];

/// Code of the number of earlier lanes with the address of a lane.
fn repeat_code(addresses: &[u64; 64], lanes: u64, lane: usize) -> u8 {
    let is_same = |it: &usize| lanes >> it & 1 != 0 && addresses[*it] == addresses[lane];
    let earlier = (0..lane).filter(is_same).count() as u32;
    REPEATS.partition_point(|&it| it < earlier) as u8
}

/// As [`lookups`], for a load: without sector masks.
pub(crate) fn load_lookups(
    line_sizes: LineSizes,
    addresses: &[u64; 64],
    lanes: u64,
    bytes: u32,
    block: u64,
    out: &mut Vec<Lookup>,
) {
    let bytes = u64::from(bytes.max(1));
    let (size, _) = group(addresses, lanes, bytes);
    let shift = line_sizes.line.trailing_zeros();
    let origin = (block >> shift) as i64;
    for first in (0..64).step_by(size) {
        let start = out.len();
        let mut add = |line: u64| {
            let lookup = Lookup::new((line as i64).wrapping_sub(origin), 0, 0);
            if !out[start..].iter().rev().any(|&known| known == lookup) {
                out.push(lookup);
            }
        };
        for lane in (first..first + size).filter(|lane| lanes >> lane & 1 != 0) {
            let (from, to) = (addresses[lane] >> shift, addresses[lane].wrapping_add(bytes - 1) >> shift);
            add(from);
            if to != from {
                add(to);
            }
        }
    }
}

/// Mask of the bytes from `from` to `to`, both included.
fn mask(from: u64, to: u64) -> u128 {
    let count = (to - from + 1).min(128) as u32;
    (u128::MAX >> (128 - count)) << from
}

/// Masks of the sectors with some bytes, and with all bytes, in a byte mask.
fn sectors(mask: u128, sector: u64) -> (u8, u8) {
    let whole = u128::MAX >> (128 - sector.min(128) as u32);
    (0..4).fold((0, 0), |(touched, full), number| {
        let part = mask.checked_shr((number * sector) as u32).unwrap_or(0) & whole;
        (touched | u8::from(part != 0) << number, full | u8::from(part == whole) << number)
    })
}

/// Distinct lines of a group of lanes, each with its byte mask and its largest repeat code.
struct Lines {
    seen: [(u64, u128, u8); 32],
    count: usize,
}

impl Lines {
    fn add(&mut self, line: u64, bytes: u128, repeats: u8) {
        if let Some(known) = self.seen[..self.count].iter_mut().rev().find(|known| known.0 == line) {
            known.1 |= bytes;
            known.2 = known.2.max(repeats);
        } else if let Some(free) = self.seen.get_mut(self.count) {
            *free = (line, bytes, repeats);
            self.count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coalesce;

    #[test]
    fn of_loads_the_same_lines_are_looked_up() {
        let mut state = 1u64;
        for _ in 0..2000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1442);
            let (stride, spread) = ([0, 4, 12, 16, 64, 4096][(state >> 33) as usize % 6], state >> 40 & 0x1c);
            let bytes = [1, 4, 8, 12, 16][(state >> 50) as usize % 5];
            let lanes = if state >> 63 == 0 { u64::MAX } else { state };
            let addresses =
                std::array::from_fn(|lane| 0x1000 + lane as u64 * stride + (spread * lane as u64) % 96);
            let line_sizes = LineSizes { line: [64, 128][(state >> 55) as usize % 2], sector: 32 };
            let (mut all, mut of_load) = (Vec::new(), Vec::new());
            lookups::<false>(line_sizes, &addresses, lanes, bytes, 0x1000, &mut all);
            load_lookups(line_sizes, &addresses, lanes, bytes, 0x1000, &mut of_load);
            let lines = |of: &[Lookup]| of.iter().map(|it| it.line()).collect::<Vec<_>>();
            assert_eq!(lines(&all), lines(&of_load));
        }
    }

    #[test]
    fn look_ups_are_as_many_as_the_coalescer_counts() {
        for (stride, bytes, line) in [
            (4, 4, 64),
            (8, 8, 64),
            (8, 8, 128),
            (12, 12, 64),
            (16, 16, 128),
            (100, 8, 64),
            (0, 4, 64),
            (2, 2, 128),
        ] {
            for lanes in [u64::MAX, 0xff00_ff00_1234_5678, 1, 0] {
                let addresses = std::array::from_fn(|lane| 0x1038 + lane as u64 * stride);
                let mut found = Vec::new();
                lookups::<false>(
                    LineSizes { line, sector: 32 },
                    &addresses,
                    lanes,
                    bytes,
                    0x1000,
                    &mut found,
                );
                let counted = coalesce(&addresses, lanes, bytes, line).lookups;
                assert_eq!(found.len() as u64, counted, "{stride} {bytes} {line} {lanes:#x}");
            }
        }
    }

    #[test]
    fn gathered_accesses_are_complete() {
        let line_sizes = LineSizes { line: 128, sector: 32 };
        // In a row, one line for all, 16 rows over and over, as many rows as lanes, and almost 16 over and
        // over.
        let row = std::array::from_fn::<u64, 64, _>(|lane| 8 * lane as u64);
        let rows = |number: fn(u64) -> u64| row.map(|at| 2048 * number(at / 8) + at / 64);
        let cases = [
            (row, 4, 1, 3),
            ([0; 64], 1, 1, 15),
            (rows(|lane| lane % 16), 16, 4, 0),
            (rows(|lane| 63 - lane), 64, 1, 0),
            (rows(|lane| lane % 16 + lane / 48), 64, 1, 0),
        ];
        for (number, (offsets, entries, times, more)) in cases.into_iter().enumerate() {
            let addresses = offsets.map(|offset| 0x1000 + offset);
            let mut all = Vec::new();
            lookups::<false>(line_sizes, &addresses, u64::MAX, 8, 0x1000, &mut all);
            let lines: Vec<i64> = all.iter().map(|it| it.line()).collect();
            // Earlier contents stay unchanged.
            all.insert(0, all[0]);
            assert_eq!(gather(&mut all, 1), times, "{number}");
            assert_eq!((all.len() - 1, all[1].more()), (entries, more), "{number}");
            let once =
                || all[1..].iter().flat_map(|it| std::iter::repeat_n(it.line(), 1 + it.more() as usize));
            let found: Vec<i64> = (0..times).flat_map(|_| once()).collect();
            assert_eq!(found, lines, "{number}");
        }
    }

    #[test]
    fn lanes_that_repeat_an_address_are_counted() {
        let line_sizes = LineSizes { line: 128, sector: 32 };
        let count = |address: fn(u64) -> u64, bytes: u32| {
            let mut found = Vec::new();
            let addresses = std::array::from_fn(|lane| 0x1000 + address(lane as u64));
            lookups::<true>(line_sizes, &addresses, u64::MAX, bytes, 0x1000, &mut found);
            found.iter().map(|it| (it.line(), it.touched(), it.repeats())).collect::<Vec<_>>()
        };
        // All lanes at one address, quad by quad; lanes in a row; pairs of lanes at an address.
        let one: Vec<u32> = count(|_| 0, 8).into_iter().map(|it| it.2).collect();
        assert_eq!((one.len(), one[0], one[1], one[15]), (16, 3, 7, 63));
        assert_eq!(count(|lane| 4 * lane, 4)[..2], [(0, 0b11, 0), (0, 0b1100, 0)]);
        assert_eq!(count(|lane| 1024 * (lane / 2), 8)[..2], [(0, 1, 1), (8, 1, 1)]);
    }

    #[test]
    fn sectors_are_told_apart() {
        let line_sizes = LineSizes { line: 128, sector: 32 };
        let mut found = Vec::new();
        let addresses = std::array::from_fn(|lane| 0x10c0 + lane as u64 * 8);
        // Doubles in a row: four lanes cover a sector.
        lookups::<false>(line_sizes, &addresses, 0xff, 8, 0x1080, &mut found);
        let parts: Vec<_> = found.iter().map(|it| (it.line(), it.touched(), it.full())).collect();
        assert_eq!(parts, [(0, 0b100, 0b100), (0, 0b1000, 0b1000)]);
        found.clear();
        // One dword touches a sector and covers none; the line before the block has a negative number.
        lookups::<false>(line_sizes, &[0x1000; 64], 1, 4, 0x1080, &mut found);
        assert_eq!((found[0].line(), found[0].touched(), found[0].full()), (-1, 1, 0));
    }
}
