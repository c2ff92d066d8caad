//! Advice on ranges of memory, which is kept and told: memory does not move here, so it changes nothing else.

use crate::codes::Code;
use std::collections::BTreeMap;

/// No place, and the host, as programs number them.
pub(crate) const NOWHERE: i32 = -2;
pub(crate) const HOST: i32 = -1;

/// Kinds of advice.
const SET_READ_MOSTLY: u32 = 1;
const UNSET_READ_MOSTLY: u32 = 2;
const SET_PREFERRED: u32 = 3;
const UNSET_PREFERRED: u32 = 4;
const SET_ACCESSED: u32 = 5;
const UNSET_ACCESSED: u32 = 6;
const SET_COARSE: u32 = 100;
const UNSET_COARSE: u32 = 101;

/// Attributes of ranges.
const READ_MOSTLY: u32 = 1;
const PREFERRED: u32 = 2;
const ACCESSED: u32 = 3;
const PREFETCHED: u32 = 4;
const COHERENCY: u32 = 100;

/// Coherency of memory, as programs read it: fine-grained, coarse-grained, different.
const FINE: i32 = 0;
const COARSE: i32 = 1;
const MIXED: i32 = 2;

const PAGE: usize = 4096;

/// Advice on a page.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Known {
    is_read_mostly: bool,
    preferred: i32,
    accessed: Vec<i32>,
    prefetched: i32,
    is_coarse: bool,
}

impl Default for Known {
    fn default() -> Known {
        Known {
            is_read_mostly: false,
            preferred: NOWHERE,
            accessed: Vec::new(),
            prefetched: NOWHERE,
            is_coarse: false,
        }
    }
}

/// Ranges of pages: from each address to the next the same is known.
#[derive(Debug, Default)]
pub(crate) struct Advice {
    ranges: BTreeMap<usize, Known>,
}

impl Advice {
    /// Makes a range begin at an address.
    fn split(&mut self, at: usize) {
        let known = self.ranges.range(..=at).next_back().map(|it| it.1.clone()).unwrap_or_default();
        self.ranges.insert(at, known);
    }

    /// Ranges of the pages of some bytes.
    fn pages(&mut self, address: usize, bytes: usize) -> impl Iterator<Item = &mut Known> {
        let start = address / PAGE * PAGE;
        let end = address.saturating_add(bytes).next_multiple_of(PAGE);
        self.split(start);
        self.split(end);
        self.ranges.range_mut(start..end).map(|it| it.1)
    }

    /// Keeps advice; `place` is a GPU or the host.
    pub(crate) fn advise(
        &mut self,
        address: usize,
        bytes: usize,
        advice: u32,
        place: i32,
    ) -> Result<(), Code> {
        for known in self.pages(address, bytes) {
            match advice {
                SET_READ_MOSTLY | UNSET_READ_MOSTLY => known.is_read_mostly = advice == SET_READ_MOSTLY,
                SET_PREFERRED => known.preferred = place,
                UNSET_PREFERRED => known.preferred = NOWHERE,
                SET_ACCESSED if known.accessed.contains(&place) => {}
                SET_ACCESSED => known.accessed.push(place),
                UNSET_ACCESSED => known.accessed.retain(|it| *it != place),
                SET_COARSE | UNSET_COARSE => known.is_coarse = advice == SET_COARSE,
                _ => return Err(Code::hipErrorInvalidValue),
            }
        }
        Ok(())
    }

    /// Notes where pages were wanted last.
    pub(crate) fn prefetch(&mut self, address: usize, bytes: usize, place: i32) {
        self.pages(address, bytes).for_each(|it| it.prefetched = place);
    }

    /// An attribute of the pages of some bytes: numbers, as many as there is room for. What differs is not told.
    pub(crate) fn attribute(
        &mut self,
        address: usize,
        bytes: usize,
        attribute: u32,
        room: usize,
    ) -> Result<Vec<i32>, Code> {
        let all: Vec<Known> = self.pages(address, bytes).map(|it| it.clone()).collect();
        let first = all.first().cloned().unwrap_or_default();
        let same = |of: fn(&Known) -> i32, otherwise: i32| {
            if all.iter().all(|it| of(it) == of(&first)) { of(&first) } else { otherwise }
        };
        if attribute != ACCESSED && room != 1 {
            return Err(Code::hipErrorInvalidValue);
        }
        Ok(match attribute {
            READ_MOSTLY => vec![i32::from(all.iter().all(|it| it.is_read_mostly))],
            PREFERRED => vec![same(|it| it.preferred, NOWHERE)],
            PREFETCHED => vec![same(|it| it.prefetched, NOWHERE)],
            COHERENCY => vec![same(|it| if it.is_coarse { COARSE } else { FINE }, MIXED)],
            ACCESSED => {
                let common =
                    first.accessed.iter().filter(|it| all.iter().all(|one| one.accessed.contains(it)));
                common.copied().chain(std::iter::repeat(NOWHERE)).take(room).collect()
            }
            _ => return Err(Code::hipErrorInvalidValue),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_holds_for_the_pages_it_was_given_for() {
        let mut advice = Advice::default();
        let base = 16 * PAGE;
        advice.advise(base, 4 * PAGE, SET_PREFERRED, 1).unwrap();
        advice.advise(base + PAGE + 5, PAGE, SET_READ_MOSTLY, 0).unwrap();
        for place in [0, HOST, 0] {
            advice.advise(base, 2 * PAGE, SET_ACCESSED, place).unwrap();
        }
        advice.prefetch(base, PAGE, HOST);
        let mut ask = |at, bytes, attribute, room| advice.attribute(base + at, bytes, attribute, room);
        for (at, bytes, attribute, room, expected) in [
            (0, 4 * PAGE, PREFERRED, 1, Ok(vec![1])),
            (0, 5 * PAGE, PREFERRED, 1, Ok(vec![NOWHERE])),
            (PAGE, 2 * PAGE, READ_MOSTLY, 1, Ok(vec![1])),
            (0, 2 * PAGE, READ_MOSTLY, 1, Ok(vec![0])),
            (0, PAGE, ACCESSED, 3, Ok(vec![0, HOST, NOWHERE])),
            (0, 3 * PAGE, ACCESSED, 1, Ok(vec![NOWHERE])),
            (9, 1, PREFETCHED, 1, Ok(vec![HOST])),
            (0, PAGE, COHERENCY, 1, Ok(vec![FINE])),
            (0, PAGE, PREFERRED, 2, Err(Code::hipErrorInvalidValue)),
            (0, PAGE, 7, 1, Err(Code::hipErrorInvalidValue)),
        ] {
            assert_eq!(ask(at, bytes, attribute, room), expected, "{at} {bytes} {attribute}");
        }
        advice.advise(base, 4 * PAGE, UNSET_PREFERRED, 0).unwrap();
        advice.advise(base, PAGE, UNSET_ACCESSED, 0).unwrap();
        assert_eq!(advice.attribute(base, PAGE, PREFERRED, 1), Ok(vec![NOWHERE]));
        assert_eq!(advice.attribute(base, PAGE, ACCESSED, 1), Ok(vec![HOST]));
    }
}
