//! L2 of an XCD: write-back, write-allocate, in channels.
//!
//! Lines have valid and dirty sectors. A write fetches nothing; a read fetches the missing sectors it
//! touches, rounded to the smallest read of memory. A line that leaves the N most recently used of its set is
//! written back and stays, clean, until its eviction.

use crate::count::{ChannelCounts, Count};
use crate::line_state::{LineState, MissingReads, SECTORS, parts};
use crate::sets16::{self, Sets16};
use crate::shape::Shape;
use crate::xor_hash::XorHash;
use arch::MemoryType;

/// Type of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RequestType {
    /// Read.
    Read,
    /// Write.
    Write,
    /// Atomic read-modify-write.
    Atomic,
}

/// Result of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct L2Answer {
    /// Type of the request.
    pub request_type: RequestType,
    /// L2 channel, as index in its XCD.
    pub channel: usize,
    /// L2 line.
    pub line: u64,
    /// Place of the line; `None` for uncached memory.
    pub place: Option<usize>,
    /// The line hit.
    pub hit: bool,
    /// Bytes of the request.
    pub bytes: u32,
    /// Bytes read from memory.
    pub read: u32,
    /// Write-backs: the evicted line, and the line that left the most recent ones, each with its bytes or 0.
    pub written: [(u64, u32); 2],
    /// Note of the line in this dispatch; 0 without one.
    pub noted: u64,
    /// For an atomic: the largest number of earlier lanes that update the address of a lane.
    pub repeats: u32,
    /// First accessed sector of the line.
    pub sector: u32,
}

/// A request to the L2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct L2Request {
    pub(crate) request_type: RequestType,
    /// L2 line.
    pub(crate) line: u64,
    /// Masks of accessed sectors, and of fully accessed ones.
    pub(crate) touched: u8,
    pub(crate) full: u8,
    pub(crate) memory: MemoryType,
    /// Memory of this GPU.
    pub(crate) local: bool,
    pub(crate) stream: bool,
    /// For an atomic: the largest number of earlier lanes that update the address of a lane.
    pub(crate) repeats: u32,
}

/// Most channels of an L2.
const MOST_CHANNELS: usize = 64;

/// L2 of an XCD.
#[derive(Clone, Debug)]
pub(crate) struct L2 {
    cache: Sets16<LineState>,
    /// False if no line was written since the last flush.
    may_be_dirty: bool,
    /// Most recently used lines of a set that may be dirty.
    recent: u32,
    /// Offset of this dispatch's notes, and the largest note so far: smaller notes are of earlier dispatches.
    note_base: u64,
    largest_note: u64,
    channels: Vec<ChannelCounts>,
    /// By channel: reads of read-write cached memory that hit, the most common request.
    rw_read_hits: Box<[u64; MOST_CHANNELS]>,
    /// Hash from a line to its set; sets are numbered channel by channel.
    set_hash: XorHash,
    /// Sets, and places, of a channel, as powers of two.
    set_bits: u32,
    place_bits: u32,
    sectors: u32,
    sector_bytes: u32,
    /// Reads from memory by mask of missing sectors.
    reads: Box<[MissingReads; 1 << SECTORS]>,
    /// Sectors of the largest write to memory.
    write_sectors: u32,
}

impl L2 {
    pub(crate) fn new(shape: &Shape) -> L2 {
        let sets = shape.l2.0;
        L2 {
            cache: Sets16::new(sets * shape.channels),
            recent: shape.dirty_lines,
            may_be_dirty: false,
            note_base: 0,
            largest_note: 0,
            channels: vec![ChannelCounts::default(); shape.channels],
            rw_read_hits: Box::new([0; MOST_CHANNELS]),
            set_hash: match shape.scattered {
                true => XorHash::new(|line| set(shape, line)).scattered(sets as u32 - 1),
                false => XorHash::new(|line| set(shape, line)),
            },
            set_bits: sets.trailing_zeros(),
            place_bits: (sets * sets16::WAYS).trailing_zeros(),
            sectors: (shape.l2_line / shape.sector) as u32,
            sector_bytes: shape.sector as u32,
            reads: MissingReads::of(shape),
            write_sectors: (shape.fabric_write / shape.sector) as u32,
        }
    }

    /// Counts of the channels so far.
    pub(crate) fn counts(&self) -> Vec<ChannelCounts> {
        let mut counts = self.channels.clone();
        for (channel, &rw_read_hits) in counts.iter_mut().zip(&self.rw_read_hits[..]) {
            channel.add_rw_read_hits(rw_read_hits);
        }
        counts
    }

    /// Takes the counts of the channels, and resets them.
    pub(crate) fn take_counts(&mut self) -> Vec<ChannelCounts> {
        let fresh = vec![ChannelCounts::default(); self.channels.len()];
        let mut counts = std::mem::replace(&mut self.channels, fresh);
        for (channel, rw_read_hits) in counts.iter_mut().zip(&mut self.rw_read_hits[..]) {
            channel.add_rw_read_hits(std::mem::take(rw_read_hits));
        }
        counts
    }

    /// Invalidates all lines without write-back.
    pub(crate) fn clear(&mut self) {
        self.cache.clear();
    }

    /// Invalidates all sectors of a line, which another XCD wrote. The line keeps its place.
    pub(crate) fn invalidate(&mut self, line: u64) {
        if let Some(place) = self.locate(line).place {
            self.cache.of(place).invalidate();
        }
    }

    /// Begins a dispatch.
    pub(crate) fn begin(&mut self) {
        self.note_base = self.largest_note;
    }

    /// Keeps a note of the caller with a line until the dispatch ends.
    #[inline]
    pub(crate) fn note(&mut self, place: usize, note: u64) {
        let note = self.note_base + note;
        self.largest_note = self.largest_note.max(note);
        self.cache.of(place).note(note);
    }

    /// Fast path of most reads.
    #[inline(always)]
    pub(crate) fn fast_read(&mut self) -> FastRead<'_> {
        let L2 { place_bits, note_base, recent, .. } = *self;
        FastRead {
            cache: &mut self.cache,
            rw_read_hits: &mut self.rw_read_hits,
            set_hash: &self.set_hash,
            place_bits,
            note_base,
            recent,
        }
    }

    /// Locates a line; does not count as a use.
    #[inline]
    pub(crate) fn locate(&self, line: u64) -> L2Location {
        let set = self.set_hash.get(line) as usize;
        L2Location { channel: set >> self.set_bits, set, place: self.cache.peek(set, line) }
    }

    /// Does a request to a located line.
    pub(crate) fn request(&mut self, request: L2Request, at: &L2Location) -> L2Answer {
        let channel = at.channel;
        let bytes = request.touched.count_ones() * self.sector_bytes;
        let (request_type, line) = (request.request_type, request.line);
        let mut answer = L2Answer {
            request_type,
            channel,
            line,
            place: None,
            hit: false,
            bytes,
            read: 0,
            written: [(line, 0); 2],
            noted: 0,
            repeats: request.repeats,
            sector: request.touched.trailing_zeros(),
        };
        match request.memory {
            MemoryType::Uc => {
                self.uncached(channel, &request);
                *if request_type == RequestType::Read {
                    &mut answer.read
                } else {
                    &mut answer.written[0].1
                } = bytes;
            }
            _ => self.cached(at, &request, &mut answer),
        }
        let counts = &mut self.channels[channel];
        counts.add(
            match request_type {
                RequestType::Read => Count::L2Read,
                RequestType::Write => Count::L2Write,
                RequestType::Atomic => Count::L2Atomic,
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

    fn cached(&mut self, at: &L2Location, request: &L2Request, answer: &mut L2Answer) {
        // The hardware counts a hit if the line has a place, even if sectors are missing.
        answer.hit = at.place.is_some();
        let place = at.place.unwrap_or_else(|| self.cache.lru(at.set));
        // A streaming request leaves the order of use unchanged.
        if !request.stream {
            answer.written[1] = self.age(place, answer.channel);
        }
        match at.place {
            Some(place) if !request.stream => self.cache.touch(place),
            Some(_) => {}
            None => answer.written[0] = self.evict_for(place, answer.channel, request),
        }
        let (needs, full, written) = match request.request_type {
            RequestType::Read => (request.touched, 0, 0),
            RequestType::Write => (0, request.full, request.touched),
            RequestType::Atomic => (request.touched, request.full, request.touched),
        };
        answer.place = Some(place);
        answer.read = self.fetch_missing(place, answer.channel, needs, request.local);
        self.may_be_dirty |= written != 0;
        let state = self.cache.of(place);
        state.add(full, written);
        answer.noted = state.note_since(self.note_base);
    }

    /// Merges a read with the request before. It does not count as a request, but fetches its missing
    /// sectors.
    pub(crate) fn merge(&mut self, line: u64, touched: u8, local: bool) -> Option<L2Answer> {
        let L2Location { channel, place, .. } = self.locate(line);
        let read = self.fetch_missing(place?, channel, touched, local);
        if read == 0 {
            return None;
        }
        let noted = self.cache.of(place?).note_since(self.note_base);
        let (request_type, written) = (RequestType::Read, [(line, 0); 2]);
        Some(L2Answer {
            request_type,
            channel,
            line,
            place,
            hit: true,
            bytes: read,
            read,
            written,
            noted,
            repeats: 0,
            sector: touched.trailing_zeros(),
        })
    }

    /// Fetches the missing ones of the wanted sectors; returns the bytes read.
    fn fetch_missing(&mut self, place: usize, channel: usize, wanted: u8, local: bool) -> u32 {
        let state = self.cache.of(place);
        let missing = wanted & !state.held();
        if missing == 0 {
            return 0;
        }
        let MissingReads { sectors, whole, small } = self.reads[usize::from(missing)];
        state.add(sectors, 0);
        let counts = &mut self.channels[channel];
        counts.add(Count::FabricRead128, u64::from(whole));
        counts.add(Count::FabricRead64, u64::from(small));
        counts.add(Count::FabricReadLocal, if local { u64::from(whole + small) } else { 0 });
        sectors.count_ones() * self.sector_bytes
    }

    /// Evicts the line at a place for a request's line; returns the evicted line and the bytes written back.
    fn evict_for(&mut self, place: usize, channel: usize, request: &L2Request) -> (u64, u32) {
        let filled = self.cache.put(place, request.line, request.stream);
        let state = self.cache.of(place);
        let old = *state;
        *state = old.next(request.local);
        let Some(line) = filled.evicted else { return (request.line, 0) };
        self.channels[channel].add(Count::Evict, 1);
        (line, self.write_line(channel, old))
    }

    /// Makes `place` most recently used; writes back the dirty line that leaves the N most recent. Returns
    /// line and bytes.
    fn age(&mut self, place: usize, channel: usize) -> (u64, u32) {
        let Some(old) = self.cache.leaves_recent(place, self.recent) else { return (0, 0) };
        let state = *self.cache.of(old);
        if state.dirty() == 0 {
            return (0, 0);
        }
        self.cache.of(old).clean();
        (self.cache.line(old), self.write_line(channel, state))
    }

    /// Writes back the dirty sectors of a line; returns the bytes.
    fn write_line(&mut self, channel: usize, line: LineState) -> u32 {
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

    fn uncached(&mut self, channel: usize, request: &L2Request) {
        let (sectors, write_sectors) = (self.sectors, self.write_sectors);
        match request.request_type {
            RequestType::Read => {
                let counts = &mut self.channels[channel];
                for part in parts(request.touched, sectors, write_sectors) {
                    let whole = part.count_ones() == write_sectors;
                    counts.add(if whole { Count::FabricRead64 } else { Count::FabricRead32 }, 1);
                    counts.add(Count::FabricReadUncached, u64::from(part.count_ones()));
                    counts.add(Count::FabricReadLocal, u64::from(request.local));
                }
            }
            RequestType::Write => {
                self.write(channel, request.touched, request.local);
                let count = u64::from(request.touched.count_ones());
                self.channels[channel].add(Count::FabricWriteUncached, count);
            }
            RequestType::Atomic => {
                let counts = &mut self.channels[channel];
                counts.add(Count::FabricAtomic, 1);
                counts.add(Count::FabricWriteUncached, u64::from(request.touched.count_ones()));
                counts.add(Count::FabricWriteLocal, u64::from(request.local));
            }
        }
    }

    /// Writes back all dirty lines, which stay; `each` gets line and bytes.
    pub(crate) fn flush(&mut self, mut each: impl FnMut(u64, u32)) {
        // A short kernel that writes nothing is not to cost a look at every line.
        if !std::mem::take(&mut self.may_be_dirty) {
            return;
        }
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

/// Location of a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct L2Location {
    channel: usize,
    set: usize,
    /// Place of the line, if the L2 has it.
    pub(crate) place: Option<usize>,
}

/// Fast path for non-streaming reads of read-write cached memory that hit.
pub(crate) struct FastRead<'a> {
    cache: &'a mut Sets16<LineState>,
    rw_read_hits: &'a mut [u64; MOST_CHANNELS],
    set_hash: &'a XorHash,
    place_bits: u32,
    note_base: u64,
    recent: u32,
}

/// Fast path for such reads of the most recently used line of its set, the most common case.
pub(crate) struct FastReadMostRecent<'a> {
    ways: sets16::MostRecent<'a, LineState>,
    rw_read_hits: &'a mut [u64; MOST_CHANNELS],
    place_bits: u32,
    note_base: u64,
}

impl FastReadMostRecent<'_> {
    /// Reads sectors of a line if it is at this place and has them.
    #[inline(always)]
    pub(crate) fn read_hit(&mut self, line: u64, place: usize, sectors: u8) -> Option<ReadHit> {
        let state = self.ways.at(place, line).filter(|state| state.holds(sectors))?;
        Some(self.count(place, state))
    }

    #[inline(always)]
    fn count(&mut self, place: usize, state: LineState) -> ReadHit {
        let channel = place >> self.place_bits;
        self.rw_read_hits[channel % MOST_CHANNELS] += 1;
        ReadHit { channel, noted: state.note_from(self.note_base) }
    }
}

/// Result of a read that hits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadHit {
    pub(crate) channel: usize,
    /// Note of the line; negative for a note of an earlier dispatch.
    pub(crate) noted: i64,
}

impl FastRead<'_> {
    /// The fast path for most recently used lines.
    #[inline(always)]
    pub(crate) fn last(&mut self) -> FastReadMostRecent<'_> {
        let FastRead { place_bits, note_base, .. } = *self;
        FastReadMostRecent { ways: self.cache.last(), rw_read_hits: self.rw_read_hits, place_bits, note_base }
    }

    /// Reads sectors of a line if it is at this place and has them, and causes no write-back.
    #[inline(always)]
    pub(crate) fn read_hit(&mut self, line: u64, place: usize, sectors: u8) -> Option<ReadHit> {
        let (state, last) = self.cache.at(place, line)?;
        if !state.holds(sectors) {
            return None;
        }
        // Most lines are most recently used.
        if !last {
            let leaves_recent = self.cache.leaves_recent(place, self.recent);
            if leaves_recent.is_some_and(|old| self.cache.of(old).dirty() != 0) {
                return None;
            }
            self.cache.touch(place);
        }
        Some(self.last().count(place, state))
    }

    /// Reads sectors of a line wherever it is: its place, or its location if one is missing.
    #[inline(never)]
    pub(crate) fn find(&mut self, line: u64, sectors: u8) -> Result<(usize, ReadHit), L2Location> {
        let set = self.set_hash.get(line) as usize;
        let place = self.cache.peek(set, line);
        let rw_read_hits = place.and_then(|place| Some((place, self.read_hit(line, place, sectors)?)));
        rw_read_hits.ok_or(L2Location { channel: (set * sets16::WAYS) >> self.place_bits, set, place })
    }
}

/// Set of a line, numbered over all channels. The channel is a fold of the hashed address bits and the set of
/// all others, so power-of-two strides spread over all sets, and over all channels as far as the hashed bits
/// reach.
fn set(shape: &Shape, line: u64) -> u32 {
    let (channel_bits, set_bits) = (shape.channels.trailing_zeros(), shape.l2.0.trailing_zeros());
    // Consecutive lines of a channel, as a power of two, and bits of a line that enter the channel hash.
    let row_bits = (shape.interleave / shape.l2_line).max(1).trailing_zeros();
    let hashed = u64::MAX >> (64 - shape.hashed_bits.clamp(1, 64)) >> shape.l2_line.trailing_zeros();
    let channel = fold((line & hashed) >> row_bits, channel_bits);
    let row = line & ((1 << row_bits) - 1);
    let rest = line >> (row_bits + channel_bits) << row_bits | row;
    (channel << set_bits | fold(rest, set_bits)) as u32
}

/// XORs all `bits`-wide parts of a number.
pub fn fold(mut value: u64, bits: u32) -> u64 {
    let mut step = bits;
    while step < u64::BITS && step != 0 {
        value ^= value >> step;
        step *= 2;
    }
    value & ((1 << bits) - 1)
}

#[cfg(test)]
mod tests;
