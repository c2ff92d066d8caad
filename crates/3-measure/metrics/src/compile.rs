//! Definitions checked and resolved for one target.
//!
//! Besides its unit every expression has a degree. A total over a dispatch has degree 1, a ratio of totals 0.
//! Totals can be added up over dispatches, ratios cannot; so the degree says how to average, and a formula
//! that adds a total to a ratio does not load.

mod stand_in;

pub(crate) use stand_in::StandIn;

use crate::definitions::{DefinitionError, Definitions, Metric, Variant, WrongDefinitions, variant};
use crate::facts::{self, PROPERTIES, Property};
use crate::parse::{Expression, Function, Instances, Kind, Operator};
use crate::unit::Unit;
use counters::{Averaged, Catalogue, Need, OfInstances, catalogue, derived};
use stand_in::{lacks, stand_ins_of};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Something read from a recording.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Leaf {
    /// Sum over instances, in the main run or in a level's.
    Counter { name: String, run: Option<String> },
    /// One channel.
    Channel(String),
    /// All channels added up.
    Channels(String),
    /// Level summed over cycles.
    Level(String),
    /// Cycles of the dispatch, by a counter of the main run or of a level's.
    Window { name: String, run: Option<String> },
    /// Property of the dispatch.
    Property(Property),
    /// Recorded value of a derived counter.
    Derived { name: String, averaged: Averaged },
    /// One value of all instances that is not their sum.
    OfInstances { name: String, of: OfInstances },
}

/// A resolved expression.
#[derive(Debug)]
pub(crate) enum Node {
    Constant(f64),
    Leaf(usize),
    /// Fact of the machine, by name.
    Machine(&'static str),
    Scale(f64, Arc<Node>),
    Binary(Operator, Arc<Node>, Arc<Node>),
    Call(Function, Vec<Arc<Node>>),
    /// Average over dispatches; the degree of what is averaged.
    Mean(Arc<Node>, i8),
    /// A value with its substitutes; without substitutes the value itself is used.
    StandIn(Arc<StandIn>),
}

/// A resolved expression with its unit and degree.
#[derive(Clone, Debug)]
pub(crate) struct Typed {
    pub(crate) node: Arc<Node>,
    pub(crate) unit: Unit,
    pub(crate) degree: i8,
    /// A zero without unit is compatible with every unit.
    pub(crate) any: bool,
}

impl Typed {
    pub(crate) fn new(node: Node, unit: Unit, degree: i8) -> Typed {
        Typed { node: Arc::new(node), unit, degree, any: false }
    }
}

/// A metric resolved for a target.
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    /// The value before normalisation, in the metric's unit, or why there is none.
    pub(crate) value: Result<Typed, String>,
    pub(crate) peak: Option<Result<Typed, String>>,
    /// Indices of the substitutes for parts of it.
    pub(crate) stand_ins: Vec<usize>,
}

impl Ready {
    fn new(value: Result<Typed, String>, peak: Option<Result<Typed, String>>) -> Ready {
        let mut stand_ins = Vec::new();
        if let Ok(value) = &value {
            stand_ins_of(&value.node, &mut stand_ins);
        }
        Ready { value, peak, stand_ins }
    }
}

/// Definitions resolved for one target.
#[derive(Debug)]
pub struct Compiled {
    pub(crate) target: String,
    pub(crate) leaves: Vec<Leaf>,
    pub(crate) metrics: HashMap<String, Ready>,
    /// Divisors of per-wave, per-cycle and per-second metrics.
    pub(crate) norms: HashMap<&'static str, Ready>,
    /// GRBM cycles per nanosecond at the maximum clock.
    pub(crate) window_rate: Result<Typed, String>,
    /// Values with substitutes. The parts of a value precede it.
    pub(crate) stand_ins: Vec<Arc<StandIn>>,
}

/// Names the definitions give to the normalisations.
pub(crate) const NORMS: [&str; 3] = ["norm.wave", "norm.cycle", "norm.second"];

/// Name the definitions give to the rate at which a window counts.
const WINDOW_RATE: &str = "window.rate";

/// Reason why an expression has no value.
pub(crate) enum Stop {
    /// The expression has an error.
    Wrong(Box<DefinitionError>),
    /// The target lacks something.
    Lacks(String),
}

impl Definitions {
    /// Resolves and checks all definitions for a target.
    pub fn compile(&self, target: &str) -> Result<Compiled, WrongDefinitions> {
        let mut c = Compiler {
            definitions: self,
            catalogue: catalogue(),
            target,
            leaves: Vec::new(),
            leaf_ids: HashMap::new(),
            memo: HashMap::new(),
            open: Vec::new(),
            stand_ins: Vec::new(),
            recorded_only: None,
        };
        let mut errors = Vec::new();
        let mut metrics = HashMap::new();
        for m in self.metrics() {
            let value = keep(c.metric(m), &mut errors);
            let peak = variant(&m.peaks, target).map(|v| keep(c.peak(m, v), &mut errors));
            metrics.insert(m.id.clone(), Ready::new(value, peak));
        }
        for m in &self.derived {
            let value = keep(c.derived_metric(m), &mut errors).map(|t| Typed { unit: m.unit, ..t });
            metrics.insert(m.id.clone(), Ready::new(value, None));
        }
        let mut defined = |name: &str| {
            let at = DefinitionError {
                file: String::new(),
                line: 0,
                column: 0,
                message: format!("no `let {name}`"),
            };
            keep(c.name(name, &at), &mut errors)
        };
        let norms = NORMS.into_iter().map(|name| (name, Ready::new(defined(name), None))).collect();
        let window_rate = defined(WINDOW_RATE);
        if errors.is_empty() {
            let (leaves, stand_ins) = (c.leaves, c.stand_ins);
            Ok(Compiled { target: target.to_string(), leaves, metrics, norms, window_rate, stand_ins })
        } else {
            Err(WrongDefinitions(errors))
        }
    }
}

fn keep(result: Result<Typed, Stop>, errors: &mut Vec<DefinitionError>) -> Result<Typed, String> {
    match result {
        Ok(t) => Ok(t),
        Err(Stop::Lacks(reason)) => Err(reason),
        Err(Stop::Wrong(e)) => {
            if !errors.contains(&e) {
                errors.push(*e);
            }
            Err(String::new())
        }
    }
}

impl Compiled {
    /// The target.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// Whether a metric has a value on this target.
    pub fn defined(&self, metric: &str) -> bool {
        self.metrics.contains_key(metric) && self.reason(metric).is_none()
    }

    /// Why a metric has no value on this target.
    pub fn reason(&self, metric: &str) -> Option<&str> {
        match &self.metrics.get(metric)?.value {
            Ok(value) => lacks(&value.node),
            Err(reason) => Some(reason),
        }
    }

    /// Counters that may substitute for parts of a metric.
    pub fn may_stand_in(&self, metric: &str) -> BTreeSet<&str> {
        let places = self.metrics.get(metric).map_or(&[][..], |it| &it.stand_ins);
        let all = places.iter().filter_map(|place| self.stand_ins.get(*place));
        all.flat_map(|it| &it.others).flat_map(|it| &it.counters).map(String::as_str).collect()
    }

    /// Counters and properties to read for a metric on this target.
    pub fn needs(&self, metric: &str) -> Vec<Need> {
        let mut out: Vec<Need> = Vec::new();
        let Some(Ready { value: Ok(value), .. }) = self.metrics.get(metric) else { return out };
        let mut leaves = Vec::new();
        leaves_of(&value.node, &mut leaves);
        for l in leaves {
            let need = match &self.leaves[l] {
                Leaf::Counter { name, run: None }
                | Leaf::Window { name, run: None }
                | Leaf::OfInstances { name, .. }
                | Leaf::Channel(name)
                | Leaf::Channels(name) => Need::Counter(name.clone()),
                Leaf::Counter { name, run: Some(run) } | Leaf::Window { name, run: Some(run) } => {
                    Need::Level { level: run.clone(), with: vec![name.clone()] }
                }
                Leaf::Level(level) => Need::Level { level: level.clone(), with: Vec::new() },
                Leaf::Property(_) | Leaf::Derived { .. } => continue,
            };
            if !out.contains(&need) {
                out.push(need);
            }
        }
        out
    }
}

/// The leaves below a node, each once, in order.
pub(crate) fn leaves_of(node: &Node, out: &mut Vec<usize>) {
    match node {
        Node::Constant(_) | Node::Machine(_) => {}
        Node::Leaf(l) => {
            if !out.contains(l) {
                out.push(*l);
            }
        }
        Node::Scale(_, n) | Node::Mean(n, _) => leaves_of(n, out),
        Node::Binary(_, a, b) => {
            leaves_of(a, out);
            leaves_of(b, out);
        }
        Node::Call(_, list) => list.iter().for_each(|n| leaves_of(n, out)),
        Node::StandIn(all) => all.own.iter().for_each(|n| leaves_of(n, out)),
    }
}

/// The machine facts below a node.
pub(crate) fn facts_of(node: &Node, out: &mut Vec<&'static str>) {
    match node {
        Node::Machine(f) => {
            if !out.contains(f) {
                out.push(f);
            }
        }
        Node::Constant(_) | Node::Leaf(_) => {}
        Node::Scale(_, n) | Node::Mean(n, _) => facts_of(n, out),
        Node::Binary(_, a, b) => {
            facts_of(a, out);
            facts_of(b, out);
        }
        Node::Call(_, list) => list.iter().for_each(|n| facts_of(n, out)),
        Node::StandIn(all) => all.own.iter().for_each(|n| facts_of(n, out)),
    }
}

pub(crate) fn scaled(node: Arc<Node>, factor: f64) -> Arc<Node> {
    if factor == 1.0 { node } else { Arc::new(Node::Scale(factor, node)) }
}

pub(crate) struct Compiler<'a> {
    pub(crate) definitions: &'a Definitions,
    catalogue: &'a Catalogue,
    pub(crate) target: &'a str,
    leaves: Vec<Leaf>,
    leaf_ids: HashMap<Leaf, usize>,
    pub(crate) memo: HashMap<String, Typed>,
    /// Names being resolved, to detect cycles.
    open: Vec<String>,
    pub(crate) stand_ins: Vec<Arc<StandIn>>,
    /// Set within a substitute: derived counters are taken as recorded, and are listed here.
    pub(crate) recorded_only: Option<Vec<String>>,
}

impl Compiler<'_> {
    pub(crate) fn error(&self, v: &Variant, column: usize, message: impl Into<String>) -> Stop {
        Stop::Wrong(Box::new(DefinitionError {
            file: self.definitions.files.get(v.file).cloned().unwrap_or_default(),
            line: v.line,
            column,
            message: message.into(),
        }))
    }

    fn metric(&mut self, m: &Metric) -> Result<Typed, Stop> {
        let v = variant(&m.variants, self.target);
        let unit = m.unit.without_norm();
        let own = match v {
            Some(v) => self.checked(m, v, unit),
            None => Err(Stop::Lacks(self.not_defined())),
        };
        let t = Typed { unit: m.unit, ..self.with_stand_ins(&m.id, own, Some(unit))? };
        let Some(v) = v else { return Ok(t) };
        if m.unit.is_per_norm() && t.degree != 1 && !t.any {
            let column = v.formula.as_ref().map_or(1, |e| e.column);
            return Err(self.error(v, column, format!("`{}` is per normalisation but is no total", m.id)));
        }
        Ok(t)
    }

    /// Why a name has no value on the target.
    pub(crate) fn not_defined(&self) -> String {
        match self.target {
            "" => facts::UNKNOWN_GPU.to_string(),
            target => format!("not defined for {target}"),
        }
    }

    fn peak(&mut self, m: &Metric, v: &Variant) -> Result<Typed, Stop> {
        let t = self.checked(m, v, m.unit)?;
        let mut leaves = Vec::new();
        leaves_of(&t.node, &mut leaves);
        if leaves.is_empty() {
            return Ok(t);
        }
        Err(self.error(v, 1, "a peak may not depend on dispatches"))
    }

    /// The expression of a variant in a unit.
    pub(crate) fn checked(&mut self, m: &Metric, v: &Variant, unit: Unit) -> Result<Typed, Stop> {
        let e = v.formula.as_ref().map_err(|reason| Stop::Lacks(reason.clone()))?;
        let t = self.expression(e, v)?;
        if !t.any && !t.unit.same_quantity(unit) {
            let message = format!("`{}` is declared as {} and computes {}", m.id, m.unit_text, t.unit);
            return Err(self.error(v, e.column, message));
        }
        if !(0..=1).contains(&t.degree) {
            return Err(self.error(
                v,
                e.column,
                format!("`{}` is neither a total nor a ratio of totals", m.id),
            ));
        }
        let node = if t.any { t.node } else { scaled(t.node, t.unit.factor_to(unit)) };
        Ok(Typed { node, unit, ..t })
    }

    pub(crate) fn leaf(&mut self, leaf: Leaf, unit: Unit) -> Typed {
        let next = self.leaves.len();
        let id = *self.leaf_ids.entry(leaf.clone()).or_insert(next);
        if id == next {
            self.leaves.push(leaf);
        }
        Typed { node: Arc::new(Node::Leaf(id)), unit, degree: 1, any: false }
    }

    fn counter_unit(&self, name: &str, v: &Variant, column: usize) -> Result<Unit, Stop> {
        let d = self
            .catalogue
            .get(name)
            .ok_or_else(|| self.error(v, column, format!("unknown counter `{name}`")))?;
        if !self.catalogue.has(d, self.target) {
            return Err(Stop::Lacks(match self.target {
                "" => format!("not every GPU has {name}, and the recording does not say which it is from"),
                target => format!("{target} has no counter {name}"),
            }));
        }
        Unit::parse(&d.unit).map_err(|m| self.error(v, column, m))
    }

    pub(crate) fn expression(&mut self, e: &Expression, v: &Variant) -> Result<Typed, Stop> {
        Ok(match &e.kind {
            Kind::Number(n, unit) => Typed {
                node: Arc::new(Node::Constant(*n)),
                unit: *unit,
                degree: 0,
                any: *n == 0.0 && *unit == Unit::ONE,
            },
            Kind::Counter { name, of: Instances::Sum, run: None }
                if self.catalogue.get(name).is_none() && derived().find(name).is_some() =>
            {
                match derived().find(name) {
                    Some(found) => self.derived_counter(found, v)?,
                    None => return Err(self.error(v, e.column, format!("unknown counter `{name}`"))),
                }
            }
            Kind::Counter { name, of, run } => {
                let unit = self.counter_unit(name, v, e.column)?;
                self.named_in_stand_in(name);
                if let Some(run) = run {
                    self.counter_unit(run, v, e.column)?;
                }
                let leaf = match of {
                    Instances::Channel => Leaf::Channel(name.clone()),
                    Instances::Channels => Leaf::Channels(name.clone()),
                    Instances::Sum => Leaf::Counter { name: name.clone(), run: run.clone() },
                };
                self.leaf(leaf, unit)
            }
            Kind::Level(level) => {
                let cycle = Unit::parse("cycle").unwrap_or(Unit::ONE);
                let unit = self.counter_unit(level, v, e.column)?.times(cycle);
                self.leaf(Leaf::Level(level.clone()), unit)
            }
            Kind::OfInstances(of, name) => {
                let unit = self.counter_unit(name, v, e.column)?;
                self.leaf(Leaf::OfInstances { name: name.clone(), of: *of }, unit)
            }
            Kind::Window { name, run } => {
                let unit = self.counter_unit(name, v, e.column)?;
                if let Some(run) = run {
                    self.counter_unit(run, v, e.column)?;
                }
                self.leaf(Leaf::Window { name: name.clone(), run: run.clone() }, unit)
            }
            // Some derived counters begin with a small letter.
            Kind::Name(name) if name.contains(|c: char| c.is_ascii_uppercase()) => {
                match derived().find(name) {
                    Some(found) => self.derived_counter(found, v)?,
                    None => return Err(self.error(v, e.column, format!("unknown name `{name}`"))),
                }
            }
            Kind::Name(name) => {
                let at = match self.error(v, e.column, format!("unknown name `{name}`")) {
                    Stop::Wrong(e) => *e,
                    stop @ Stop::Lacks(_) => return Err(stop),
                };
                self.name(name, &at)?
            }
            Kind::Negative(inner) => {
                let t = self.expression(inner, v)?;
                Typed { node: scaled(t.node, -1.0), ..t }
            }
            Kind::Binary(operator, a, b) => {
                let (a, b) = (self.expression(a, v)?, self.expression(b, v)?);
                self.binary(*operator, a, b, (v, e.column))?
            }
            Kind::Call(function, arguments) => {
                let arguments =
                    arguments.iter().map(|it| self.expression(it, v)).collect::<Result<Vec<_>, _>>()?;
                self.call(*function, &arguments, (v, e.column))?
            }
        })
    }

    /// Two operands, of a place in a definition.
    fn binary(&self, operator: Operator, a: Typed, b: Typed, at: (&Variant, usize)) -> Result<Typed, Stop> {
        let (unit, degree) = match operator {
            Operator::Multiply => (a.unit.times(b.unit), a.degree.saturating_add(b.degree)),
            Operator::Divide => (a.unit.over(b.unit), a.degree.saturating_sub(b.degree)),
            _ => {
                let (a, b, unit, degree) = self.alike(a, b, at.0, at.1)?;
                return Ok(Typed { node: Arc::new(Node::Binary(operator, a, b)), unit, degree, any: false });
            }
        };
        Ok(Typed { node: Arc::new(Node::Binary(operator, a.node, b.node)), unit, degree, any: false })
    }

    /// A function of some values, of a place in a definition.
    fn call(&self, function: Function, values: &[Typed], at: (&Variant, usize)) -> Result<Typed, Stop> {
        Ok(match (function, values) {
            (Function::Min | Function::Max | Function::Mod, [a, b]) => {
                let (a, b, unit, degree) = self.alike(a.clone(), b.clone(), at.0, at.1)?;
                Typed { node: Arc::new(Node::Call(function, vec![a, b])), unit, degree, any: false }
            }
            (Function::Mean, [a]) => {
                if !(0..=1).contains(&a.degree) {
                    return Err(self.error(at.0, at.1, "`mean` takes a total or a ratio of totals"));
                }
                let node = Arc::new(Node::Mean(a.node.clone(), a.degree));
                Typed { node, unit: a.unit, degree: 0, any: false }
            }
            (_, [a]) => {
                Typed { node: Arc::new(Node::Call(function, vec![a.node.clone()])), any: false, ..a.clone() }
            }
            _ => return Err(self.error(at.0, at.1, "wrong number of values")),
        })
    }

    /// Operands of the same quantity, converted to the left one's unit.
    fn alike(
        &self,
        a: Typed,
        b: Typed,
        v: &Variant,
        column: usize,
    ) -> Result<(Arc<Node>, Arc<Node>, Unit, i8), Stop> {
        if a.any || b.any {
            let t = if a.any { &b } else { &a };
            return Ok((a.node.clone(), b.node.clone(), t.unit, t.degree));
        }
        if !a.unit.same_quantity(b.unit) {
            return Err(self.error(v, column, format!("{} and {} do not go together", a.unit, b.unit)));
        }
        if a.degree != b.degree {
            return Err(self.error(v, column, "a total and a ratio do not go together"));
        }
        let factor = b.unit.factor_to(a.unit);
        Ok((a.node, scaled(b.node, factor), a.unit, a.degree))
    }

    fn name(&mut self, name: &str, unknown: &DefinitionError) -> Result<Typed, Stop> {
        if let Some(t) = self.memo.get(name) {
            return Ok(t.clone());
        }
        if let Some((_, property, unit, _)) = PROPERTIES.iter().find(|(n, _, _, _)| *n == name) {
            let unit = Unit::parse(unit).unwrap_or(Unit::ONE);
            return Ok(self.leaf(Leaf::Property(*property), unit));
        }
        if let Some(unit) = facts::unit(name) {
            let unit = Unit::parse(unit).unwrap_or(Unit::ONE);
            let node = match facts::target(name, self.target) {
                Some(v) => Node::Constant(v.map_err(Stop::Lacks)?),
                None => match facts::MACHINE.iter().find(|(n, _, _)| *n == name) {
                    Some((n, _, _)) => Node::Machine(n),
                    None => return Err(Stop::Wrong(Box::new(unknown.clone()))),
                },
            };
            return Ok(Typed { node: Arc::new(node), unit, degree: 0, any: false });
        }
        if self.open.iter().any(|n| n == name) {
            let message = format!("`{name}` is defined by itself");
            return Err(Stop::Wrong(Box::new(DefinitionError { message, ..unknown.clone() })));
        }
        if self.open.len() > 64 {
            let message = "definitions lead through too many others".to_string();
            return Err(Stop::Wrong(Box::new(DefinitionError { message, ..unknown.clone() })));
        }
        let definitions = self.definitions;
        self.open.push(name.to_string());
        // The meaning of a name does not depend on its user.
        let recorded_only = self.recorded_only.take();
        let found = if let Some(l) = definitions.lets.get(name) {
            let own = match variant(&l.variants, self.target) {
                Some(v) => match &v.formula {
                    Ok(e) => self.expression(e, v),
                    Err(reason) => Err(Stop::Lacks(reason.clone())),
                },
                None if self.target.is_empty() => Err(Stop::Lacks(self.not_defined())),
                None => Err(Stop::Lacks(format!("`{name}` is not defined for {}", self.target))),
            };
            self.with_stand_ins(name, own, None)
        } else if let Some(m) = definitions.metric(name) {
            if m.unit.is_per_norm() {
                let message = format!("`{name}` depends on the normalisation and cannot be part of another");
                Err(Stop::Wrong(Box::new(DefinitionError { message, ..unknown.clone() })))
            } else {
                self.metric(m)
            }
        } else {
            Err(Stop::Wrong(Box::new(unknown.clone())))
        };
        self.open.pop();
        self.recorded_only = recorded_only;
        let t = found?;
        self.memo.insert(name.to_string(), t.clone());
        Ok(t)
    }
}
