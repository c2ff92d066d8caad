//! How long requests take behind the compute units.
//!
//! The one idea to keep in mind: a part that serves one request after the other is the moment at which it is free again;
//! a line under way is the moment at which it is there.

use crate::rates::{Rates, STEPS};
use mem::{Answer, Cache, Follow, Want};
use std::collections::{HashMap, HashSet};

/// Everything behind the compute units that has a moment.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) rates: Rates,
    /// Channels of the L2 of an XCD.
    channels: usize,
    /// By channel of all L2, and by channel of memory: steps at which it is free.
    l2: Vec<u64>,
    hbm: Vec<u64>,
    /// XCDs.
    xcds: usize,
    /// By XCD: neighbouring pages whose entries are read together, and the cycle at which they are there.
    pages: Vec<HashMap<u64, u64>>,
    side: Option<Side>,
    /// Channels of memory that requests are spread over, where they are some that stand for all; and what is left of the cost of a
    /// request by that.
    share: Option<(usize, f64)>,
    /// What caches of any size keep, where a limit is lifted.
    kept: HashSet<(u32, u64)>,
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

/// The memory-side cache.
#[derive(Debug)]
struct Side {
    /// With whether a line differs from memory.
    cache: Cache<bool>,
    sets: u64,
    free: Vec<u64>,
}

impl Memory {
    pub(crate) fn new(rates: &Rates, xcds: usize, channels: usize) -> Memory {
        Memory {
            channels,
            l2: vec![0; xcds * channels],
            hbm: vec![0; rates.channels],
            xcds,
            pages: vec![HashMap::new(); xcds],
            side: rates.side.map(|(lines, ways)| Side {
                cache: Cache::new(lines / ways, ways),
                sets: (lines / ways) as u64,
                free: vec![0; rates.channels],
            }),
            share: None,
            kept: HashSet::new(),
            rates: rates.clone(),
        }
    }

    /// Whether a line was in a cache of any size before; it is from now on. Without a lifted limit there is no such cache.
    #[inline(always)]
    fn kept(&mut self, part: Part, line: u64) -> bool {
        let free = self.rates.free;
        (free.vector_l1 || free.l2) && self.keeps(part, line)
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

    /// From now on a request stands for some: as the requests are a part of all, so are the channels that they find.
    pub(crate) fn stand_for(&mut self, requests: f64) {
        let all = self.hbm.len() as f64;
        let channels = (all / requests).round().max(1.0);
        self.share = Some((channels as usize, requests * channels / all));
    }

    /// A dispatch begins at cycle 0.
    pub(crate) fn begin(&mut self) {
        self.kept.clear();
        self.share = None;
        self.l2.fill(0);
        self.hbm.fill(0);
        self.pages.iter_mut().for_each(HashMap::clear);
        if let Some(side) = &mut self.side {
            side.free.fill(0);
        }
    }

    /// A request of some bytes arrives at memory; the cycle at which it is served, and the latency of what serves it.
    fn reach(&mut self, steps: u64, channel: usize, line: u64, bytes: u32, write: bool) -> (u64, u64) {
        let rates = &self.rates;
        let (channel, weight) = match self.share {
            Some((channels, weight)) => ((channel as u32 % channels as u32) as usize, weight),
            None => (channel, 1.0),
        };
        let serve = |free: &mut u64, byte: f64, bytes: u32| {
            let start = steps.max(*free);
            *free = start + (byte * weight * f64::from(bytes)) as u64;
            start / STEPS
        };
        let cost = rates.memory_byte[usize::from(write)];
        let Some(side) = &mut self.side else {
            return (serve(&mut self.hbm[channel], cost, bytes), rates.hbm);
        };
        let set = match side.sets.is_power_of_two() {
            true => (line ^ (line >> side.sets.trailing_zeros())) & (side.sets - 1),
            false => (line ^ (line / side.sets)) % side.sets,
        };
        let start = serve(&mut side.free[channel], rates.side_byte, bytes);
        if let Some(place) = side.cache.find(set as usize, line) {
            *side.cache.of(place) |= write;
            return (start, rates.memory_side);
        }
        let filled = side.cache.fill(set as usize, line, false);
        let old = std::mem::replace(side.cache.of(filled.place), write);
        if old && filled.evicted.is_some() {
            serve(&mut self.hbm[channel], rates.memory_byte[1], 128);
        }
        match write {
            true => (start, rates.memory_side),
            false => (serve(&mut self.hbm[channel], cost, bytes), rates.hbm),
        }
    }

    /// Channel of memory that a line lies in.
    fn channel(&self, l2: usize, line: u64) -> usize {
        // One die has a channel of memory behind each channel of its L2.
        if self.xcds == 1 && self.hbm.len() == self.channels {
            return l2;
        }
        mem::fold(line >> 1, self.hbm.len().max(1).ilog2()) as usize
    }

    /// A line is written back after all waves have ended, at a cycle; the cycle at which it is.
    pub(crate) fn write_back(&mut self, cycle: u64, line: u64, bytes: u32, l2: usize) -> u64 {
        let channel = self.channel(l2, line);
        self.reach(cycle * STEPS, channel, line, bytes, true).0
    }

    /// A request arrives at the L2 at a cycle; the cycle at which its answer leaves, and whether it came from memory: then this
    /// cycle is to be noted of the line.
    #[inline]
    fn serve(&mut self, xcd: usize, cycle: u64, answer: &Answer) -> (u64, bool) {
        let channel = &mut self.l2[xcd * self.channels + answer.channel];
        let start = (cycle * STEPS).max(*channel);
        *channel = start + self.rates.l2_request;
        let mut leaves = start / STEPS;
        if answer.written > 0 && !self.kept(Part::Written(xcd), answer.old) {
            let channel = self.channel(answer.channel, answer.old);
            self.reach(start, channel, answer.old, answer.written, true);
        }
        let far = answer.read > 0 && !(answer.place.is_some() && self.kept(Part::Read(xcd), answer.line));
        if far {
            let channel = self.channel(answer.channel, answer.line);
            let (served, latency) = self.reach(start, channel, answer.line, answer.read, false);
            leaves = served + latency - self.rates.l2;
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
    pages: HashMap<u64, u64>,
    /// The last of the cycles at which pages are translated.
    translated: u64,
}

impl Lines {
    pub(crate) fn new(places: usize) -> Lines {
        Lines { ready: vec![0; places], pages: HashMap::new(), translated: 0 }
    }

    /// Something of what the next look-up needs.
    pub(crate) fn soon(&self) -> u64 {
        self.translated
    }

    pub(crate) fn begin(&mut self) {
        self.ready.fill(0);
        self.pages.clear();
        self.translated = 0;
    }
}

/// Follows an access of a vector L1.
pub(crate) struct Port<'a> {
    pub(crate) memory: &'a mut Memory,
    pub(crate) lines: &'a mut Lines,
    pub(crate) xcd: usize,
    /// Cycle of the look-up at hand.
    pub(crate) now: u64,
    /// Cycles it takes.
    pub(crate) cost: u64,
    /// Cycle at which all is there so far.
    pub(crate) done: u64,
    /// Cycle at which an access that was held up goes on.
    pub(crate) until: u64,
    /// Nothing held up the access since its last request.
    pub(crate) smooth: bool,
    /// Bytes of a line.
    pub(crate) line: u64,
    /// The compute unit.
    unit: usize,
    place: Option<usize>,
    last: u64,
}

impl<'a> Port<'a> {
    pub(crate) fn new(
        memory: &'a mut Memory,
        lines: &'a mut Lines,
        (xcd, unit): (usize, usize),
        line: u64,
    ) -> Port<'a> {
        Port {
            memory,
            lines,
            xcd,
            now: 0,
            cost: 1,
            done: 0,
            until: 0,
            smooth: true,
            line,
            unit,
            place: None,
            last: 0,
        }
    }

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
        let walked = self.now + rates.walk;
        let known = *self.memory.pages[self.xcd].entry(page / rates.walked).or_insert(walked);
        let until = if known == walked { walked } else { known.max(self.now + rates.translation) };
        self.lines.pages.insert(page, until);
        self.lines.translated = self.lines.translated.max(until);
        self.hold(until)
    }

    fn room(&mut self, place: usize) -> bool {
        if self.memory.rates.free.vector_l1 {
            return true;
        }
        let until = self.lines.ready.get(place).copied().unwrap_or(0);
        self.hold(until)
    }

    #[inline]
    fn found(&mut self, place: usize) {
        let there = match self.memory.rates.free.vector_l1 {
            true => 0,
            false => self.lines.ready.get(place).copied().unwrap_or(0),
        };
        self.done = self.done.max(self.now + self.memory.rates.l1).max(there);
    }

    fn missed(&mut self, place: Option<usize>) {
        self.place = place;
        self.cost = u64::from((self.line as u32 / self.memory.rates.fill as u32).max(1));
    }

    fn joins(&mut self) -> bool {
        if self.smooth {
            self.done = self.done.max(self.last);
            if let Some(place) = self.place.take() {
                self.lines.ready[place] = self.last;
            }
        }
        self.smooth
    }

    #[inline]
    fn next(&mut self) {
        self.now += self.cost;
        self.cost = 1;
    }

    #[inline]
    fn request(&mut self, answer: &Answer) -> Option<u64> {
        if answer.want == Want::Read && self.memory.kept(Part::Unit(self.unit), answer.line) {
            self.cost = 1;
            self.last = self.now + self.memory.rates.l1;
            self.done = self.done.max(self.last);
            self.smooth = true;
            self.place = None;
            return None;
        }
        let there = self.memory.rates.l2 / 2;
        let (leaves, from_memory) = self.memory.serve(self.xcd, self.now + there, answer);
        let back = leaves + self.memory.rates.l2 - there;
        self.done = self.done.max(back);
        self.last = back;
        self.smooth = true;
        if let Some(place) = self.place.take() {
            self.lines.ready[place] = back;
        }
        from_memory.then_some(leaves)
    }
}

/// Follows an access of a scalar cache.
pub(crate) struct ScalarPort<'a> {
    pub(crate) memory: &'a mut Memory,
    pub(crate) ready: &'a mut [u64],
    pub(crate) xcd: usize,
    pub(crate) now: u64,
    pub(crate) done: u64,
    pub(crate) place: Option<usize>,
}

impl Follow for ScalarPort<'_> {
    fn scalar(&mut self, place: Option<usize>, hit: bool) {
        self.place = place;
        if let Some(place) = place.filter(|_| hit) {
            self.done = self.done.max(self.now + self.memory.rates.scalar).max(self.ready[place]);
        }
    }

    fn request(&mut self, answer: &Answer) -> Option<u64> {
        let rates = &self.memory.rates;
        let (there, far, near) = (rates.l2 / 2, rates.scalar_cold, rates.l2);
        let (leaves, from_memory) = self.memory.serve(self.xcd, self.now + there, answer);
        // What comes from memory is what a cold scalar load was measured to take, and what it queues for.
        let back = match from_memory {
            true => (leaves + near - there).max(self.now + far),
            false => leaves + near - there,
        };
        self.done = self.done.max(back);
        if let Some(place) = self.place.take() {
            self.ready[place] = back;
        }
        from_memory.then_some(leaves)
    }
}
