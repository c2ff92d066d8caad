//! Metrics over the dispatches of a workload.
//!
//! Internally, NaN marks a dispatch without a value; results are a number or [`Missing`] with its reason. A
//! quotient whose divisor is zero has no value.

mod average;
mod given;
mod source;
mod standing_in;
mod trust;

use crate::compile::{Compiled, Leaf, NORMS, Node, Ready, Typed, facts_of, leaves_of, scaled};
use crate::facts;
use crate::parse::{Function, Operator};
use crate::unit::Unit;
use counters::OfInstances;
use given::Given;
use source::{Source, Sources};
use standing_in::Replaced;
pub use standing_in::TakenFrom;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use view::{Average, Mark, Missing, Norm};
use workload::Workload;

/// A number, or why there is none.
pub type Value = Result<f64, Missing>;

/// Trust in a value, or why there is none.
pub type Trust = Result<Mark, Missing>;

pub(crate) fn missing<T>(reason: impl Into<String>) -> Result<T, Missing> {
    Err(Missing::because(reason))
}

/// Source of the cycle count used as denominator.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Window {
    /// Cycles that the window counter recorded, as in the tables of the vendor's tool.
    #[default]
    Recorded,
    /// The time of the dispatch times the engine clock, in the pass in which the other counters were read.
    /// The clock is the maximum clock, or the clock measured by the window counter in its own pass if that is
    /// lower.
    Dispatch,
}

/// Settings of an evaluation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Settings {
    /// Averages.
    pub average: Average,
    /// Normalisation.
    pub norm: Norm,
    /// Cycles of a dispatch.
    pub window: Window,
}

/// Values of one operand over some dispatches.
enum Chunk {
    Same(f64),
    Each(Vec<f64>),
}

/// Rows evaluated at once: their operands stay in the first-level cache.
const CHUNK: usize = 1024;

/// Definitions, a workload and some of its dispatches.
pub struct Evaluation<'a> {
    compiled: &'a Compiled,
    workload: &'a Workload,
    rows: Vec<u32>,
    settings: Settings,
    sources: Arc<Sources<'a>>,
    channels: usize,
    means: RefCell<HashMap<usize, f64>>,
}

impl<'a> Evaluation<'a> {
    /// Evaluates over `rows` of the workload's dispatches.
    pub fn new(compiled: &'a Compiled, workload: &'a Workload, rows: Vec<u32>, settings: Settings) -> Self {
        let channels = workload
            .machine
            .number("total_l2_chan")
            .filter(|n| (0.0..=65_536.0).contains(n))
            .map_or(0, |n| n as usize);
        let sources = Arc::new(Sources::new(compiled, workload, channels, settings.window));
        let rows = rows.into_iter().filter(|r| (*r as usize) < workload.dispatches.len()).collect();
        Self { compiled, workload, rows, settings, sources, channels, means: RefCell::default() }
    }

    /// The definitions.
    pub fn compiled(&self) -> &'a Compiled {
        self.compiled
    }

    /// The same dispatches with other cycles.
    pub fn with_window(&self, window: Window) -> Self {
        let settings = Settings { window, ..self.settings };
        Self::new(self.compiled, self.workload, self.rows.clone(), settings)
    }

    /// The same dispatches with another normalisation, without looking the counters up again.
    pub fn with_norm(&self, norm: Norm) -> Self {
        let settings = Settings { norm, ..self.settings };
        let (rows, sources) = (self.rows.clone(), Arc::clone(&self.sources));
        Self { settings, rows, sources, means: RefCell::default(), ..*self }
    }

    /// Ratio of the recorded windows to the dispatches' lengths.
    pub fn window_excess(&self) -> Value {
        let cycles = |window| match window == self.settings.window {
            true => self.value("dispatch.cycles"),
            false => self.with_window(window).value("dispatch.cycles"),
        };
        Ok(cycles(Window::Recorded)? / cycles(Window::Dispatch)?)
    }

    /// The same over other dispatches, without looking the counters up again.
    pub fn over(&self, rows: Vec<u32>) -> Self {
        let rows = rows.into_iter().filter(|r| (*r as usize) < self.workload.dispatches.len()).collect();
        Self { rows, sources: Arc::clone(&self.sources), means: RefCell::default(), ..*self }
    }

    /// L2 channels of the machine, 0 when not known.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// The dispatches, as rows.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The target.
    pub fn target(&self) -> &str {
        &self.compiled.target
    }

    /// Whether a metric has a value on the target.
    pub fn defined(&self, metric: &str) -> bool {
        if self.sources.given.has(metric) {
            return true;
        }
        match self.sources.standing_in.metric(metric) {
            Some(replaced) => replaced.value.is_ok(),
            None => self.compiled.defined(metric),
        }
    }

    /// Panel and label of printed rows that are no metric of the target, or have a unit that is not understood.
    pub fn unused_rows(&self) -> &[String] {
        self.sources.given.unused()
    }

    /// Source of a metric that is computed from substitutes instead of direct counters.
    pub fn taken_from(&self, metric: &str) -> Option<&TakenFrom> {
        let from = &self.sources.standing_in.metric(metric)?.from;
        (!from.counters.is_empty()).then_some(from)
    }

    /// Counters, by plain name, that the metrics with complete counters read.
    pub fn counters_read(&self) -> HashSet<&str> {
        let mut read = HashSet::new();
        for metric in self.compiled.metrics.keys().filter(|it| it.contains('.')) {
            let Ok((node, _)) = self.normalised(metric) else { continue };
            let mut leaves = Vec::new();
            leaves_of(&node, &mut leaves);
            if leaves.iter().any(|leaf| matches!(self.sources.list[*leaf], Source::Absent(_))) {
                continue;
            }
            read.extend(leaves.iter().filter_map(|leaf| match self.leaf_of(*leaf) {
                Leaf::Counter { name, .. }
                | Leaf::Channel(name)
                | Leaf::Channels(name)
                | Leaf::Level(name)
                | Leaf::Window { name, .. }
                | Leaf::Derived { name, .. }
                | Leaf::OfInstances { name, .. } => Some(name.as_str()),
                Leaf::Property(_) => None,
            }));
        }
        read
    }

    /// The average of a metric.
    pub fn value(&self, metric: &str) -> Value {
        self.channel_value(metric, 0)
    }

    /// The average of a metric of channels.
    pub fn channel_value(&self, metric: &str, channel: u32) -> Value {
        let (node, degree) = self.prepare(metric, channel)?;
        let v = self.average(&node, degree, channel);
        if v.is_finite() { Ok(v) } else { Err(self.why_empty(&node)) }
    }

    /// The peak of a metric, `None` where it has none.
    pub fn peak(&self, metric: &str) -> Option<Value> {
        let ready = self.compiled.metrics.get(metric)?;
        let peak = match ready.peak.as_ref()? {
            Ok(t) => t,
            Err(reason) => return Some(missing(reason.clone())),
        };
        Some(self.complete(&peak.node, 0).and_then(|()| {
            let v = self.scalar(&peak.node, &|_| f64::NAN);
            if v.is_finite() { Ok(v) } else { missing("the peak cannot be computed") }
        }))
    }

    /// Percent of peak, `None` if the metric has no peak.
    pub fn percent_of_peak(&self, metric: &str) -> Option<Value> {
        let peak = self.peak(metric)?;
        Some(peak.and_then(|peak| {
            let v = self.value(metric)?;
            if peak > 0.0 { Ok(100.0 * v / peak) } else { missing("the peak is zero") }
        }))
    }

    /// The value of every dispatch, `None` where it has none.
    pub fn dispatches(&self, metric: &str) -> Result<Vec<Option<f64>>, Missing> {
        self.sources.given.is_of_each_dispatch(metric)?;
        let (node, _) = self.prepare(metric, 0)?;
        Ok(self.column(&node, 0).into_iter().map(|v| v.is_finite().then_some(v)).collect())
    }

    /// Least and greatest value of a dispatch.
    pub fn extremes(&self, metric: &str) -> (Value, Value) {
        if let Some(Ok(given)) = self.given(metric) {
            let (least, most) = given.extremes.unzip();
            return (given::extreme(least), given::extreme(most));
        }
        match self.known(metric, 0) {
            Ok(values) => {
                let least = values.iter().copied().fold(f64::INFINITY, f64::min);
                let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                (Ok(least), Ok(greatest))
            }
            Err(m) => (Err(m.clone()), Err(m)),
        }
    }

    /// Minimum, first quartile, median, third quartile, maximum over the dispatches.
    pub fn quartiles(&self, metric: &str, channel: u32) -> Result<[f64; 5], Missing> {
        self.sources.given.is_of_each_dispatch(metric)?;
        let mut values = self.known(metric, channel)?;
        Ok([0.0, 0.25, 0.5, 0.75, 1.0].map(|q| quantile(&mut values, q)))
    }

    /// Standard deviation over the dispatches, of a sample.
    pub fn deviation(&self, metric: &str) -> Value {
        self.sources.given.is_of_each_dispatch(metric)?;
        let values = self.known(metric, 0)?;
        let n = values.len() as f64;
        if n < 2.0 {
            return Err(Missing::SecondDispatch);
        }
        let mean = values.iter().sum::<f64>() / n;
        Ok((values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt())
    }

    /// Values of the dispatches that have one; at least one.
    fn known(&self, metric: &str, channel: u32) -> Result<Vec<f64>, Missing> {
        let (node, _) = self.prepare(metric, channel)?;
        let mut values = self.column(&node, channel);
        values.retain(|v| v.is_finite());
        if values.is_empty() { Err(self.why_empty(&node)) } else { Ok(values) }
    }

    /// A metric's node with its normalisation, once everything it needs is there.
    fn prepare(&self, metric: &str, channel: u32) -> Result<(Arc<Node>, i8), Missing> {
        let (node, degree) = self.normalised(metric)?;
        self.complete(&node, channel).map(|()| (node, degree))
    }

    /// The same, whatever was recorded.
    fn normalised(&self, metric: &str) -> Result<(Arc<Node>, i8), Missing> {
        let Some(Ready { value, .. }) = self.compiled.metrics.get(metric) else {
            return Err(Missing::Definition(metric.to_owned()));
        };
        if let Some(given) = self.given(metric) {
            return Ok((Arc::new(Node::Constant(given?.mean)), 0));
        }
        let value = self.sources.standing_in.metric(metric).map_or(value, |replaced| &replaced.value);
        let t = value.as_ref().or_else(|reason| missing(reason.clone()))?;
        let (node, degree) = self.divided(t)?;
        Ok((self.sources.in_one_pass(&self.compiled.leaves, node), degree))
    }

    /// A metric that was printed, if all dispatches are evaluated; `None` if it was not.
    fn given(&self, metric: &str) -> Option<Result<Given, Missing>> {
        let given = self.sources.given.get(metric, self.settings.norm)?;
        let are_all = self.rows.len() == self.workload.dispatches.len();
        Some(if are_all { given } else { given::of_all_dispatches() })
    }

    fn divided(&self, t: &Typed) -> Result<(Arc<Node>, i8), Missing> {
        match (t.unit.is_per_norm(), self.settings.norm) {
            (false, _) | (true, Norm::Kernel) => Ok((t.node.clone(), t.degree)),
            (true, norm) => {
                let by = match norm {
                    Norm::Wave | Norm::Kernel => NORMS[0],
                    Norm::Cycle => NORMS[1],
                    Norm::Second => NORMS[2],
                };
                let own = self.compiled.norms.get(by).map(|norm| &norm.value);
                let by = match self.sources.standing_in.norm(by).map(|it: &Replaced| &it.value).or(own) {
                    Some(Ok(by)) => by,
                    Some(Err(reason)) => return missing(reason.clone()),
                    None => return missing("the normalisation is not defined"),
                };
                let quotient = Arc::new(Node::Binary(Operator::Divide, t.node.clone(), to_base(by, norm)));
                Ok((quotient, t.degree - by.degree))
            }
        }
    }

    /// Whether everything a node needs was recorded.
    fn complete(&self, node: &Node, channel: u32) -> Result<(), Missing> {
        let mut leaves = Vec::new();
        leaves_of(node, &mut leaves);
        let absent: Vec<&str> = leaves
            .iter()
            .filter_map(|l| match &self.sources.list[*l] {
                Source::Absent(what) => Some(what.as_str()),
                Source::Channels(list) if list.get(channel as usize).is_none_or(Option::is_none) => {
                    Some("a counter of this channel")
                }
                _ => None,
            })
            .collect();
        if !absent.is_empty() {
            return Err(Missing::Columns(absent.into_iter().map(str::to_owned).collect()));
        }
        let mut names = Vec::new();
        facts_of(node, &mut names);
        for n in names {
            if let Some(Err(reason)) = facts::machine(n, &self.workload.machine) {
                return Err(reason);
            }
        }
        Ok(())
    }

    fn why_empty(&self, node: &Node) -> Missing {
        if self.rows.is_empty() {
            return Missing::Dispatches;
        }
        let mut leaves = Vec::new();
        leaves_of(node, &mut leaves);
        if leaves.iter().any(|l| matches!(self.sources.list[*l], Source::Time | Source::Window(_)))
            && self.rows.iter().all(|r| self.workload.dispatches.duration(*r as usize).is_none())
        {
            return Missing::Durations;
        }
        let apart = |rows: &[u32]| {
            let columns: Vec<Vec<f64>> = leaves.iter().map(|l| self.leaf(*l, rows, 0)).collect();
            (0..rows.len()).all(|row| columns.iter().any(|column| !column[row].is_finite()))
        };
        if self.rows.chunks(CHUNK).all(apart) {
            return Missing::CommonDispatch;
        }
        Missing::DivisorIsZero
    }

    /// The value of a node in every selected dispatch.
    fn column(&self, node: &Node, channel: u32) -> Vec<f64> {
        let mut out = Vec::with_capacity(self.rows.len());
        for rows in self.rows.chunks(CHUNK) {
            match self.chunk(node, rows, channel) {
                Chunk::Same(v) => out.extend(std::iter::repeat_n(v, rows.len())),
                Chunk::Each(v) => out.extend(v),
            }
        }
        out
    }

    /// The definition of a leaf, also of a window of one pass.
    fn leaf_of(&self, leaf: usize) -> &Leaf {
        &self.compiled.leaves[self.sources.leaf(leaf)]
    }

    /// A node with one number per leaf.
    fn scalar(&self, node: &Node, leaf: &dyn Fn(usize) -> f64) -> f64 {
        match node {
            Node::Constant(v) => *v,
            Node::Leaf(l) => leaf(*l),
            Node::Machine(n) => self.fact(n),
            Node::Scale(f, n) => f * self.scalar(n, leaf),
            Node::Binary(o, a, b) => operate(*o, self.scalar(a, leaf), self.scalar(b, leaf)),
            Node::Call(f, list) => {
                let a = list.first().map_or(f64::NAN, |n| self.scalar(n, leaf));
                let b = list.get(1).map_or(f64::NAN, |n| self.scalar(n, leaf));
                call(*f, a, b)
            }
            Node::Mean(n, degree) => self.mean(n, *degree),
            Node::StandIn(all) => all.own.as_ref().map_or(f64::NAN, |own| self.scalar(own, leaf)),
        }
    }

    fn mean(&self, node: &Arc<Node>, degree: i8) -> f64 {
        let key = Arc::as_ptr(node) as usize;
        if let Some(v) = self.means.borrow().get(&key) {
            return *v;
        }
        let v = self.average(node, degree, 0);
        self.means.borrow_mut().insert(key, v);
        v
    }

    fn fact(&self, name: &str) -> f64 {
        facts::machine(name, &self.workload.machine).and_then(Result::ok).unwrap_or(f64::NAN)
    }

    fn chunk(&self, node: &Node, rows: &[u32], channel: u32) -> Chunk {
        match node {
            Node::Constant(v) => Chunk::Same(*v),
            Node::Machine(n) => Chunk::Same(self.fact(n)),
            Node::Mean(n, degree) => Chunk::Same(self.mean(n, *degree)),
            Node::Leaf(l) => Chunk::Each(self.leaf(*l, rows, channel)),
            Node::StandIn(all) => {
                all.own.as_ref().map_or(Chunk::Same(f64::NAN), |own| self.chunk(own, rows, channel))
            }
            Node::Scale(f, n) => map(self.chunk(n, rows, channel), |v| f * v),
            Node::Binary(o, a, b) => {
                zip(self.chunk(a, rows, channel), self.chunk(b, rows, channel), |a, b| operate(*o, a, b))
            }
            Node::Call(f, list) => match &list[..] {
                [a] => map(self.chunk(a, rows, channel), |a| call(*f, a, f64::NAN)),
                [a, b] => {
                    zip(self.chunk(a, rows, channel), self.chunk(b, rows, channel), |a, b| call(*f, a, b))
                }
                _ => Chunk::Same(f64::NAN),
            },
        }
    }

    fn leaf(&self, leaf: usize, rows: &[u32], channel: u32) -> Vec<f64> {
        let mut out = vec![f64::NAN; rows.len()];
        match &self.sources.list[leaf] {
            Source::Column(v) => v.gather(rows, &mut out),
            Source::Channels(list) => {
                if let Some(Some(v)) = list.get(channel as usize) {
                    v.gather(rows, &mut out);
                }
            }
            Source::Sum(list) => {
                let mut one = vec![0.0; rows.len()];
                out.fill(0.0);
                for v in list {
                    v.gather(rows, &mut one);
                    out.iter_mut().zip(&one).for_each(|(o, v)| *o += v);
                }
            }
            Source::OfInstances(list, of) => {
                let mut one = vec![0.0; rows.len()];
                for v in list {
                    v.gather(rows, &mut one);
                    // An instance that was not read says nothing.
                    out.iter_mut().zip(&one).for_each(|(o, v)| *o = of_two(*of, *o, *v));
                }
                if *of == OfInstances::Mean {
                    out.iter_mut().for_each(|o| *o /= list.len() as f64);
                }
            }
            Source::Time => {
                for (o, r) in out.iter_mut().zip(rows) {
                    *o = self.workload.dispatches.duration(*r as usize).unwrap_or(f64::NAN);
                }
            }
            Source::Window(window) => {
                for (o, r) in out.iter_mut().zip(rows) {
                    *o = window.cycles(&self.workload.dispatches, *r as usize).unwrap_or(f64::NAN);
                }
            }
            Source::Printed(count) => out.fill(*count),
            Source::Absent(_) => {}
        }
        out
    }
}

/// One value of two instances, of which either may have none.
fn of_two(of: OfInstances, a: f64, b: f64) -> f64 {
    match of {
        OfInstances::Largest => a.max(b),
        OfInstances::Least => a.min(b),
        OfInstances::Mean if a.is_nan() => b,
        OfInstances::Mean => a + b,
    }
}

/// A node of facts and numbers alone.
fn constant(node: &Node, fact: &dyn Fn(&str) -> f64) -> f64 {
    match node {
        Node::Constant(v) => *v,
        Node::Machine(n) => fact(n),
        Node::Scale(f, n) => f * constant(n, fact),
        Node::Binary(o, a, b) => operate(*o, constant(a, fact), constant(b, fact)),
        Node::Leaf(_) | Node::Call(..) | Node::Mean(..) | Node::StandIn(_) => f64::NAN,
    }
}

/// Converts a normalisation to the unit that its name denotes.
fn to_base(by: &Typed, norm: Norm) -> Arc<Node> {
    let unit = Unit::parse(if norm == Norm::Kernel { "1" } else { norm.name() }).unwrap_or(Unit::ONE);
    scaled(by.node.clone(), by.unit.factor_to(unit))
}

fn map(a: Chunk, f: impl Fn(f64) -> f64) -> Chunk {
    match a {
        Chunk::Same(a) => Chunk::Same(f(a)),
        Chunk::Each(mut v) => {
            v.iter_mut().for_each(|x| *x = f(*x));
            Chunk::Each(v)
        }
    }
}

fn zip(a: Chunk, b: Chunk, f: impl Fn(f64, f64) -> f64) -> Chunk {
    match (a, b) {
        (Chunk::Same(a), Chunk::Same(b)) => Chunk::Same(f(a, b)),
        (Chunk::Each(mut v), Chunk::Same(b)) => {
            v.iter_mut().for_each(|x| *x = f(*x, b));
            Chunk::Each(v)
        }
        (Chunk::Same(a), Chunk::Each(mut v)) => {
            v.iter_mut().for_each(|x| *x = f(a, *x));
            Chunk::Each(v)
        }
        (Chunk::Each(mut v), Chunk::Each(b)) => {
            v.iter_mut().zip(b).for_each(|(x, b)| *x = f(*x, b));
            Chunk::Each(v)
        }
    }
}

fn operate(o: Operator, a: f64, b: f64) -> f64 {
    match o {
        Operator::Add => a + b,
        Operator::Subtract => a - b,
        Operator::Multiply => a * b,
        Operator::Divide if b == 0.0 => f64::NAN,
        Operator::Divide => a / b,
        Operator::Else if a.is_finite() => a,
        Operator::Else => b,
    }
}

fn call(f: Function, a: f64, b: f64) -> f64 {
    match f {
        // A value and a missing value have no minimum.
        Function::Min | Function::Max if a.is_nan() || b.is_nan() => f64::NAN,
        Function::Min => a.min(b),
        Function::Max => a.max(b),
        Function::Round => a.round_ties_even(),
        Function::Floor => a.floor(),
        Function::Mod if b == 0.0 => f64::NAN,
        Function::Mod => a.rem_euclid(b),
        Function::Mean => a,
    }
}

/// A quantile with linear interpolation between neighbours. The order of `values` changes.
fn quantile(values: &mut [f64], q: f64) -> f64 {
    let last = values.len() - 1;
    let at = q * last as f64;
    let below = (at.floor() as usize).min(last);
    let (_, low, rest) = values.select_nth_unstable_by(below, f64::total_cmp);
    let low = *low;
    let part = at - below as f64;
    if part == 0.0 {
        return low;
    }
    let high = rest.iter().copied().fold(f64::INFINITY, f64::min);
    low + part * (high - low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate() {
        for (values, q, want) in [
            (vec![3.0], 0.25, 3.0),
            (vec![4.0, 1.0, 2.0], 0.5, 2.0),
            (vec![4.0, 1.0, 2.0], 0.25, 1.5),
            (vec![4.0, 1.0, 2.0, 3.0], 0.75, 3.25),
            (vec![4.0, 1.0], 1.0, 4.0),
        ] {
            assert_eq!(quantile(&mut values.clone(), q), want, "{values:?} {q}");
        }
    }
}
