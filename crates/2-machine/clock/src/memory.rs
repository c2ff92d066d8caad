//! Timing of requests behind the compute units: vector L1 misses, L2 channels, memory.
//!
//! A server is the cycle at which it is free again, and a line in flight is the cycle at which it arrives.

use crate::atomics::{AtomicRequest, AtomicUnits};
use crate::dram::{DramChannels, serve};
use crate::fabric::Fabric;
use crate::footprint::{Footprint, Read};
use crate::infinite_cache::{InfiniteCache, MOST_KEPT};
use crate::l1_lines::L1Lines;
use crate::link::{Link, WriteShare};
use crate::memory_side_cache::MemorySideCache;
use crate::page_tables::PageTables;
use crate::rates::{Rates, TICKS};
use mem::{FastPath, HIT, L1_WAYS, L2Answer, MshrSlots, RequestType, Shape, Timing, Translation};
use std::collections::HashSet;

/// L2 channels, memory-side cache and memory of some XCDs.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) rates: Rates,
    /// L2 channels of an XCD.
    channels: usize,
    /// By L2 channel of all XCDs: tick at which the channel is free.
    l2: Vec<u64>,
    device: DramChannels,
    /// By memory channel.
    write_shares: Vec<WriteShare>,
    /// XCDs of the GPU, simulated or represented.
    pub(crate) xcds: usize,
    /// By XCD.
    page_tables: Vec<PageTables>,
    /// Memory channels as a power of two, and the cost factor of a request if the share is a fractional
    /// number of channels.
    spread: u32,
    weight: f64,
    /// Memory-side cache, and by channel: tick at which the channel is free.
    pub(crate) memory_side: Option<MemorySideCache>,
    memory_side_free: Vec<u64>,
    atomics: AtomicUnits,
    /// Accesses of vector L1s so far.
    accesses: u64,
    /// By XCD: link to memory-side cache and memory.
    links: Vec<Link>,
    /// Lines that several XCDs read, for a representative XCD.
    pub(crate) footprint: Option<Footprint>,
    /// An infinite cache is simulated, and its lines.
    has_infinite_cache: bool,
    infinite_lines: HashSet<(u32, u64)>,
    /// Cycles of a vector L1 to fill a line.
    fill: u64,
    pub(crate) reads: Fabric,
    pub(crate) writes: Fabric,
    /// Cycles that reads, and writes, of vector L1s were outstanding, summed.
    pub(crate) l2_cycles: [u64; 2],
}

impl Memory {
    /// Memory of a whole GPU, or the share that one of `of` XCDs has.
    pub(crate) fn new(rates: &Rates, shape: &Shape, of: usize) -> Memory {
        let (xcds, channels) = (shape.xcds, shape.channels);
        let (all, of) = (rates.channels.max(1), of.max(1));
        let own = (all as f64 / of as f64).round().max(1.0);
        Memory {
            channels,
            l2: vec![0; xcds * channels],
            device: DramChannels::new(own as usize, rates),
            write_shares: vec![WriteShare::default(); own as usize],
            xcds: xcds * of,
            page_tables: vec![PageTables::new(rates.walks); xcds],
            // A part of the hash bits would map power-of-two strides to few channels.
            spread: if (own as usize).is_power_of_two() { own as u32 } else { all as u32 }.max(1).ilog2(),
            weight: if of == 1 { 1.0 } else { of as f64 * own / all as f64 },
            memory_side: MemorySideCache::of(rates, of),
            memory_side_free: vec![0; own as usize],
            atomics: AtomicUnits::new(own as usize, of),
            accesses: 0,
            links: vec![Link::default(); xcds],
            footprint: (of > 1).then(Footprint::default),
            has_infinite_cache: rates.ideal.vector_l1 || rates.ideal.l2,
            infinite_lines: HashSet::new(),
            fill: u64::from((shape.l1_line as u32 / rates.l1_fill_bytes as u32).max(1)),
            reads: Fabric::new(xcds * channels, rates.l2_outstanding[0], shape.fabric_read as u32),
            writes: Fabric::new(xcds * channels, rates.l2_outstanding[1], shape.fabric_write as u32),
            l2_cycles: [0; 2],
            rates: rates.clone(),
        }
    }

    /// True if an infinite cache has a line; inserts the line. False without infinite caches.
    #[inline(always)]
    fn hits_infinite(&mut self, part: InfiniteCache, line: u64) -> bool {
        self.has_infinite_cache && self.insert_infinite(part, line)
    }

    fn insert_infinite(&mut self, part: InfiniteCache, line: u64) -> bool {
        let free = self.rates.ideal;
        let (lifted, name) = match part {
            InfiniteCache::Unit(number) => (free.vector_l1, number),
            InfiniteCache::Read(xcd) => (free.l2, 2 * xcd),
            InfiniteCache::Written(xcd) => (free.l2, 2 * xcd + 1),
        };
        if !lifted {
            return false;
        }
        let entry = (name as u32, line);
        if self.infinite_lines.len() >= MOST_KEPT {
            return self.infinite_lines.contains(&entry);
        }
        !self.infinite_lines.insert(entry)
    }

    /// Begins a dispatch at cycle 0.
    pub(crate) fn begin(&mut self) {
        self.infinite_lines.clear();
        self.footprint = self.footprint.as_ref().map(|_| Footprint::default());
        self.l2.fill(0);
        self.device.begin();
        self.page_tables.iter_mut().for_each(PageTables::begin);
        self.memory_side_free.fill(0);
        self.write_shares.fill(WriteShare::default());
        self.atomics.begin();
        self.links.fill(Link::default());
        self.reads.begin();
        self.writes.begin();
        self.l2_cycles = [0; 2];
    }

    /// Serves a request that reaches memory at a tick; returns the cycle of service and the latency of the
    /// server.
    fn access_memory(
        &mut self,
        ticks: u64,
        (xcd, channel): (usize, usize),
        line: u64,
        bytes: u32,
        write: bool,
    ) -> (u64, u64) {
        let ticks = match &self.rates.link_byte {
            Some(link_byte) => self.links[xcd].serve(link_byte, ticks, bytes, write),
            None => ticks,
        };
        let writes = self.write_shares[channel].add(write);
        let byte = self.rates.device_byte(write, writes) * self.weight;
        if self.memory_side.is_none() {
            return self.device.request(&self.rates, (ticks, byte), (channel, line, bytes));
        }
        let start = serve(
            &mut self.memory_side_free[channel],
            ticks,
            self.rates.memory_side_byte * self.weight,
            bytes,
        ) / TICKS;
        // XCDs write different lines, and nothing waits for writes.
        let read = match &self.footprint {
            Some(footprint) if !write => footprint.read(line, ticks / TICKS),
            _ => Read::Alone,
        };
        let Some(memory_side) = &mut self.memory_side else { return (start, self.rates.memory_side) };
        let found = memory_side.request(line, write, read != Read::Alone);
        if found.written {
            let byte = self.rates.memory_byte[1] * self.weight;
            self.device.takes(channel, ticks, byte, 128);
        }
        match write || found.hit || read == Read::Behind {
            true => (start, self.rates.memory_side),
            false => self.device.request(&self.rates, (ticks, byte), (channel, line, bytes)),
        }
    }

    /// Memory channel of a line.
    fn channel(&self, l2: usize, line: u64) -> usize {
        let channel = match &self.rates.dram_map {
            Some(map) => map.channel(line, self.spread),
            // A GPU of one XCD has a memory channel behind each L2 channel.
            None if self.xcds == 1 && self.device.channels() == self.channels => return l2,
            None => mem::fold(line >> 1, self.spread) as usize,
        };
        let channels = self.device.channels();
        if channel < channels { channel } else { channel % channels }
    }

    /// Writes back a line after the last wave; returns the cycle of the write.
    pub(crate) fn write_back(&mut self, cycle: u64, line: u64, bytes: u32, (xcd, l2): (usize, usize)) -> u64 {
        let channel = self.channel(l2, line);
        let (served, latency) = self.access_memory(cycle * TICKS, (xcd, channel), line, bytes, true);
        // A line is sent when memory can take it.
        self.writes.pass(bytes, latency.saturating_sub(self.rates.l2));
        served
    }

    /// Queues a request at an L2 channel; returns the tick of service.
    #[inline]
    fn queue(&mut self, channel: usize, cycle: u64) -> u64 {
        let channel = &mut self.l2[channel];
        let start = (cycle * TICKS).max(*channel);
        *channel = start + self.rates.l2_request;
        start
    }

    /// Reads bytes of a line from memory for an L2 channel, given by its number in all XCDs and in its own;
    /// returns the cycle of arrival. A read beyond the outstanding limit waits in the L2 and keeps its turn
    /// at memory.
    fn fetch(&mut self, ticks: u64, (number, own): (usize, usize), line: u64, bytes: u32) -> u64 {
        let channel = self.channel(own, line);
        let xcd = number / self.channels;
        let (served, latency) = self.access_memory(ticks, (xcd, channel), line, bytes, false);
        let there = served + latency - self.rates.l2;
        let sent = (ticks / TICKS).max(self.reads.room(number));
        self.reads.add(number, bytes, sent, there);
        there
    }

    /// Serves a request at the L2; returns the cycle at which the answer leaves, and whether it came from
    /// memory. The L2 then notes this cycle with the line.
    pub(crate) fn serve(&mut self, xcd: usize, cycle: u64, answer: &L2Answer) -> (u64, bool) {
        let number = xcd * self.channels + answer.channel;
        let mut start = self.queue(number, cycle);
        for (line, bytes) in answer.written {
            if bytes > 0 && !self.hits_infinite(InfiniteCache::Written(xcd), line) {
                start = start.max(self.writes.room(number) * TICKS);
                let channel = self.channel(answer.channel, line);
                let (served, latency) = self.access_memory(start, (xcd, channel), line, bytes, true);
                let done = (served + latency).saturating_sub(self.rates.l2);
                self.writes.add(number, bytes, start / TICKS, done);
            }
        }
        if let (RequestType::Atomic, Some(times)) = (answer.request_type, &self.rates.atomics) {
            let channel = self.channel(answer.channel, answer.line);
            let block = answer.line << 2 | u64::from(answer.sector / 2);
            let request = AtomicRequest { access: self.accesses, channel, block, repeats: answer.repeats };
            let served = self.atomics.serve(times, (start, self.weight), request);
            // A line that misses in the L2 comes from the memory-side cache; uncached memory has none.
            let more = if answer.hit || answer.place.is_none() {
                0
            } else {
                self.rates.memory_side.saturating_sub(self.rates.l2)
            };
            return (served + more + times.latency.saturating_sub(self.rates.l2), true);
        }
        let mut leaves = start / TICKS;
        let far = answer.read > 0
            && !(answer.place.is_some() && self.hits_infinite(InfiniteCache::Read(xcd), answer.line));
        if far {
            leaves = self.fetch(start, (number, answer.channel), answer.line, answer.read);
        } else if answer.place.is_some() && answer.request_type != RequestType::Write {
            leaves = leaves.max(answer.noted);
        }
        (leaves, far)
    }
}

/// Timing of an access in a vector L1.
pub(crate) struct L1Timing<'a> {
    pub(crate) memory: &'a mut Memory,
    pub(crate) lines: &'a mut L1Lines,
    pub(crate) xcd: usize,
    /// Cycle of the current look-up.
    pub(crate) now: u64,
    /// Cycle at which the look-up's translation is requested: translations run ahead of look-ups, one a
    /// cycle.
    pub(crate) translate_at: u64,
    /// Cycles of the current look-up.
    pub(crate) cost: u64,
    /// Cycle at which all data so far has arrived.
    pub(crate) done: u64,
    /// Cycle at which a suspended access continues.
    pub(crate) held_until: u64,
    /// The access was not suspended since its last request.
    pub(crate) unblocked: bool,
    /// The current look-up has found no free MSHR.
    pub(crate) mshrs_full: bool,
    /// Last cycle at which a read merges with the last request: one cycle later if that request waited for an
    /// MSHR.
    mergeable_until: u64,
    /// Index of the compute unit.
    unit: usize,
    /// First channel of the L2.
    first: usize,
    way: [u64; 2],
    place: Option<usize>,
    last: u64,
}

impl<'a> L1Timing<'a> {
    pub(crate) fn new(
        memory: &'a mut Memory,
        lines: &'a mut L1Lines,
        (xcd, unit): (usize, usize),
    ) -> L1Timing<'a> {
        let there = memory.rates.l2 / 2;
        memory.accesses += 1;
        lines.used = true;
        L1Timing {
            first: xcd * memory.channels,
            way: [there, memory.rates.l2 - there],
            memory,
            lines,
            xcd,
            now: 0,
            translate_at: 0,
            cost: 1,
            done: 0,
            held_until: 0,
            unblocked: true,
            mshrs_full: false,
            mergeable_until: u64::MAX,
            unit,
            place: None,
            last: 0,
        }
    }

    /// Adds the outstanding cycles of a request, without the vector L1's own latency.
    #[inline]
    fn add_l2_cycles(&mut self, kind: usize, back: u64) {
        self.memory.l2_cycles[kind] += back.saturating_sub(self.now + self.memory.rates.l1);
    }

    /// Records the arrival of a requested line.
    #[inline]
    fn fill_arrives(&mut self, back: u64) {
        self.done = self.done.max(back);
        self.last = back;
        self.unblocked = true;
        self.mergeable_until = if std::mem::take(&mut self.mshrs_full) { self.now + 1 } else { u64::MAX };
        self.lines.fill_arrives(back);
        if let Some(place) = self.place.take() {
            self.lines.ready[place] = back;
        }
    }

    /// True if an infinite vector L1 has the line; completes the look-up then.
    #[inline]
    fn hits_infinite_l1(&mut self, line: u64) -> bool {
        if !self.memory.hits_infinite(InfiniteCache::Unit(self.unit), line) {
            return false;
        }
        self.cost = 1;
        self.place = None;
        self.fill_arrives(self.now + self.memory.rates.l1);
        true
    }

    /// True if a read of the other half of the line still merges.
    #[inline]
    fn can_merge(&self) -> bool {
        self.unblocked && self.now <= self.mergeable_until
    }

    #[inline]
    fn hold_until(&mut self, cycle: u64) -> bool {
        if cycle <= self.now {
            return true;
        }
        self.held_until = cycle;
        false
    }
}

impl Timing for L1Timing<'_> {
    fn translate(&mut self, page: u64, found: Translation) -> bool {
        if found == Translation::Unit && self.lines.translated <= self.now {
            return true;
        }
        if found == Translation::Unit {
            let arrives = self.lines.pages.get(&page).copied().unwrap_or(0);
            return self.hold_until(arrives);
        }
        let asked = self.lines.translation_start(self.translate_at);
        let arrives = self.memory.page_tables[self.xcd].translate(asked, found, &self.memory.rates);
        self.lines.translation_done(page, arrives, self.now);
        self.hold_until(arrives)
    }

    #[inline]
    fn has_mshr(&mut self, joins: bool) -> bool {
        if joins && self.can_merge() || self.memory.rates.ideal.vector_l1 {
            return true;
        }
        let room = self.hold_until(self.lines.free(self.memory.rates.l1));
        self.mshrs_full |= !room;
        room
    }

    #[inline]
    fn hit(&mut self, place: usize) {
        let there = match self.memory.rates.ideal.vector_l1 {
            true => 0,
            false => self.lines.ready.get(place).copied().unwrap_or(0),
        };
        self.done = self.done.max(self.now + self.memory.rates.l1).max(there);
    }

    #[inline]
    fn miss(&mut self, place: Option<usize>) {
        self.place = place;
        self.cost = self.memory.fill;
    }

    fn merges(&mut self) -> bool {
        let joins = self.can_merge();
        if joins {
            self.add_l2_cycles(0, self.last);
            self.done = self.done.max(self.last);
            if let Some(place) = self.place {
                self.lines.ready[place] = self.last;
            }
        }
        joins
    }

    fn reads_more_sectors(&mut self, answer: &L2Answer) -> Option<u64> {
        let [there, back] = self.way;
        let memory = &mut *self.memory;
        if memory.hits_infinite(InfiniteCache::Read(self.xcd), answer.line) {
            return None;
        }
        let (ticks, number) = ((self.now + there) * TICKS, self.first + answer.channel);
        let leaves = memory.fetch(ticks, (number, answer.channel), answer.line, answer.read);
        let leaves = leaves.max(answer.noted);
        let back = leaves + back;
        self.done = self.done.max(back);
        memory.l2_cycles[0] += back.saturating_sub(self.last);
        self.lines.delay_last_fill(back);
        if let Some(place) = self.place.take() {
            self.lines.ready[place] = self.lines.ready[place].max(back);
        }
        Some(leaves)
    }

    #[inline]
    fn next_lookup(&mut self) {
        self.now += self.cost;
        self.translate_at += 1;
        self.cost = 1;
    }

    #[inline]
    fn repeat(&mut self, count: u64) {
        self.now += count;
        self.translate_at += count;
        self.done = self.done.max(self.now - 1 + self.memory.rates.l1);
    }

    /// Does what `hit`, `has_mshr`, `miss`, `l2_hit`, `next_lookup` and `repeat` do, for a batch.
    #[inline(never)]
    fn fast_path(&mut self, batch: &mut impl FastPath) {
        let Memory { rates, l2, channels, has_infinite_cache, fill, l2_cycles, .. } = &mut *self.memory;
        let (near, request, fill, [there, back]) = (rates.l1, rates.l2_request, *fill, self.way);
        // An L2 answer is never earlier than a hit in the vector L1.
        let plain = !*has_infinite_cache && near <= there + back;
        let Some(l2) = l2.get_mut(self.first..self.first + *channels).filter(|_| plain) else { return };
        let L1Lines { ready, mshr_free_at, first: next, .. } = &mut *self.lines;
        let (mut now, mut done, mut last, mut cycles) = (self.now, self.done, 0, 0u64);
        loop {
            let free = mshr_free_at.get_mut(*next..).unwrap_or_default();
            let Some((set, lookups)) = batch.lookups_in_set(MshrSlots { free, now: now + near, each: fill })
            else {
                break;
            };
            let ready = &mut ready.as_chunks_mut::<L1_WAYS>().0[set];
            let mut free = free.iter_mut();
            for lookup in lookups {
                let ready = &mut ready[usize::from(lookup.way) % L1_WAYS];
                if lookup.channel == HIT {
                    done = done.max(now + near).max(*ready);
                    now += 1;
                } else if let Some(free) = free.next() {
                    let l2 = &mut l2[usize::from(lookup.channel)];
                    let start = ((now + there) * TICKS).max(*l2);
                    *l2 = start + request;
                    last = ((start / TICKS) as i64).max(lookup.noted) as u64 + back;
                    (*ready, *free) = (last, last);
                    cycles += last - now;
                    done = done.max(last);
                    now += fill;
                }
                if lookup.more > 0 {
                    now += u64::from(lookup.more);
                    done = done.max(now - 1 + near);
                }
            }
            let left = free.len();
            *next = if left == 0 { 0 } else { mshr_free_at.len() - left };
        }
        let [lookups, misses] = batch.lookups_and_misses();
        (self.now, self.translate_at, self.done) = (now, self.translate_at + lookups, done);
        if misses > 0 {
            (self.last, self.unblocked) = (last, true);
            l2_cycles[0] += cycles - misses * near;
            // Cycle of the only miss.
            let at = last.wrapping_sub(cycles);
            self.mergeable_until =
                if std::mem::take(&mut self.mshrs_full) && misses == 1 { at + 1 } else { u64::MAX };
        }
    }

    #[inline(always)]
    fn l2_hit(&mut self, channel: usize, line: u64, noted: u64) {
        if self.hits_infinite_l1(line) {
            return;
        }
        let [there, back] = self.way;
        let start = self.memory.queue(self.first + channel, self.now + there);
        let back = (start / TICKS).max(noted) + back;
        self.add_l2_cycles(0, back);
        self.fill_arrives(back);
    }

    fn l2_request(&mut self, answer: &L2Answer) -> Option<u64> {
        if answer.request_type == RequestType::Read && self.hits_infinite_l1(answer.line) {
            return None;
        }
        let [there, back] = self.way;
        let (leaves, from_memory) = self.memory.serve(self.xcd, self.now + there, answer);
        match answer.request_type {
            RequestType::Read => self.add_l2_cycles(0, leaves + back),
            RequestType::Write => self.add_l2_cycles(1, leaves + back),
            RequestType::Atomic => self.done = self.done.max(leaves + back),
        }
        // An atomic waits at memory without an MSHR.
        let at_memory = answer.request_type == RequestType::Atomic && self.memory.rates.atomics.is_some();
        self.fill_arrives(back + if at_memory { self.now + there } else { leaves });
        from_memory.then_some(leaves)
    }
}
