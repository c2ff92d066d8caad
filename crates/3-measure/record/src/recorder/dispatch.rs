//! One dispatch as it is recorded.

use crate::clocks::Predicted;
use clock::{Estimate, FollowedWorkgroups, Outcome, RepresentativeXcds};
use counters::{Definition, catalogue};
use emu::{Launch, Program};
use probe::{Rule, Table, Totals, Value, registry};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use workload::InstructionRow;

/// Counters that profilers record channel by channel besides their sum.
pub(super) const CHANNELS: [&str; 13] = [
    "TCC_ATOMIC",
    "TCC_BUBBLE",
    "TCC_EA0_ATOMIC",
    "TCC_EA0_RDREQ",
    "TCC_EA0_RDREQ_32B",
    "TCC_EA0_WRREQ",
    "TCC_EA0_WRREQ_64B",
    "TCC_HIT",
    "TCC_MISS",
    "TCC_READ",
    "TCC_REQ",
    "TCC_RW_REQ",
    "TCC_WRITE",
];

/// One completed dispatch. Dispatches that repeat it share what is large.
#[derive(Clone, PartialEq, Debug)]
pub struct Dispatch {
    /// Its number among the launches of the program.
    pub id: u64,
    /// Number of its GPU on the machine.
    pub device: u32,
    /// Kernel, demangled.
    pub kernel: String,
    /// Its linker name.
    pub symbol: String,
    /// Hash of its code object; empty when it is unknown.
    pub code: String,
    /// Target of its code.
    pub target: &'static str,
    /// Work-items in each dimension.
    pub grid: [u32; 3],
    /// Work-items of a workgroup in each dimension.
    pub workgroup: [u32; 3],
    /// LDS of a workgroup, bytes.
    pub lds: u32,
    /// Scratch of a work-item, bytes.
    pub scratch: u32,
    /// Architectural vector registers.
    pub arch_vgprs: u32,
    /// Accumulation registers.
    pub accum_vgprs: u32,
    /// Scalar registers.
    pub sgprs: u32,
    /// Counters of the target, in the order of the catalogue.
    pub counters: Arc<Vec<(&'static str, Value)>>,
    /// Its time, if it is modelled.
    pub time: Option<Estimate>,
    /// Mean engine clock in megahertz, where matrix work lowers it.
    pub lowered_mhz: Option<f64>,
    /// Counters of the L2 that are recorded channel by channel.
    pub channels: Arc<Vec<(&'static str, Vec<u64>)>>,
    /// Instructions that ran.
    pub instructions: Arc<Vec<InstructionRow>>,
    /// Predicted times.
    pub predicted: Vec<Predicted>,
    /// Set if representative XCDs were simulated for all.
    pub shared: Option<RepresentativeXcds>,
    /// Set if only the first workgroups were simulated.
    pub followed: Option<FollowedWorkgroups>,
    /// A workgroup had more events than can be kept: caches and times are unknown.
    pub cut: bool,
    /// Why a sample of workgroups has no caches and no times.
    pub no_time: Option<String>,
    /// Workgroups ran out of order, for lack of memory.
    pub hurried: bool,
    /// Mean number of waves in flight and of compute units with waves in equal intervals of the time, if
    /// known.
    pub occupancy: Option<[Vec<f64>; 2]>,
}

/// Results of the clocks for a dispatch.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Timed {
    /// Result of the timing model; `None` if it did not run.
    pub outcome: Option<Outcome>,
    /// Predicted times.
    pub predicted: Vec<Predicted>,
    /// A workgroup had more events than can be kept, so the results are unknown.
    pub cut: bool,
    /// Why a sample of workgroups has no results.
    pub no_time: Option<String>,
}

impl Timed {
    /// The results of a model that ended; `cut` if it did not see all events.
    pub(super) fn of(cut: bool, outcome: Outcome, predicted: Vec<Predicted>) -> Timed {
        if cut {
            return Timed { cut, ..Timed::default() };
        }
        if outcome.incomplete {
            let no_time =
                Some("the sampled workgroups do not fill the caches, or take unequal times".to_owned());
            return Timed { no_time, ..Timed::default() };
        }
        Timed { outcome: Some(outcome), predicted, ..Timed::default() }
    }
}

/// A completed launch.
#[derive(Clone, Copy)]
pub(super) struct Ran<'a> {
    pub(super) kernel: &'a str,
    pub(super) program: &'a Program,
    pub(super) table: &'a Table,
    pub(super) launch: &'a Launch<'a>,
}

/// Counters of a target with their rules, which are looked up once.
pub(super) struct Counted {
    /// In the order of the catalogue.
    all: Vec<(&'static Definition, Option<&'static Rule>)>,
    channels: Vec<(&'static str, Option<&'static Rule>)>,
}

impl Counted {
    /// The counters of a target.
    pub(super) fn of(target: &'static str) -> Arc<Counted> {
        static KNOWN: Mutex<BTreeMap<&'static str, Arc<Counted>>> = Mutex::new(BTreeMap::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(target).or_insert_with(|| Arc::new(Counted::new(target))).clone()
    }

    fn new(target: &str) -> Counted {
        let catalogue = catalogue();
        let has = |it: &&'static Definition| catalogue.has(it, target);
        let rule = |name: &str| registry().rule(name, target);
        let all = catalogue.counters().iter().filter(has).map(|it| (it, rule(&it.name))).collect();
        let channels = CHANNELS.into_iter().filter(|name| catalogue.get(name).as_ref().is_some_and(has));
        Counted { all, channels: channels.map(|name| (name, rule(name))).collect() }
    }

    /// Values of the counters.
    pub(super) fn values(&self, totals: &Totals) -> Vec<(&'static str, Value)> {
        let value =
            |(of, rule): &(&'static Definition, _)| (of.name.as_str(), probe::value(of, *rule, totals));
        self.all.iter().map(value).collect()
    }

    /// Values of the counters of the L2 that are recorded by channel.
    pub(super) fn channels(&self, totals: &Totals) -> Vec<(&'static str, Vec<u64>)> {
        let of = |(name, rule): &(&'static str, _)| (*name, probe::channels(*rule, totals));
        self.channels.iter().map(of).filter(|(_, values)| !values.is_empty()).collect()
    }
}
