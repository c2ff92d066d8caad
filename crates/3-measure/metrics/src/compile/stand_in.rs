//! Substitutes for values whose counters were not recorded.
//!
//! The recording decides which one is used, so an expression keeps all of them and each names the recorded
//! counters it is computed from.

use super::{Compiler, Leaf, Node, Stop, Typed, scaled};
use crate::definitions::{Metric, StandInDefinition, Variant, variant};
use crate::unit::Unit;
use counters::{Averaged, Derived, catalogue, derived};
use std::sync::Arc;

/// A value with its substitutes.
#[derive(Debug)]
pub(crate) struct StandIn {
    /// Its index among all of a target. Its parts have smaller indices.
    pub(crate) id: usize,
    /// The value itself, or why the target has none.
    pub(crate) own: Result<Arc<Node>, String>,
    /// Substitutes, best first.
    pub(crate) others: Vec<Other>,
}

/// Substitute for a value.
#[derive(Debug)]
pub(crate) struct Other {
    pub(crate) node: Arc<Node>,
    /// Derived counters it is made of, as recorded.
    pub(crate) counters: Vec<String>,
    /// Difference from the value it replaces.
    pub(crate) remark: Option<String>,
}

impl Compiler<'_> {
    /// A named value with its substitutes. Their unit must equal the value's, or the metric's.
    pub(crate) fn with_stand_ins(
        &mut self,
        name: &str,
        own: Result<Typed, Stop>,
        unit: Option<Unit>,
    ) -> Result<Typed, Stop> {
        let definitions = self.definitions;
        let Some(list) = definitions.stand_ins.get(name) else { return own };
        let own = match own {
            Err(Stop::Wrong(error)) => return Err(Stop::Wrong(error)),
            Err(Stop::Lacks(reason)) => Err(reason),
            Ok(own) => Ok(own),
        };
        let mut unit = own.as_ref().ok().map(|own| own.unit).or(unit);
        let mut degree = own.as_ref().ok().map(|own| own.degree);
        let mut others = Vec::new();
        for it in list {
            if !self.is_for_target(&it.variant) {
                continue;
            }
            match self.other(name, it, unit, degree) {
                Ok((other, typed)) => {
                    (unit, degree) = (Some(typed.unit), Some(typed.degree));
                    others.push(other);
                }
                Err(Stop::Lacks(_)) => {}
                Err(wrong) => return Err(wrong),
            }
        }
        match (own, unit, degree) {
            (Err(reason), _, _) if others.is_empty() => Err(Stop::Lacks(reason)),
            (own, Some(unit), Some(degree)) if !others.is_empty() => {
                Ok(self.stand_in(own.map(|own| own.node), others, unit, degree))
            }
            (own, _, _) => own.map_err(Stop::Lacks),
        }
    }

    fn is_for_target(&self, variant: &Variant) -> bool {
        let bits = catalogue().bits_of(self.target);
        bits != 0 && variant.targets & bits == bits
    }

    /// One substitute, in the required unit and degree if these are known.
    fn other(
        &mut self,
        name: &str,
        it: &StandInDefinition,
        unit: Option<Unit>,
        degree: Option<i8>,
    ) -> Result<(Other, Typed), Stop> {
        let formula = it.variant.formula.as_ref().map_err(|reason| Stop::Lacks(reason.clone()))?;
        let outer = self.recorded_only.replace(Vec::new());
        let typed = self.expression(formula, &it.variant);
        let counters = std::mem::replace(&mut self.recorded_only, outer).unwrap_or_default();
        let typed = typed?;
        let unit = unit.unwrap_or(typed.unit);
        if !typed.unit.same_quantity(unit) || degree.is_some_and(|degree| degree != typed.degree) {
            let message = format!("what stands in for `{name}` is another quantity: {}", typed.unit);
            return Err(self.error(&it.variant, formula.column, message));
        }
        let node = scaled(typed.node.clone(), typed.unit.factor_to(unit));
        let other = Other { node: node.clone(), counters, remark: it.remark.clone() };
        Ok((other, Typed { node, unit, ..typed }))
    }

    fn stand_in(
        &mut self,
        own: Result<Arc<Node>, String>,
        others: Vec<Other>,
        unit: Unit,
        degree: i8,
    ) -> Typed {
        let all = Arc::new(StandIn { id: self.stand_ins.len(), own, others });
        self.stand_ins.push(all.clone());
        Typed::new(Node::StandIn(all), unit, degree)
    }

    /// A derived counter by a name of an expression: its recorded value and, outside of substitutes, also its
    /// formula.
    pub(crate) fn derived_counter(&mut self, found: &'static Derived, v: &Variant) -> Result<Typed, Stop> {
        let Some(metric) = self.definitions.derived(&found.name) else {
            return Err(self.error(v, 1, format!("unknown counter `{}`", found.name)));
        };
        if self.recorded_only.is_some() {
            self.named_in_stand_in(&found.name);
            return Ok(self.recorded(found, metric.unit.without_norm()));
        }
        self.derived_metric(metric)
    }

    /// Keeps the name of a counter if it is part of a substitute.
    pub(crate) fn named_in_stand_in(&mut self, name: &str) {
        if let Some(counters) = self.recorded_only.as_mut().filter(|list| !list.iter().any(|it| it == name)) {
            counters.push(name.to_string());
        }
    }

    fn recorded(&mut self, found: &Derived, unit: Unit) -> Typed {
        let leaf = Leaf::Derived { name: found.name.clone(), averaged: found.averaged };
        let degree = i8::from(found.averaged == Averaged::Total);
        Typed { degree, ..self.leaf(leaf, unit) }
    }

    /// A derived counter: its formula, and where that cannot be computed what was recorded.
    pub(crate) fn derived_metric(&mut self, metric: &Metric) -> Result<Typed, Stop> {
        if let Some(known) = self.memo.get(&metric.id) {
            return Ok(known.clone());
        }
        let Some(found) = derived().find(&metric.id) else {
            return Err(Stop::Lacks(format!("there is no counter `{}`", metric.id)));
        };
        let unit = metric.unit.without_norm();
        let degree = i8::from(found.averaged == Averaged::Total);
        let own = match variant(&metric.variants, self.target) {
            Some(v) => match self.checked(metric, v, unit) {
                Ok(typed) if typed.degree == degree => Ok(typed.node),
                Ok(_) => {
                    let message = format!("`{}` averages in another way than its formula", metric.id);
                    return Err(self.error(v, 1, message));
                }
                Err(Stop::Lacks(reason)) => Err(reason),
                Err(wrong) => return Err(wrong),
            },
            None if self.target.is_empty() => Err(self.not_defined()),
            None => Err("profilers do not have it on this GPU".to_string()),
        };
        let node = self.recorded(found, unit).node;
        let other = Other { node, counters: vec![found.name.clone()], remark: None };
        let typed = self.stand_in(own, vec![other], metric.unit, degree);
        let inner = Typed { unit, ..typed.clone() };
        self.memo.insert(metric.id.clone(), inner.clone());
        Ok(inner)
    }
}

/// Substitutes in a node, including nested ones, each once.
pub(crate) fn stand_ins_of(node: &Node, out: &mut Vec<usize>) {
    match node {
        Node::Constant(_) | Node::Machine(_) | Node::Leaf(_) => {}
        Node::StandIn(all) => {
            if !out.contains(&all.id) {
                out.push(all.id);
                let own = all.own.iter();
                own.chain(all.others.iter().map(|it| &it.node)).for_each(|it| stand_ins_of(it, out));
            }
        }
        Node::Scale(_, n) | Node::Mean(n, _) => stand_ins_of(n, out),
        Node::Binary(_, a, b) => {
            stand_ins_of(a, out);
            stand_ins_of(b, out);
        }
        Node::Call(_, list) => list.iter().for_each(|n| stand_ins_of(n, out)),
    }
}

/// Reason why a node has no own value on the target.
pub(crate) fn lacks(node: &Node) -> Option<&str> {
    match node {
        Node::Constant(_) | Node::Machine(_) | Node::Leaf(_) => None,
        Node::StandIn(all) => match &all.own {
            Ok(own) => lacks(own),
            Err(reason) => Some(reason),
        },
        Node::Scale(_, n) | Node::Mean(n, _) => lacks(n),
        Node::Binary(_, a, b) => lacks(a).or_else(|| lacks(b)),
        Node::Call(_, list) => list.iter().find_map(|n| lacks(n)),
    }
}
