//! Sets of lines with the line used longest ago replaced first.
//!
//! The one idea to keep in mind: a line is a number; which set it belongs to is the caller's business, and so is what
//! else there is to know about a place.

use crate::wide::{WAYS, Wide};

/// No line. Lines are kept with all bits turned over, so that an empty cache is memory that nobody has written.
const EMPTY: u64 = 0;

/// A cache's tags.
#[derive(Clone, Debug)]
pub struct Cache {
    ways: usize,
    tags: Vec<u64>,
    used: Vec<u32>,
    clock: u32,
    /// Sets of many ways, in place of all the others.
    wide: Option<Wide>,
}

/// Where a line went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Filled {
    /// Place of the line.
    pub place: usize,
    /// The line that was there.
    pub evicted: Option<u64>,
}

impl Cache {
    /// An empty cache.
    pub fn new(sets: usize, ways: usize) -> Cache {
        let (sets, ways) = (sets.max(1), ways.max(1));
        let wide = (ways == WAYS).then(|| Wide::new(sets));
        let places = if wide.is_some() { 0 } else { sets * ways };
        Cache { ways, tags: vec![EMPTY; places], used: vec![0; places], clock: 0, wide }
    }

    /// Places of all sets.
    pub fn places(&self) -> usize {
        self.wide.as_ref().map_or(self.tags.len(), Wide::places)
    }

    /// The line at a place.
    pub fn line(&self, place: usize) -> u64 {
        self.wide.as_ref().map_or_else(|| !self.tags[place], |wide| wide.line(place))
    }

    /// Forgets all lines.
    pub fn clear(&mut self) {
        self.tags.fill(EMPTY);
        self.used.fill(0);
        self.clock = 0;
        self.wide.iter_mut().for_each(Wide::clear);
    }

    /// The place of a line that is there.
    #[inline]
    pub fn peek(&self, set: usize, line: u64) -> Option<usize> {
        let tag = !line;
        if let Some(wide) = &self.wide {
            return wide.peek(set, line);
        }
        let first = set * self.ways;
        let tags = &self.tags[first..first + self.ways];
        // In blocks: a search that may end at every tag is not vectorised.
        for (block, tags) in tags.chunks(8).enumerate() {
            if tags.iter().fold(false, |found, &it| found | (it == tag)) {
                let at = tags.iter().position(|&it| it == tag)?;
                return Some(first + 8 * block + at);
            }
        }
        None
    }

    /// The place of a line that is there; it counts as used.
    #[inline]
    pub fn find(&mut self, set: usize, line: u64) -> Option<usize> {
        let place = self.peek(set, line)?;
        self.touch(place);
        Some(place)
    }

    /// The same where the line at the place `guess` may be it; that is then a guess for the next line.
    #[inline]
    pub(crate) fn find_guessed(&mut self, set: usize, line: u64, guess: &mut usize) -> Option<usize> {
        match &mut self.wide {
            Some(wide) => wide.find_guessed(set, line, guess),
            None => self.find(set, line),
        }
    }

    /// The place of a set whose line goes next.
    pub fn oldest(&self, set: usize) -> usize {
        if let Some(wide) = &self.wide {
            return wide.oldest(set);
        }
        let first = set * self.ways;
        let used = &self.used[first..first + self.ways];
        let oldest = used.iter().fold(u32::MAX, |oldest, &used| oldest.min(used));
        first + used.iter().position(|&used| used == oldest).unwrap_or(0)
    }

    /// The line at a place counts as used.
    #[inline]
    pub fn touch(&mut self, place: usize) {
        match &mut self.wide {
            Some(wide) => wide.touch(place),
            None => self.used[place] = self.now(),
        }
    }

    /// Puts in a line that is not there. One that is to go first counts as used longest ago.
    pub fn fill(&mut self, set: usize, line: u64, goes_first: bool) -> Filled {
        let place = self.oldest(set);
        self.put(place, line, goes_first)
    }

    /// Puts a line at a place.
    pub fn put(&mut self, place: usize, line: u64, goes_first: bool) -> Filled {
        if let Some(wide) = &mut self.wide {
            return wide.put(place, line, goes_first);
        }
        let evicted = Some(self.tags[place]).filter(|&tag| tag != EMPTY).map(|tag| !tag);
        self.tags[place] = !line;
        self.used[place] = if goes_first { 1 } else { self.now() };
        Filled { place, evicted }
    }

    /// Throws out the line at a place.
    pub fn remove(&mut self, place: usize) {
        if let Some(wide) = &mut self.wide {
            return wide.remove(place);
        }
        self.tags[place] = EMPTY;
        self.used[place] = 0;
    }

    /// A moment later than all before; 0 is an empty place, 1 one that goes first.
    fn now(&mut self) -> u32 {
        if self.clock == u32::MAX {
            // Once in billions of uses: who was used when is forgotten.
            self.used.iter_mut().zip(&self.tags).for_each(|(used, &tag)| *used = u32::from(tag != EMPTY));
            self.clock = 1;
        }
        self.clock = self.clock.max(1) + 1;
        self.clock
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_used_longest_ago_goes() {
        let mut cache = Cache::new(2, 2);
        assert_eq!(cache.fill(1, 10, false), Filled { place: 2, evicted: None });
        assert_eq!(cache.fill(1, 11, false).place, 3);
        assert!(cache.find(1, 10).is_some() && cache.find(0, 10).is_none());
        assert_eq!(cache.fill(1, 12, false), Filled { place: 3, evicted: Some(11) });
        // A line that is to go first does, though it came last.
        assert_eq!(cache.fill(1, 13, true).evicted, Some(10));
        assert_eq!(cache.fill(1, 14, false).evicted, Some(13));
        cache.remove(3);
        assert_eq!(cache.fill(1, 15, false), Filled { place: 3, evicted: None });
    }

    #[test]
    fn the_clock_starts_again() {
        let mut cache = Cache::new(1, 2);
        cache.clock = u32::MAX - 1;
        cache.fill(0, 1, false);
        cache.fill(0, 2, false);
        assert!(cache.find(0, 1).is_some());
        assert_eq!(cache.fill(0, 3, false).evicted, Some(2));
    }

    #[test]
    fn sets_of_many_ways_keep_the_same_lines() {
        let mut wide = Cache::new(4, WAYS);
        let places = wide.places();
        assert!(wide.wide.is_some() && places == 4 * WAYS);
        let mut narrow =
            Cache { ways: WAYS, tags: vec![EMPTY; places], used: vec![0; places], clock: 0, wide: None };
        let (mut state, mut guess) = (1u64, 0);
        for step in 0..200_000u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1442);
            let line = (state >> 33) % (5 * WAYS as u64);
            let set = (line % 4) as usize;
            assert_eq!(wide.peek(set, line), narrow.peek(set, line));
            assert_eq!(wide.oldest(set), narrow.oldest(set), "step {step}");
            let found = [wide.find_guessed(set, line, &mut guess), narrow.find(set, line)];
            assert_eq!(found[0], found[1], "step {step}");
            match found[0] {
                Some(place) if state >> 60 == 0 => {
                    wide.remove(place);
                    narrow.remove(place);
                }
                Some(place) if state >> 60 == 1 => {
                    wide.touch(place);
                    narrow.touch(place);
                }
                None => {
                    let goes_first = state >> 59 & 1 == 0;
                    let filled = wide.fill(set, line, goes_first);
                    assert_eq!(filled, narrow.fill(set, line, goes_first));
                    assert_eq!([wide.line(filled.place), narrow.line(filled.place)], [line; 2]);
                }
                _ => {}
            }
            if state >> 50 == 0 {
                wide.clear();
                narrow.clear();
            }
        }
    }
}
