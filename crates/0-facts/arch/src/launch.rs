//! Costs of a launch besides the dispatch: packets, events, the host.
//!
//! A profiler's time stamps, an event pair and launches in a row measure three quantities. Time stamps cover
//! the dispatch alone; an event is a separate packet; a launch in a row waits for the packets before it.

use crate::fact::Known;
use serde::Deserialize;

/// Costs of launches, nanoseconds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchCosts {
    /// Time between two events around one launch, besides the dispatch.
    pub event_pair_ns: Known<u32>,
    /// Time from the end of a dispatch to the start of the next one that is queued behind it.
    pub queued_ns: Known<u32>,
    /// The same in a graph.
    pub graph_ns: Known<u32>,
    /// Shortest dispatch between its time stamps.
    pub least_ns: Known<u32>,
    /// Idle time of the GPU after the host has waited for it, until the next launch arrives.
    pub synchronize_ns: Known<u32>,
    /// Latency of a copy between host and GPU, besides the bytes.
    pub copy_ns: Known<u32>,
}

impl LaunchCosts {
    /// Nanoseconds between two events around launches in a row, whose dispatches take these nanoseconds;
    /// `None` if the costs were not measured.
    pub fn between_events(&self, dispatches: &[f64]) -> Option<f64> {
        let queued = f64::from(self.queued_ns.value()?);
        Some(self.event_ns()? + dispatches.iter().map(|it| it + queued).sum::<f64>())
    }

    /// Nanoseconds that an event adds to the launches before it.
    pub fn event_ns(&self) -> Option<f64> {
        Some(f64::from(self.event_pair_ns.value()?) - f64::from(self.queued_ns.value()?))
    }
}

#[cfg(test)]
mod tests {
    use crate::Target;

    #[test]
    fn an_event_pair_around_launches_holds_one_pair_and_the_gaps() {
        let costs = &Target::by_name("gfx942").unwrap().launch;
        let pair = f64::from(costs.event_pair_ns.value().unwrap());
        let queued = f64::from(costs.queued_ns.value().unwrap());
        for (dispatches, gaps) in [(&[500.0][..], 0.0), (&[500.0, 500.0], 1.0), (&[100.0; 10], 9.0)] {
            let sum: f64 = dispatches.iter().sum();
            assert_eq!(costs.between_events(dispatches), Some(pair + gaps * queued + sum));
        }
        assert_eq!(Target::by_name("gfx908").unwrap().launch.between_events(&[1.0]), None);
    }
}
