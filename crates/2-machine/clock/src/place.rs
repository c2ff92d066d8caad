//! Where workgroups run.
//!
//! The one idea to keep in mind: workgroups go round the XCDs, in an XCD round its shader engines, in an engine round its
//! compute units, always to the next one that has room; an engine starts one wave after the other.

use mem::Shape;
use std::ops::Range;

/// A shader engine of an XCD.
#[derive(Clone, Debug)]
struct Engine {
    /// Its compute units, counted in the XCD.
    units: Range<usize>,
    /// The unit that gets its next workgroup, counted in the engine.
    next: usize,
    /// Cycle at which it can start a wave.
    free: u64,
}

/// The places of an XCD.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    engines: Vec<Engine>,
    /// The engine that gets the next workgroup.
    next: usize,
    /// Workgroups of each compute unit.
    resident: Vec<u32>,
    /// Places that are taken.
    pub(crate) taken: usize,
    /// Since when all are, while a workgroup waits.
    pub(crate) full: Option<u64>,
}

impl Places {
    pub(crate) fn new(shape: &Shape) -> Places {
        let mut first = 0;
        let engines = shape.engines.iter().map(|&count| {
            first += count;
            Engine { units: first - count..first, next: 0, free: 0 }
        });
        let engines = engines.collect();
        Places { engines, next: 0, resident: vec![0; shape.compute_units()], taken: 0, full: None }
    }

    /// A dispatch begins, with the first engine and its first unit, as it does with the first XCD: what ran before does not move
    /// a workgroup. Engines have unequal numbers of units, so that as many workgroups as units would otherwise not always find one each.
    pub(crate) fn begin(&mut self) {
        self.resident.fill(0);
        (self.taken, self.next) = (0, 0);
        self.full = None;
        self.engines.iter_mut().for_each(|engine| (engine.next, engine.free) = (0, 0));
    }

    /// Whether no compute unit holds fewer than `most`.
    pub(crate) fn are_taken(&self, most: u32) -> bool {
        self.taken >= self.resident.len() * most as usize
    }

    /// A compute unit for the next workgroup, if one holds fewer than `most`; with its engine.
    pub(crate) fn find(&mut self, most: u32) -> Option<(usize, usize)> {
        if self.are_taken(most) {
            return None;
        }
        let count = self.engines.len();
        let (number, unit) = (0..count).map(|step| (self.next + step) % count).find_map(|number| {
            let engine = &self.engines[number];
            let units = engine.units.len();
            let unit = (0..units)
                .map(|step| (engine.next + step) % units)
                .find(|unit| self.resident[engine.units.start + unit] < most)?;
            Some((number, unit))
        })?;
        self.next = (number + 1) % count;
        let engine = &mut self.engines[number];
        engine.next = (unit + 1) % engine.units.len();
        let unit = engine.units.start + unit;
        self.resident[unit] += 1;
        self.taken += 1;
        Some((number, unit))
    }

    /// When an engine starts the next wave.
    pub(crate) fn start(&mut self, engine: usize, now: u64, cycles: u64) -> u64 {
        let start = self.engines[engine].free.max(now);
        self.engines[engine].free = start + cycles;
        start
    }

    /// An engine starts no wave for some cycles: those of a workgroup have started.
    pub(crate) fn rest(&mut self, engine: usize, cycles: u64) {
        self.engines[engine].free += cycles;
    }

    /// A workgroup has left.
    pub(crate) fn leave(&mut self, unit: usize) {
        self.resident[unit] -= 1;
        self.taken -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arch::Model;

    #[test]
    fn as_many_workgroups_as_units_have_one_each_whatever_ran_before() {
        for name in ["mi210", "mi300x", "mi300a"] {
            let shape = Shape::of(Model::by_name(name).unwrap());
            let mut places = Places::new(&shape);
            for before in [0, 2, 5, 17] {
                places.begin();
                (0..before).for_each(|_| assert!(places.find(8).is_some()));
                places.begin();
                let units: std::collections::BTreeSet<usize> =
                    (0..shape.compute_units()).filter_map(|_| Some(places.find(8)?.1)).collect();
                assert_eq!(units.len(), shape.compute_units(), "{name} after {before}");
            }
        }
    }
}
