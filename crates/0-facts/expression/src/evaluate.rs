//! The value of an expression for given values of its names.

use crate::call::{Failure, overflow};
use crate::error::{ErrorKind, ExpressionError};
use crate::tree::{Binary, Comparison, Expression, Node, NodeId};
use crate::value::{Number, Value, compare, equal};
use std::cmp::Ordering;

struct Evaluation<'a> {
    expression: &'a Expression,
    values: &'a [Value],
    locals: Vec<Value>,
    steps: u32,
}

impl Expression {
    /// The value, for values of [`Expression::names`] in their order.
    ///
    /// # Errors
    /// Division by zero, operators on values that they do not accept, and limits, with their position.
    ///
    /// # Panics
    /// If there are fewer values than names.
    pub fn evaluate(&self, values: &[Value]) -> Result<Value, ExpressionError> {
        assert!(values.len() >= self.names.len(), "a value for each name");
        let locals = vec![Value::Int(0); self.locals as usize];
        Evaluation { expression: self, values, locals, steps: 0 }.value(self.root())
    }

    /// The value of an expression that reads no names.
    ///
    /// # Errors
    /// As [`Expression::evaluate`], and if it reads a name.
    pub fn constant(&self) -> Result<Value, ExpressionError> {
        self.bind(&[])?;
        self.evaluate(&[])
    }
}

type Evaluated = Result<Value, ExpressionError>;

impl Evaluation<'_> {
    fn error(&self, at: NodeId, (kind, message): Failure) -> ExpressionError {
        ExpressionError::new(self.expression.places[at as usize] as usize, kind, message)
    }

    fn spend(&mut self, at: NodeId, steps: usize) -> Result<(), ExpressionError> {
        self.steps = self.steps.saturating_add(u32::try_from(steps).unwrap_or(u32::MAX));
        if self.steps > crate::MOST_STEPS {
            let message = format!("more than {} steps", crate::MOST_STEPS);
            return Err(self.error(at, (ErrorKind::TooLarge, message)));
        }
        Ok(())
    }

    fn value(&mut self, at: NodeId) -> Evaluated {
        self.spend(at, 1)?;
        let expression = self.expression;
        match &expression.nodes[at as usize] {
            Node::Literal(it) => self.copy(at, it.clone()),
            Node::Name(it) => self.copy(at, self.values[*it as usize].clone()),
            Node::Local(it) => self.copy(at, self.locals[*it as usize].clone()),
            Node::List(parts) => {
                let parts: Result<Vec<_>, _> = parts.iter().map(|&it| self.value(it)).collect();
                Ok(Value::List(parts?))
            }
            Node::Negate(it) => {
                let value = self.value(*it)?;
                negate(&value).map_err(|it| self.error(at, it))
            }
            Node::Invert(it) => match self.value(*it)? {
                Value::Int(it) => Ok(Value::Int(!it)),
                it => Err(self.error(at, (ErrorKind::Type, format!("`~` does not take {}", it.kind())))),
            },
            Node::Not(it) => Ok(Value::Bool(!self.value(*it)?.truth())),
            Node::Binary(operator, a, b) => {
                let (a, b) = (self.value(*a)?, self.value(*b)?);
                self.spend(at, length(&a) + length(&b))?;
                binary(*operator, &a, &b).map_err(|it| self.error(at, it))
            }
            Node::Compare(first, chain) => self.chain(at, *first, chain),
            Node::And(a, b) => match self.value(*a)? {
                it if it.truth() => self.value(*b),
                it => Ok(it),
            },
            Node::Or(a, b) => match self.value(*a)? {
                it if it.truth() => Ok(it),
                _ => self.value(*b),
            },
            Node::If(condition, a, b) => match self.value(*condition)?.truth() {
                true => self.value(*a),
                false => self.value(*b),
            },
            Node::Call(function, arguments) => {
                let values: Result<Vec<_>, _> = arguments.iter().map(|&it| self.value(it)).collect();
                let result = function.call(&values?).map_err(|it| self.error(at, it))?;
                self.spend(at, length(&result))?;
                Ok(result)
            }
            Node::Index(list, index) => self.index(at, *list, *index),
            &Node::Comprehension { element, local, list, condition } => {
                self.comprehension(at, element, local, list, condition)
            }
        }
    }

    /// A copy, which costs steps in proportion to its size.
    fn copy(&mut self, at: NodeId, value: Value) -> Evaluated {
        self.spend(at, length(&value))?;
        Ok(value)
    }

    fn chain(&mut self, at: NodeId, first: NodeId, chain: &[(Comparison, NodeId)]) -> Evaluated {
        let mut left = self.value(first)?;
        for &(comparison, next) in chain {
            let right = self.value(next)?;
            self.spend(at, length(&left) + length(&right))?;
            if !compared(comparison, &left, &right).map_err(|it| self.error(at, it))? {
                return Ok(Value::Bool(false));
            }
            left = right;
        }
        Ok(Value::Bool(true))
    }

    fn index(&mut self, at: NodeId, list: NodeId, index: NodeId) -> Evaluated {
        let (list, index) = (self.value(list)?, self.value(index)?);
        let failure = |message: String| (ErrorKind::Type, message);
        let (Value::List(list), Value::Int(index)) = (&list, &index) else {
            let message = format!("{} is not indexed by {}", list.kind(), index.kind());
            return Err(self.error(at, failure(message)));
        };
        let place = if *index < 0 { index.saturating_add(list.len() as i64) } else { *index };
        let found = usize::try_from(place).ok().and_then(|it| list.get(it)).cloned();
        found.ok_or_else(|| {
            let message = format!("element {index} of a list of {}", list.len());
            self.error(at, failure(message))
        })
    }

    fn comprehension(
        &mut self,
        at: NodeId,
        element: NodeId,
        local: u32,
        list: NodeId,
        condition: Option<NodeId>,
    ) -> Evaluated {
        let list = match self.value(list)? {
            Value::List(it) => it,
            it => {
                let message = format!("`for` does not take {}", it.kind());
                return Err(self.error(at, (ErrorKind::Type, message)));
            }
        };
        let (mut out, mut total) = (Vec::new(), 0usize);
        for it in list {
            self.locals[local as usize] = it;
            let keep = match condition {
                Some(condition) => self.value(condition)?.truth(),
                None => true,
            };
            if keep {
                let value = self.value(element)?;
                total += size(&value);
                if total > crate::LONGEST_LIST {
                    let message = format!("a list of more than {} values", crate::LONGEST_LIST);
                    return Err(self.error(at, (ErrorKind::TooLarge, message)));
                }
                out.push(value);
            }
        }
        Ok(Value::List(out))
    }
}

/// Values in a value: itself, its characters or its elements.
fn size(value: &Value) -> usize {
    match value {
        Value::List(it) => 1 + it.iter().map(size).sum::<usize>(),
        Value::Text(it) => 1 + it.len() / 16,
        _ => 1,
    }
}

fn length(value: &Value) -> usize {
    match value {
        Value::List(_) | Value::Text(_) => size(value),
        _ => 0,
    }
}

fn negate(value: &Value) -> Result<Value, Failure> {
    match value.number() {
        Some(Number::Int(it)) => it.checked_neg().map(Value::Int).ok_or_else(overflow),
        Some(Number::Float(it)) => Ok(Value::Float(-it)),
        None => Err((ErrorKind::Type, format!("`-` does not take {}", value.kind()))),
    }
}

fn compared(comparison: Comparison, a: &Value, b: &Value) -> Result<bool, Failure> {
    let order = || {
        compare(a, b).map_err(|()| {
            (ErrorKind::Type, format!("{} is not compared with {} by size", a.kind(), b.kind()))
        })
    };
    Ok(match comparison {
        Comparison::Equal => equal(a, b),
        Comparison::NotEqual => !equal(a, b),
        Comparison::Less => order()? == Some(Ordering::Less),
        Comparison::LessOrEqual => order()?.is_some_and(Ordering::is_le),
        Comparison::Greater => order()? == Some(Ordering::Greater),
        Comparison::GreaterOrEqual => order()?.is_some_and(Ordering::is_ge),
        Comparison::In => contains(a, b)?,
        Comparison::NotIn => !contains(a, b)?,
    })
}

fn contains(element: &Value, list: &Value) -> Result<bool, Failure> {
    match (element, list) {
        (_, Value::List(it)) => Ok(it.iter().any(|it| equal(it, element))),
        (Value::Text(part), Value::Text(whole)) => Ok(whole.contains(part.as_str())),
        _ => Err((ErrorKind::Type, format!("`in` does not take {}", list.kind()))),
    }
}

fn binary(operator: Binary, a: &Value, b: &Value) -> Result<Value, Failure> {
    match (operator, a, b) {
        (Binary::Add, Value::List(a), Value::List(b)) => {
            if a.len() + b.len() > crate::LONGEST_LIST {
                return Err((ErrorKind::TooLarge, "the list is too long".to_owned()));
            }
            return Ok(Value::List([&a[..], &b[..]].concat()));
        }
        (Binary::Add, Value::Text(a), Value::Text(b)) if a.len() + b.len() <= crate::LONGEST_TEXT => {
            return Ok(Value::Text(format!("{a}{b}")));
        }
        (Binary::And | Binary::Or | Binary::Xor, Value::Bool(a), Value::Bool(b)) => {
            return Ok(Value::Bool(match operator {
                Binary::And => a & b,
                Binary::Or => a | b,
                _ => a ^ b,
            }));
        }
        _ => {}
    }
    match (a.number(), b.number()) {
        (Some(Number::Int(a)), Some(Number::Int(b))) => integers(operator, a, b),
        (Some(a), Some(b)) => floats(operator, a.float(), b.float()),
        _ => {
            let message = format!("{} and {} have no such operator", a.kind(), b.kind());
            Err((ErrorKind::Type, message))
        }
    }
}

fn division_by_zero() -> Failure {
    (ErrorKind::DivisionByZero, "division by zero".to_owned())
}

fn integers(operator: Binary, a: i64, b: i64) -> Result<Value, Failure> {
    let result = match operator {
        Binary::Add => a.checked_add(b),
        Binary::Subtract => a.checked_sub(b),
        Binary::Multiply => a.checked_mul(b),
        Binary::Divide => {
            if b == 0 {
                return Err(division_by_zero());
            }
            return Ok(Value::Float(a as f64 / b as f64));
        }
        Binary::FloorDivide | Binary::Remainder => {
            if b == 0 {
                return Err(division_by_zero());
            }
            let remainder = a.wrapping_rem(b);
            let down = remainder != 0 && (remainder < 0) != (b < 0);
            match operator {
                Binary::Remainder => Some(if down { remainder + b } else { remainder }),
                _ => a.checked_div(b).map(|it| it - i64::from(down)),
            }
        }
        Binary::Power if b < 0 => return floats(operator, a as f64, b as f64),
        Binary::Power => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)).or(match a {
            0 | 1 => Some(a),
            -1 => Some(if b % 2 == 0 { 1 } else { -1 }),
            _ => None,
        }),
        Binary::And => Some(a & b),
        Binary::Or => Some(a | b),
        Binary::Xor => Some(a ^ b),
        Binary::ShiftLeft | Binary::ShiftRight if b < 0 => {
            return Err((ErrorKind::Type, "a shift by a negative number".to_owned()));
        }
        Binary::ShiftLeft => match u32::try_from(b) {
            Ok(by) if by < 63 => a.checked_mul(1 << by),
            _ => (a == 0).then_some(0),
        },
        Binary::ShiftRight => Some(a >> b.min(63)),
    };
    result.map(Value::Int).ok_or_else(overflow)
}

fn floats(operator: Binary, a: f64, b: f64) -> Result<Value, Failure> {
    let divides = matches!(operator, Binary::Divide | Binary::FloorDivide | Binary::Remainder);
    if (divides && b == 0.0) || (operator == Binary::Power && a == 0.0 && b < 0.0) {
        return Err(division_by_zero());
    }
    let remainder = || {
        let it = a % b;
        if it != 0.0 && (it < 0.0) != (b < 0.0) { it + b } else { it }
    };
    Ok(Value::Float(match operator {
        Binary::Add => a + b,
        Binary::Subtract => a - b,
        Binary::Multiply => a * b,
        Binary::Divide => a / b,
        Binary::FloorDivide => ((a - remainder()) / b).round(),
        Binary::Remainder => remainder(),
        Binary::Power => {
            let it = a.powf(b);
            if it.is_nan() || it.is_infinite() {
                return Err((ErrorKind::TooLarge, "the power is no finite real number".to_owned()));
            }
            it
        }
        _ => return Err((ErrorKind::Type, "a float has no bits".to_owned())),
    }))
}
