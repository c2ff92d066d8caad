//! The L2 of an XCD: channels, write-back with write-allocate, requests to memory.
//!
//! The one idea to keep in mind: a line knows which sectors it holds and which were written; a write needs nothing from
//! memory, a read needs the parts of the line that it touches, each as large as the smallest read of memory, and what goes back are the
//! written sectors. They go when so many other lines of the set were used that the line is no longer one of the young; the
//! line itself stays until its place is needed.

use crate::count::{Channel, Count};
use crate::sectors::{Reads, SECTORS, State, WHOLE, parts};
use crate::shape::Shape;
use crate::sixteen::{self, Sixteen};
use crate::sums::Sums;
use arch::MemoryType;

/// What a request wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Want {
    /// Data.
    Read,
    /// To change data.
    Write,
    /// To read and change data.
    Atomic,
}

/// What became of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answer {
    /// What it wanted.
    pub want: Want,
    /// Channel of the L2 that was asked, counted in its XCD.
    pub channel: usize,
    /// Line of the L2.
    pub line: u64,
    /// Place of the line in the L2; none for what is not cached.
    pub place: Option<usize>,
    /// It was there.
    pub hit: bool,
    /// Bytes of the L2 that move.
    pub bytes: u32,
    /// Bytes read from memory.
    pub read: u32,
    /// Lines of which something goes to memory: one thrown out and one no longer young, each with its bytes, of which there may
    /// be none.
    pub written: [(u64, u32); 2],
    /// What was noted of the line at the place in this dispatch; 0 where nothing was.
    pub noted: u64,
}

/// One request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Request {
    pub(crate) want: Want,
    /// Line of the L2.
    pub(crate) line: u64,
    /// Sectors with a byte that is wanted, and those wanted whole.
    pub(crate) touched: u8,
    pub(crate) full: u8,
    pub(crate) memory: MemoryType,
    /// Memory of this GPU.
    pub(crate) local: bool,
    pub(crate) stream: bool,
}

/// Channels of an L2 at most.
const MOST_CHANNELS: usize = 64;

/// The L2 of one XCD.
#[derive(Clone, Debug)]
pub(crate) struct L2 {
    cache: Sixteen<State>,
    /// Lines of a set, used last, that may differ from memory.
    young: u32,
    /// What is added to notes of this dispatch, and the largest of all: those of earlier dispatches count for nothing.
    base: u64,
    largest: u64,
    channels: Vec<Channel>,
    /// By channel: reads of memory cached for reading and writing that hit, which are most of all.
    found: Box<[u64; MOST_CHANNELS]>,
    /// By line: its set, counted over all channels, which have theirs one after the other.
    sets: Sums,
    /// Sets and places of a channel, as powers of two.
    set_bits: u32,
    place_bits: u32,
    sectors: u32,
    all: u8,
    sector_bytes: u32,
    /// By sectors that are missing: what comes from memory.
    reads: Box<[Reads; 1 << SECTORS]>,
    /// Sectors of the largest write.
    write_sectors: u32,
}

impl L2 {
    pub(crate) fn new(shape: &Shape) -> L2 {
        let sets = shape.l2.0;
        L2 {
            cache: Sixteen::new(sets * shape.channels),
            young: shape.dirty_lines,
            base: 0,
            largest: 0,
            channels: vec![Channel::default(); shape.channels],
            found: Box::new([0; MOST_CHANNELS]),
            sets: Sums::new(|line| set(shape, line)),
            set_bits: sets.trailing_zeros(),
            place_bits: (sets * sixteen::WAYS).trailing_zeros(),
            sectors: (shape.l2_line / shape.sector) as u32,
            all: WHOLE >> (SECTORS - (shape.l2_line / shape.sector).clamp(1, u64::from(SECTORS)) as u32),
            sector_bytes: shape.sector as u32,
            reads: Reads::of(shape),
            write_sectors: (shape.fabric_write / shape.sector) as u32,
        }
    }

    /// Counts of the channels, which begin anew.
    pub(crate) fn take_counts(&mut self) -> Vec<Channel> {
        let fresh = vec![Channel::default(); self.channels.len()];
        let mut counts = std::mem::replace(&mut self.channels, fresh);
        for (channel, found) in counts.iter_mut().zip(&mut self.found[..]) {
            channel.found(std::mem::take(found));
        }
        counts
    }

    /// Forgets all lines, written back or not.
    pub(crate) fn clear(&mut self) {
        self.cache.clear();
    }

    /// A dispatch begins.
    pub(crate) fn begin(&mut self) {
        self.base = self.largest;
    }

    /// Notes something of the line at a place, for this dispatch.
    #[inline]
    pub(crate) fn note(&mut self, place: usize, note: u64) {
        let note = self.base + note;
        self.largest = self.largest.max(note);
        self.cache.of(place).note(note);
    }

    /// The short way of most reads.
    #[inline(always)]
    pub(crate) fn quick(&mut self) -> Quick<'_> {
        let L2 { place_bits, base, young, .. } = *self;
        Quick { cache: &mut self.cache, found: &mut self.found, sets: &self.sets, place_bits, base, young }
    }

    /// Where a line belongs, and where it is. It does not count as used.
    #[inline]
    pub(crate) fn seek(&self, line: u64) -> At {
        let set = self.sets.get(line) as usize;
        At { channel: set >> self.set_bits, set, place: self.cache.peek(set, line) }
    }

    /// A request whose line belongs there.
    pub(crate) fn request(&mut self, request: Request, at: &At) -> Answer {
        let channel = at.channel;
        let bytes = request.touched.count_ones() * self.sector_bytes;
        let (want, line) = (request.want, request.line);
        let mut answer = Answer {
            want,
            channel,
            line,
            place: None,
            hit: false,
            bytes,
            read: 0,
            written: [(line, 0); 2],
            noted: 0,
        };
        match request.memory {
            MemoryType::Uc => {
                self.uncached(channel, &request);
                *if want == Want::Read { &mut answer.read } else { &mut answer.written[0].1 } = bytes;
            }
            _ => self.cached(at, &request, &mut answer),
        }
        let counts = &mut self.channels[channel];
        counts.add(
            match want {
                Want::Read => Count::L2Read,
                Want::Write => Count::L2Write,
                Want::Atomic => Count::L2Atomic,
            },
            1,
        );
        counts.add(
            match request.memory {
                MemoryType::Rw => Count::L2Rw,
                MemoryType::Nc => Count::L2Nc,
                MemoryType::Cc => Count::L2Cc,
                MemoryType::Uc => Count::L2Uc,
            },
            1,
        );
        if request.stream {
            counts.add(Count::L2Streaming, 1);
        }
        counts.add(if answer.hit { Count::L2Hit } else { Count::L2Miss }, 1);
        answer
    }

    fn cached(&mut self, at: &At, request: &Request, answer: &mut Answer) {
        // The counters take a line that has a place for a hit, also where what is wanted of it is still to come.
        answer.hit = at.place.is_some();
        let place = at.place.unwrap_or_else(|| self.cache.oldest(at.set));
        // A line that goes first leaves the order as it is.
        if answer.hit || !request.stream {
            answer.written[1] = self.age(place, answer.channel);
        }
        match at.place {
            Some(place) => self.cache.touch(place),
            None => answer.written[0] = self.make_room(place, answer.channel, request),
        }
        let (needs, full, written) = match request.want {
            Want::Read => (request.touched, 0, 0),
            Want::Write => (0, request.full, request.touched),
            Want::Atomic => (request.touched, request.full, request.touched),
        };
        answer.place = Some(place);
        answer.read = self.bring(place, answer.channel, needs, request.local);
        let state = self.cache.of(place);
        state.add(full, written);
        state.complete(self.all);
        answer.noted = state.noted(self.base);
    }

    /// A read of a line that was asked for just now; it is no request, but what it wants besides comes from memory.
    pub(crate) fn join(&mut self, line: u64, touched: u8, local: bool) -> Option<Answer> {
        let At { channel, place, .. } = self.seek(line);
        let read = self.bring(place?, channel, touched, local);
        if read == 0 {
            return None;
        }
        let noted = self.cache.of(place?).noted(self.base);
        let (want, written) = (Want::Read, [(line, 0); 2]);
        Some(Answer { want, channel, line, place, hit: true, bytes: read, read, written, noted })
    }

    /// What a line lacks of the sectors that are wanted comes from memory; bytes that do.
    fn bring(&mut self, place: usize, channel: usize, wanted: u8, local: bool) -> u32 {
        let state = self.cache.of(place);
        let missing = wanted & !state.held();
        if missing == 0 {
            return 0;
        }
        let Reads { sectors, whole, small } = self.reads[usize::from(missing)];
        state.add(sectors, 0);
        state.complete(self.all);
        let counts = &mut self.channels[channel];
        counts.add(Count::FabricRead128, u64::from(whole));
        counts.add(Count::FabricRead64, u64::from(small));
        counts.add(Count::FabricReadLocal, if local { u64::from(whole + small) } else { 0 });
        sectors.count_ones() * self.sector_bytes
    }

    /// The line at a place gives way to another. What of it goes to memory.
    fn make_room(&mut self, place: usize, channel: usize, request: &Request) -> (u64, u32) {
        let filled = self.cache.put(place, request.line, request.stream);
        let state = self.cache.of(place);
        let old = *state;
        *state = old.next(request.local);
        let Some(line) = filled.evicted else { return (request.line, 0) };
        self.channels[channel].add(Count::Evict, 1);
        (line, self.write_line(channel, old))
    }

    /// The line at a place, or one that comes there, is used next, so another may no longer be one of the young. What of it goes to
    /// memory.
    fn age(&mut self, place: usize, channel: usize) -> (u64, u32) {
        let Some(old) = self.cache.ages(place, self.young) else { return (0, 0) };
        let state = *self.cache.of(old);
        if state.dirty() == 0 {
            return (0, 0);
        }
        self.cache.of(old).clean();
        (self.cache.line(old), self.write_line(channel, state))
    }

    /// Writes what of a line differs from memory; the bytes.
    fn write_line(&mut self, channel: usize, line: State) -> u32 {
        let dirty = line.dirty();
        if dirty != 0 {
            self.channels[channel].add(Count::WritebackEvict, 1);
            self.write(channel, dirty, line.local());
        }
        dirty.count_ones() * self.sector_bytes
    }

    /// Writes sectors of a line to memory.
    fn write(&mut self, channel: usize, dirty: u8, local: bool) {
        let counts = &mut self.channels[channel];
        for part in parts(dirty, self.sectors, self.write_sectors) {
            let whole = part.count_ones() == self.write_sectors;
            counts.add(if whole { Count::FabricWrite64 } else { Count::FabricWrite32 }, 1);
            counts.add(Count::FabricWriteLocal, u64::from(local));
        }
    }

    fn uncached(&mut self, channel: usize, request: &Request) {
        let (sectors, write_sectors) = (self.sectors, self.write_sectors);
        match request.want {
            Want::Read => {
                let counts = &mut self.channels[channel];
                for part in parts(request.touched, sectors, write_sectors) {
                    let whole = part.count_ones() == write_sectors;
                    counts.add(if whole { Count::FabricRead64 } else { Count::FabricRead32 }, 1);
                    counts.add(Count::FabricReadUncached, u64::from(part.count_ones()));
                    counts.add(Count::FabricReadLocal, u64::from(request.local));
                }
            }
            Want::Write => {
                self.write(channel, request.touched, request.local);
                let count = u64::from(request.touched.count_ones());
                self.channels[channel].add(Count::FabricWriteUncached, count);
            }
            Want::Atomic => {
                let counts = &mut self.channels[channel];
                counts.add(Count::FabricAtomic, 1);
                counts.add(Count::FabricWriteUncached, u64::from(request.touched.count_ones()));
                counts.add(Count::FabricWriteLocal, u64::from(request.local));
            }
        }
    }

    /// Writes back all dirty lines, each with its bytes; they stay.
    pub(crate) fn flush(&mut self, mut each: impl FnMut(u64, u32)) {
        let per_channel = self.cache.places() / self.channels.len().max(1);
        for place in 0..self.cache.places() {
            let state = *self.cache.of(place);
            let (dirty, local) = (state.dirty(), state.local());
            if dirty != 0 {
                let channel = place / per_channel;
                self.channels[channel].add(Count::WritebackFlush, 1);
                self.write(channel, dirty, local);
                each(self.cache.line(place), dirty.count_ones() * self.sector_bytes);
                self.cache.of(place).clean();
            }
        }
    }
}

/// Where a line belongs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At {
    channel: usize,
    set: usize,
    /// Where it is.
    pub(crate) place: Option<usize>,
}

/// An L2, as far as it is needed for reads of memory that is cached as usual and not marked as streaming, of lines that are there.
pub(crate) struct Quick<'a> {
    cache: &'a mut Sixteen<State>,
    found: &'a mut [u64; MOST_CHANNELS],
    sets: &'a Sums,
    place_bits: u32,
    base: u64,
    young: u32,
}

/// An L2, as far as it is needed for those of them whose line is the one used last of its set, as most are.
pub(crate) struct QuickLast<'a> {
    ways: sixteen::Last<'a, State>,
    found: &'a mut [u64; MOST_CHANNELS],
    place_bits: u32,
    base: u64,
}

impl QuickLast<'_> {
    /// A read whose line is at this place, if it is, as a whole.
    #[inline(always)]
    pub(crate) fn finds(&mut self, line: u64, place: usize) -> Option<Finds> {
        let state = self.ways.at(place, line).filter(|state| state.held() == WHOLE)?;
        Some(self.count(place, state))
    }

    #[inline(always)]
    fn count(&mut self, place: usize, state: State) -> Finds {
        let channel = place >> self.place_bits;
        self.found[channel % MOST_CHANNELS] += 1;
        Finds { channel, noted: state.noted_from(self.base) }
    }
}

/// What a read finds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finds {
    pub(crate) channel: usize,
    /// What was noted of the line, negative where it was before this dispatch.
    pub(crate) noted: i64,
}

impl Quick<'_> {
    /// The same, for lines each of which is the one used last of its set.
    #[inline(always)]
    pub(crate) fn last(&mut self) -> QuickLast<'_> {
        let Quick { place_bits, base, .. } = *self;
        QuickLast { ways: self.cache.last(), found: self.found, place_bits, base }
    }

    /// A read whose line is at this place, if it is, as a whole, and nothing has to be written because of it.
    #[inline(always)]
    pub(crate) fn finds(&mut self, line: u64, place: usize) -> Option<Finds> {
        let (state, last) = self.cache.at(place, line)?;
        if state.held() != WHOLE {
            return None;
        }
        // Most were used last.
        if !last {
            let ages = self.cache.ages(place, self.young);
            if ages.is_some_and(|old| self.cache.of(old).dirty() != 0) {
                return None;
            }
            self.cache.touch(place);
        }
        Some(self.last().count(place, state))
    }

    /// A read whose line may be anywhere: its place, or where it belongs.
    #[inline(never)]
    pub(crate) fn seeks(&mut self, line: u64) -> Result<(usize, Finds), At> {
        let set = self.sets.get(line) as usize;
        let place = self.cache.peek(set, line);
        let found = place.and_then(|place| Some((place, self.finds(line, place)?)));
        found.ok_or(At { channel: (set * sixteen::WAYS) >> self.place_bits, set, place })
    }
}

/// The set of a line, of all channels. The channel is folded of the address bits that choose it, the set of all others, so lines
/// at the distance of any power of two are spread over all sets, and over all channels as far as those bits reach.
fn set(shape: &Shape, line: u64) -> u32 {
    let (channel_bits, set_bits) = (shape.channels.trailing_zeros(), shape.l2.0.trailing_zeros());
    // Lines in a row that share a channel, as a power of two, and bits of a line's number that choose it.
    let row_bits = (shape.interleave / shape.l2_line).max(1).trailing_zeros();
    let hashed = u64::MAX >> (64 - shape.hashed_bits.clamp(1, 64)) >> shape.l2_line.trailing_zeros();
    let channel = fold((line & hashed) >> row_bits, channel_bits);
    let row = line & ((1 << row_bits) - 1);
    let rest = line >> (row_bits + channel_bits) << row_bits | row;
    (channel << set_bits | fold(rest, set_bits)) as u32
}

/// All bits of a number, folded to some.
pub fn fold(mut value: u64, bits: u32) -> u64 {
    let mut step = bits;
    while step < u64::BITS && step != 0 {
        value ^= value >> step;
        step *= 2;
    }
    value & ((1 << bits) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arch::Model;

    impl L2 {
        fn ask(&mut self, request: Request) -> Answer {
            let at = self.seek(request.line);
            self.request(request, &at)
        }
    }

    fn l2(model: &str) -> L2 {
        L2::new(&Shape::of(Model::by_name(model).unwrap()))
    }

    fn request(want: Want, line: u64, touched: u8, full: u8) -> Request {
        Request { want, line, touched, full, memory: MemoryType::Rw, local: true, stream: false }
    }

    fn sum(l2: &mut L2, counts: &[Count]) -> Vec<u64> {
        let tally = crate::count::Tally::new(Default::default(), l2.take_counts());
        counts.iter().map(|&count| tally.get(count)).collect()
    }

    #[test]
    fn a_line_is_read_once_and_written_back_as_it_was_written() {
        use Count::*;
        let shown =
            [L2Hit, L2Miss, FabricRead64, FabricRead128, FabricWrite32, FabricWrite64, WritebackFlush];
        for model in ["mi210", "mi300x"] {
            let mut l2 = l2(model);
            // The first half is written whole, one dword of the second, then all is read, then read again.
            assert!(!l2.ask(request(Want::Write, 9, 0b0011, 0b0011)).hit);
            assert!(l2.ask(request(Want::Write, 9, 0b0100, 0)).hit);
            let held = l2.ask(request(Want::Read, 9, 0b0011, 0b0011));
            assert!(held.hit && held.read == 0);
            let lacks = l2.ask(request(Want::Read, 9, 0b1111, 0b1111));
            assert!(lacks.hit && lacks.read > 0);
            assert_eq!(l2.ask(request(Want::Atomic, 9, 0b1000, 0)).read, 0);
            l2.flush(|_, _| {});
            l2.flush(|_, _| {});
            assert_eq!(sum(&mut l2, &shown), [4, 1, 1, 0, 0, 2, 1], "{model}");
        }
    }

    #[test]
    fn half_a_line_is_read_where_no_more_is_wanted() {
        use Count::*;
        let shown = [L2Hit, L2Miss, FabricRead64, FabricRead128];
        for (model, whole) in [("mi210", [2, 0]), ("mi300x", [0, 1])] {
            let mut l2 = l2(model);
            let read = |l2: &mut L2, line, touched| l2.ask(request(Want::Read, line, touched, 0)).read;
            assert_eq!(
                [0b0001, 0b0011, 0b0100, 0b1111].map(|touched| read(&mut l2, 9, touched)),
                [64, 0, 64, 0]
            );
            assert_eq!(sum(&mut l2, &shown), [3, 1, 2, 0], "{model}");
            assert_eq!([read(&mut l2, 8, 0b1111), read(&mut l2, 8, 0b0001)], [128, 0]);
            assert_eq!(sum(&mut l2, &shown), [1, 1, whole[0], whole[1]], "{model}");
        }
    }

    #[test]
    fn half_of_the_lines_may_be_dirty() {
        use Count::*;
        let shown = [FabricWrite64, Evict, WritebackEvict, WritebackFlush];
        // Lines filled in halves, twice as many as there are places, then lines read over and over, some the short way.
        let mut l2 = l2("mi210");
        let places = l2.cache.places() as u64;
        for (line, half) in (0..2 * places).flat_map(|line| [(line, 0b0011), (line, 0b1100)]) {
            let answer = l2.ask(request(Want::Write, line, half, half));
            assert!(answer.written.iter().all(|written| written.1 == 0 || written.0 < line));
        }
        assert_eq!(sum(&mut l2, &shown), [3 * places, places, 3 * places / 2, 0]);
        for line in 3 * places / 2..2 * places {
            let at = l2.seek(line);
            let place = at.place.unwrap();
            if l2.quick().finds(line, place).is_none() {
                l2.request(request(Want::Read, line, 0b1111, 0b1111), &at);
            }
        }
        assert_eq!(sum(&mut l2, &shown), [0; 4], "the young change places only");
        for line in places..3 * places / 2 {
            let at = l2.seek(line);
            let place = at.place.unwrap();
            assert!(l2.quick().finds(line, place).is_none(), "another has to be written");
            let (old, bytes) = l2.request(request(Want::Read, line, 0b1111, 0b1111), &at).written[1];
            assert!(old >= 3 * places / 2 && bytes == 128);
        }
        l2.flush(|_, _| panic!("nothing is dirty"));
        assert_eq!(sum(&mut l2, &shown), [places, 0, places / 2, 0]);
    }

    #[test]
    fn strides_spread_over_channels_and_sets() {
        // Rows of a matrix, each a power of two long: as many lines as half the cache holds all stay.
        for stride in (0..20).map(|power| 1 << power) {
            let mut l2 = l2("mi300x");
            let lines = (l2.cache.places() / 2) as u64;
            for _ in 0..2 {
                for number in 0..lines {
                    l2.ask(request(Want::Read, number * stride, 0b11, 0b11));
                }
            }
            let counts = sum(&mut l2, &[Count::L2Hit, Count::L2Miss, Count::Evict]);
            assert_eq!(counts, [lines, lines, 0], "{stride}");
        }
    }

    #[test]
    fn uncached_requests_go_to_memory_each_time() {
        let mut l2 = l2("mi300x");
        for want in [Want::Read, Want::Read, Want::Write, Want::Atomic] {
            let memory = MemoryType::Uc;
            let request = Request { memory, local: false, ..request(want, 1, 0b0011, 0b0011) };
            assert!(!l2.ask(request).hit);
        }
        use Count::*;
        let shown = [FabricRead64, FabricReadUncached, FabricReadLocal, FabricWrite64, FabricAtomic, L2Uc];
        assert_eq!(sum(&mut l2, &shown), [2, 4, 0, 1, 1, 4]);
    }

    #[test]
    fn folding_takes_all_bits_into_account() {
        for bits in 0..20 {
            for value in [0, 1, 0x1234_5678_9abc_def0, u64::MAX, 1 << 63, 0xdead_beef] {
                let parts = (0..64).step_by(bits.max(1) as usize).map(|shift| value >> shift);
                let folded = parts.fold(0, |all, part| all ^ part) & ((1 << bits) - 1);
                assert_eq!(fold(value, bits), folded, "{value:#x} to {bits}");
            }
        }
    }
}
