//! Sources of counter values, times and windows in a recording.
//!
//! A window belongs to one pass. Cycles of another pass give at most the clock; the length of the dispatch is
//! its time in the pass whose counters are divided.

use super::Window;
use super::given::AllGiven;
use super::standing_in::StandingIn;
use crate::compile::{Compiled, Leaf, Node, facts_of, leaves_of};
use crate::facts::{self, PROPERTIES, Property};
use crate::unit::Unit;
use counters::{OfInstances, catalogue, derived};
use std::collections::HashMap;
use std::sync::Arc;
use workload::{Counter, Dispatches, Machine, Values, Workload};

/// Source of a leaf's values.
pub(super) enum Source<'w> {
    Column(&'w Values),
    /// Instances to add up.
    Sum(Vec<&'w Values>),
    /// Instances by channel.
    Channels(Vec<Option<&'w Values>>),
    /// Instances, reduced to one value.
    OfInstances(Vec<&'w Values>, OfInstances),
    Time,
    /// Cycles of the dispatch.
    Window(WindowOfDispatch<'w>),
    /// A count that was printed, the same for every dispatch.
    Printed(f64),
    /// Name of the counter that was not recorded.
    Absent(String),
}

/// The time of a dispatch in cycles of all XCDs.
#[derive(Clone, Copy)]
pub(super) struct WindowOfDispatch<'w> {
    /// Values of the window counter.
    counted: &'w Values,
    /// Time of the dispatch in the pass that read it; `None` if passes have no separate times.
    counted_time: Option<&'w Values>,
    /// Time of the dispatch in the pass that the window is for; `None`: the only time recorded.
    time: Option<&'w Values>,
    /// Cycles that the window counter counts per nanosecond at the maximum clock.
    rate: f64,
}

impl WindowOfDispatch<'_> {
    /// `None` if a time is unknown.
    pub(super) fn cycles(&self, dispatches: &Dispatches, row: usize) -> Option<f64> {
        let time = |of_pass: Option<&Values>| match of_pass {
            Some(times) => times.get(row),
            None => dispatches.duration(row),
        };
        let counted = self.counted.get(row)? / time(self.counted_time)?;
        Some(time(self.time)? * counted.min(self.rate))
    }
}

/// Sources of all leaves.
pub(super) struct Sources<'w> {
    /// By leaf, then the windows of single passes.
    pub(super) list: Vec<Source<'w>>,
    /// Pass of a leaf's counter.
    pass: Vec<Option<u16>>,
    /// Leaf of a window, pass, place in `list`.
    windows: Vec<(usize, u16, usize)>,
    /// Substitutes for absent counters.
    pub(super) standing_in: StandingIn,
    /// Metrics that were printed.
    pub(super) given: AllGiven,
}

impl<'w> Sources<'w> {
    pub(super) fn new(compiled: &Compiled, workload: &'w Workload, channels: usize, window: Window) -> Self {
        let derived = recorded_derived(workload);
        let names = derived.clone();
        let reader = Reader { workload, channels, window, rate: rate(compiled, workload), derived };
        let (mut list, pass): (Vec<_>, Vec<_>) =
            compiled.leaves.iter().map(|leaf| reader.source(leaf)).unzip();
        let mut windows = Vec::new();
        if window == Window::Dispatch {
            for (leaf, definition) in compiled.leaves.iter().enumerate() {
                let Leaf::Window { name, run: None } = definition else { continue };
                for pass in workload.counters.timed_passes() {
                    windows.push((leaf, pass, list.len()));
                    list.push(reader.window_in_pass(name, pass));
                }
            }
        }
        let given = AllGiven::of(workload, compiled, window);
        // Counts of several kernels together are none of one.
        if workload.kernels.len() == 1 {
            for (leaf, count) in given.counts(compiled) {
                if let Some(place @ Source::Absent(_)) = list.get_mut(leaf) {
                    *place = Source::Printed(count);
                }
            }
        }
        let complete = |node: &Node| complete(node, &list, &workload.machine);
        let recorded = |name: &str| names.get(name).map_or(name, |it| it.name.as_str()).to_string();
        let standing_in = StandingIn::choose(compiled, &complete, &recorded);
        Sources { list, pass, windows, standing_in, given }
    }

    /// Index of the definition of the leaf at a list index.
    pub(super) fn leaf(&self, place: usize) -> usize {
        self.windows.iter().find(|(_, _, at)| *at == place).map_or(place, |(leaf, _, _)| *leaf)
    }

    /// The node with the windows of the pass in which all its counters were read; the node itself if they
    /// were read in several.
    pub(super) fn in_one_pass(&self, definitions: &[Leaf], node: Arc<Node>) -> Arc<Node> {
        if self.windows.is_empty() {
            return node;
        }
        let mut leaves = Vec::new();
        leaves_of(&node, &mut leaves);
        let of_window = |leaf: &usize| self.windows.iter().any(|(window, _, _)| window == leaf);
        if !leaves.iter().any(of_window) {
            return node;
        }
        let counted = |leaf: &&usize| !matches!(definitions[**leaf], Leaf::Window { .. } | Leaf::Property(_));
        let mut passes: Vec<Option<u16>> =
            leaves.iter().filter(counted).map(|leaf| self.pass[*leaf]).collect();
        passes.sort_unstable();
        passes.dedup();
        match passes[..] {
            [Some(pass)] => self.replaced(&node, pass),
            _ => node,
        }
    }

    fn replaced(&self, node: &Arc<Node>, pass: u16) -> Arc<Node> {
        let of = |node: &Arc<Node>| self.replaced(node, pass);
        match &**node {
            Node::Leaf(leaf) => match self.windows.iter().find(|it| (it.0, it.1) == (*leaf, pass)) {
                Some((_, _, place)) => Arc::new(Node::Leaf(*place)),
                None => node.clone(),
            },
            Node::Scale(factor, inner) => Arc::new(Node::Scale(*factor, of(inner))),
            Node::Binary(operator, a, b) => Arc::new(Node::Binary(*operator, of(a), of(b))),
            Node::Call(function, list) => Arc::new(Node::Call(*function, list.iter().map(of).collect())),
            Node::StandIn(all) => all.own.as_ref().map_or_else(|_| node.clone(), of),
            Node::Constant(_) | Node::Machine(_) | Node::Mean(..) => node.clone(),
        }
    }
}

/// Cycles that the window counter counts per nanosecond, or the missing fact.
fn rate(compiled: &Compiled, workload: &Workload) -> Result<f64, String> {
    let rate = compiled.window_rate.as_ref().map_err(String::clone)?;
    let mut facts = Vec::new();
    facts_of(&rate.node, &mut facts);
    let value = |name: &str| facts::machine(name, &workload.machine).and_then(Result::ok);
    if let Some((_, key, _)) =
        facts::MACHINE.iter().find(|(name, _, _)| facts.contains(name) && value(name).is_none())
    {
        return Err(format!("`{key}` of the machine"));
    }
    let per_ns = Unit::parse("cycle/ns").map_or(f64::NAN, |unit| rate.unit.factor_to(unit));
    Ok(per_ns * super::constant(&rate.node, &|name| value(name).unwrap_or(f64::NAN)))
}

/// True if the counters and facts of a node exist; for a node of one channel, if any channel exists.
fn complete(node: &Node, sources: &[Source<'_>], machine: &Machine) -> bool {
    let (mut leaves, mut facts) = (Vec::new(), Vec::new());
    leaves_of(node, &mut leaves);
    facts_of(node, &mut facts);
    leaves.iter().all(|leaf| !matches!(sources.get(*leaf), None | Some(Source::Absent(_))))
        && facts.iter().all(|fact| !matches!(facts::machine(fact, machine), Some(Err(_))))
}

/// Recorded derived counters, by their usual names.
fn recorded_derived(workload: &Workload) -> HashMap<&'static str, &Counter> {
    let mut found: HashMap<&'static str, &Counter> = HashMap::new();
    for counter in workload.counters.iter().filter(|it| it.run.is_none() && it.instance.is_none()) {
        if let Some(derived) = derived().find(&counter.name)
            && !counter.values.is_blank()
        {
            found.entry(&derived.name).or_insert(counter);
        }
    }
    found
}

struct Reader<'w> {
    workload: &'w Workload,
    channels: usize,
    window: Window,
    rate: Result<f64, String>,
    derived: HashMap<&'static str, &'w Counter>,
}

impl<'w> Reader<'w> {
    /// The source of a leaf, and the pass its counter was read in.
    fn source(&self, leaf: &Leaf) -> (Source<'w>, Option<u16>) {
        let w = self.workload;
        let d = &w.dispatches;
        let property = |p: Property, v: &'w Values| {
            let what =
                PROPERTIES.iter().find(|(_, q, _, _)| *q == p).map_or("a property", |(_, _, _, what)| what);
            (if v.is_blank() { Source::Absent(what.to_string()) } else { Source::Column(v) }, None)
        };
        match leaf {
            Leaf::Property(p) => match p {
                Property::Time => (Source::Time, None),
                Property::Grid => property(*p, &d.grid),
                Property::Workgroup => property(*p, &d.workgroup),
                Property::Lds => property(*p, &d.lds),
                Property::Scratch => property(*p, &d.scratch),
                Property::ArchVgpr => property(*p, &d.arch_vgpr),
                Property::AccumVgpr => property(*p, &d.accum_vgpr),
                Property::Sgpr => property(*p, &d.sgpr),
            },
            Leaf::Level(level) => match self.level(level) {
                Some(c) => (Source::Column(&c.values), c.pass),
                None => (Source::Absent(format!("{level} summed over cycles")), None),
            },
            Leaf::Counter { name, run: Some(run) } => match w.counters.get_in(run, name) {
                Some(c) if !c.values.is_blank() => (Source::Column(&c.values), None),
                // Recordings without runs of their own have one value for all.
                _ => self.total(name),
            },
            Leaf::Counter { name, run: None } => self.total(name),
            Leaf::Window { name, run: None } => (self.window(name), None),
            Leaf::Window { name, run: Some(run) } => (self.window_of_level(name, run), None),
            Leaf::Derived { name, .. } => match self.derived.get(name.as_str()) {
                Some(c) => (Source::Column(&c.values), c.pass),
                None => (Source::Absent(name.clone()), None),
            },
            Leaf::OfInstances { name, of } => (self.of_instances(name, *of), None),
            Leaf::Channel(name) => {
                for spelled in catalogue().spellings(name) {
                    if self.channels > 0 && !w.counters.instances(&spelled).is_empty() {
                        let one =
                            |i| w.counters.instance(&spelled, i).map(|c| &c.values).filter(|v| !v.is_blank());
                        let list = (0..self.channels as u32).map(one).collect();
                        return (Source::Channels(list), None);
                    }
                }
                (Source::Absent(format!("{name} per channel")), None)
            }
            // Where no channels are recorded their sum is.
            Leaf::Channels(name) => self.channels_added_up(name).unwrap_or_else(|| self.total(name)),
        }
    }

    /// One value of all instances: recorded, or found here.
    fn of_instances(&self, name: &str, of: OfInstances) -> Source<'w> {
        let counters = &self.workload.counters;
        for counter in counters.iter().filter(|it| it.run.is_none() && it.instance.is_none()) {
            let recorded = catalogue().find_of_instances(&counter.name);
            if recorded.is_some_and(|(it, how)| (it.name.as_str(), how) == (name, of))
                && !counter.values.is_blank()
            {
                return Source::Column(&counter.values);
            }
        }
        let spelled = catalogue().spellings(name);
        let of_each = spelled.iter().map(|it| counters.instances(it)).find(|list| !list.is_empty());
        match of_each {
            Some(list) => Source::OfInstances(list.into_iter().map(|it| &it.values).collect(), of),
            None => Source::Absent(format!("{name} of each instance")),
        }
    }

    fn level(&self, level: &str) -> Option<&'w Counter> {
        self.workload.counters.get(&format!("{level}_ACCUM")).filter(|c| !c.values.is_blank())
    }

    /// A counter that is recorded as a sum or as one value.
    fn recorded(&self, name: &str) -> Option<&'w Counter> {
        let counters = &self.workload.counters;
        catalogue().spellings(name).into_iter().find_map(|spelled| {
            [format!("{spelled}_sum"), spelled]
                .iter()
                .find_map(|recorded| counters.get(recorded).filter(|c| !c.values.is_blank()))
        })
    }

    /// A counter over all instances: recorded, or added up here.
    fn total(&self, name: &str) -> (Source<'w>, Option<u16>) {
        let counters = &self.workload.counters;
        for spelled in catalogue().spellings(name) {
            for recorded in [format!("{spelled}_sum"), spelled.clone()] {
                if let Some(c) = counters.get(&recorded).filter(|c| !c.values.is_blank()) {
                    return (Source::Column(&c.values), c.pass);
                }
            }
        }
        self.channels_added_up(name).unwrap_or_else(|| (Source::Absent(name.to_string()), None))
    }

    /// The sum of a counter's channels, where all of them are recorded, and their pass if it is one.
    fn channels_added_up(&self, name: &str) -> Option<(Source<'w>, Option<u16>)> {
        let of_spelling = |spelled: String| {
            let instances = self.workload.counters.instances(&spelled);
            if instances.is_empty() || instances.len() != self.channels {
                return None;
            }
            let pass = instances.first().and_then(|c| c.pass);
            let pass = pass.filter(|pass| instances.iter().all(|c| c.pass == Some(*pass)));
            Some((Source::Sum(instances.into_iter().map(|c| &c.values).collect()), pass))
        };
        catalogue().spellings(name).into_iter().find_map(of_spelling)
    }

    /// The window of whatever pass the counter was read in.
    fn window(&self, name: &str) -> Source<'w> {
        match (self.window, self.recorded(name)) {
            (Window::Recorded, _) | (_, None) => self.total(name).0,
            (Window::Dispatch, Some(counter)) => self.of_dispatch(counter, None),
        }
    }

    /// Cycles of the dispatch in a pass with separate times.
    fn window_in_pass(&self, name: &str, pass: u16) -> Source<'w> {
        let counters = &self.workload.counters;
        let time = counters.time_in_pass(pass);
        match (counters.get_in_pass(pass, name), self.recorded(name)) {
            (Some(counted), _) => self.of(counted, time, time),
            (None, Some(counter)) => self.of_dispatch(counter, time),
            (None, None) => self.total(name).0,
        }
    }

    /// The window of the run in which a level was read.
    fn window_of_level(&self, name: &str, level: &str) -> Source<'w> {
        let counters = &self.workload.counters;
        let (own, recorded) = (counters.get_in(level, name), self.recorded(name));
        let as_recorded = self.window == Window::Recorded;
        if let Some(own) = own.filter(|c| !c.values.is_blank()) {
            return if as_recorded { Source::Column(&own.values) } else { self.of_dispatch(own, None) };
        }
        let (Some(accumulated), Some(counter)) = (self.level(level), recorded) else {
            return self.total(name).0;
        };
        if let Some(pass) = accumulated.pass.filter(|pass| counters.time_in_pass(*pass).is_some()) {
            return match counters.get_in_pass(pass, name).filter(|_| as_recorded) {
                Some(counted) => Source::Column(counted),
                None => self.window_in_pass(name, pass),
            };
        }
        // One file is one run as far as it says.
        let same_run = (counter.source, counter.pass) == (accumulated.source, accumulated.pass);
        if same_run { self.window(name) } else { self.of_dispatch(counter, None) }
    }

    fn of_dispatch(&self, counter: &'w Counter, time: Option<&'w Values>) -> Source<'w> {
        let counted_time = counter.pass.and_then(|pass| self.workload.counters.time_in_pass(pass));
        // The time of the dispatch is shared by all passes; the window's own time only gives the clock.
        self.of(&counter.values, counted_time, time)
    }

    fn of(
        &self,
        counted: &'w Values,
        counted_time: Option<&'w Values>,
        time: Option<&'w Values>,
    ) -> Source<'w> {
        match &self.rate {
            Ok(rate) => Source::Window(WindowOfDispatch { counted, counted_time, time, rate: *rate }),
            Err(fact) => Source::Absent(fact.clone()),
        }
    }
}
