//! Vector L1 of a compute unit, with its address translation.
//!
//! The vector L1 writes through. A store updates lines that hit and allocates lines it covers fully, so
//! stores evict lines of loads.

use crate::access::{AccessKind, Lookup, Policy};
use crate::access_patterns::VectorAccess;
use crate::backend::{Backend, by_memory_type};
use crate::cache::Cache;
use crate::count::Count;
use crate::l1_miss_path::L1MissPath;
use crate::l2::{L2Request, RequestType};
use crate::load_run::{LoadRun, LoadRunEnd};
use crate::shape::Shape;
use crate::timing::Timing;
use crate::translations::Translation;
use std::collections::HashSet;

/// A vector L1.
#[derive(Clone, Debug)]
pub(crate) struct VectorL1 {
    cache: Cache,
    /// Bits of a line that select its set.
    sets: u64,
    miss_path: L1MissPath,
    pages: Pages,
    /// Page of the last translation, as [`Page::key`] has it.
    last_page: Option<u64>,
    /// Remaining look-ups behind a translation miss, which are not counted.
    uncounted_lookups: u32,
    /// An access came in this dispatch.
    pub(crate) used: bool,
}

/// Translated pages.
#[derive(Clone, Debug)]
enum Pages {
    Some(Cache),
    /// The number of entries is unknown: keeps all.
    All(HashSet<u64>),
}

/// Progress of an access.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Page of the last look-up, as [`Page::key`] has it.
    page: Option<u64>,
    /// L2 line requested last.
    last_l2_line: Option<u64>,
    open_write: Option<OpenWrite>,
    /// The translation of the current look-up has been counted.
    translation_counted: bool,
    /// Index of the current look-up, and repetitions done.
    next: u32,
    times: u32,
    /// The look-ups span several pages.
    crossed_page: bool,
}

/// A page of a look-up.
#[derive(Clone, Copy)]
struct Page {
    number: u64,
    /// Lines of a page, as a power of two.
    shift: u32,
    /// Small pages and fragments may have one number, and differ in this.
    key: u64,
}

/// A write request being assembled from consecutive look-ups of one block.
#[derive(Clone, Copy, Debug)]
struct OpenWrite {
    block: u64,
    touched: u8,
    full: u8,
    /// For an atomic: the largest number of earlier lanes that update the address of a lane.
    repeats: u32,
}

/// Page of a line.
#[inline]
fn page_of<F>(line: u64, backend: &Backend<'_, F>) -> Page {
    let (shape, line_bits) = (backend.shape, backend.shape.l1_line.trailing_zeros());
    let is_small = backend.memory_owner.is_in_small_page(line << line_bits);
    let bytes = if is_small { shape.small_page } else { shape.fragment };
    let shift = (bytes >> line_bits).max(1).trailing_zeros();
    let number = line >> shift;
    Page { number, shift, key: number << 1 | u64::from(is_small) }
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
            miss_path: L1MissPath::new(shape),
            pages,
            last_page: None,
            uncounted_lookups: 0,
            used: false,
        }
    }

    /// Begins a dispatch.
    pub(crate) fn restart(&mut self, keep_lines: bool, keep_pages: bool) {
        self.used = false;
        if !keep_lines {
            self.cache.clear();
        }
        if !keep_pages {
            self.last_page = None;
            match &mut self.pages {
                Pages::Some(cache) => cache.clear(),
                Pages::All(pages) => pages.clear(),
            }
        }
        self.uncounted_lookups = 0;
    }

    /// Looks up the lines of an access, counted from a block of L2 lines. Returns false if the access is
    /// suspended; a later call continues.
    #[inline]
    pub(crate) fn look_up_access<F: Timing>(
        &mut self,
        access: &VectorAccess<'_>,
        block: u64,
        progress: &mut Progress,
        backend: &mut Backend<'_, F>,
    ) -> bool {
        let (policy, lookups) = (access.policy, access.lookups);
        loop {
            if !self.look_up_each(policy, lookups, block, progress, backend) {
                return false;
            }
            progress.next = 0;
            progress.times += 1;
            let left = u64::from(access.times.saturating_sub(progress.times));
            if left == 0 {
                return true;
            }
            // A repetition hits: its lines are the most recently used ones, in this order.
            if lookups.len() <= backend.shape.l1.1 && !policy.stream && !progress.crossed_page {
                let each: u64 = lookups.iter().map(|it| 1 + it.more()).sum();
                self.count_repeats(left * each, backend);
                return true;
            }
        }
    }

    /// Does one repetition of an access's look-ups.
    #[inline]
    fn look_up_each<F: Timing>(
        &mut self,
        policy: Policy,
        lookups: &[Lookup],
        block: u64,
        progress: &mut Progress,
        backend: &mut Backend<'_, F>,
    ) -> bool {
        let per_block = backend.shape.l2_line >> backend.shape.l1_line.trailing_zeros();
        let base = block.wrapping_mul(per_block);
        let loads = policy.kind == AccessKind::Load && !policy.bypass;
        loop {
            let first = progress.next as usize;
            let Some(&lookup) = lookups.get(first) else { return true };
            let line = base.wrapping_add_signed(lookup.line());
            let page = page_of(line, backend);
            if progress.page != Some(page.key) && !self.enter_page(page, progress, backend) {
                return false;
            }
            // Fast path: loads in a translated page.
            if loads && self.uncounted_lookups == 0 && !progress.translation_counted {
                let (miss_path, last_l2_line) = (&mut self.miss_path, &mut progress.last_l2_line);
                let stream = policy.stream;
                let (page_shift, set_mask) = (page.shift, self.sets);
                let run = LoadRun {
                    lookups,
                    first,
                    base,
                    page: page.number,
                    page_shift,
                    set_mask,
                    stream,
                    last_l2_line,
                    miss_path,
                    backend,
                };
                let LoadRunEnd { done, lookups, held_up } = self.cache.with(run);
                backend.front_counts.add(Count::TranslationHit, lookups);
                progress.next += done as u32;
                if held_up {
                    return false;
                }
                continue;
            }
            if !self.look_up(policy, lookup, line, progress, backend) {
                return false;
            }
            backend.timing.next_lookup();
            progress.next += 1;
            if loads && lookup.more() > 0 {
                // The second use of a streamed line makes it most recently used.
                if policy.stream
                    && let Some(place) = self.cache.peek((line & self.sets) as usize, line)
                {
                    self.cache.touch(place);
                }
                self.count_repeats(lookup.more(), backend);
            }
        }
    }

    /// Counts look-ups that hit lines looked up before by the same access.
    #[inline]
    fn count_repeats<F: Timing>(&mut self, count: u64, backend: &mut Backend<'_, F>) {
        let uncounted = count.min(u64::from(self.uncounted_lookups));
        self.uncounted_lookups -= uncounted as u32;
        backend.front_counts.add(Count::TranslationHit, count - uncounted);
        backend.timing.repeat(count);
    }

    /// Translates the page of the next look-up; false suspends the access.
    #[inline]
    fn enter_page<F: Timing>(
        &mut self,
        page: Page,
        progress: &mut Progress,
        backend: &mut Backend<'_, F>,
    ) -> bool {
        progress.crossed_page |= progress.page.is_some();
        progress.page = Some(page.key);
        let mut found = Translation::Unit;
        if !self.translated(page.key) {
            let bytes = backend.shape.l1_line << page.shift;
            found = backend.translations.find(page.number, bytes, backend.shape);
            backend.front_counts.add(Count::TranslationMiss, 1);
            self.uncounted_lookups = backend.shape.translation_pending;
            progress.translation_counted = true;
        }
        backend.timing.translate(page.key, found)
    }

    /// Does a look-up in a translated page; false without a free MSHR.
    fn look_up<F: Timing>(
        &mut self,
        policy: Policy,
        lookup: Lookup,
        line: u64,
        progress: &mut Progress,
        backend: &mut Backend<'_, F>,
    ) -> bool {
        let set = (line & self.sets) as usize;
        let place = self.cache.peek(set, line);
        let allocates = policy.kind == AccessKind::Load && !policy.bypass && place.is_none();
        let victim = if allocates { Some(self.cache.lru(set)) } else { None };
        if victim.is_some()
            && !backend.timing.has_mshr(self.miss_path.merges(line, progress.last_l2_line, backend.shape))
        {
            return false;
        }
        if std::mem::take(&mut progress.translation_counted) {
        } else if self.uncounted_lookups > 0 {
            self.uncounted_lookups -= 1;
        } else {
            backend.front_counts.add(Count::TranslationHit, 1);
        }
        match policy.kind {
            AccessKind::Load => {
                let base = line.wrapping_add_signed(-lookup.line());
                let which = (line, base, progress.next as usize);
                self.load(policy, which, (place, victim), &mut progress.last_l2_line, backend);
            }
            _ => self.store(policy, (line, place), lookup, &mut progress.open_write, backend),
        }
        true
    }

    /// True if a page is translated; inserts the page.
    fn translated(&mut self, page: u64) -> bool {
        if self.last_page == Some(page) {
            return true;
        }
        self.last_page = Some(page);
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
    fn load<F: Timing>(
        &mut self,
        policy: Policy,
        which: (u64, u64, usize),
        (place, victim): (Option<usize>, Option<usize>),
        last_l2_line: &mut Option<u64>,
        backend: &mut Backend<'_, F>,
    ) {
        if let Some(place) = place {
            self.cache.touch(place);
            if !policy.bypass {
                backend.timing.hit(place);
                return;
            }
        }
        if let Some(victim) = victim {
            self.cache.put(victim, which.0, policy.stream);
        }
        backend.timing.miss(place.or(victim));
        self.miss_path.read(which, None, policy.stream, last_l2_line, backend);
    }

    fn store<F: Timing>(
        &mut self,
        policy: Policy,
        (line, place): (u64, Option<usize>),
        lookup: Lookup,
        open_write: &mut Option<OpenWrite>,
        backend: &mut Backend<'_, F>,
    ) {
        match place {
            Some(place) if policy.kind != AccessKind::Store => self.cache.remove(place),
            Some(place) => self.cache.touch(place),
            // A line that a store covers only partly is not allocated.
            None if policy.kind == AccessKind::Store
                && backend.shape.store_allocates
                && lookup.full() == lookup.touched() =>
            {
                let set = (line & self.sets) as usize;
                self.cache.fill(set, line, policy.stream);
            }
            None => {}
        }
        let shape = backend.shape;
        let per_write = (shape.l1_write / shape.sector) as u32;
        let mask = ((1u32 << per_write) - 1) as u8;
        let blocks = (shape.l1_line / shape.l1_write).max(1);
        let (is_atomic, repeats) = match policy.kind {
            AccessKind::Atomic | AccessKind::AtomicReturn => (true, lookup.repeats()),
            AccessKind::Load | AccessKind::Store => (false, 0),
        };
        for number in 0..blocks {
            let shift = number as u32 * per_write;
            let full = if is_atomic { 0 } else { lookup.full() >> shift & mask };
            let touched = lookup.touched() >> shift & mask;
            if touched == 0 {
                continue;
            }
            let block = line.wrapping_mul(blocks).wrapping_add(number);
            match open_write {
                Some(same) if same.block == block => {
                    same.repeats = same.repeats.max(repeats);
                    same.touched |= touched;
                    same.full |= full;
                }
                _ => {
                    send(policy, open_write.take(), backend);
                    *open_write = Some(OpenWrite { block, touched, full, repeats });
                }
            }
        }
    }

    /// Ends an access after its last look-up.
    pub(crate) fn end<F: Timing>(policy: Policy, progress: &mut Progress, backend: &mut Backend<'_, F>) {
        send(policy, progress.open_write.take(), backend);
    }
}

/// Sends a store or atomic to the L2.
fn send<F: Timing>(policy: Policy, open_write: Option<OpenWrite>, backend: &mut Backend<'_, F>) {
    let Some(OpenWrite { block, touched, full, repeats }) = open_write else { return };
    let shape = backend.shape;
    let address = block.wrapping_mul(shape.l1_write);
    let (memory, local) = backend.memory_owner.of(address);
    let (count, request_type) = match policy.kind {
        AccessKind::Load => return,
        AccessKind::Store => (Count::L1Write, RequestType::Write),
        AccessKind::Atomic => (Count::L1Atomic, RequestType::Atomic),
        AccessKind::AtomicReturn => (Count::L1AtomicReturn, RequestType::Atomic),
    };
    backend.front_counts.add(count, 1);
    backend.front_counts.add(by_memory_type(request_type, memory), 1);
    let shift = (address & (shape.l2_line - 1)) >> shape.sector.trailing_zeros();
    let request = L2Request {
        request_type,
        line: address >> shape.l2_line.trailing_zeros(),
        touched: touched << shift,
        full: full << shift,
        memory,
        local,
        stream: policy.stream,
        repeats,
    };
    backend.send(request);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{LineSizes, gather, lookups};
    use crate::{Acquire, Caches, Policy};
    use arch::Model;

    /// Counts look-ups as they pass.
    #[derive(Default, PartialEq, Debug)]
    struct Passed {
        looked_up: u64,
        missed: u64,
        found: u64,
        /// One of this many look-ups waits once.
        holds: u64,
    }

    impl Timing for Passed {
        fn translate(&mut self, _: u64, found: Translation) -> bool {
            found == Translation::Unit
        }
        fn has_mshr(&mut self, _: bool) -> bool {
            self.holds += 1;
            !self.holds.is_multiple_of(7)
        }
        fn hit(&mut self, _: usize) {
            self.found += 1;
        }
        fn miss(&mut self, _: Option<usize>) {
            self.missed += 1;
        }
        fn next_lookup(&mut self) {
            self.looked_up += 1;
        }
        fn repeat(&mut self, count: u64) {
            self.found += count;
            self.looked_up += count;
        }
    }

    #[test]
    fn batched_lookups_give_the_same_result() {
        for model in ["mi210", "mi300x"] {
            let shape = Shape::of(Model::by_name(model).unwrap());
            let line_sizes = LineSizes { line: shape.l1_line, sector: shape.sector };
            let run = |gathered: bool| {
                let (mut caches, mut passed, mut state) = (Caches::new(&shape), Passed::default(), 3u64);
                let mut entries = 0;
                caches.begin(Vec::new(), Vec::new(), Vec::new(), Acquire::Recorded);
                for _ in 0..3000 {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1442);
                    // Rows far and near, as many as there are ways or fewer, some over the end of a page.
                    let stride = [8, 24, 512, 1 << 13, 1 << 16][(state >> 33) as usize % 5];
                    let period = [1, 4, 16, 63, 64][(state >> 40) as usize % 5];
                    let first = (state >> 50) % 64 * 0x8000;
                    let addresses = std::array::from_fn(|lane| first + lane as u64 % period * stride);
                    let mut found = Vec::new();
                    lookups::<false>(line_sizes, &addresses, u64::MAX, 8, 0, &mut found);
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
                    let policy = Policy { stream: state >> 60 == 0, ..Policy::plain(AccessKind::Load) };
                    let vector_access = VectorAccess { slot: 0, policy, lookups: &found, times };
                    let mut progress = Progress::default();
                    while !caches.look_up_access((0, 0), (&vector_access, 0), &mut progress, &mut passed) {}
                    caches.end(0, policy, &mut progress, &mut passed);
                }
                (entries, passed, caches.finish(&[], false, |_, _, _| {}))
            };
            let (one_by_one, gathered) = (run(false), run(true));
            assert!(2 * gathered.0 < one_by_one.0, "{} {}", gathered.0, one_by_one.0);
            assert_eq!((gathered.1, gathered.2), (one_by_one.1, one_by_one.2), "{model}");
        }
    }

    #[test]
    fn translations_of_small_pages_cover_less() {
        let shape = Shape::of(Model::by_name("mi300a").unwrap());
        let line_sizes = LineSizes { line: shape.l1_line, sector: shape.sector };
        let misses = |small_pages: Vec<std::ops::Range<u64>>, stride: u64| {
            let mut caches = Caches::new(&shape);
            caches.begin(Vec::new(), Vec::new(), small_pages, Acquire::Recorded);
            let addresses = std::array::from_fn(|lane| (1 << 30) + lane as u64 * stride);
            let mut found = Vec::new();
            lookups::<false>(line_sizes, &addresses, u64::MAX, 8, 0, &mut found);
            let policy = Policy::plain(AccessKind::Load);
            let access = VectorAccess { slot: 0, policy, lookups: &found, times: 1 };
            assert!(caches.look_up_access((0, 0), (&access, 0), &mut Progress::default(), &mut ()));
            caches.finish(&[], false, |_, _, _| {}).get(Count::TranslationMiss)
        };
        // 64 lanes over 256 KiB, and over 64 fragments.
        for (stride, large, small) in [(4096, 1, 64), (1024, 1, 16), (2 << 20, 64, 64)] {
            let range = 1 << 30..(1 << 30) + 64 * stride;
            assert_eq!((misses(Vec::new(), stride), misses(vec![range], stride)), (large, small), "{stride}");
        }
        // The first half is in small pages.
        let half = 1 << 30..(1 << 30) + 32 * 4096;
        assert_eq!(misses(vec![half], 4096), 32 + 1);
    }
}
