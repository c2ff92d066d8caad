//! Modelled GPU time so far.
//!
//! Work runs in the order of the calls, one piece after the other, so the modelled time is a sum; a piece
//! without modelled time counts with its emulation time.

use crate::memory::{Allocations, Kind};
use crate::work::Copy3;
use arch::Model;
use std::time::Instant;

/// Modelled time since the program began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timeline {
    /// Nothing is known where no clock runs.
    is_modelled: bool,
    nanoseconds: f64,
    /// Pieces of work whose time is not known.
    unknown: u64,
}

/// A moment of the timeline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    emulated: Instant,
    timeline: Timeline,
}

/// Time between two moments, milliseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Span {
    /// GPU time.
    Modelled(f64),
    /// Emulation time, with the number of pieces of work whose time is not known; 0 if no clock runs.
    Emulated(f64, u64),
}

impl Timeline {
    /// A timeline at its beginning.
    pub(crate) fn new(is_modelled: bool) -> Timeline {
        Timeline { is_modelled, ..Timeline::default() }
    }

    /// Work is done.
    pub(crate) fn add(&mut self, nanoseconds: Option<f64>) {
        match nanoseconds {
            Some(time) => self.nanoseconds += time,
            None => self.unknown += 1,
        }
    }

    /// Nanoseconds of all work so far, and pieces of work whose time is not known.
    pub(crate) fn elapsed(&self) -> (f64, u64) {
        (self.nanoseconds, self.unknown)
    }

    /// The present.
    pub(crate) fn now(&self) -> Moment {
        Moment { emulated: Instant::now(), timeline: *self }
    }
}

impl Moment {
    /// The time from this moment to another.
    pub(crate) fn until(&self, end: &Moment) -> Span {
        let unknown = end.timeline.unknown.abs_diff(self.timeline.unknown);
        if self.timeline.is_modelled && unknown == 0 {
            return Span::Modelled((end.timeline.nanoseconds - self.timeline.nanoseconds) / 1e6);
        }
        let (from, to) = (self.emulated, end.emulated);
        let seconds = if to >= from { (to - from).as_secs_f64() } else { -(from - to).as_secs_f64() };
        Span::Emulated(seconds * 1e3, if self.timeline.is_modelled { unknown } else { 0 })
    }
}

/// Nanoseconds of a copy: what passes the host's link at its bandwidth, what stays on the GPU at the
/// memory's. Nothing of the host's own affairs; `None` where a bandwidth is not known.
pub(crate) fn of_copy(model: &Model, allocations: &Allocations, copy: &Copy3) -> Option<f64> {
    let bytes = copy.width as f64 * copy.height as f64 * copy.depth as f64;
    match [copy.to, copy.from].map(|it| is_on_device(allocations, it.address)) {
        [true, true] => {
            let read = model.hbm.read_gb_per_s.value().unwrap_or(model.hbm.gb_per_s.value);
            Some(bytes / read + of_fill(model, bytes))
        }
        [false, false] => Some(0.0),
        _ => Some(bytes / model.host_gb_per_s.value()?),
    }
}

/// Nanoseconds of a fill of memory of the GPU.
pub(crate) fn of_fill(model: &Model, bytes: f64) -> f64 {
    bytes / model.hbm.write_gb_per_s.value().unwrap_or(model.hbm.gb_per_s.value)
}

/// Whether an address is in memory of the GPU.
pub(crate) fn is_on_device(allocations: &Allocations, address: usize) -> bool {
    allocations
        .find(address)
        .is_some_and(|it| matches!(it.kind, Kind::Device | Kind::Managed | Kind::Internal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_modelled_where_all_work_between_is() {
        let mut timeline = Timeline::new(true);
        let first = timeline.now();
        timeline.add(Some(1500.0));
        timeline.add(Some(500.0));
        let second = timeline.now();
        timeline.add(None);
        let third = timeline.now();
        assert_eq!(first.until(&second), Span::Modelled(0.002));
        assert_eq!(second.until(&first), Span::Modelled(-0.002));
        assert!(matches!(first.until(&third), Span::Emulated(time, 1) if time >= 0.0));
        let plain = Timeline::new(false);
        assert!(matches!(plain.now().until(&plain.now()), Span::Emulated(_, 0)));
    }

    #[test]
    fn copies_take_the_way_they_have_to_go() {
        let model = Model::by_name("mi300x").unwrap();
        let mut allocations = Allocations::default();
        let own = 0u64;
        let host = (&raw const own).addr();
        let device = allocations.allocate(Kind::Device, 1 << 20, 0, usize::MAX).unwrap();
        let pinned = allocations.allocate(Kind::Host, 1 << 20, 0, usize::MAX).unwrap();
        let time = |to, from| of_copy(model, &allocations, &Copy3::flat(to, from, 640_000));
        // 64 GB/s, then 4199 and 3345 GB/s.
        for (to, from) in [(device, host), (host, device), (pinned, device), (device, pinned)] {
            assert_eq!(time(to, from), Some(10_000.0));
        }
        let within = time(device, device + 1).unwrap();
        assert!((within - (640_000.0 / 4199.0 + 640_000.0 / 3345.0)).abs() < 1e-6, "{within}");
        assert_eq!(time(host, pinned), Some(0.0));
        let shared = Model::by_name("mi300a").unwrap();
        assert_eq!(of_copy(shared, &allocations, &Copy3::flat(device, host, 8)), None);
    }
}
