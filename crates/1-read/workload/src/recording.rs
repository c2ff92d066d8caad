//! The workload: the value that every generation of recording is read into.

use crate::launches::LaunchNote;
use crate::marks::Marks;
use crate::model::{Ceilings, Counters, Dispatches, Extra, Generation, Machine, PrintedRow, Rank};
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
    /// Source format.
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
    /// Predicted times of dispatches under changed conditions.
    pub predictions: Vec<Prediction>,
    /// Wave events are saved with it for at least one dispatch, so further predictions need no new run.
    pub keeps_events: bool,
    /// Dispatches of which only some XCDs were followed.
    pub shares: Vec<Share>,
    /// Run-to-run spreads of repeated passes; empty if each pass ran once.
    pub spreads: Vec<Spread>,
    /// Waves in flight over the time of dispatches, if that was modelled.
    pub occupancy: Vec<Occupancy>,
    /// Launch annotations by a Python program.
    pub launches: Vec<LaunchNote>,
    /// Samples of the program counter.
    pub samples: Option<Samples>,
    /// Means of metrics that were printed in place of counters.
    pub printed: Vec<PrintedRow>,
    /// Thread traces.
    pub traces: Option<Traces>,
    /// Confidence of each quantity; `None` for a measurement.
    pub marks: Option<Marks>,
    /// Counters that each dispatch recorded, if each recorded only some.
    pub multiplexed: Option<Multiplexed>,
    /// The recordings it was merged from, in the order of their dispatches; empty for a single recording.
    pub ranks: Vec<Rank>,
    /// The profiler's settings, lists joined with spaces.
    pub settings: BTreeMap<String, String>,
    /// Files read.
    pub sources: Vec<String>,
    /// Defects of the files.
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
            printed: Vec::new(),
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
