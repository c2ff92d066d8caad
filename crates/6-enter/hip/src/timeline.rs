//! Modelled GPU time so far, stream by stream.
//!
//! Work of a stream runs in order. Kernels and fills share one engine and copies from or to the host another, so
//! streams overlap where they use different ones. A piece without modelled time counts with its emulation time.

use crate::busy::Busy;
use crate::memory::Allocations;
use crate::message::{rely_on_times, say_once};
use crate::virtual_time;
use crate::work::Copy3;
use arch::{LaunchCosts, Model};
use std::collections::BTreeMap;
use std::time::Instant;

/// Modelled time since the program began.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    /// Nothing is known where no clock runs.
    is_modelled: bool,
    costs: &'static LaunchCosts,
    /// Sum of all work, nanoseconds.
    sum: f64,
    /// Pieces of work whose time is not known.
    unknown: u64,
    /// By stream: end of its last work.
    ends: BTreeMap<usize, f64>,
    /// Ends of the last work of the engines.
    engines: [f64; 2],
    /// After a synchronisation the host launches nothing before this time.
    host: f64,
    busy: Busy,
}

/// Engine that does a piece of work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Engine {
    /// Kernels, fills, and copies on the GPU.
    Compute,
    /// Copies from and to the host.
    Copy,
}

/// A moment of the timeline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    emulated: Instant,
    is_modelled: bool,
    nanoseconds: f64,
    unknown: u64,
    /// Until when the stream is busy.
    until: f64,
}

/// Time between two moments, milliseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Span {
    /// GPU time.
    Modelled(f64),
    /// Emulation time, with the number of pieces of work whose time is not known; 0 if no clock runs.
    Emulated(f64, u64),
}

/// The legacy stream, which waits for all others, and which they wait for.
const LEGACY: usize = 0;

/// Moves the program's clocks on; says so once.
fn reach(end: f64) {
    if virtual_time::reach(end) {
        say_once(
            "clocks that the program reads (`clock_gettime`, `std::chrono`) move on by modelled time where it waits for the GPU; \
             `--virtual-time=off` leaves them",
        );
        rely_on_times("clocks that the program reads move on by modelled time");
    }
}

impl Timeline {
    /// A timeline at its beginning.
    pub(crate) fn new(is_modelled: bool, model: &'static Model) -> Timeline {
        Timeline {
            is_modelled,
            costs: &model.target().launch,
            sum: 0.0,
            unknown: 0,
            ends: BTreeMap::new(),
            engines: [0.0; 2],
            host: 0.0,
            busy: Busy::new(),
        }
    }

    /// Work has a modelled time from now on.
    pub(crate) fn model(&mut self) {
        self.is_modelled = true;
    }

    /// End of the work that new work of a stream waits for.
    fn ready(&self, stream: usize) -> f64 {
        let end = |stream: &usize| self.ends.get(stream).copied().unwrap_or(0.0);
        let before = match stream {
            LEGACY => self.ends.values().copied().fold(0.0, f64::max),
            _ => end(&stream).max(end(&LEGACY)),
        };
        before.max(self.host)
    }

    /// Work of a stream is done by an engine.
    pub(crate) fn add(&mut self, stream: usize, engine: Engine, nanoseconds: Option<f64>) {
        let Some(time) = nanoseconds else {
            self.unknown += 1;
            return;
        };
        self.sum += time;
        let cost = match engine {
            Engine::Compute => self.costs.queued_ns.value(),
            Engine::Copy => self.costs.copy_ns.value(),
        };
        if self.is_modelled {
            self.busy.add(stream, time + f64::from(cost.unwrap_or(0)));
        }
        let start = self.ready(stream).max(self.engines[engine as usize]);
        let end = start + time + f64::from(cost.unwrap_or(0));
        self.engines[engine as usize] = end;
        self.ends.insert(stream, end);
    }

    /// A kernel of a stream waited for some ticks of the GPU's clock.
    pub(crate) fn wait_for_clock(&mut self, stream: usize, ticks: u64) {
        self.busy.wait_for_clock(stream, ticks);
    }

    /// Whether a GPU would still work on a stream.
    pub(crate) fn is_busy(&self, stream: usize) -> bool {
        self.busy.is_ahead(self.busy.until(stream))
    }

    /// Whether a GPU would not have reached a moment.
    pub(crate) fn is_ahead(&self, moment: &Moment) -> bool {
        self.busy.is_ahead(moment.until)
    }

    /// The host waits until the work of a stream is done.
    pub(crate) fn wait_for_stream(&mut self, stream: usize) {
        self.busy.reach(self.busy.until(stream));
        self.reach_end();
    }

    /// The host waits until a moment.
    pub(crate) fn wait_for_moment(&mut self, moment: &Moment) {
        self.busy.reach(moment.until);
        self.reach_end();
    }

    /// The host waits until all work is done.
    pub(crate) fn synchronize(&mut self) {
        self.wait_for_stream(LEGACY);
    }

    fn reach_end(&mut self) {
        let end = self.ready(LEGACY);
        if end > self.host {
            self.host = end + f64::from(self.costs.synchronize_ns.value().unwrap_or(0));
        }
        reach(self.host);
    }

    /// The host waits for a copy or a fill that it started in a stream.
    pub(crate) fn wait_for_copy(&mut self, stream: usize) {
        self.busy.reach(self.busy.until(stream));
        reach(self.ready(stream));
    }

    /// A stream waits for a moment.
    pub(crate) fn wait(&mut self, stream: usize, moment: &Moment) {
        self.busy.hold(stream, moment.until);
        let end = self.ready(stream).max(moment.nanoseconds);
        self.ends.insert(stream, end);
    }

    /// Nanoseconds of all work so far, and pieces of work whose time is not known.
    pub(crate) fn elapsed(&self) -> (f64, u64) {
        (self.sum, self.unknown)
    }

    /// An event of a stream: a packet behind the stream's work.
    pub(crate) fn event(&mut self, stream: usize) -> Moment {
        let nanoseconds = self.ready(stream) + self.costs.event_ns().unwrap_or(0.0);
        self.ends.insert(stream, nanoseconds);
        let (is_modelled, unknown) = (self.is_modelled, self.unknown);
        let until = self.busy.until(stream);
        Moment { emulated: Instant::now(), is_modelled, nanoseconds, unknown, until }
    }
}

impl Moment {
    /// The time from this moment to another.
    pub(crate) fn until(&self, end: &Moment) -> Span {
        let unknown = end.unknown.abs_diff(self.unknown);
        if self.is_modelled && unknown == 0 {
            return Span::Modelled((end.nanoseconds - self.nanoseconds) / 1e6);
        }
        let (from, to) = (self.emulated, end.emulated);
        let seconds = if to >= from { (to - from).as_secs_f64() } else { -(from - to).as_secs_f64() };
        Span::Emulated(seconds * 1e3, if self.is_modelled { unknown } else { 0 })
    }
}

/// Nanoseconds of a copy: what passes the host's link at its bandwidth, what stays on the GPU at the
/// memory's. Nothing of the host's own affairs; `None` where a bandwidth is not known.
pub(crate) fn of_copy(model: &Model, allocations: &Allocations, copy: &Copy3) -> Option<f64> {
    let bytes = copy.width as f64 * copy.height as f64 * copy.depth as f64;
    match [copy.to, copy.from].map(|it| is_on_device(allocations, it.address)) {
        [true, true] => {
            let read = model.hbm.read_gb_per_s.value().unwrap_or(model.hbm.gb_per_s.value);
            let write = model.hbm.write_gb_per_s.value().unwrap_or(read);
            Some(bytes / read + bytes / write)
        }
        [false, false] => Some(0.0),
        _ => Some(bytes / model.host_gb_per_s.value()?),
    }
}

/// Nanoseconds of a fill of memory of the GPU.
pub(crate) fn of_fill(model: &Model, bytes: f64) -> f64 {
    let alone = model.hbm.write_alone_gb_per_s.as_ref().map(|fact| fact.value);
    bytes / alone.or(model.hbm.write_gb_per_s.value()).unwrap_or(model.hbm.gb_per_s.value)
}

/// Whether an address is in memory of the GPU.
pub(crate) fn is_on_device(allocations: &Allocations, address: usize) -> bool {
    allocations.find(address).is_some_and(|it| it.is_on_device())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Kind;

    fn milliseconds(nanoseconds: f64) -> impl Fn(Span) -> bool {
        move |span| matches!(span, Span::Modelled(found) if (found - nanoseconds / 1e6).abs() < 1e-9)
    }

    #[test]
    fn times_are_modelled_where_all_work_between_is() {
        let model = Model::by_name("mi300a").unwrap();
        let mut timeline = Timeline::new(true, model);
        let first = timeline.event(0);
        timeline.add(0, Engine::Compute, Some(1500.0));
        timeline.add(0, Engine::Compute, Some(500.0));
        let second = timeline.event(0);
        timeline.add(0, Engine::Compute, None);
        let third = timeline.event(0);
        let between = model.target().launch.between_events(&[1500.0, 500.0]).unwrap();
        assert!(milliseconds(between)(first.until(&second)));
        assert!(milliseconds(-between)(second.until(&first)));
        assert_eq!(timeline.elapsed(), (2000.0, 1));
        assert!(matches!(first.until(&third), Span::Emulated(time, 1) if time >= 0.0));
        let mut plain = Timeline::new(false, model);
        let moment = plain.event(0);
        assert!(matches!(moment.until(&plain.event(0)), Span::Emulated(_, 0)));
    }

    #[test]
    fn streams_overlap_where_they_use_different_engines() {
        let model = Model::by_name("mi100").unwrap();
        let times = |engines: [Engine; 2], streams: [usize; 2]| {
            let mut timeline = Timeline::new(true, model);
            let start = timeline.event(streams[0]);
            for (engine, stream) in engines.into_iter().zip(streams) {
                timeline.add(stream, engine, Some(1000.0));
            }
            start.until(&timeline.event(streams[1]))
        };
        use Engine::{Compute, Copy};
        assert!(milliseconds(2000.0)(times([Compute, Copy], [16, 16])));
        assert!(milliseconds(1000.0)(times([Compute, Copy], [16, 32])));
        assert!(milliseconds(2000.0)(times([Compute, Compute], [16, 32])));
        assert!(milliseconds(2000.0)(times([Compute, Copy], [16, LEGACY])));
    }

    #[test]
    fn the_host_launches_late_after_a_synchronisation() {
        let model = Model::by_name("mi300a").unwrap();
        let costs = &model.target().launch;
        let mut timeline = Timeline::new(true, model);
        let start = timeline.event(0);
        timeline.add(0, Engine::Compute, Some(1000.0));
        timeline.synchronize();
        timeline.synchronize();
        timeline.add(0, Engine::Compute, Some(1000.0));
        let idle = f64::from(costs.synchronize_ns.value().unwrap());
        let expected = costs.between_events(&[1000.0, 1000.0]).unwrap() + idle;
        assert!(milliseconds(expected)(start.until(&timeline.event(0))));
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
