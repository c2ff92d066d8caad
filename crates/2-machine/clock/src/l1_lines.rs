//! Lines, MSHRs and translations of a compute unit's vector L1.

use std::collections::HashMap;

/// Number of recorded arrivals of translations from which past ones are removed.
const MOST_KEPT: usize = 1 << 12;

/// Arrival cycles of a compute unit's lines and translations, and its MSHRs.
#[derive(Clone, Debug)]
pub(crate) struct L1Lines {
    /// By place in the vector L1: arrival cycle of the line.
    pub(crate) ready: Vec<u64>,
    /// Ring of MSHRs: cycle at which waves have the answer of each; `first` is the oldest.
    pub(crate) mshr_free_at: Vec<u64>,
    pub(crate) first: usize,
    pub(crate) pages: HashMap<u64, u64>,
    /// Latest arrival of a translation.
    pub(crate) translated: u64,
    /// Ring of outstanding translations and its next entry; empty for no limit.
    next_translation: usize,
    translation_done_at: Vec<u64>,
    /// An access used the vector L1 since the dispatch began.
    pub(crate) used: bool,
}

impl L1Lines {
    pub(crate) fn new(places: usize, mshr_free_at: usize, translating: Option<usize>) -> L1Lines {
        let translation_done_at = vec![0; translating.unwrap_or(0)];
        let mshr_free_at = vec![0; mshr_free_at.max(1)];
        L1Lines {
            ready: vec![0; places],
            mshr_free_at,
            first: 0,
            pages: HashMap::new(),
            translated: 0,
            next_translation: 0,
            translation_done_at,
            used: false,
        }
    }

    /// Cycle at which an MSHR is free; the vector L1 has an answer `before` cycles earlier than the wave.
    #[inline]
    pub(crate) fn free(&self, before: u64) -> u64 {
        self.mshr_free_at[self.first].saturating_sub(before)
    }

    /// Takes the oldest MSHR for a request answered at a cycle.
    #[inline]
    pub(crate) fn fill_arrives(&mut self, back: u64) {
        self.mshr_free_at[self.first] = back;
        self.first = if self.first + 1 < self.mshr_free_at.len() { self.first + 1 } else { 0 };
    }

    /// Delays the answer of the newest request.
    pub(crate) fn delay_last_fill(&mut self, back: u64) {
        let last = self.first.checked_sub(1).unwrap_or(self.mshr_free_at.len() - 1);
        self.mshr_free_at[last] = self.mshr_free_at[last].max(back);
    }

    /// Cycle at which a translation wanted at `cycle` can be requested.
    pub(crate) fn translation_start(&mut self, cycle: u64) -> u64 {
        match self.translation_done_at.get(self.next_translation) {
            Some(&before) => cycle.max(before),
            None => cycle,
        }
    }

    /// Records at cycle `now` when a page's translation arrives.
    pub(crate) fn translation_done(&mut self, page: u64, arrives: u64, now: u64) {
        if self.pages.len() >= MOST_KEPT {
            self.pages.retain(|_, there| *there > now);
        }
        self.pages.insert(page, arrives);
        self.translated = self.translated.max(arrives);
        if let Some(place) = self.translation_done_at.get_mut(self.next_translation) {
            *place = arrives;
            self.next_translation = (self.next_translation + 1) % self.translation_done_at.len();
        }
    }

    /// A word to touch so that the next look-up's data is prefetched.
    pub(crate) fn prefetch_word(&self) -> u64 {
        self.translated
    }

    /// Begins a dispatch at cycle 0. A small dispatch uses few compute units, and the lines of the others stay as they are.
    pub(crate) fn begin(&mut self) {
        if !std::mem::take(&mut self.used) {
            return;
        }
        self.ready.fill(0);
        self.mshr_free_at.fill(0);
        self.pages.clear();
        (self.translated, self.next_translation) = (0, 0);
        self.translation_done_at.fill(0);
    }
}
