//! Look-ups of a load that stay in one translated page, the most common ones.
//!
//! Most of the time of a long dispatch is spent here. Checks that hold for the whole page are done once, and
//! look-ups of one set whose lines hit the L2 are batched for [`Timing::fast_path`].

use crate::access::Lookup;
use crate::backend::{Backend, by_memory_type};
use crate::cache::{Ways, With};
use crate::l1_miss_path::{L1MissPath, LineParts};
use crate::l2::{FastRead, L2Location, ReadHit, RequestType};
use crate::place_predictor::short;
use crate::sets64;
use crate::timing::{FastPath, HIT, L1_WAYS, MshrSlots, TagLookup, Timing};
use arch::MemoryType;

/// Look-ups of a load in a translated page.
pub(crate) struct LoadRun<'a, 'p, F> {
    /// All look-ups of the access.
    pub(crate) lookups: &'a [Lookup],
    /// Index of the next look-up.
    pub(crate) first: usize,
    /// L1 line from which look-ups count.
    pub(crate) base: u64,
    pub(crate) page: u64,
    /// L1 lines of a page, as a power of two.
    pub(crate) page_shift: u32,
    /// Bits of a line that select its set.
    pub(crate) set_mask: u64,
    /// Lines are filled to be evicted first.
    pub(crate) stream: bool,
    /// L2 line requested last.
    pub(crate) last_l2_line: &'a mut Option<u64>,
    pub(crate) miss_path: &'a mut L1MissPath,
    pub(crate) backend: &'a mut Backend<'p, F>,
}

/// Progress of a run.
pub(crate) struct LoadRunEnd {
    /// Entries of the list that are done.
    pub(crate) done: usize,
    /// Look-ups in those entries.
    pub(crate) lookups: u64,
    /// The next look-up needs an MSHR, and none is free. Otherwise the page or the list has ended.
    pub(crate) held_up: bool,
}

/// A run as the fast path sees it.
struct SetLoads<'a> {
    sets: &'a mut [sets64::Set],
    state: LoadState<'a>,
}

/// State of a run besides the sets of the vector L1.
struct LoadState<'a> {
    lookups: &'a [Lookup],
    /// Index of the first look-up of the batch, and of the next one.
    first: usize,
    next: usize,
    base: u64,
    page: u64,
    page_shift: u32,
    set_mask: u64,
    /// L2 line requested last, a second read of which merges; all ones if reads do not merge.
    last_l2_line: u64,
    /// All ones if reads do not merge, otherwise 0.
    unmerged_mask: u64,
    /// L1 lines in an L2 line, as a power of two.
    l2_shift: u32,
    parts: LineParts,
    predicted_places: &'a mut [u16; L1_WAYS],
    results: &'a mut [TagLookup; L1_WAYS],
    l2: FastRead<'a>,
    /// Location of the line that missed in the L2 and ended the batch.
    at: Option<L2Location>,
    /// Look-ups of lines that were looked up just before.
    repeats: u64,
    misses: u64,
}

impl FastPath for SetLoads<'_> {
    #[inline(never)]
    fn lookups_in_set(&mut self, mut mshrs: MshrSlots<'_>) -> Option<(usize, &[TagLookup])> {
        let SetLoads { sets, state } = self;
        let line = state.line()?;
        let number = (line & state.set_mask) as usize;
        let in_page = line >> state.page_shift == state.page;
        let set = sets.get_mut(number).filter(|set| in_page && set.is_full())?;
        // Lines of one page and set agree in these bits.
        let fixed_bits = u64::MAX << state.page_shift | state.set_mask;
        let (start, fixed_bits) = (state.next, (fixed_bits, line & fixed_bits));
        while state.next < start + L1_WAYS
            && let Some(line) = state.line().filter(|line| line & fixed_bits.0 == fixed_bits.1)
        {
            let is_cyclic = set.was_last_evicted(line) && mshrs.has_mshr();
            if !(is_cyclic && state.cyclic_misses(set, fixed_bits, start, &mut mshrs)
                || state.look_up(set, line, start, &mut mshrs))
            {
                break;
            }
        }
        let results = state.results.get(..state.next - start).filter(|results| !results.is_empty())?;
        Some((number, results))
    }

    #[inline(always)]
    fn lookups_and_misses(&self) -> [u64; 2] {
        [self.state.done() as u64 + self.state.repeats, self.state.misses]
    }
}

impl LoadState<'_> {
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

    /// Does look-ups of a cyclic pattern with one line more than the set has ways: each misses the line
    /// evicted last, and hits the predicted place of the L2. Returns whether there were any.
    #[inline(never)]
    fn cyclic_misses(
        &mut self,
        set: &mut sets64::Set,
        (fixed_bits, same): (u64, u64),
        start: usize,
        mshrs: &mut MshrSlots<'_>,
    ) -> bool {
        let LoadState { next, base, unmerged_mask, l2_shift, parts, .. } = *self;
        let (mut last_l2_line, mut now, mut repeats, mut count) = (self.last_l2_line, mshrs.now, 0, 0);
        let results = self.results.get_mut(next - start..).unwrap_or_default().iter_mut();
        let lookups = self.lookups.get(next..).unwrap_or_default();
        let mut set = set.cyclic();
        let mut l2 = self.l2.last();
        for (((result, lookup), &free), &predicted) in
            results.zip(lookups).zip(mshrs.free).zip(&self.predicted_places[next % L1_WAYS..])
        {
            let line = base.wrapping_add_signed(lookup.line());
            let l2_line = line >> l2_shift;
            if line & fixed_bits != same
                || !set.was_last_evicted(line)
                || l2_line == last_l2_line
                || free > now
            {
                break;
            }
            let hit = l2.read_hit(l2_line, usize::from(predicted), parts.of(line));
            let Some(ReadHit { channel, noted }) = hit else {
                break;
            };
            let way = set.replace(line);
            *result = TagLookup { way: way as u8, channel: channel as u8, more: lookup.more() as u8, noted };
            last_l2_line = l2_line | unmerged_mask;
            now += mshrs.each;
            repeats += lookup.more();
            count += 1;
        }
        drop(set);
        (self.last_l2_line, self.repeats) = (last_l2_line, self.repeats + repeats);
        self.next += count;
        self.misses += count as u64;
        mshrs.take(count);
        count > 0
    }

    /// Does one look-up; false if it needs the slow path.
    #[inline(always)]
    fn look_up(&mut self, set: &mut sets64::Set, line: u64, start: usize, mshrs: &mut MshrSlots<'_>) -> bool {
        let Some(more) = self.lookups.get(self.next).map(|lookup| lookup.more()) else { return false };
        let result = match set.find_predicted(line) {
            Some(way) => TagLookup { way: way as u8, channel: HIT, more: more as u8, noted: 0 },
            None => {
                let l2_line = line >> self.l2_shift;
                if l2_line == self.last_l2_line || !mshrs.has_mshr() {
                    return false;
                }
                let predicted = &mut self.predicted_places[self.next % L1_WAYS];
                let sectors = self.parts.of(line);
                let hit = self.l2.read_hit(l2_line, usize::from(*predicted), sectors);
                let ReadHit { channel, noted } = match hit {
                    Some(hit) => hit,
                    None => match self.l2.find(l2_line, sectors) {
                        Ok((place, hit)) => {
                            *predicted = short(place);
                            hit
                        }
                        Err(at) => {
                            self.at = Some(at);
                            return false;
                        }
                    },
                };
                self.last_l2_line = l2_line | self.unmerged_mask;
                self.misses += 1;
                mshrs.take(1);
                TagLookup { way: set.replace(line) as u8, channel: channel as u8, more: more as u8, noted }
            }
        };
        self.results[(self.next - start) % L1_WAYS] = result;
        self.next += 1;
        self.repeats += more;
        true
    }
}

impl<F: Timing> With for LoadRun<'_, '_, F> {
    type Out = LoadRunEnd;

    #[inline]
    fn sets(mut self, sets: &mut impl Ways) -> LoadRunEnd {
        let (page_shift, line_bits) = (self.page_shift, self.miss_path.line_bits);
        let start = self.page << (page_shift + line_bits);
        let end = start | !(u64::MAX << (page_shift + line_bits));
        let is_plain = self.backend.memory_owner.all_local(start, end) && !self.stream;
        let mut reads = 0;
        let mut ran = LoadRunEnd { done: 0, lookups: 0, held_up: false };
        let mut batches = is_plain;
        loop {
            let mut at = None;
            // A batch of one look-up is not worth its set-up.
            if batches
                && self.first + ran.done + 1 < self.lookups.len()
                && let Some(sets) = sets.sets64()
            {
                at = self.batch(sets, &mut ran, &mut reads);
            }
            let Some(lookup) = self.lookups.get(self.first + ran.done) else { break };
            let line = self.base.wrapping_add_signed(lookup.line());
            if line >> page_shift != self.page {
                break;
            }
            let Some(l2_has_line) = self.look_up(sets, line, self.first + ran.done, at) else {
                ran.held_up = true;
                break;
            };
            // Lines that the L2 lacks come in rows.
            batches = is_plain && l2_has_line;
            self.backend.timing.next_lookup();
            let more = lookup.more();
            if more > 0 {
                // The second use of a streamed line makes it most recently used.
                if self.stream {
                    let _ = sets.find_or_lru((line & self.set_mask) as usize, line);
                }
                self.backend.timing.repeat(more);
            }
            ran.done += 1;
            ran.lookups += 1 + more;
        }
        self.backend.front_counts.add(by_memory_type(RequestType::Read, MemoryType::Rw), reads);
        ran
    }
}

impl<F: Timing> LoadRun<'_, '_, F> {
    /// Offers the next look-ups to the fast path. Adds those done to `ran` and the misses to `reads`; returns
    /// the location of an L2 line that ended the batch.
    #[inline(always)]
    fn batch(
        &mut self,
        sets: &mut [sets64::Set],
        ran: &mut LoadRunEnd,
        reads: &mut u64,
    ) -> Option<L2Location> {
        let unmerged_mask = if self.backend.shape.merges_reads { 0 } else { u64::MAX };
        let l2 = self.backend.l2.fast_read();
        let (predicted_places, results) = self.backend.predictor.row(self.base);
        let state = LoadState {
            lookups: self.lookups,
            first: self.first + ran.done,
            next: self.first + ran.done,
            base: self.base,
            page: self.page,
            page_shift: self.page_shift,
            set_mask: self.set_mask,
            last_l2_line: self.last_l2_line.map_or(u64::MAX, |line| line | unmerged_mask),
            unmerged_mask,
            l2_shift: self.miss_path.l2_shift,
            parts: self.miss_path.parts,
            predicted_places,
            results,
            l2,
            at: None,
            repeats: 0,
            misses: 0,
        };
        let mut loads = SetLoads { sets, state };
        self.backend.timing.fast_path(&mut loads);
        let [done, misses] = loads.lookups_and_misses();
        let state = loads.state;
        ran.done += state.done();
        ran.lookups += done;
        *reads += misses;
        if misses > 0 {
            *self.last_l2_line = Some(state.last_l2_line);
        }
        state.at
    }

    /// Does look-up `number` on the slow path: true if the vector L1 or the L2 has the line, `None` without a
    /// free MSHR.
    #[inline(always)]
    fn look_up(
        &mut self,
        sets: &mut impl Ways,
        line: u64,
        number: usize,
        at: Option<L2Location>,
    ) -> Option<bool> {
        let LoadRun { base, stream, last_l2_line, miss_path, backend, .. } = self;
        match sets.find_or_lru((line & self.set_mask) as usize, line) {
            Ok(place) => {
                backend.timing.hit(place);
                Some(true)
            }
            Err(victim) => {
                if !backend.timing.has_mshr(miss_path.merges(line, **last_l2_line, backend.shape)) {
                    return None;
                }
                sets.put_at(victim, line, *stream);
                backend.timing.miss(Some(victim));
                Some(miss_path.read((line, *base, number), at, *stream, last_l2_line, backend))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{AccessKind, LineSizes, gather, load_lookups, lookups};
    use crate::access_patterns::VectorAccess;
    use crate::shape::Shape;
    use crate::vector_l1::Progress;
    use crate::{Acquire, Caches, Policy};
    use arch::Model;

    /// Notes what becomes of look-ups; some wait once for their place.
    #[derive(Default, PartialEq, Debug)]
    struct Noted {
        quick: bool,
        /// Look-ups that were done quickly.
        fast: u64,
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

    impl Timing for Noted {
        fn hit(&mut self, place: usize) {
            self.note(place, 1);
        }
        fn miss(&mut self, place: Option<usize>) {
            self.place = place;
        }
        fn merges(&mut self) -> bool {
            self.place = None;
            true
        }
        fn l2_hit(&mut self, channel: usize, _: u64, noted: u64) {
            let place = self.place.take().unwrap_or(0);
            self.note(place, 2 + channel as u64 + noted);
        }
        fn l2_request(&mut self, answer: &crate::L2Answer) -> Option<u64> {
            let place = self.place.take().unwrap_or(0);
            // What a read that finds all it wants comes to is the same whichever way it went.
            let here = answer.hit && answer.read == 0;
            let more = if here { 2 + answer.channel as u64 + answer.noted } else { 1 };
            self.note(place, more);
            (!here).then_some(self.done % 1000)
        }
        fn next_lookup(&mut self) {
            self.done += 1;
        }
        fn repeat(&mut self, count: u64) {
            self.done += count;
        }
        fn fast_path(&mut self, steps: &mut impl FastPath) {
            if !self.quick {
                return;
            }
            let free = [0, 2, 4, 0, 7, 8];
            while let Some((set, results)) =
                steps.lookups_in_set(MshrSlots { free: &free, now: self.done % 5, each: 2 })
            {
                for look_up in results {
                    let noted = look_up.noted.max(0) as u64;
                    let hit = if look_up.channel == HIT { 1 } else { 2 + u64::from(look_up.channel) + noted };
                    self.note(set * L1_WAYS + usize::from(look_up.way), hit);
                    let all = 1 + u64::from(look_up.more);
                    self.done += all;
                    self.fast += all;
                }
            }
        }
    }

    #[test]
    fn the_fast_path_gives_the_same_result() {
        for model in ["mi210", "mi300x"] {
            let shape = Shape::of(Model::by_name(model).unwrap());
            let line_sizes = LineSizes { line: shape.l1_line, sector: shape.sector };
            let run = |quick: bool| {
                let (mut caches, mut noted) = (Caches::new(&shape), Noted { quick, ..Noted::default() });
                let mut state = 5u64;
                caches.begin(Vec::new(), Vec::new(), Vec::new(), Acquire::Recorded);
                for _ in 0..20_000 {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1442);
                    // Rows of lines that come round again, one more than there is room for among them; and a
                    // few stores.
                    let stride = [4, 64, 256, 1 << 13, 1 << 15][(state >> 33) as usize % 5];
                    let first = (state >> 50) % 8 * 0x4_0000 + (state >> 45) % 4 * 32;
                    let addresses = std::array::from_fn(|lane| first + lane as u64 * stride);
                    let kind = if state >> 59 == 0 { AccessKind::Store } else { AccessKind::Load };
                    let (policy, mut found) = (Policy::plain(kind), Vec::new());
                    let times = match kind {
                        AccessKind::Load => {
                            load_lookups(line_sizes, &addresses, u64::MAX, 4, 0, &mut found);
                            gather(&mut found, 0)
                        }
                        _ => {
                            lookups::<false>(line_sizes, &addresses, u64::MAX, 4, 0, &mut found);
                            1
                        }
                    };
                    let vector_access = VectorAccess { slot: 0, policy, lookups: &found, times };
                    let mut progress = Progress::default();
                    let unit = (0, (state >> 20) as usize % 2);
                    while !caches.look_up_access(unit, (&vector_access, 0), &mut progress, &mut noted) {}
                    caches.end(0, policy, &mut progress, &mut noted);
                }
                (noted, caches.finish(&[], false, |_, _, _| {}))
            };
            let (slow, quick) = (run(false), run(true));
            assert!(quick.0.fast > quick.0.done / 3, "{model}: {} of {}", quick.0.fast, quick.0.done);
            assert_eq!((slow.0.done, slow.0.sum), (quick.0.done, quick.0.sum), "{model}");
            assert_eq!(slow.1, quick.1, "{model}");
        }
    }
}
