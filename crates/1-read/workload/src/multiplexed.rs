//! Record of which dispatches recorded which counters.

use crate::model::Counter;
use std::collections::{BTreeMap, BTreeSet};

/// Counters that each dispatch recorded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Multiplexed {
    /// Set of counters that a dispatch recorded.
    pub(crate) set_of: Vec<u32>,
    /// Sets that a counter is in, by name and instance.
    pub(crate) sets_with: BTreeMap<String, BTreeMap<Option<u32>, Members>>,
}

impl Multiplexed {
    /// Whether a dispatch recorded a counter; otherwise its value is the mean of others.
    pub fn recorded(&self, counter: &Counter, row: usize) -> bool {
        let sets = self.sets_with.get(&counter.name).and_then(|it| it.get(&counter.instance));
        match (counter.run.is_none(), sets, self.set_of.get(row)) {
            (true, Some(sets), Some(set)) => sets.contains(*set as usize),
            _ => true,
        }
    }

    /// Number of sets of counters.
    pub fn sets(&self) -> usize {
        self.set_of.iter().collect::<BTreeSet<_>>().len()
    }
}

/// Numbers that are in a set, one bit each.
#[derive(PartialEq, Eq, Hash, Clone, Default, Debug)]
pub(crate) struct Members(pub(crate) Vec<u64>);

impl Members {
    pub(crate) fn contains(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }
    pub(crate) fn insert(&mut self, at: usize) {
        self.0.resize(self.0.len().max(at / 64 + 1), 0);
        self.0[at / 64] |= 1 << (at % 64);
    }
    pub(crate) fn union(&mut self, other: &Members) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }
    pub(crate) fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
    pub(crate) fn without(&self, other: &Members) -> u32 {
        let of = |at: usize| other.0.get(at).copied().unwrap_or(0);
        self.0.iter().enumerate().map(|(at, word)| (word & !of(at)).count_ones()).sum()
    }
}
