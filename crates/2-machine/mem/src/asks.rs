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
pub(crate) struct Guesses {
    places: Box<[[u16; ROW]; 1 << GUESSES]>,
    /// Room for what look-ups come to.
    looks: Box<[Look; ROW]>,
}

impl Default for Guesses {
    fn default() -> Guesses {
        Guesses { places: Box::new([[0; ROW]; 1 << GUESSES]), looks: Box::new([Look::default(); ROW]) }
    }
}

impl Guesses {
    /// Those of look-ups that count from a line.
    #[inline(always)]
    fn of(&mut self, base: u64) -> &mut [u16; ROW] {
        self.of_all(base).0
    }

    /// The same, and room for what they come to.
    #[inline(always)]
    fn of_all(&mut self, base: u64) -> (&mut [u16; ROW], &mut [Look; ROW]) {
        let row = base.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - GUESSES);
        (&mut self.places[row as usize % (1 << GUESSES)], &mut self.looks)
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
    /// line of the L2 belongs. Says whether the line was there.
    #[inline(never)]
    pub(crate) fn read<F: Follow>(
        &self,
        (line, base, number): (u64, u64, usize),
        at: Option<At>,
        stream: bool,
        merged: &mut Option<u64>,
        path: &mut Path<'_, F>,
    ) -> bool {
        let (bytes, lines) = self.shifts;
        let address = line << bytes;
        let (memory, local) = path.places.of(address);
        path.before.add(by_type(Want::Read, memory), 1);
        let wide = address >> (bytes + lines);
        // A second read of the same line finds the first still waiting.
        if self.joins(line, *merged, path.shape) && path.follow.joins() {
            path.join(wide, self.touched(line), local);
            return true;
        }
        *merged = Some(wide);
        let at = at.unwrap_or_else(|| path.l2.seek(wide));
        if memory == MemoryType::Rw
            && !stream
            && let Some(place) = at.place
            && let Some(Finds { channel, noted }) = path.l2.quick().finds(wide, place)
        {
            path.guesses.of(base)[number % ROW] = short(place);
            path.follow.read(channel, wide, noted.max(0) as u64);
            return true;
        }
        let touched = self.touched(line);
        let (want, full) = (Want::Read, touched);
        let request = Request { want, line: wide, touched, full, memory, local, stream };
        if let Some(place) = path.send_to(request, &at) {
            path.guesses.of(base)[number % ROW] = short(place);
        }
        at.place.is_some()
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
    /// Does those that come next, to one set of the vector L1, [`ROW`] at most: the set, and what they come to. None where there is
    /// no look-up, or something else has to be done first.
    fn row(&mut self, room: Room<'_>) -> Option<(usize, &[Look])>;
    /// Look-ups that were done, and how many of them missed.
    fn done(&self) -> [u64; 2];
}

/// Room for look-ups that miss.
#[derive(Clone, Copy, Debug)]
pub struct Room<'a> {
    /// Cycles from which on there is room for each, in order.
    pub free: &'a [u64],
    /// The cycle of the next look-up.
    pub now: u64,
    /// Cycles that each takes.
    pub each: u64,
}

impl Room<'_> {
    /// Whether there is room for one.
    #[inline(always)]
    fn has_some(&self) -> bool {
        self.free.first().is_some_and(|&free| free <= self.now)
    }

    /// So many take theirs.
    #[inline(always)]
    fn take(&mut self, misses: usize) {
        self.free = self.free.get(misses..).unwrap_or_default();
        self.now += misses as u64 * self.each;
    }
}

/// Places of a set.
pub const ROW: usize = wide::WAYS;

/// What a look-up comes to, and how many others of the same line follow it.
#[derive(Clone, Copy, Default, Debug)]
pub struct Look {
    /// The way that the line is in, or comes to.
    pub way: u8,
    /// Where it misses: the channel of the L2, which has it; otherwise [`FOUND`].
    pub channel: u8,
    /// Others of the same line that follow.
    pub more: u8,
    /// What was noted of the line in the L2; nothing, or something negative, where nothing was in this dispatch.
    pub noted: i64,
}

/// No channel: the line is in the vector L1.
pub const FOUND: u8 = u8::MAX;

/// Look-ups of loads in a page that is translated.
pub(crate) struct Run<'a, 'p, F> {
    /// Look-ups, and the number of the next of them.
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
    /// Look-ups, the number of the first, and that of the next.
    lookups: &'a [Lookup],
    first: usize,
    next: usize,
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
    looks: &'a mut [Look; ROW],
    l2: Quick<'a>,
    /// Where the line belongs that the L2 was asked for last and did not have.
    at: Option<At>,
    /// Look-ups of the same lines as those that are done, and those that missed.
    again: u64,
    missed: u64,
}

impl Steps for Plain<'_> {
    #[inline(never)]
    fn row(&mut self, mut room: Room<'_>) -> Option<(usize, &[Look])> {
        let Plain { sets, rest } = self;
        let line = rest.line()?;
        let number = (line & rest.bits) as usize;
        let plain = line >> rest.pages == rest.page;
        let set = sets.get_mut(number).filter(|set| plain && set.is_plain())?;
        // Bits of lines that are the same in all of them, and what they are.
        let alike = u64::MAX << rest.pages | rest.bits;
        let (start, alike) = (rest.next, (alike, line & alike));
        while rest.next < start + ROW
            && let Some(line) = rest.line().filter(|line| line & alike.0 == alike.1)
        {
            let round = set.comes_round(line) && room.has_some();
            if !(round && rest.rounds(set, alike, start, &mut room) || rest.look(set, line, start, &mut room))
            {
                break;
            }
        }
        let looks = rest.looks.get(..rest.next - start).filter(|looks| !looks.is_empty())?;
        Some((number, looks))
    }

    #[inline(always)]
    fn done(&self) -> [u64; 2] {
        [self.rest.done() as u64 + self.rest.again, self.rest.missed]
    }
}

impl Rest<'_> {
    /// Entries of the list that are done.
    #[inline(always)]
    fn done(&self) -> usize {
        self.next - self.first
    }

    /// Line of the next look-up.
    #[inline(always)]
    fn line(&self) -> Option<u64> {
        let lookup = self.lookups.get(self.next)?;
        Some(self.base.wrapping_add_signed(lookup.line()))
    }

    /// Look-ups of lines that come round again in a set, each of which misses, and finds its line where it was in the L2 the last
    /// time; says whether there were some. Nothing else is done here, so that all it needs is at hand.
    #[inline(never)]
    fn rounds(
        &mut self,
        set: &mut wide::Set,
        (alike, same): (u64, u64),
        start: usize,
        room: &mut Room<'_>,
    ) -> bool {
        let Rest { next, base, apart, wider, .. } = *self;
        let (mut merged, mut now, mut again, mut count) = (self.merged, room.now, 0, 0);
        let looks = self.looks.get_mut(next - start..).unwrap_or_default().iter_mut();
        let lookups = self.lookups.get(next..).unwrap_or_default();
        let mut round = set.round();
        let mut l2 = self.l2.last();
        for (((look, lookup), &free), &guess) in
            looks.zip(lookups).zip(room.free).zip(&self.guesses[next % ROW..])
        {
            let line = base.wrapping_add_signed(lookup.line());
            let wide = line >> wider;
            if line & alike != same || !round.has(line) || wide == merged || free > now {
                break;
            }
            let Some(Finds { channel, noted }) = l2.finds(wide, usize::from(guess)) else { break };
            let way = round.replace(line);
            *look = Look { way: way as u8, channel: channel as u8, more: lookup.more() as u8, noted };
            merged = wide | apart;
            now += room.each;
            again += lookup.more();
            count += 1;
        }
        drop(round);
        (self.merged, self.again) = (merged, self.again + again);
        self.next += count;
        self.missed += count as u64;
        room.take(count);
        count > 0
    }

    /// Any other look-up; says whether it was done.
    #[inline(always)]
    fn look(&mut self, set: &mut wide::Set, line: u64, start: usize, room: &mut Room<'_>) -> bool {
        let Some(more) = self.lookups.get(self.next).map(|lookup| lookup.more()) else { return false };
        let look = match set.find_near(line) {
            Some(way) => Look { way: way as u8, channel: FOUND, more: more as u8, noted: 0 },
            None => {
                let wide = line >> self.wider;
                if wide == self.merged || !room.has_some() {
                    return false;
                }
                let guess = &mut self.guesses[self.next % ROW];
                let Finds { channel, noted } = match self.l2.finds(wide, usize::from(*guess)) {
                    Some(finds) => finds,
                    None => match self.l2.seeks(wide) {
                        Ok((place, finds)) => {
                            *guess = short(place);
                            finds
                        }
                        Err(at) => {
                            self.at = Some(at);
                            return false;
                        }
                    },
                };
                self.merged = wide | self.apart;
                self.missed += 1;
                room.take(1);
                Look { way: set.replace(line) as u8, channel: channel as u8, more: more as u8, noted }
            }
        };
        self.looks[(self.next - start) % ROW] = look;
        self.next += 1;
        self.again += more;
        true
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
        // Those that come next may be plain; one alone is not worth the way.
        let mut plain = own && !stream;
        loop {
            let mut at = None;
            if plain
                && first + ran.done + 1 < lookups.len()
                && let Some(sets) = sets.wide()
            {
                let l2 = path.l2.quick();
                let (guesses, looks) = path.guesses.of_all(base);
                let rest = Rest {
                    lookups,
                    first: first + ran.done,
                    next: first + ran.done,
                    base,
                    page,
                    pages,
                    bits,
                    merged: merged.map_or(u64::MAX, |line| line | apart),
                    apart,
                    wider,
                    guesses,
                    looks,
                    l2,
                    at: None,
                    again: 0,
                    missed: 0,
                };
                let mut plain = Plain { sets, rest };
                path.follow.quick(&mut plain);
                let [done, missed] = plain.done();
                let rest = plain.rest;
                at = rest.at;
                ran.done += rest.done();
                ran.lookups += done;
                reads += missed;
                if missed > 0 {
                    *merged = Some(rest.merged);
                }
            }
            let Some(lookup) = lookups.get(first + ran.done) else { break };
            let line = base.wrapping_add_signed(lookup.line());
            if line >> pages != page {
                break;
            }
            let set = (line & bits) as usize;
            match sets.find_or_oldest(set, line) {
                Ok(place) => {
                    path.follow.found(place);
                    plain = own && !stream;
                }
                Err(victim) if path.follow.room(asks.joins(line, *merged, path.shape)) => {
                    sets.put_at(victim, line, stream);
                    path.follow.missed(Some(victim));
                    // What the L2 does not have comes in rows, too.
                    let there = asks.read((line, base, first + ran.done), at, stream, merged, path);
                    plain = own && !stream && there;
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
    use crate::forms::Shared;
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
            let free = [0, 2, 4, 0, 7, 8];
            while let Some((set, looks)) = steps.row(Room { free: &free, now: self.done % 5, each: 2 }) {
                for look in looks {
                    let noted = look.noted.max(0) as u64;
                    let hit = if look.channel == FOUND { 1 } else { 2 + u64::from(look.channel) + noted };
                    self.note(set * ROW + usize::from(look.way), hit);
                    let all = 1 + u64::from(look.more);
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
                caches.begin(Vec::new(), Vec::new());
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
                (noted, caches.finish(&[], false, |_, _| {}))
            };
            let (slow, quick) = (run(false), run(true));
            assert!(quick.0.quickly > quick.0.done / 3, "{model}: {} of {}", quick.0.quickly, quick.0.done);
            assert_eq!((slow.0.done, slow.0.sum), (quick.0.done, quick.0.sum), "{model}");
            assert_eq!(slow.1, quick.1, "{model}");
        }
    }
}
