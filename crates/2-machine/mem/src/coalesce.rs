//! Coalescer: accesses and tag look-ups of a vector memory instruction.
//!
//! The unit is a quad of lanes. If the lanes of every quad are contiguous with at most a dword each, a quad
//! is one access and four quads share a look-up per line. Otherwise each lane is an access and a quad shares
//! a look-up per line. Recordings show both: contiguous loads of 2 and 4 bytes a lane are 16 accesses and 4
//! look-ups, contiguous 8 bytes 64 and 16, 8 bytes in different lines 64 and 64.

/// Lanes of a quad.
const QUAD: usize = 4;
/// Most bytes per lane of a quad that is one access.
const MOST_BYTES: u64 = 4;

/// Coalesced access of a wave.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Coalesced {
    /// Accesses that reach the cache.
    pub accesses: u64,
    /// Tags looked up.
    pub lookups: u64,
    /// Different lines over the whole wave.
    pub lines: u64,
    /// Each quad is one access.
    pub in_quads: bool,
}

/// Coalesces an access of `bytes` per lane; `line` is the line size in bytes, a power of two.
pub fn coalesce(addresses: &[u64; 64], lanes: u64, bytes: u32, line: u64) -> Coalesced {
    if lanes == u64::MAX
        && let Some(found) = whole_wave(addresses, u64::from(bytes.max(1)), line)
    {
        return found;
    }
    one_by_one(addresses, lanes, bytes, line)
}

/// Fast path: all lanes active, and none crosses a line boundary.
#[inline(always)]
fn whole_wave(addresses: &[u64; 64], bytes: u64, line: u64) -> Option<Coalesced> {
    let shift = line.trailing_zeros();
    let (mut over_end, mut out_of_row) = (0, 0);
    for address in addresses {
        over_end |= (address & (line - 1)) + (bytes - 1);
    }
    for lane in 1..64 {
        // The first lane of a quad may have any address.
        let counts = if lane % QUAD == 0 { 0 } else { u64::MAX };
        out_of_row |= (addresses[lane] ^ addresses[lane - 1].wrapping_add(bytes)) & counts;
    }
    // Sums below twice the line size have the line's bit set if they cross the boundary.
    if bytes > line || over_end & line != 0 {
        return None;
    }
    let mut lines = [0; 64];
    for lane in 0..64 {
        lines[lane] = addresses[lane] >> shift;
    }
    let (mut ascends, mut descends) = (0u64, 0u64);
    let mut changes = [0u64; 64];
    for lane in 1..64 {
        let (before, here) = (lines[lane - 1], lines[lane]);
        ascends |= u64::from(here > before);
        descends |= u64::from(here < before);
        changes[lane] = u64::from(here != before);
    }
    let in_quads = bytes <= MOST_BYTES && out_of_row == 0;
    if ascends & descends != 0 {
        return if in_quads { None } else { Some(mixed(&lines)) };
    }
    // In sorted order, two lanes share a line only if all lanes between them do.
    let group = if in_quads { 4 * QUAD } else { QUAD };
    let (mut all, mut between_quads, mut between_groups) = (0, 0, 0);
    for (lane, change) in changes.iter().enumerate() {
        all += change;
        between_quads += if lane % QUAD == 0 { *change } else { 0 };
        between_groups += if lane % (4 * QUAD) == 0 { *change } else { 0 };
    }
    let between = if in_quads { between_groups } else { between_quads };
    Some(Coalesced {
        accesses: if in_quads { 64 / QUAD as u64 } else { 64 },
        lookups: 64 / group as u64 + all - between,
        lines: 1 + all,
        in_quads,
    })
}

/// All lanes active, one access each, lines in any order.
fn mixed(lines: &[u64; 64]) -> Coalesced {
    let mut lookups = 0;
    let mut all = Set::new();
    for &[a, b, c, d] in lines.as_chunks::<QUAD>().0 {
        lookups += 1
            + u64::from(b != a)
            + u64::from((c != a) & (c != b))
            + u64::from((d != a) & (d != b) & (d != c));
        all.add(a);
        if b != a {
            all.add(b);
        }
        if c != b {
            all.add(c);
        }
        if d != c {
            all.add(d);
        }
    }
    Coalesced { accesses: 64, lookups, lines: all.count as u64, in_quads: false }
}

/// General case, lane by lane.
fn one_by_one(addresses: &[u64; 64], lanes: u64, bytes: u32, line: u64) -> Coalesced {
    let bytes = u64::from(bytes.max(1));
    let shift = line.trailing_zeros();
    let (group, in_quads) = group(addresses, lanes, bytes);
    let accesses = if in_quads {
        (0..64).step_by(QUAD).filter(|first| lanes >> first & 0xf != 0).count() as u64
    } else {
        u64::from(lanes.count_ones())
    };
    let mut found = Coalesced { accesses, lookups: 0, lines: 0, in_quads };
    let mut all = Set::new();
    for first in (0..64).step_by(group) {
        let mut of_group = Lines::<32>::new();
        for lane in (first..first + group).filter(|lane| lanes >> lane & 1 != 0) {
            let (from, to) = (addresses[lane] >> shift, addresses[lane].wrapping_add(bytes - 1) >> shift);
            of_group.add(from);
            if to != from {
                of_group.add(to);
            }
        }
        found.lookups += of_group.count as u64;
        of_group.seen[..of_group.count].iter().for_each(|&line| all.add(line));
    }
    found.lines = all.count as u64;
    found
}

/// Lanes that share look-ups, and whether a quad is one access.
pub(crate) fn group(addresses: &[u64; 64], lanes: u64, bytes: u64) -> (usize, bool) {
    let in_quads = bytes <= MOST_BYTES && are_quads_contiguous(addresses, lanes, bytes);
    (if in_quads { 4 * QUAD } else { QUAD }, in_quads)
}

/// True if the active lanes of every quad are contiguous.
fn are_quads_contiguous(addresses: &[u64; 64], lanes: u64, bytes: u64) -> bool {
    addresses.as_chunks::<QUAD>().0.iter().enumerate().all(|(number, quad)| {
        let active = (lanes >> (number * QUAD) & 0xf) as u32;
        let first = active.trailing_zeros() as usize;
        active == 0
            || (first..QUAD)
                .filter(|lane| active >> lane & 1 != 0)
                .all(|lane| quad[lane].wrapping_sub(quad[first]) == (lane - first) as u64 * bytes)
    })
}

/// Distinct lines of a wave: at most two of each lane.
struct Set {
    /// Hash table of lines plus one; 0 is empty.
    places: [u64; 256],
    count: usize,
}

impl Set {
    fn new() -> Self {
        Set { places: [0; 256], count: 0 }
    }

    fn add(&mut self, line: u64) {
        let mut place = (line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize;
        // At least half of the table is free.
        while self.places[place & 255] != line + 1 {
            if self.places[place & 255] == 0 {
                self.places[place & 255] = line + 1;
                self.count += 1;
                return;
            }
            place += 1;
        }
    }
}

/// Distinct lines, mostly few; searched from the newest.
struct Lines<const MOST: usize> {
    seen: [u64; MOST],
    count: usize,
}

impl<const MOST: usize> Lines<MOST> {
    fn new() -> Self {
        Lines { seen: [0; MOST], count: 0 }
    }

    fn add(&mut self, line: u64) {
        if !self.seen[..self.count].iter().rev().any(|&seen| seen == line) {
            self.seen[self.count] = line;
            self.count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_and_widths() {
        // (bytes between lanes, bytes per lane, line, active lanes, accesses, look-ups, lines)
        let all = u64::MAX;
        let cases = [
            // As recorded: short, float, double in a row, doubles 256 KiB apart.
            (2, 2, 64, all, 16, 4, 2),
            (4, 4, 64, all, 16, 4, 4),
            (8, 8, 64, all, 64, 16, 8),
            (8, 8, 128, all, 64, 16, 4),
            (262_144, 8, 64, all, 64, 64, 64),
            // A broadcast, part of the lanes, none.
            (0, 4, 64, all, 64, 16, 1),
            (4, 4, 64, 0xff, 2, 1, 1),
            (8, 8, 64, 0b101, 2, 1, 1),
            (4, 4, 64, 0, 0, 0, 0),
            // Every lane reaches over the end of a line.
            (64, 16, 64, 1, 1, 1, 1),
        ];
        for (stride, bytes, line, lanes, accesses, lookups, lines) in cases {
            let addresses = std::array::from_fn(|lane| 0x1000 + lane as u64 * stride);
            let found = coalesce(&addresses, lanes, bytes, line);
            let got = (found.accesses, found.lookups, found.lines);
            assert_eq!(got, (accesses, lookups, lines), "{stride} {bytes} {line} {lanes:#x}");
        }
        let addresses = std::array::from_fn(|lane| 0x1038 + lane as u64 * 64);
        let found = coalesce(&addresses, all, 16, 64);
        assert_eq!((found.lookups, found.lines), (80, 65));
    }

    #[test]
    fn the_fast_path_gives_the_same_state() {
        let mut state = 7u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut short = 0;
        for round in 0..4000 {
            let bytes = [1, 2, 4, 8, 12, 16][next(6) as usize];
            let stride = [0, u64::from(bytes), 4, 8, 20, 64, 256, 262_144][next(8) as usize];
            let (start, spread) = (4096 + next(4) * 4, [1, 1, 1, 100][next(4) as usize]);
            let backwards = next(4) == 0;
            let addresses: [u64; 64] = std::array::from_fn(|lane| {
                let lane = if backwards { 63 - lane } else { lane };
                start + lane as u64 * stride + 4 * next(spread)
            });
            let line = [64, 128][next(2) as usize];
            short += u64::from(whole_wave(&addresses, u64::from(bytes), line).is_some());
            let found = coalesce(&addresses, u64::MAX, bytes, line);
            assert_eq!(
                found,
                one_by_one(&addresses, u64::MAX, bytes, line),
                "{round} {bytes} {line} {addresses:?}"
            );
        }
        assert!((1000..4000).contains(&short), "{short}");
    }
}
