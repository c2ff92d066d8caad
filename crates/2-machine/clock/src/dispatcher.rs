//! Workgroup dispatcher of an XCD.
//!
//! Workgroups go round robin over shader engines, and in an engine over its compute units, to the next one
//! with room. An engine starts one wave at a time.

use mem::Shape;
use std::ops::Range;

/// A shader engine of an XCD.
#[derive(Clone, Debug)]
struct Engine {
    /// Compute units of the engine, as indices in the XCD.
    units: Range<usize>,
    /// Unit of the next workgroup, as index in the engine.
    next: usize,
    /// Cycle at which the engine can start a wave.
    free: u64,
}

/// Dispatcher of an XCD.
#[derive(Clone, Debug)]
pub(crate) struct Dispatcher {
    engines: Vec<Engine>,
    /// Engine of the next workgroup.
    next: usize,
    /// By compute unit: resident workgroups.
    resident: Vec<u32>,
    /// Resident workgroups of the XCD.
    pub(crate) taken: usize,
    /// Cycle since which the XCD is full while a workgroup waits.
    pub(crate) full: Option<u64>,
}

impl Dispatcher {
    pub(crate) fn new(shape: &Shape) -> Dispatcher {
        let mut first = 0;
        let engines = shape.engines.iter().map(|&count| {
            first += count;
            Engine { units: first - count..first, next: 0, free: 0 }
        });
        let engines = engines.collect();
        Dispatcher { engines, next: 0, resident: vec![0; shape.compute_units()], taken: 0, full: None }
    }

    /// Begins a dispatch at the first engine and its first unit, whatever ran before. Engines have different
    /// numbers of units; starting elsewhere would not always give each of as many workgroups a separate unit.
    pub(crate) fn begin(&mut self) {
        self.resident.fill(0);
        (self.taken, self.next) = (0, 0);
        self.full = None;
        self.engines.iter_mut().for_each(|engine| (engine.next, engine.free) = (0, 0));
    }

    /// True if every compute unit has `most` workgroups.
    pub(crate) fn is_full(&self, most: u32) -> bool {
        self.taken >= self.resident.len() * most as usize
    }

    /// Takes a compute unit with fewer than `most` workgroups; returns engine and unit.
    pub(crate) fn find(&mut self, most: u32) -> Option<(usize, usize)> {
        if self.is_full(most) {
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

    /// Starts a wave; returns its cycle.
    pub(crate) fn start(&mut self, engine: usize, now: u64, cycles: u64) -> u64 {
        let start = self.engines[engine].free.max(now);
        self.engines[engine].free = start + cycles;
        start
    }

    /// Delays an engine after the last wave of a workgroup.
    pub(crate) fn delay(&mut self, engine: usize, cycles: u64) {
        self.engines[engine].free += cycles;
    }

    /// Frees the place of a workgroup.
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
    fn each_unit_gets_one_workgroup_after_any_dispatch() {
        for name in ["mi210", "mi300x", "mi300a"] {
            let shape = Shape::of(Model::by_name(name).unwrap());
            let mut places = Dispatcher::new(&shape);
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
