//! Strategies without a model.

use super::{Propose, Told};
use crate::random::Random;
use crate::space::{Id, Space};
use std::collections::HashSet;
use std::sync::Arc;

/// Draws without success after which the configurations are walked.
const DRAWS: usize = 32;

/// In random order.
#[derive(Debug)]
pub(super) struct Shuffled {
    random: Random,
    space: Arc<Space>,
    rejected: Arc<HashSet<Id>>,
    taken: HashSet<Id>,
}

impl Shuffled {
    pub(super) fn new(space: &Arc<Space>, seed: u64, rejected: Arc<HashSet<Id>>) -> Shuffled {
        Shuffled { random: Random::new(seed), space: space.clone(), rejected, taken: HashSet::new() }
    }
}

impl Propose for Shuffled {
    fn propose(&mut self) -> Option<Id> {
        let free = |it: &Id| !self.taken.contains(it) && !self.rejected.contains(it);
        let drawn = (0..DRAWS).map(|_| self.space.random(&mut self.random)).find(free);
        drawn.or_else(|| {
            // Few are left: the next free one after a random place.
            let start = self.space.random(&mut self.random);
            (start..self.space.len()).chain(0..start).find(free)
        })
    }

    fn proposed(&mut self, id: Id) {
        self.taken.insert(id);
    }

    fn learn(&mut self, _: Told) {}
}

/// All, in their order.
#[derive(Debug)]
pub(super) struct InOrder {
    next: Id,
    end: Id,
    rejected: Arc<HashSet<Id>>,
    taken: HashSet<Id>,
}

impl InOrder {
    pub(super) fn new(space: &Space, rejected: Arc<HashSet<Id>>) -> InOrder {
        InOrder { next: 0, end: space.len(), rejected, taken: HashSet::new() }
    }
}

impl Propose for InOrder {
    fn propose(&mut self) -> Option<Id> {
        let next = (self.next..self.end).find(|it| !self.taken.contains(it) && !self.rejected.contains(it));
        self.next = next.unwrap_or(self.end);
        next
    }

    fn proposed(&mut self, id: Id) {
        self.taken.insert(id);
    }

    fn learn(&mut self, _: Told) {}
}
