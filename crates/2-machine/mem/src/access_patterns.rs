//! Access patterns: the repeating parts of streams.
//!
//! Each pattern is stored once; streams hold its index.

use crate::access::{Lookup, Policy};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Most repetitions of a pattern's look-ups: a lane has at most two.
pub(crate) const MOST_TIMES: u32 = 128;

/// Pattern of a vector access.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct AccessPattern {
    /// Range of its look-ups in the batch's list, and their repetitions.
    pub(crate) start: u32,
    pub(crate) count: u32,
    pub(crate) times: u32,
    /// Look-ups of the access, repetitions included.
    pub(crate) all: u32,
    /// Index of its memory instruction.
    pub(crate) slot: u32,
    pub(crate) policy: Policy,
}

/// A vector access without its address.
#[derive(Clone, Copy, Debug)]
pub struct VectorAccess<'a> {
    /// Number of its memory instruction.
    pub slot: u32,
    /// Cache policy.
    pub policy: Policy,
    /// Look-ups, relative to the access's block.
    pub lookups: &'a [Lookup],
    /// Repetitions of the look-ups.
    pub times: u32,
}

/// Access patterns of a batch.
#[derive(PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct AccessPatterns {
    pub(crate) patterns: Vec<AccessPattern>,
    pub(crate) lookups: Vec<Lookup>,
    /// Runs of consecutive instructions: the first, and their number.
    pub(crate) runs: Vec<(u32, u32)>,
    /// Accesses of the LDS.
    pub(crate) lds: Vec<LdsAccess>,
}

/// LDS accesses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct LdsAccess {
    /// Number of its memory instruction.
    pub slot: u32,
    /// Cycles of the access.
    pub cycles: u32,
    /// Cycles lost to bank conflicts.
    pub conflicts: u32,
}

impl AccessPatterns {
    /// The vector access of a pattern.
    #[inline]
    pub fn get(&self, number: usize) -> Option<VectorAccess<'_>> {
        let pattern = self.patterns.get(number)?;
        let (start, count) = (pattern.start as usize, pattern.count as usize);
        let lookups = self.lookups.get(start..start + count)?;
        Some(VectorAccess { slot: pattern.slot, policy: pattern.policy, lookups, times: pattern.times })
    }

    /// A run of consecutive instructions: the first, and their number.
    #[inline]
    pub fn run(&self, number: usize) -> (u32, u32) {
        self.runs.get(number).copied().unwrap_or((0, 0))
    }

    /// An LDS access.
    #[inline]
    pub fn lds(&self, number: usize) -> LdsAccess {
        self.lds.get(number).copied().unwrap_or_default()
    }

    /// True if all indices are in range, for a program with this many instructions.
    pub(crate) fn are_valid(&self, instructions: usize) -> bool {
        let inside = |start: u32, count: u32, all: usize| start as usize + count as usize <= all;
        let pattern = |pattern: &AccessPattern| {
            inside(pattern.start, pattern.count, self.lookups.len()) && pattern.times <= MOST_TIMES
        };
        self.patterns.iter().all(pattern)
            && self.runs.iter().all(|&(first, count)| inside(first, count, instructions))
    }

    /// Memory of the patterns, bytes.
    pub fn bytes(&self) -> usize {
        self.patterns.len() * size_of::<AccessPattern>()
            + self.lookups.len() * size_of::<Lookup>()
            + self.runs.len() * size_of::<(u32, u32)>()
            + self.lds.len() * size_of::<LdsAccess>()
    }
}

/// Interner of list entries. Most entries equal the last one with the same key.
#[derive(Debug)]
pub(crate) struct Interner<T> {
    /// By key: index of the last entry plus one.
    last: Vec<u32>,
    all: HashMap<T, u32>,
}

impl<T> Default for Interner<T> {
    fn default() -> Interner<T> {
        Interner { last: Vec::new(), all: HashMap::new() }
    }
}

impl<T: Copy + Eq + std::hash::Hash> Interner<T> {
    /// Index of an entry, which is added to the list if absent.
    #[inline]
    pub(crate) fn of(&mut self, list: &mut Vec<T>, place: usize, entry: T) -> u32 {
        if let Some(number) = self.last.get(place).and_then(|last| last.checked_sub(1))
            && list.get(number as usize) == Some(&entry)
        {
            return number;
        }
        self.find(list, place, entry)
    }

    fn find(&mut self, list: &mut Vec<T>, place: usize, entry: T) -> u32 {
        if self.last.len() <= place {
            self.last.resize(place + 1, 0);
        }
        let number = *self.all.entry(entry).or_insert_with(|| {
            list.push(entry);
            list.len() as u32 - 1
        });
        self.last[place] = number + 1;
        number
    }
}
