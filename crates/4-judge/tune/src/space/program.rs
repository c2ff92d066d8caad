//! Constraints as one program of numeric operations with shared parts.
//!
//! Each operation is computed on intervals of 64-bit floats, so that a constraint is decided as soon as the bound
//! parameters decide it. What such floats cannot hold exactly, texts and lists are computed by `expression` once
//! every name is bound.

use super::interval::{Interval, compute};
use super::op::{Op, OpId};
use crate::value::Value;
use expression::{Binary, Comparison, Expression, Function, Node, NodeId};
use std::collections::HashMap;

/// Largest magnitude up to which all integers are floats.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A constraint that `expression` computes when its names are bound.
#[derive(Clone, Debug)]
pub(super) struct Whole {
    /// Which constraint.
    pub(super) constraint: usize,
    /// The operations of the parameters that it reads, in the order of its names.
    pub(super) parameters: Vec<OpId>,
}

/// All constraints of a space.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub(super) ops: Vec<Op>,
    /// Whether each operation is true or false.
    logical: Vec<bool>,
    /// Interval of each over the whole space.
    pub(super) widest: Vec<Interval>,
    known: HashMap<Op, OpId>,
    /// For each constraint, the operation that decides it.
    pub(super) roots: Vec<OpId>,
    pub(super) wholes: Vec<Whole>,
}

/// The number that represents a value; texts are numbered by their place.
pub(super) fn number_of(value: &Value, place: usize) -> f64 {
    value.number().unwrap_or(place as f64)
}

/// A parameter as the program sees it.
#[derive(Clone, Debug)]
pub(super) struct Domain {
    /// Numbers of the values.
    pub(super) numbers: Vec<f64>,
    /// Whether they are exact numbers.
    pub(super) numeric: bool,
    /// Whether they are all true or false.
    pub(super) logical: bool,
}

impl Domain {
    pub(super) fn of(values: &[Value]) -> Domain {
        let exact = |it: &Value| it.number().is_some_and(|it| it.abs() <= EXACT);
        Domain {
            numbers: values.iter().enumerate().map(|(at, it)| number_of(it, at)).collect(),
            numeric: values.iter().all(exact),
            logical: values.iter().all(|it| matches!(it, Value::Bool(_))),
        }
    }

    fn interval(&self) -> Interval {
        let fold = |of: fn(f64, f64) -> f64, from| self.numbers.iter().copied().fold(from, of);
        Interval::between(fold(f64::min, f64::INFINITY), fold(f64::max, f64::NEG_INFINITY))
    }
}

/// The constraint is neither true nor false, by its operators.
pub(super) struct NotLogical;

impl Program {
    /// Adds a constraint whose names are the parameters at `places`.
    pub(super) fn add(
        &mut self,
        constraint: &Expression,
        places: &[usize],
        domains: &[Domain],
    ) -> Result<(), NotLogical> {
        let number = self.roots.len();
        let start = self.ops.len();
        let root = match self.compile(constraint, places, domains, constraint.root()) {
            Some(it) if self.logical[it as usize] => it,
            Some(_) => return Err(NotLogical),
            None => {
                self.truncate(start);
                let parameters = places.iter().map(|&it| self.parameter(it, domains)).collect();
                self.wholes.push(Whole { constraint: number, parameters });
                self.push(Op::Whole(self.wholes.len() as u32 - 1), true, Interval::between(0.0, 1.0))
            }
        };
        self.roots.push(root);
        Ok(())
    }

    fn truncate(&mut self, length: usize) {
        self.ops.truncate(length);
        self.logical.truncate(length);
        self.widest.truncate(length);
        self.known.retain(|_, it| (*it as usize) < length);
    }

    fn push(&mut self, op: Op, logical: bool, widest: Interval) -> OpId {
        *self.known.entry(op).or_insert_with(|| {
            self.ops.push(op);
            self.logical.push(logical);
            self.widest.push(widest);
            self.ops.len() as OpId - 1
        })
    }

    fn parameter(&mut self, place: usize, domains: &[Domain]) -> OpId {
        let domain = &domains[place];
        self.push(Op::Parameter(place as u32), domain.logical, domain.interval())
    }

    fn constant(&mut self, value: f64, logical: bool) -> OpId {
        self.push(Op::Constant(value.to_bits()), logical, Interval::point(value))
    }

    /// Adds an operation whose result is exact, or nothing.
    fn operate(&mut self, op: Op, logical: bool) -> Option<OpId> {
        let widest = compute(op, |it| self.widest[it as usize]);
        let exact = widest.low >= -EXACT && widest.high <= EXACT;
        exact.then(|| self.push(op, logical, widest))
    }

    fn logical(&mut self, op: Op) -> Option<OpId> {
        let (inputs, count) = op.inputs();
        inputs[..count].iter().all(|&it| self.logical[it as usize]).then_some(())?;
        self.operate(op, true)
    }

    fn compile(
        &mut self,
        from: &Expression,
        places: &[usize],
        domains: &[Domain],
        at: NodeId,
    ) -> Option<OpId> {
        let part = |program: &mut Program, it: NodeId| program.compile(from, places, domains, it);
        match &from.nodes()[at as usize] {
            Node::Literal(expression::Value::Int(it)) if it.unsigned_abs() <= EXACT as u64 => {
                Some(self.constant(*it as f64, false))
            }
            Node::Literal(expression::Value::Float(it)) => Some(self.constant(*it, false)),
            Node::Literal(expression::Value::Bool(it)) => Some(self.constant(f64::from(u8::from(*it)), true)),
            Node::Name(it) => {
                let place = places[*it as usize];
                domains[place].numeric.then(|| self.parameter(place, domains))
            }
            Node::Negate(it) => {
                let it = part(self, *it)?;
                self.operate(Op::Negate(it), false)
            }
            Node::Not(it) => {
                let it = part(self, *it)?;
                self.logical(Op::Not(it))
            }
            Node::Binary(operator, a, b) => {
                let (a, b) = (part(self, *a)?, part(self, *b)?);
                self.operate(arithmetic(*operator, a, b)?, false)
            }
            Node::And(a, b) => {
                let (a, b) = (part(self, *a)?, part(self, *b)?);
                self.logical(Op::And(a, b))
            }
            Node::Or(a, b) => {
                let (a, b) = (part(self, *a)?, part(self, *b)?);
                self.logical(Op::Or(a, b))
            }
            Node::If(condition, a, b) => {
                let (condition, a, b) = (part(self, *condition)?, part(self, *a)?, part(self, *b)?);
                let both = self.logical[a as usize] == self.logical[b as usize];
                (self.logical[condition as usize] && both).then_some(())?;
                self.operate(Op::If(condition, a, b), self.logical[a as usize])
            }
            Node::Compare(first, chain) => self.chain((from, places, domains), *first, chain),
            Node::Call(Function::Abs, arguments) => {
                let it = part(self, arguments[0])?;
                self.operate(Op::Abs(it), false)
            }
            Node::Call(function @ (Function::Min | Function::Max), arguments) if arguments.len() > 1 => {
                let mut all = part(self, arguments[0])?;
                for &it in &arguments[1..] {
                    let it = part(self, it)?;
                    let op = if *function == Function::Min { Op::Min(all, it) } else { Op::Max(all, it) };
                    all = self.operate(op, false)?;
                }
                Some(all)
            }
            _ => None,
        }
    }

    /// `a < b <= c` as `a < b and b <= c`; `in` a list as one of equalities.
    fn chain(
        &mut self,
        (from, places, domains): (&Expression, &[usize], &[Domain]),
        first: NodeId,
        chain: &[(Comparison, NodeId)],
    ) -> Option<OpId> {
        let mut left = self.compile(from, places, domains, first)?;
        let mut all: Option<OpId> = None;
        for &(comparison, next) in chain {
            let (result, right) = match comparison {
                Comparison::In | Comparison::NotIn => {
                    let Node::List(elements) = &from.nodes()[next as usize] else { return None };
                    let mut any = self.constant(0.0, true);
                    for &it in elements {
                        let it = self.compile(from, places, domains, it)?;
                        let equal = self.operate(Op::Equal(left, it), true)?;
                        any = self.operate(Op::Or(any, equal), true)?;
                    }
                    // A list is no number, so the chain ends here.
                    let found = if comparison == Comparison::In { any } else { self.logical(Op::Not(any))? };
                    (found, None)
                }
                _ => {
                    let right = self.compile(from, places, domains, next)?;
                    (self.comparison(comparison, left, right)?, Some(right))
                }
            };
            all = match all {
                Some(all) => Some(self.logical(Op::And(all, result))?),
                None => Some(result),
            };
            match right {
                Some(it) => left = it,
                None if chain.last() == Some(&(comparison, next)) => break,
                None => return None,
            }
        }
        all
    }

    fn comparison(&mut self, comparison: Comparison, a: OpId, b: OpId) -> Option<OpId> {
        let op = match comparison {
            Comparison::Equal => Op::Equal(a, b),
            Comparison::NotEqual => {
                let equal = self.operate(Op::Equal(a, b), true)?;
                Op::Not(equal)
            }
            Comparison::Less => Op::Less(a, b),
            Comparison::LessOrEqual => Op::LessOrEqual(a, b),
            Comparison::Greater => Op::Less(b, a),
            Comparison::GreaterOrEqual => Op::LessOrEqual(b, a),
            Comparison::In | Comparison::NotIn => return None,
        };
        self.operate(op, true)
    }

    /// The operations of the parameters that an operation reads directly.
    pub(super) fn inputs(&self, op: OpId) -> Vec<OpId> {
        match self.ops[op as usize] {
            Op::Whole(it) => self.wholes[it as usize].parameters.clone(),
            it => {
                let (inputs, count) = it.inputs();
                inputs[..count].to_vec()
            }
        }
    }
}

fn arithmetic(operator: Binary, a: OpId, b: OpId) -> Option<Op> {
    Some(match operator {
        Binary::Add => Op::Add(a, b),
        Binary::Subtract => Op::Subtract(a, b),
        Binary::Multiply => Op::Multiply(a, b),
        Binary::Divide => Op::Divide(a, b),
        Binary::FloorDivide => Op::FloorDivide(a, b),
        Binary::Remainder => Op::Remainder(a, b),
        _ => return None,
    })
}
