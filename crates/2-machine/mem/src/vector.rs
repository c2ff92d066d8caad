//! The vector L1 of a compute unit with its address translation.
//!
//! The one idea to keep in mind: stores go through to the L2; what they write stays, in lines that are there and in lines
//! that are written whole, so stores drive out what loads brought in.

use crate::access::{Kind, Lookup, Policy};
use crate::asks::{Asks, Guesses, Ran, Run, Steps};
use crate::cache::Cache;
use crate::count::{Before, Count};
use crate::forms::Shared;
use crate::l2::{Answer, At, L2, Request, Want};
use crate::places::Places;
use crate::shape::Shape;
use arch::MemoryType;
use std::collections::HashSet;

/// The vector L1 of one compute unit.
#[derive(Clone, Debug)]
pub(crate) struct VectorL1 {
    cache: Cache,
    /// Bits of a line that choose its set.
    sets: u64,
    asks: Asks,
    pages: Pages,
    /// The page that was asked for last.
    last: Option<u64>,
    /// Look-ups behind a missing translation.
    pending: u32,
}

/// Whoever wants to know what becomes of an access, step by step, and how long each takes.
///
/// Every method does what someone would want who has no clock.
#[allow(unused_variables, reason = "the names document the steps")]
pub trait Follow {
    /// A look-up needs a page that the access has not needed before; says whether the access goes on at once.
    fn page(&mut self, page: u64, hit: bool) -> bool {
        true
    }
    /// A line is missing that would have a place in the vector L1; it may be the other half of the one asked for last. Says whether it
    /// can be asked for at once.
    fn room(&mut self, joins: bool) -> bool {
        true
    }
    /// What a read that joined another wants of the line, besides what the other did, is read from memory; what is to be noted of the
    /// line.
    fn adds(&mut self, answer: &Answer) -> Option<u64> {
        None
    }
    /// A look-up finds its line.
    fn found(&mut self, place: usize) {}
    /// A look-up misses; the line goes to a place, or to none, and the request for it comes next.
    fn missed(&mut self, place: Option<usize>) {}
    /// A read of the other half of a line follows; says whether it is still one request with the first.
    fn joins(&mut self) -> bool {
        true
    }
    /// A look-up was done, and the next one follows.
    fn next(&mut self) {}
    /// So many look-ups, one at least, find what this access has looked up before.
    fn again(&mut self, count: u64) {}
    /// Look-ups follow each other; some of the first, or none, may be done here, in place of what the other methods are told of them.
    fn quick(&mut self, steps: &mut impl Steps) {}
    /// A read of a line arrives at a channel of the L2 and finds all there; what was noted of it.
    fn read(&mut self, channel: usize, line: u64, noted: u64) {}
    /// Any other request arrives at the L2; what is returned is noted of the line at its place until the dispatch ends.
    fn request(&mut self, answer: &Answer) -> Option<u64> {
        None
    }
    /// A line is asked for by the scalar cache, or is there.
    fn scalar(&mut self, place: Option<usize>, hit: bool) {}
}

/// Follows nothing.
impl Follow for () {}

/// Pages whose translation is there.
#[derive(Clone, Debug)]
enum Pages {
    Some(Cache),
    /// Nobody knows how many there can be: all.
    All(HashSet<u64>),
}

/// The parts an access passes behind the L1.
pub(crate) struct Path<'a, F> {
    pub(crate) shape: &'a Shape,
    pub(crate) places: &'a Places,
    pub(crate) l2: &'a mut L2,
    pub(crate) guesses: &'a mut Guesses,
    pub(crate) before: &'a mut Before,
    pub(crate) follow: &'a mut F,
}

impl<F: Follow> Path<'_, F> {
    /// Sends a request to the L2; where the line is then.
    pub(crate) fn send(&mut self, request: Request) -> Option<usize> {
        let at = self.l2.seek(request.line);
        self.send_to(request, &at)
    }

    /// The same where it is known where the line belongs.
    pub(crate) fn send_to(&mut self, request: Request, at: &At) -> Option<usize> {
        let answer = self.l2.request(request, at);
        if let Some(note) = self.follow.request(&answer)
            && let Some(place) = answer.place
        {
            self.l2.note(place, note);
        }
        answer.place
    }

    /// A read joins another of the same line; what it wants besides comes with it.
    pub(crate) fn join(&mut self, line: u64, touched: u8, local: bool) {
        if let Some(answer) = self.l2.join(line, touched, local)
            && let Some(note) = self.follow.adds(&answer)
            && let Some(place) = answer.place
        {
            self.l2.note(place, note);
        }
    }
}

/// How far an access has come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Page of the last look-up, which is translated.
    page: Option<u64>,
    /// Line of the L2 that was asked for last.
    merged: Option<u64>,
    open: Option<Open>,
    /// The translation of the look-up at hand is counted.
    counted: bool,
    /// The look-up at hand, and how many times all were done.
    next: u32,
    times: u32,
    /// Look-ups were in several pages.
    turned: bool,
}

/// Bytes under way to the L2: stores and atomics of look-ups in a row that lie in one block.
#[derive(Clone, Copy, Debug)]
struct Open {
    block: u64,
    touched: u8,
    full: u8,
}

impl VectorL1 {
    pub(crate) fn new(shape: &Shape) -> VectorL1 {
        let (sets, ways) = shape.l1;
        let pages = match shape.translations {
            Some(entries) => Pages::Some(Cache::new(1, entries)),
            None => Pages::All(HashSet::new()),
        };
        VectorL1 {
            cache: Cache::new(sets, ways),
            sets: sets as u64 - 1,
            asks: Asks::new(shape),
            pages,
            last: None,
            pending: 0,
        }
    }

    /// What happens at the start of a dispatch.
    pub(crate) fn restart(&mut self, keep_lines: bool, keep_pages: bool) {
        if !keep_lines {
            self.cache.clear();
        }
        if !keep_pages {
            self.last = None;
            match &mut self.pages {
                Pages::Some(cache) => cache.clear(),
                Pages::All(pages) => pages.clear(),
            }
        }
        self.pending = 0;
    }

    /// Look-ups of an access at a block of the L2's lines, as many as can be done; says whether all are. If not, it comes again.
    #[inline]
    pub(crate) fn look_ups<F: Follow>(
        &mut self,
        access: &Shared<'_>,
        block: u64,
        progress: &mut Progress,
        path: &mut Path<'_, F>,
    ) -> bool {
        let (policy, lookups) = (access.policy, access.lookups);
        loop {
            if !self.once(policy, lookups, block, progress, path) {
                return false;
            }
            progress.next = 0;
            progress.times += 1;
            let left = u64::from(access.times.saturating_sub(progress.times));
            if left == 0 {
                return true;
            }
            // What was looked up is there, was used last and in this order, and its translation with it.
            if lookups.len() <= path.shape.l1.1 && !policy.stream && !progress.turned {
                let each: u64 = lookups.iter().map(|it| 1 + it.more()).sum();
                self.again(left * each, path);
                return true;
            }
        }
    }

    /// The look-ups of an access, each once.
    #[inline]
    fn once<F: Follow>(
        &mut self,
        policy: Policy,
        lookups: &[Lookup],
        block: u64,
        progress: &mut Progress,
        path: &mut Path<'_, F>,
    ) -> bool {
        let per_block = path.shape.l2_line >> path.shape.l1_line.trailing_zeros();
        let pages = (path.shape.fragment >> path.shape.l1_line.trailing_zeros()).max(1).trailing_zeros();
        let base = block.wrapping_mul(per_block);
        let loads = policy.kind == Kind::Load && !policy.bypass;
        loop {
            let first = progress.next as usize;
            let Some(&lookup) = lookups.get(first) else { return true };
            let line = base.wrapping_add_signed(lookup.line());
            let page = line >> pages;
            if progress.page != Some(page) && !self.turn_to(page, progress, path) {
                return false;
            }
            // The short way of most: loads of a page that is translated.
            if loads && self.pending == 0 && !progress.counted {
                let (sets, asks, merged) = (self.sets, &mut self.asks, &mut progress.merged);
                let stream = policy.stream;
                let run = Run { lookups, first, base, page, pages, sets, stream, merged, asks, path };
                let Ran { done, lookups, held_up } = self.cache.with(run);
                path.before.add(Count::TranslationHit, lookups);
                progress.next += done as u32;
                if held_up {
                    return false;
                }
                continue;
            }
            if !self.look_up(policy, lookup, line, progress, path) {
                return false;
            }
            path.follow.next();
            progress.next += 1;
            if loads && lookup.more() > 0 {
                // A line that was to go first is used again.
                if policy.stream
                    && let Some(place) = self.cache.peek((line & self.sets) as usize, line)
                {
                    self.cache.touch(place);
                }
                self.again(lookup.more(), path);
            }
        }
    }

    /// So many look-ups find what was looked up before, by the same access.
    #[inline]
    fn again<F: Follow>(&mut self, count: u64, path: &mut Path<'_, F>) {
        let uncounted = count.min(u64::from(self.pending));
        self.pending -= uncounted as u32;
        path.before.add(Count::TranslationHit, count - uncounted);
        path.follow.again(count);
    }

    /// The next look-up is in another page than the one before; says whether it can go on at once.
    #[inline]
    fn turn_to<F: Follow>(&mut self, page: u64, progress: &mut Progress, path: &mut Path<'_, F>) -> bool {
        progress.turned |= progress.page.is_some();
        progress.page = Some(page);
        let hit = self.translated(page);
        if !hit {
            path.before.add(Count::TranslationMiss, 1);
            self.pending = path.shape.translation_pending;
            progress.counted = true;
        }
        path.follow.page(page, hit)
    }

    /// A look-up whose page is translated, or its translation is what was waited for; says whether it could be done.
    fn look_up<F: Follow>(
        &mut self,
        policy: Policy,
        lookup: Lookup,
        line: u64,
        progress: &mut Progress,
        path: &mut Path<'_, F>,
    ) -> bool {
        let set = (line & self.sets) as usize;
        let place = self.cache.peek(set, line);
        let brings = policy.kind == Kind::Load && !policy.bypass && place.is_none();
        let victim = if brings { Some(self.cache.oldest(set)) } else { None };
        if victim.is_some() && !path.follow.room(self.asks.joins(line, progress.merged, path.shape)) {
            return false;
        }
        if std::mem::take(&mut progress.counted) {
        } else if self.pending > 0 {
            self.pending -= 1;
        } else {
            path.before.add(Count::TranslationHit, 1);
        }
        match policy.kind {
            Kind::Load => {
                let base = line.wrapping_add_signed(-lookup.line());
                let which = (line, base, progress.next as usize);
                self.load(policy, which, (place, victim), &mut progress.merged, path);
            }
            _ => self.store(policy, line, place, lookup, &mut progress.open, path),
        }
        true
    }

    /// Whether a page is translated; from now on it is.
    fn translated(&mut self, page: u64) -> bool {
        if self.last == Some(page) {
            return true;
        }
        self.last = Some(page);
        match &mut self.pages {
            Pages::Some(cache) => {
                let hit = cache.find(0, page).is_some();
                if !hit {
                    cache.fill(0, page, false);
                }
                hit
            }
            Pages::All(pages) => !pages.insert(page),
        }
    }

    #[inline]
    fn load<F: Follow>(
        &mut self,
        policy: Policy,
        which: (u64, u64, usize),
        (place, victim): (Option<usize>, Option<usize>),
        merged: &mut Option<u64>,
        path: &mut Path<'_, F>,
    ) {
        if let Some(place) = place {
            self.cache.touch(place);
            if !policy.bypass {
                path.follow.found(place);
                return;
            }
        }
        if let Some(victim) = victim {
            self.cache.put(victim, which.0, policy.stream);
        }
        path.follow.missed(place.or(victim));
        self.asks.read(which, None, policy.stream, merged, path);
    }

    fn store<F: Follow>(
        &mut self,
        policy: Policy,
        line: u64,
        place: Option<usize>,
        lookup: Lookup,
        open: &mut Option<Open>,
        path: &mut Path<'_, F>,
    ) {
        match place {
            Some(place) if policy.kind != Kind::Store => self.cache.remove(place),
            Some(place) => self.cache.touch(place),
            // A line that is not written whole does not stay.
            None if policy.kind == Kind::Store
                && path.shape.store_allocates
                && lookup.full() == lookup.touched() =>
            {
                let set = (line & self.sets) as usize;
                self.cache.fill(set, line, policy.stream);
            }
            None => {}
        }
        let shape = path.shape;
        let per_write = (shape.l1_write / shape.sector) as u32;
        let mask = ((1u32 << per_write) - 1) as u8;
        let blocks = (shape.l1_line / shape.l1_write).max(1);
        for number in 0..blocks {
            let shift = number as u32 * per_write;
            let (touched, full) = (lookup.touched() >> shift & mask, lookup.full() >> shift & mask);
            if touched == 0 {
                continue;
            }
            let block = line.wrapping_mul(blocks).wrapping_add(number);
            match open {
                Some(same) if same.block == block => {
                    same.touched |= touched;
                    same.full |= full;
                }
                _ => {
                    send(policy, open.take(), path);
                    *open = Some(Open { block, touched, full });
                }
            }
        }
    }

    /// An access has made all its look-ups.
    pub(crate) fn end<F: Follow>(policy: Policy, progress: &mut Progress, path: &mut Path<'_, F>) {
        send(policy, progress.open.take(), path);
    }
}

/// Sends a store or atomic on.
fn send<F: Follow>(policy: Policy, open: Option<Open>, path: &mut Path<'_, F>) {
    let Some(Open { block, touched, full }) = open else { return };
    let shape = path.shape;
    let address = block.wrapping_mul(shape.l1_write);
    let (memory, local) = path.places.of(address);
    let (count, want) = match policy.kind {
        Kind::Load => return,
        Kind::Store => (Count::L1Write, Want::Write),
        Kind::Atomic => (Count::L1Atomic, Want::Atomic),
        Kind::AtomicReturn => (Count::L1AtomicReturn, Want::Atomic),
    };
    path.before.add(count, 1);
    path.before.add(by_type(want, memory), 1);
    let shift = (address & (shape.l2_line - 1)) >> shape.sector.trailing_zeros();
    let request = Request {
        want,
        line: address >> shape.l2_line.trailing_zeros(),
        touched: touched << shift,
        full: full << shift,
        memory,
        local,
        stream: policy.stream,
    };
    path.send(request);
}

#[inline]
pub(crate) fn by_type(want: Want, memory: MemoryType) -> Count {
    match (want, memory) {
        (Want::Read, MemoryType::Rw) => Count::L1ReadRw,
        (Want::Read, MemoryType::Nc) => Count::L1ReadNc,
        (Want::Read, MemoryType::Cc) => Count::L1ReadCc,
        (Want::Read, MemoryType::Uc) => Count::L1ReadUc,
        (Want::Write, MemoryType::Rw) => Count::L1WriteRw,
        (Want::Write, MemoryType::Nc) => Count::L1WriteNc,
        (Want::Write, MemoryType::Cc) => Count::L1WriteCc,
        (Want::Write, MemoryType::Uc) => Count::L1WriteUc,
        (Want::Atomic, MemoryType::Rw) => Count::L1AtomicRw,
        (Want::Atomic, MemoryType::Nc) => Count::L1AtomicNc,
        (Want::Atomic, MemoryType::Cc) => Count::L1AtomicCc,
        (Want::Atomic, MemoryType::Uc) => Count::L1AtomicUc,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{Grain, gather, lookups};
    use crate::{Caches, Policy};
    use arch::Model;

    /// Counts look-ups as they pass.
    #[derive(Default, PartialEq, Debug)]
    struct Passed {
        looked_up: u64,
        missed: u64,
        found: u64,
        /// Every so many look-ups wait once.
        holds: u64,
    }

    impl Follow for Passed {
        fn page(&mut self, _: u64, hit: bool) -> bool {
            hit
        }
        fn room(&mut self, _: bool) -> bool {
            self.holds += 1;
            !self.holds.is_multiple_of(7)
        }
        fn found(&mut self, _: usize) {
            self.found += 1;
        }
        fn missed(&mut self, _: Option<usize>) {
            self.missed += 1;
        }
        fn next(&mut self) {
            self.looked_up += 1;
        }
        fn again(&mut self, count: u64) {
            self.found += count;
            self.looked_up += count;
        }
    }

    #[test]
    fn gathered_look_ups_come_to_the_same() {
        for model in ["mi210", "mi300x"] {
            let shape = Shape::of(Model::by_name(model).unwrap());
            let grain = Grain { line: shape.l1_line, sector: shape.sector };
            let run = |gathered: bool| {
                let (mut caches, mut passed, mut state) = (Caches::new(&shape), Passed::default(), 3u64);
                let mut entries = 0;
                caches.begin(Vec::new(), Vec::new());
                for _ in 0..3000 {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1442);
                    // Rows far and near, as many as there are ways or fewer, some over the end of a page.
                    let stride = [8, 24, 512, 1 << 13, 1 << 16][(state >> 33) as usize % 5];
                    let period = [1, 4, 16, 63, 64][(state >> 40) as usize % 5];
                    let first = (state >> 50) % 64 * 0x8000;
                    let addresses = std::array::from_fn(|lane| first + lane as u64 % period * stride);
                    let mut found = Vec::new();
                    lookups(grain, &addresses, u64::MAX, 8, 0, &mut found);
                    let times = if gathered { gather(&mut found, 0) } else { 1 };
                    if !gathered {
                        // As entries of one look-up each.
                        found = found
                            .iter()
                            .flat_map(|&it| {
                                let mut one = vec![it];
                                gather(&mut one, 0);
                                one
                            })
                            .collect();
                    }
                    entries += found.len();
                    let policy = Policy { stream: state >> 60 == 0, ..Policy::plain(Kind::Load) };
                    let shared = Shared { slot: 0, policy, lookups: &found, times };
                    let mut progress = Progress::default();
                    while !caches.look_ups((0, 0), (&shared, 0), &mut progress, &mut passed) {}
                    caches.end(0, policy, &mut progress, &mut passed);
                }
                (entries, passed, caches.finish(&[], false, |_, _| {}))
            };
            let (one_by_one, gathered) = (run(false), run(true));
            assert!(2 * gathered.0 < one_by_one.0, "{} {}", gathered.0, one_by_one.0);
            assert_eq!((gathered.1, gathered.2), (one_by_one.1, one_by_one.2), "{model}");
        }
    }
}
