//! Choice of substitutes in a recording.
//!
//! A value whose own counters were recorded is never replaced, so substitutes do not affect a full recording.

use crate::compile::{Compiled, Node, Ready, StandIn, Typed};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Source of a value that is not computed from its own counters.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct TakenFrom {
    /// Derived counters, as recorded: `FETCH_SIZE`.
    pub counters: Vec<String>,
    /// Differences from the replaced value: `without scalar loads`.
    pub remarks: Vec<String>,
}

impl fmt::Display for TakenFrom {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.counters.join(", "))?;
        if self.remarks.is_empty() { Ok(()) } else { write!(out, " ({})", self.remarks.join("; ")) }
    }
}

/// An expression with a substituted part.
pub(super) struct Replaced {
    /// The expression, or why there is none.
    pub(super) value: Result<Typed, String>,
    pub(super) from: TakenFrom,
}

/// Expressions with substituted parts, by metric and normalisation.
#[derive(Default)]
pub(super) struct StandingIn {
    metrics: HashMap<String, Replaced>,
    norms: HashMap<&'static str, Replaced>,
}

/// Value that is used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// The value itself, even if the counters of the value and of all substitutes are absent.
    Own,
    /// One of the others.
    Other(usize),
    /// The target has none, and the others were not recorded.
    Nothing,
}

impl StandingIn {
    /// Chooses for a recording; `complete` tells if all parts of an expression were recorded, `recorded` the
    /// name under which a counter was.
    pub(super) fn choose(
        compiled: &Compiled,
        complete: &dyn Fn(&Node) -> bool,
        recorded: &dyn Fn(&str) -> String,
    ) -> Self {
        let mut chosen = Chosen { list: Vec::with_capacity(compiled.stand_ins.len()) };
        // The parts of a value precede it.
        for all in &compiled.stand_ins {
            let choice = chosen.choose(all, complete);
            chosen.list.push(choice);
        }
        if chosen.list.iter().all(|choice| *choice == Choice::Own) {
            return Self::default();
        }
        let replaced = |ready: &Ready| {
            let touched = |id: &usize| chosen.list.get(*id).is_some_and(|it| *it != Choice::Own);
            if !ready.stand_ins.iter().any(touched) {
                return None;
            }
            let value = ready.value.as_ref().ok()?;
            let mut from = TakenFrom::default();
            let node = chosen.applied(&value.node, &mut from);
            from.counters.iter_mut().for_each(|name| *name = recorded(name));
            Some(Replaced { value: node.map(|node| Typed { node, ..value.clone() }), from })
        };
        let metrics = compiled.metrics.iter().filter_map(|(id, ready)| Some((id.clone(), replaced(ready)?)));
        let norms = compiled.norms.iter().filter_map(|(id, ready)| Some((*id, replaced(ready)?)));
        StandingIn { metrics: metrics.collect(), norms: norms.collect() }
    }

    /// A metric with a substituted part.
    pub(super) fn metric(&self, metric: &str) -> Option<&Replaced> {
        self.metrics.get(metric)
    }

    /// A normalisation with a substituted part.
    pub(super) fn norm(&self, norm: &str) -> Option<&Replaced> {
        self.norms.get(norm)
    }
}

struct Chosen {
    /// Choices, by index of the value.
    list: Vec<Choice>,
}

impl Chosen {
    fn choose(&self, all: &StandIn, complete: &dyn Fn(&Node) -> bool) -> Choice {
        let there = |node: &Arc<Node>| {
            let applied = self.applied(node, &mut TakenFrom::default());
            applied.is_ok_and(|node| complete(&node))
        };
        if all.own.as_ref().is_ok_and(there) {
            return Choice::Own;
        }
        match all.others.iter().position(|other| there(&other.node)) {
            Some(at) => Choice::Other(at),
            None if all.own.is_ok() => Choice::Own,
            None => Choice::Nothing,
        }
    }

    /// A node with the choices for its parts, or the reason why it has no value; `from` receives the sources.
    fn applied(&self, node: &Arc<Node>, from: &mut TakenFrom) -> Result<Arc<Node>, String> {
        Ok(match &**node {
            Node::Constant(_) | Node::Machine(_) | Node::Leaf(_) => node.clone(),
            Node::Scale(factor, inner) => Arc::new(Node::Scale(*factor, self.applied(inner, from)?)),
            Node::Mean(inner, degree) => Arc::new(Node::Mean(self.applied(inner, from)?, *degree)),
            Node::Binary(operator, a, b) => {
                Arc::new(Node::Binary(*operator, self.applied(a, from)?, self.applied(b, from)?))
            }
            Node::Call(function, list) => {
                let list = list.iter().map(|it| self.applied(it, from)).collect::<Result<_, _>>()?;
                Arc::new(Node::Call(*function, list))
            }
            Node::StandIn(all) => match (self.list.get(all.id), &all.own) {
                (Some(Choice::Other(at)), _) => {
                    let Some(other) = all.others.get(*at) else { return Ok(node.clone()) };
                    let add = |list: &mut Vec<String>, name: &String| {
                        if !list.contains(name) {
                            list.push(name.clone());
                        }
                    };
                    other.counters.iter().for_each(|name| add(&mut from.counters, name));
                    other.remark.iter().for_each(|remark| add(&mut from.remarks, remark));
                    self.applied(&other.node, from)?
                }
                (_, Ok(own)) => self.applied(own, from)?,
                (_, Err(reason)) => return Err(reason.clone()),
            },
        })
    }
}
