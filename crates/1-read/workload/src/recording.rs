//! The workload: the value that every generation of recording is read into.

use crate::launches::LaunchNote;
use crate::marks::Marks;
use crate::model::{Ceilings, Counters, Dispatches, Extra, Generation, Machine, Rank};
use crate::multiplexed::Multiplexed;
use crate::occupancy::Occupancy;
use crate::predictions::Prediction;
use crate::problem::Problem;
use crate::repeats::Spread;
use crate::sampled::Samples;
use crate::shares::Share;
use crate::traced::Traces;
use std::collections::BTreeMap;

/// A recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// What it was read from.
    pub generation: Generation,
    /// Machine facts.
    pub machine: Machine,
    /// Kernel names as recorded.
    pub kernels: Vec<String>,
    /// Dispatches.
    pub dispatches: Dispatches,
    /// Counters.
    pub counters: Counters,
    /// Other columns.
    pub extras: Vec<Extra>,
    /// Measured ceilings, one per device.
    pub ceilings: Vec<Ceilings>,
    /// How long dispatches would take otherwise.
    pub predictions: Vec<Prediction>,
    /// What waves did is kept beside it, of some dispatch at least: other predictions need no other run.
    pub keeps_events: bool,
    /// Dispatches of which only some XCDs were followed.
    pub shares: Vec<Share>,
    /// How far the runs of passes lie apart that were run several times; none where each ran once.
    pub spreads: Vec<Spread>,
    /// What dispatches had in flight over their time, where that was modelled.
    pub occupancy: Vec<Occupancy>,
    /// What a Python program said of its launches.
    pub launches: Vec<LaunchNote>,
    /// Samples of the program counter.
    pub samples: Option<Samples>,
    /// Thread traces.
    pub traces: Option<Traces>,
    /// How far each quantity can be trusted, where it was not measured.
    pub marks: Option<Marks>,
    /// Which dispatches recorded which counters, where each recorded only some of them.
    pub multiplexed: Option<Multiplexed>,
    /// The recordings it was merged from, in the order of their dispatches; none where it is one recording.
    pub ranks: Vec<Rank>,
    /// The profiler's settings, lists joined with spaces.
    pub settings: BTreeMap<String, String>,
    /// Files read.
    pub sources: Vec<String>,
    /// What was wrong with them.
    pub problems: Vec<Problem>,
}

impl Workload {
    /// A recording without dispatches, to be filled.
    pub fn empty(generation: Generation) -> Workload {
        Workload {
            generation,
            machine: Machine::default(),
            kernels: Vec::new(),
            dispatches: Dispatches::default(),
            counters: Counters::default(),
            extras: Vec::new(),
            ceilings: Vec::new(),
            predictions: Vec::new(),
            keeps_events: false,
            shares: Vec::new(),
            spreads: Vec::new(),
            occupancy: Vec::new(),
            launches: Vec::new(),
            samples: None,
            traces: None,
            marks: None,
            multiplexed: None,
            ranks: Vec::new(),
            settings: BTreeMap::new(),
            sources: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// Kernel name of a dispatch.
    pub fn kernel_of(&self, row: usize) -> &str {
        self.dispatches.kernel.get(row).and_then(|k| self.kernels.get(*k as usize)).map_or("", String::as_str)
    }
}
