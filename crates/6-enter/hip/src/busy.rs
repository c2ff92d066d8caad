//! Streams that are not ready: what a program is told that asks before it waits.
//!
//! Work is done when a call returns, and a GPU would still be at it. The one idea to keep in mind: each stream is busy until a
//! time of the host's clock, as the program sees it; where the program waits, this clock goes on to that time.

use std::collections::BTreeMap;
use std::time::Instant;

/// Nanoseconds of a tick of the GPU's constant clock, for which kernels wait.
const TICK: f64 = 10.0;

/// The legacy stream, which waits for all others, and which they wait for.
const LEGACY: usize = 0;

/// Until when streams are busy.
#[derive(Clone, Debug)]
pub(crate) struct Busy {
    start: Instant,
    /// Nanoseconds that the host has waited without their passing.
    skipped: f64,
    /// By stream: nanoseconds since the start.
    until: BTreeMap<usize, f64>,
}

impl Busy {
    pub(crate) fn new() -> Busy {
        Busy { start: Instant::now(), skipped: 0.0, until: BTreeMap::new() }
    }

    fn now(&self) -> f64 {
        self.start.elapsed().as_secs_f64() * 1e9 + self.skipped
    }

    /// Work of a stream takes some time, once what it waits for is done.
    pub(crate) fn add(&mut self, stream: usize, nanoseconds: f64) {
        let end = self.now().max(self.until(stream)) + nanoseconds;
        self.until.insert(stream, end);
    }

    /// A kernel of a stream waits for some ticks of the GPU's clock.
    pub(crate) fn wait_for_clock(&mut self, stream: usize, ticks: u64) {
        if ticks > 0 {
            self.add(stream, ticks as f64 * TICK);
        }
    }

    /// When the work of a stream is done.
    pub(crate) fn until(&self, stream: usize) -> f64 {
        let end = |stream: &usize| self.until.get(stream).copied().unwrap_or(0.0);
        match stream {
            LEGACY => self.until.values().copied().fold(0.0, f64::max),
            _ => end(&stream).max(end(&LEGACY)),
        }
    }

    /// A stream waits for a time.
    pub(crate) fn hold(&mut self, stream: usize, until: f64) {
        if until > self.now() {
            let own = self.until.get(&stream).copied().unwrap_or(0.0);
            self.until.insert(stream, own.max(until));
        }
    }

    /// Whether a time is still to come.
    pub(crate) fn is_ahead(&self, time: f64) -> bool {
        time > self.now()
    }

    /// The host waits until a time.
    pub(crate) fn reach(&mut self, time: f64) {
        self.skipped += (time - self.now()).max(0.0);
        let now = self.now();
        self.until.retain(|_, until| *until > now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_busy_until_the_host_has_waited() {
        let mut busy = Busy::new();
        let hour = 3.6e12;
        assert!(!busy.is_ahead(busy.until(LEGACY)));
        busy.add(16, hour);
        let first = busy.until(16);
        busy.add(16, hour);
        busy.add(32, 1.5 * hour);
        busy.wait_for_clock(48, 0);
        let ahead = |busy: &Busy| [16, 32, 48, LEGACY].map(|stream| busy.is_ahead(busy.until(stream)));
        assert_eq!(ahead(&busy), [true, true, false, true]);
        busy.reach(first);
        assert_eq!(ahead(&busy), [true, true, false, true]);
        busy.hold(48, busy.until(16));
        busy.reach(first + 0.75 * hour);
        assert_eq!(ahead(&busy), [true, false, true, true]);
        busy.reach(busy.until(LEGACY));
        assert_eq!(ahead(&busy), [false; 4]);
        busy.wait_for_clock(LEGACY, 360_000_000_000);
        assert_eq!(ahead(&busy), [true; 4], "others wait for the legacy stream");
    }
}
