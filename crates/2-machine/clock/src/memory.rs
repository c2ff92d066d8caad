//! How long requests take behind the compute units.
//!
//! The one idea to keep in mind: a part that serves one request after the other is the moment at which it is free again;
//! a line under way is the moment at which it is there.

use crate::device::{Device, serve};
use crate::fabric::Fabric;
use crate::footprint::{Footprint, Read};
use crate::rates::{Rates, STEPS};
use crate::side::Side;
use mem::{Answer, FOUND, Follow, ROW, Room, Shape, Steps, Want};
use std::collections::{HashMap, HashSet};

/// Everything behind the compute units that has a moment.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) rates: Rates,
    /// Channels of the L2 of an XCD.
    channels: usize,
    /// By channel of all L2: steps at which it is free.
    l2: Vec<u64>,
    device: Device,
    /// XCDs of the GPU.
    xcds: usize,
    /// By XCD: neighbouring pages whose entries are read together, and the cycle at which they are there.
    pages: Vec<HashMap<u64, u64>>,
    /// Channels of the whole GPU's memory, as a power of two; and what a request costs by which channels of a share are not whole.
    spread: u32,
    weight: f64,
    /// The memory-side cache, and by channel: steps at which it is free.
    pub(crate) side: Option<Side>,
    side_free: Vec<u64>,
    /// Where an XCD stands for some: what is known of the lines that all read.
    pub(crate) footprint: Option<Footprint>,
    /// A limit is lifted so that there are caches of any size, and what they keep.
    keeps_all: bool,
    kept: HashSet<(u32, u64)>,
    /// Cycles in which a vector L1 takes a line.
    fill: u64,
    pub(crate) reads: Fabric,
    pub(crate) writes: Fabric,
    /// Cycles in which reads and writes of vector L1s were under way to the L2, summed over them.
    pub(crate) asked: [u64; 2],
}

/// A cache of any size.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// Vector L1 of a compute unit.
    Unit(usize),
    /// Lines read of the L2 of an XCD, and lines written back.
    Read(usize),
    Written(usize),
}

/// Most lines that caches of any size keep.
const MOST_KEPT: usize = 1 << 23;

impl Memory {
    /// Of all of a GPU, or of the share that one XCD of `of` has.
    pub(crate) fn new(rates: &Rates, shape: &Shape, of: usize) -> Memory {
        let (xcds, channels) = (shape.xcds, shape.channels);
        let (all, of) = (rates.channels.max(1), of.max(1));
        let own = (all as f64 / of as f64).round().max(1.0);
        Memory {
            channels,
            l2: vec![0; xcds * channels],
            device: Device::new(own as usize, rates),
            xcds: xcds * of,
            pages: vec![HashMap::new(); xcds],
            // A part of the bits would keep strides of powers of two in few channels.
            spread: if (own as usize).is_power_of_two() { own as u32 } else { all as u32 }.max(1).ilog2(),
            weight: if of == 1 { 1.0 } else { of as f64 * own / all as f64 },
            side: rates.side.map(|(lines, ways)| Side::new(lines, ways, of)),
            side_free: vec![0; own as usize],
            footprint: (of > 1).then(Footprint::default),
            keeps_all: rates.free.vector_l1 || rates.free.l2,
            kept: HashSet::new(),
            fill: u64::from((shape.l1_line as u32 / rates.fill as u32).max(1)),
            reads: Fabric::new(xcds * channels, rates.under_way[0], shape.fabric_read as u32),
            writes: Fabric::new(xcds * channels, rates.under_way[1], shape.fabric_write as u32),
            asked: [0; 2],
            rates: rates.clone(),
        }
    }

    /// Whether a line was in a cache of any size before; it is from now on. Without a lifted limit there is no such cache.
    #[inline(always)]
    fn kept(&mut self, part: Part, line: u64) -> bool {
        self.keeps_all && self.keeps(part, line)
    }

    fn keeps(&mut self, part: Part, line: u64) -> bool {
        let free = self.rates.free;
        let (lifted, name) = match part {
            Part::Unit(number) => (free.vector_l1, number),
            Part::Read(xcd) => (free.l2, 2 * xcd),
            Part::Written(xcd) => (free.l2, 2 * xcd + 1),
        };
        if !lifted {
            return false;
        }
        let entry = (name as u32, line);
        if self.kept.len() >= MOST_KEPT {
            return self.kept.contains(&entry);
        }
        !self.kept.insert(entry)
    }

    /// A dispatch begins at cycle 0.
    pub(crate) fn begin(&mut self) {
        self.kept.clear();
        self.footprint = self.footprint.as_ref().map(|_| Footprint::default());
        self.l2.fill(0);
        self.device.begin();
        self.pages.iter_mut().for_each(HashMap::clear);
        self.side_free.fill(0);
        self.reads.begin();
        self.writes.begin();
        self.asked = [0; 2];
    }

    /// A request of some bytes arrives at memory; the cycle at which it is served, and the latency of what serves it.
    fn reach(&mut self, steps: u64, channel: usize, line: u64, bytes: u32, write: bool) -> (u64, u64) {
        let byte = self.rates.memory_byte[usize::from(write)] * self.weight;
        if self.side.is_none() {
            return self.device.request(&self.rates, (steps, byte), (channel, line, bytes));
        }
        let start =
            serve(&mut self.side_free[channel], steps, self.rates.side_byte * self.weight, bytes) / STEPS;
        // What is written is not waited for, and each XCD writes its own.
        let read = match &self.footprint {
            Some(footprint) if !write => footprint.read(line, steps / STEPS),
            _ => Read::Alone,
        };
        let Some(side) = &mut self.side else { return (start, self.rates.memory_side) };
        let found = side.request(line, write, read != Read::Alone);
        if found.written {
            let byte = self.rates.memory_byte[1] * self.weight;
            self.device.takes(channel, steps, byte, 128);
        }
        match write || found.hit || read == Read::Behind {
            true => (start, self.rates.memory_side),
            false => self.device.request(&self.rates, (steps, byte), (channel, line, bytes)),
        }
    }

    /// Channel of memory that a line lies in.
    fn channel(&self, l2: usize, line: u64) -> usize {
        let channel = match &self.rates.map {
            Some(map) => map.channel(line, self.spread),
            // One die has a channel of memory behind each channel of its L2.
            None if self.xcds == 1 && self.device.channels() == self.channels => return l2,
            None => mem::fold(line >> 1, self.spread) as usize,
        };
        let channels = self.device.channels();
        if channel < channels { channel } else { channel % channels }
    }

    /// A line is written back after all waves have ended, at a cycle; the cycle at which it is.
    pub(crate) fn write_back(&mut self, cycle: u64, line: u64, bytes: u32, l2: usize) -> u64 {
        let channel = self.channel(l2, line);
        let (served, latency) = self.reach(cycle * STEPS, channel, line, bytes, true);
        // Each is sent when memory takes it.
        self.writes.pass(bytes, latency.saturating_sub(self.rates.l2));
        served
    }

    /// A request arrives at a channel of all L2 at a cycle; the step at which it is served.
    #[inline]
    fn queue(&mut self, channel: usize, cycle: u64) -> u64 {
        let channel = &mut self.l2[channel];
        let start = (cycle * STEPS).max(*channel);
        *channel = start + self.rates.l2_request;
        start
    }

    /// Some bytes of a line are read from memory, by a channel of all L2 whose own number is given too and which wants to from a step on;
    /// the cycle at which they are there. A read for which there is no room waits in the L2, and keeps its turn at memory.
    fn fetch(&mut self, steps: u64, (number, own): (usize, usize), line: u64, bytes: u32) -> u64 {
        let channel = self.channel(own, line);
        let (served, latency) = self.reach(steps, channel, line, bytes, false);
        let there = served + latency - self.rates.l2;
        let sent = (steps / STEPS).max(self.reads.room(number));
        self.reads.add(number, bytes, sent, there);
        there
    }

    /// A request arrives at the L2 at a cycle; the cycle at which its answer leaves, and whether it came from memory: then this
    /// cycle is to be noted of the line.
    pub(crate) fn serve(&mut self, xcd: usize, cycle: u64, answer: &Answer) -> (u64, bool) {
        let number = xcd * self.channels + answer.channel;
        let mut start = self.queue(number, cycle);
        for (line, bytes) in answer.written {
            if bytes > 0 && !self.kept(Part::Written(xcd), line) {
                start = start.max(self.writes.room(number) * STEPS);
                let channel = self.channel(answer.channel, line);
                let (served, latency) = self.reach(start, channel, line, bytes, true);
                let done = (served + latency).saturating_sub(self.rates.l2);
                self.writes.add(number, bytes, start / STEPS, done);
            }
        }
        let mut leaves = start / STEPS;
        let far = answer.read > 0 && !(answer.place.is_some() && self.kept(Part::Read(xcd), answer.line));
        if far {
            leaves = self.fetch(start, (number, answer.channel), answer.line, answer.read);
        } else if answer.place.is_some() && answer.want != Want::Write {
            leaves = leaves.max(answer.noted);
        }
        (leaves, far)
    }
}

/// What a compute unit knows of its lines.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    /// By place in the vector L1: cycle at which the line is there.
    ready: Vec<u64>,
    /// Cycles at which waves have the answers of the last requests, as many as can be under way, and which of them is the first.
    coming: Vec<u64>,
    first: usize,
    pages: HashMap<u64, u64>,
    /// The last of the cycles at which pages are translated.
    translated: u64,
    /// The translation asked for next, and when those under way are there, by number; none where any number can be.
    asked: usize,
    under_way: Vec<u64>,
}

impl Lines {
    pub(crate) fn new(places: usize, coming: usize, translating: Option<usize>) -> Lines {
        let under_way = vec![0; translating.unwrap_or(0)];
        let coming = vec![0; coming.max(1)];
        Lines {
            ready: vec![0; places],
            coming,
            first: 0,
            pages: HashMap::new(),
            translated: 0,
            asked: 0,
            under_way,
        }
    }

    /// Cycle at which there can be another request; the vector L1 has answers so much before waves do.
    #[inline]
    fn free(&self, before: u64) -> u64 {
        self.coming[self.first].saturating_sub(before)
    }

    /// The answer of a request is back at a cycle.
    #[inline]
    fn comes(&mut self, back: u64) {
        self.coming[self.first] = back;
        self.first = if self.first + 1 < self.coming.len() { self.first + 1 } else { 0 };
    }

    /// The answer of the last request is not back before a cycle.
    fn lasts(&mut self, back: u64) {
        let last = self.first.checked_sub(1).unwrap_or(self.coming.len() - 1);
        self.coming[last] = self.coming[last].max(back);
    }

    /// A page's translation is asked for at a cycle, when one before it is there if too many are under way; the cycle at which it is.
    fn asks(&mut self, cycle: u64) -> u64 {
        match self.under_way.get(self.asked) {
            Some(&before) => cycle.max(before),
            None => cycle,
        }
    }

    /// A page's translation is there at a cycle.
    fn translates(&mut self, page: u64, until: u64) {
        self.pages.insert(page, until);
        self.translated = self.translated.max(until);
        if let Some(place) = self.under_way.get_mut(self.asked) {
            *place = until;
            self.asked = (self.asked + 1) % self.under_way.len();
        }
    }

    /// Something of what the next look-up needs.
    pub(crate) fn soon(&self) -> u64 {
        self.translated
    }

    pub(crate) fn begin(&mut self) {
        self.ready.fill(0);
        self.coming.fill(0);
        self.pages.clear();
        (self.translated, self.asked) = (0, 0);
        self.under_way.fill(0);
    }
}

/// Follows an access of a vector L1.
pub(crate) struct Port<'a> {
    pub(crate) memory: &'a mut Memory,
    pub(crate) lines: &'a mut Lines,
    pub(crate) xcd: usize,
    /// Cycle of the look-up at hand.
    pub(crate) now: u64,
    /// Cycle at which its translation is asked for, which is done ahead of the look-ups, one a cycle.
    pub(crate) ahead: u64,
    /// Cycles it takes.
    pub(crate) cost: u64,
    /// Cycle at which all is there so far.
    pub(crate) done: u64,
    /// Cycle at which an access that was held up goes on.
    pub(crate) until: u64,
    /// Nothing held up the access since its last request.
    pub(crate) smooth: bool,
    /// There was no room for the look-up at hand, or when it was tried before.
    pub(crate) full: bool,
    /// The last request can be joined until this cycle: the next one, if it had to wait for room.
    joinable_until: u64,
    /// The compute unit.
    unit: usize,
    /// The first channel of its L2, and the cycles to it and back.
    first: usize,
    way: [u64; 2],
    place: Option<usize>,
    last: u64,
}

impl<'a> Port<'a> {
    pub(crate) fn new(memory: &'a mut Memory, lines: &'a mut Lines, (xcd, unit): (usize, usize)) -> Port<'a> {
        let there = memory.rates.l2 / 2;
        Port {
            first: xcd * memory.channels,
            way: [there, memory.rates.l2 - there],
            memory,
            lines,
            xcd,
            now: 0,
            ahead: 0,
            cost: 1,
            done: 0,
            until: 0,
            smooth: true,
            full: false,
            joinable_until: u64::MAX,
            unit,
            place: None,
            last: 0,
        }
    }

    /// A read or a write asks the L2, and is answered at a cycle. What the vector L1 itself takes is not part of it.
    #[inline]
    fn asked(&mut self, kind: usize, back: u64) {
        self.memory.asked[kind] += back.saturating_sub(self.now + self.memory.rates.l1);
    }

    /// A line comes to where it was wanted.
    #[inline]
    fn comes(&mut self, back: u64) {
        self.done = self.done.max(back);
        self.last = back;
        self.smooth = true;
        self.joinable_until = if std::mem::take(&mut self.full) { self.now + 1 } else { u64::MAX };
        self.lines.comes(back);
        if let Some(place) = self.place.take() {
            self.lines.ready[place] = back;
        }
    }

    /// Whether the vector L1 is of any size, because its limit is lifted, and has had a line.
    #[inline]
    fn has_had(&mut self, line: u64) -> bool {
        if !self.memory.kept(Part::Unit(self.unit), line) {
            return false;
        }
        self.cost = 1;
        self.place = None;
        self.comes(self.now + self.memory.rates.l1);
        true
    }

    /// Whether the other half of a line can still be one request with the first.
    #[inline]
    fn joinable(&self) -> bool {
        self.smooth && self.now <= self.joinable_until
    }

    #[inline]
    fn hold(&mut self, until: u64) -> bool {
        if until <= self.now {
            return true;
        }
        self.until = until;
        false
    }
}

impl Follow for Port<'_> {
    fn page(&mut self, page: u64, hit: bool) -> bool {
        if hit && self.lines.translated <= self.now {
            return true;
        }
        if hit {
            let until = self.lines.pages.get(&page).copied().unwrap_or(0);
            return self.hold(until);
        }
        let rates = &self.memory.rates;
        let asked = self.lines.asks(self.ahead);
        let walked = asked + rates.walk;
        let known = *self.memory.pages[self.xcd].entry(page / rates.walked).or_insert(walked);
        let until = if known == walked { walked } else { known.max(asked + rates.translation) };
        self.lines.translates(page, until);
        self.hold(until)
    }

    #[inline]
    fn room(&mut self, joins: bool) -> bool {
        if joins && self.joinable() || self.memory.rates.free.vector_l1 {
            return true;
        }
        let room = self.hold(self.lines.free(self.memory.rates.l1));
        self.full |= !room;
        room
    }

    #[inline]
    fn found(&mut self, place: usize) {
        let there = match self.memory.rates.free.vector_l1 {
            true => 0,
            false => self.lines.ready.get(place).copied().unwrap_or(0),
        };
        self.done = self.done.max(self.now + self.memory.rates.l1).max(there);
    }

    #[inline]
    fn missed(&mut self, place: Option<usize>) {
        self.place = place;
        self.cost = self.memory.fill;
    }

    fn joins(&mut self) -> bool {
        let joins = self.joinable();
        if joins {
            self.asked(0, self.last);
            self.done = self.done.max(self.last);
            if let Some(place) = self.place {
                self.lines.ready[place] = self.last;
            }
        }
        joins
    }

    fn adds(&mut self, answer: &Answer) -> Option<u64> {
        let [there, back] = self.way;
        let memory = &mut *self.memory;
        if memory.kept(Part::Read(self.xcd), answer.line) {
            return None;
        }
        let (steps, number) = ((self.now + there) * STEPS, self.first + answer.channel);
        let leaves = memory.fetch(steps, (number, answer.channel), answer.line, answer.read);
        let leaves = leaves.max(answer.noted);
        let back = leaves + back;
        self.done = self.done.max(back);
        memory.asked[0] += back.saturating_sub(self.last);
        self.lines.lasts(back);
        if let Some(place) = self.place.take() {
            self.lines.ready[place] = self.lines.ready[place].max(back);
        }
        Some(leaves)
    }

    #[inline]
    fn next(&mut self) {
        self.now += self.cost;
        self.ahead += 1;
        self.cost = 1;
    }

    #[inline]
    fn again(&mut self, count: u64) {
        self.now += count;
        self.ahead += count;
        self.done = self.done.max(self.now - 1 + self.memory.rates.l1);
    }

    /// As `found`, `room`, `missed`, `read`, `next` and `again` have it, with what they need at hand.
    #[inline(never)]
    fn quick(&mut self, steps: &mut impl Steps) {
        let Memory { rates, l2, channels, keeps_all, fill, asked, .. } = &mut *self.memory;
        let (near, request, fill, [there, back]) = (rates.l1, rates.l2_request, *fill, self.way);
        // No answer is back before the vector L1 itself could answer.
        let plain = !*keeps_all && near <= there + back;
        let Some(l2) = l2.get_mut(self.first..self.first + *channels).filter(|_| plain) else { return };
        let Lines { ready, coming, first: next, .. } = &mut *self.lines;
        let (mut now, mut done, mut last, mut cycles) = (self.now, self.done, 0, 0u64);
        loop {
            let free = coming.get_mut(*next..).unwrap_or_default();
            let Some((set, looks)) = steps.row(Room { free, now: now + near, each: fill }) else { break };
            let ready = &mut ready.as_chunks_mut::<ROW>().0[set];
            let mut free = free.iter_mut();
            for look in looks {
                let ready = &mut ready[usize::from(look.way) % ROW];
                if look.channel == FOUND {
                    done = done.max(now + near).max(*ready);
                    now += 1;
                } else if let Some(free) = free.next() {
                    let l2 = &mut l2[usize::from(look.channel)];
                    let start = ((now + there) * STEPS).max(*l2);
                    *l2 = start + request;
                    last = ((start / STEPS) as i64).max(look.noted) as u64 + back;
                    (*ready, *free) = (last, last);
                    cycles += last - now;
                    done = done.max(last);
                    now += fill;
                }
                if look.more > 0 {
                    now += u64::from(look.more);
                    done = done.max(now - 1 + near);
                }
            }
            let left = free.len();
            *next = if left == 0 { 0 } else { coming.len() - left };
        }
        let [lookups, misses] = steps.done();
        (self.now, self.ahead, self.done) = (now, self.ahead + lookups, done);
        if misses > 0 {
            (self.last, self.smooth) = (last, true);
            asked[0] += cycles - misses * near;
            // The only one was looked up so long before its answer was back.
            let at = last.wrapping_sub(cycles);
            self.joinable_until =
                if std::mem::take(&mut self.full) && misses == 1 { at + 1 } else { u64::MAX };
        }
    }

    #[inline(always)]
    fn read(&mut self, channel: usize, line: u64, noted: u64) {
        if self.has_had(line) {
            return;
        }
        let [there, back] = self.way;
        let start = self.memory.queue(self.first + channel, self.now + there);
        let back = (start / STEPS).max(noted) + back;
        self.asked(0, back);
        self.comes(back);
    }

    fn request(&mut self, answer: &Answer) -> Option<u64> {
        if answer.want == Want::Read && self.has_had(answer.line) {
            return None;
        }
        let [there, back] = self.way;
        let (leaves, from_memory) = self.memory.serve(self.xcd, self.now + there, answer);
        match answer.want {
            Want::Read => self.asked(0, leaves + back),
            Want::Write => self.asked(1, leaves + back),
            Want::Atomic => {}
        }
        self.comes(leaves + back);
        from_memory.then_some(leaves)
    }
}
