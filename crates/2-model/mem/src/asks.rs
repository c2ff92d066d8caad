//! The short way of most look-ups: loads that go on in a page.
//!
//! The one idea to keep in mind: this is where most of the time of a long dispatch goes, so what is the same for a run of
//! look-ups is settled before it, and a line of the L2 is looked for first where such a line was there the last time.

use crate::access::Lookup;
use crate::cache::{Ways, With};
use crate::l2::{At, Finds, Quick, Request, Want};
use crate::shape::Shape;
use crate::vector::{Follow, Path, by_type};
use crate::wide;
use arch::MemoryType;

/// Rows of guesses, as a power of two.
const GUESSES: u32 = 8;

/// Where lines may be in the L2 of an XCD: by a few bits of the line that look-ups count from, and by their number, where the line
/// of the last such look-up was, if that is one of the first places. What is needed together stands together.
#[derive(Clone, Debug)]
pub(crate) struct Guesses(Box<[[u16; ROW]; 1 << GUESSES]>);

impl Default for Guesses {
    fn default() -> Guesses {
        Guesses(Box::new([[0; ROW]; 1 << GUESSES]))
    }
}

impl Guesses {
    /// Those of look-ups that count from a line.
    #[inline(always)]
    fn of(&mut self, base: u64) -> &mut [u16; ROW] {
        let row = base.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - GUESSES);
        &mut self.0[row as usize % (1 << GUESSES)]
    }
}

/// What a vector L1 knows of the L2.
#[derive(Clone, Debug)]
pub(crate) struct Asks {
    /// Bytes of a line, and lines of one of the L2, as powers of two.
    shifts: (u32, u32),
    /// Sectors of a line: how many, and all of them.
    sectors: (u32, u8),
}

impl Asks {
    pub(crate) fn new(shape: &Shape) -> Asks {
        let sectors = (shape.l1_line / shape.sector) as u32;
        let lines = (shape.l2_line / shape.l1_line).max(1);
        Asks {
            shifts: (shape.l1_line.trailing_zeros(), lines.trailing_zeros()),
            sectors: (sectors, ((1u32 << sectors) - 1) as u8),
        }
    }

    /// Whether a line of the vector L1 lies in the one of the L2 that was asked for last, and can be one request with it.
    #[inline]
    pub(crate) fn joins(&self, line: u64, merged: Option<u64>, shape: &Shape) -> bool {
        shape.merges_reads && merged == Some(line >> self.shifts.1)
    }

    /// Asks the L2 for a line of the vector L1, in a look-up of this number of those that count from a line; it may be known where the
    /// line of the L2 belongs.
    #[inline(never)]
    pub(crate) fn read<F: Follow>(
        &self,
        (line, base, number): (u64, u64, usize),
        at: Option<At>,
        stream: bool,
        merged: &mut Option<u64>,
        path: &mut Path<'_, F>,
    ) {
        let (bytes, lines) = self.shifts;
        let address = line << bytes;
        let (memory, local) = path.places.of(address);
        path.before.add(by_type(Want::Read, memory), 1);
        let wide = address >> (bytes + lines);
        // A second read of the same line finds the first still waiting.
        if path.shape.merges_reads && *merged == Some(wide) && path.follow.joins() {
            return path.join(wide, self.touched(line), local);
        }
        *merged = Some(wide);
        let at = at.unwrap_or_else(|| path.l2.seek(wide));
        if memory == MemoryType::Rw
            && !stream
            && let Some(place) = at.place
            && let Some(Finds { channel, noted }) = path.l2.quick().finds(wide, place)
        {
            path.guesses.of(base)[number % ROW] = short(place);
            return path.follow.read(channel, wide, noted);
        }
        let touched = self.touched(line);
        let (want, full) = (Want::Read, touched);
        let request = Request { want, line: wide, touched, full, memory, local, stream };
        if let Some(place) = path.send_to(request, at) {
            path.guesses.of(base)[number % ROW] = short(place);
        }
    }

    /// Sectors of a line of the L2 that one of the vector L1 is.
    fn touched(&self, line: u64) -> u8 {
        let ((_, lines), (count, all)) = (self.shifts, self.sectors);
        let number = line & !(u64::MAX << lines);
        all.wrapping_shl(count.wrapping_mul(number as u32))
    }
}

/// A place of the L2, if it is one of the first.
#[inline(always)]
fn short(place: usize) -> u16 {
    u16::try_from(place).unwrap_or(0)
}

/// Look-ups that follow each other and need nothing but what is in the vector L1 and the L2.
pub trait Steps {
    /// Places of a set of the vector L1 that comes next, from this one on: [`ROW`] of them. None where something else has to be
    /// done first.
    fn row(&mut self) -> Option<(usize, impl Row)>;
}

/// Those of them that come to one set, until one comes to another.
pub trait Row {
    /// The next look-up; none where there is none, or something else has to be done first.
    fn look(&mut self) -> Option<Look>;
    /// The line of the look-up, which misses, comes to its way, if the L2 has it: the channel, and what was noted of the line there.
    fn take(&mut self, way: usize) -> Option<(usize, u64)>;
    /// The look-up is done, and with it others of the same line: so many.
    fn done(&mut self) -> u64;
}

/// Places of a set.
pub const ROW: usize = wide::WAYS;

/// What a look-up comes to in the vector L1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Look {
    /// It finds its line in a way.
    Found(usize),
    /// It misses; the line would go to a way.
    Missed(usize),
}

/// Look-ups of loads in a page that is translated.
pub(crate) struct Run<'a, 'p, F> {
    /// Look-ups, and the number of the first of them.
    pub(crate) lookups: &'a [Lookup],
    pub(crate) first: usize,
    /// The line that look-ups count from.
    pub(crate) base: u64,
    pub(crate) page: u64,
    /// Lines of a page, as a power of two.
    pub(crate) pages: u32,
    /// Bits of a line that choose its set.
    pub(crate) sets: u64,
    pub(crate) stream: bool,
    pub(crate) merged: &'a mut Option<u64>,
    pub(crate) asks: &'a mut Asks,
    pub(crate) path: &'a mut Path<'p, F>,
}

/// How far look-ups of a page came.
pub(crate) struct Ran {
    /// Entries of the list that were done, and the look-ups they stand for.
    pub(crate) done: usize,
    pub(crate) lookups: u64,
    /// The next one is held up; otherwise it is in another page, or there is none.
    pub(crate) held_up: bool,
}

/// Those look-ups of a run that are plain.
struct Plain<'a> {
    sets: &'a mut [wide::Set],
    rest: Rest<'a>,
}

/// What there is besides sets.
struct Rest<'a> {
    /// Look-ups, and the number of the first of them.
    lookups: &'a [Lookup],
    first: usize,
    base: u64,
    page: u64,
    pages: u32,
    bits: u64,
    /// Line of the L2 that was asked for last, a second read of which is none; no line, and so all bits, where each read is one.
    merged: u64,
    apart: u64,
    /// Lines of the vector L1 in one of the L2, as a power of two.
    wider: u32,
    guesses: &'a mut [u16; ROW],
    l2: Quick<'a>,
    /// Where the line belongs that the L2 was asked for last and did not have.
    at: Option<At>,
    /// Look-ups that are done, those of the same lines besides, and those that found their line in the vector L1.
    done: usize,
    again: u64,
    found: usize,
}

/// Those that come to a set.
struct OfSet<'a, 'r> {
    set: &'a mut wide::Set,
    /// Bits of lines that are the same in all of them, and what they are.
    alike: u64,
    same: u64,
    line: u64,
    rest: &'a mut Rest<'r>,
}

impl Rest<'_> {
    /// Line of the next look-up, if it lies in the page.
    #[inline(always)]
    fn line(&self) -> Option<u64> {
        let line = self.base.wrapping_add_signed(self.lookups.get(self.done)?.line());
        (line >> self.pages == self.page).then_some(line)
    }
}

impl Steps for Plain<'_> {
    #[inline(always)]
    fn row(&mut self) -> Option<(usize, impl Row)> {
        let line = self.rest.line()?;
        let number = line & self.rest.bits;
        let set = self.sets.get_mut(number as usize).filter(|set| set.is_plain())?;
        let alike = u64::MAX << self.rest.pages | self.rest.bits;
        let row = OfSet { set, alike, same: line & alike, line, rest: &mut self.rest };
        Some((number as usize * ROW, row))
    }
}

impl Row for OfSet<'_, '_> {
    #[inline(always)]
    fn look(&mut self) -> Option<Look> {
        self.line = self.rest.base.wrapping_add_signed(self.rest.lookups.get(self.rest.done)?.line());
        if self.line & self.alike != self.same {
            return None;
        }
        Some(match self.set.find_near(self.line) {
            Some(way) => {
                self.rest.found += 1;
                Look::Found(way)
            }
            None => Look::Missed(self.set.next()),
        })
    }

    #[inline(always)]
    fn take(&mut self, way: usize) -> Option<(usize, u64)> {
        let wide = self.line >> self.rest.wider;
        if wide == self.rest.merged {
            return None;
        }
        let guess = &mut self.rest.guesses[(self.rest.first + self.rest.done) % ROW];
        let Finds { channel, noted } = match self.rest.l2.finds(wide, usize::from(*guess)) {
            Some(finds) => finds,
            None => match self.rest.l2.seeks(wide) {
                Ok((place, finds)) => {
                    *guess = short(place);
                    finds
                }
                Err(at) => {
                    self.rest.at = Some(at);
                    return None;
                }
            },
        };
        self.set.replace(way, self.line);
        self.rest.merged = wide | self.rest.apart;
        Some((channel, noted))
    }

    #[inline(always)]
    fn done(&mut self) -> u64 {
        let more = self.rest.lookups.get(self.rest.done).map_or(0, |lookup| lookup.more());
        self.rest.done += 1;
        if more > 0 {
            self.rest.again += more;
        }
        more
    }
}

impl<F: Follow> With for Run<'_, '_, F> {
    type Out = Ran;

    #[inline]
    fn sets(self, sets: &mut impl Ways) -> Ran {
        let Run { lookups, first, base, page, pages, sets: bits, stream, merged, asks, path } = self;
        let (bytes, wider) = asks.shifts;
        // What is true of all of the page.
        let start = page << (pages + bytes);
        let own = path.places.all_own(start, start | !(u64::MAX << (pages + bytes)));
        let apart = if path.shape.merges_reads { 0 } else { u64::MAX };
        let mut reads = 0;
        let mut ran = Ran { done: 0, lookups: 0, held_up: false };
        loop {
            let mut at = None;
            if own
                && !stream
                && let Some(sets) = sets.wide()
            {
                let l2 = path.l2.quick();
                let rest = Rest {
                    lookups: lookups.get(ran.done..).unwrap_or_default(),
                    first: first + ran.done,
                    base,
                    page,
                    pages,
                    bits,
                    merged: merged.map_or(u64::MAX, |line| line | apart),
                    apart,
                    wider,
                    guesses: path.guesses.of(base),
                    l2,
                    at: None,
                    done: 0,
                    again: 0,
                    found: 0,
                };
                let mut plain = Plain { sets, rest };
                path.follow.quick(&mut plain);
                let rest = plain.rest;
                at = rest.at;
                let misses = (rest.done - rest.found) as u64;
                ran.done += rest.done;
                ran.lookups += rest.done as u64 + rest.again;
                reads += misses;
                if misses > 0 {
                    *merged = Some(rest.merged);
                }
            }
            let Some(lookup) = lookups.get(ran.done) else { break };
            let line = base.wrapping_add_signed(lookup.line());
            if line >> pages != page {
                break;
            }
            let set = (line & bits) as usize;
            match sets.find_or_oldest(set, line) {
                Ok(place) => path.follow.found(place),
                Err(victim) if path.follow.room(asks.joins(line, *merged, path.shape)) => {
                    sets.put_at(victim, line, stream);
                    path.follow.missed(Some(victim));
                    asks.read((line, base, first + ran.done), at, stream, merged, path);
                }
                Err(_) => {
                    ran.held_up = true;
                    break;
                }
            }
            path.follow.next();
            let more = lookup.more();
            if more > 0 {
                // A line that was to go first is used again.
                if stream {
                    let _ = sets.find_or_oldest(set, line);
                }
                path.follow.again(more);
            }
            ran.done += 1;
            ran.lookups += 1 + more;
        }
        path.before.add(by_type(Want::Read, MemoryType::Rw), reads);
        ran
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{Grain, Kind, gather, load_lookups, lookups};
    use crate::stream::Shared;
    use crate::vector::Progress;
    use crate::{Caches, Policy};
    use arch::Model;

    /// Notes what becomes of look-ups; some wait once for their place.
    #[derive(Default, PartialEq, Debug)]
    struct Noted {
        quick: bool,
        /// Look-ups that were done quickly.
        quickly: u64,
        /// Look-ups, and a sum of where each found its line.
        done: u64,
        sum: u64,
        place: Option<usize>,
    }

    impl Noted {
        fn note(&mut self, place: usize, more: u64) {
            self.sum = self.sum.wrapping_mul(31).wrapping_add(place as u64 * 7 + more);
        }
    }

    impl Follow for Noted {
        fn found(&mut self, place: usize) {
            self.note(place, 1);
        }
        fn missed(&mut self, place: Option<usize>) {
            self.place = place;
        }
        fn joins(&mut self) -> bool {
            self.place = None;
            true
        }
        fn read(&mut self, channel: usize, _: u64, noted: u64) {
            let place = self.place.take().unwrap_or(0);
            self.note(place, 2 + channel as u64 + noted);
        }
        fn request(&mut self, answer: &crate::Answer) -> Option<u64> {
            let place = self.place.take().unwrap_or(0);
            // What a read that finds all it wants comes to is the same whichever way it went.
            let here = answer.hit && answer.read == 0;
            let more = if here { 2 + answer.channel as u64 + answer.noted } else { 1 };
            self.note(place, more);
            (!here).then_some(self.done % 1000)
        }
        fn next(&mut self) {
            self.done += 1;
        }
        fn again(&mut self, count: u64) {
            self.done += count;
        }
        fn quick(&mut self, steps: &mut impl Steps) {
            if !self.quick {
                return;
            }
            while let Some((first, mut row)) = steps.row() {
                while let Some(look) = row.look() {
                    match look {
                        Look::Found(way) => self.note(first + way, 1),
                        Look::Missed(way) => {
                            let Some((channel, noted)) = row.take(way) else { return };
                            self.note(first + way, 2 + channel as u64 + noted);
                        }
                    }
                    let all = 1 + row.done();
                    self.done += all;
                    self.quickly += all;
                }
            }
        }
    }

    #[test]
    fn the_short_way_comes_to_the_same() {
        for model in ["mi210", "mi300x"] {
            let shape = Shape::of(Model::by_name(model).unwrap());
            let grain = Grain { line: shape.l1_line, sector: shape.sector };
            let run = |quick: bool| {
                let (mut caches, mut noted) = (Caches::new(&shape), Noted { quick, ..Noted::default() });
                let mut state = 5u64;
                caches.begin(Vec::new());
                for _ in 0..20_000 {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1442);
                    // Rows of lines that come round again, one more than there is room for among them; and a few stores.
                    let stride = [4, 64, 256, 1 << 13, 1 << 15][(state >> 33) as usize % 5];
                    let first = (state >> 50) % 8 * 0x4_0000 + (state >> 45) % 4 * 32;
                    let addresses = std::array::from_fn(|lane| first + lane as u64 * stride);
                    let kind = if state >> 59 == 0 { Kind::Store } else { Kind::Load };
                    let (policy, mut found) = (Policy::plain(kind), Vec::new());
                    let times = match kind {
                        Kind::Load => {
                            load_lookups(grain, &addresses, u64::MAX, 4, 0, &mut found);
                            gather(&mut found, 0)
                        }
                        _ => {
                            lookups(grain, &addresses, u64::MAX, 4, 0, &mut found);
                            1
                        }
                    };
                    let shared = Shared { slot: 0, policy, lookups: &found, times };
                    let mut progress = Progress::default();
                    let unit = (0, (state >> 20) as usize % 2);
                    while !caches.look_ups(unit, (&shared, 0), &mut progress, &mut noted) {}
                    caches.end(0, policy, &mut progress, &mut noted);
                }
                (noted, caches.finish(&[], |_, _| {}))
            };
            let (slow, quick) = (run(false), run(true));
            assert!(quick.0.quickly > quick.0.done / 3, "{model}: {} of {}", quick.0.quickly, quick.0.done);
            assert_eq!((slow.0.done, slow.0.sum), (quick.0.done, quick.0.sum), "{model}");
            assert_eq!(slow.1, quick.1, "{model}");
        }
    }
}
