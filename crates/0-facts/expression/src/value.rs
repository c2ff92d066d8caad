//! Values of expressions.

use std::cmp::Ordering;
use std::fmt;

/// A value.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// A whole number.
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// A text.
    Text(String),
    /// A list, tuple or range.
    List(Vec<Value>),
}

/// A number, exact.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    pub(crate) fn float(self) -> f64 {
        match self {
            Number::Int(it) => it as f64,
            Number::Float(it) => it,
        }
    }

    pub(crate) fn value(self) -> Value {
        match self {
            Number::Int(it) => Value::Int(it),
            Number::Float(it) => Value::Float(it),
        }
    }
}

impl Value {
    /// The number that arithmetic uses; true is 1.
    pub(crate) fn number(&self) -> Option<Number> {
        match self {
            Value::Int(it) => Some(Number::Int(*it)),
            Value::Float(it) => Some(Number::Float(*it)),
            Value::Bool(it) => Some(Number::Int(i64::from(*it))),
            Value::Text(_) | Value::List(_) => None,
        }
    }

    /// Whether conditions take it as true: a number other than 0, or a text or list that is not empty.
    pub fn truth(&self) -> bool {
        match self {
            Value::Int(it) => *it != 0,
            Value::Float(it) => *it != 0.0,
            Value::Bool(it) => *it,
            Value::Text(it) => !it.is_empty(),
            Value::List(it) => !it.is_empty(),
        }
    }

    /// The kind of value, in words.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Int(_) => "an integer",
            Value::Float(_) => "a float",
            Value::Bool(_) => "a bool",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
        }
    }
}

fn compare_mixed(int: i64, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    // Exact: integers beyond 2^53 are no floats, so whole parts are compared as integers.
    if float >= 9.3e18 {
        return Some(Ordering::Less);
    }
    if float <= -9.3e18 {
        return Some(Ordering::Greater);
    }
    let whole = float.floor();
    let by_whole = i128::from(int).cmp(&(whole as i128));
    Some(by_whole.then(if float > whole { Ordering::Less } else { Ordering::Equal }))
}

fn compare_numbers(a: Number, b: Number) -> Option<Ordering> {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => Some(a.cmp(&b)),
        (Number::Float(a), Number::Float(b)) => a.partial_cmp(&b),
        (Number::Int(a), Number::Float(b)) => compare_mixed(a, b),
        (Number::Float(a), Number::Int(b)) => compare_mixed(b, a).map(Ordering::reverse),
    }
}

/// The order of two values as Python sees it: numbers with numbers, texts with texts, lists with lists.
/// `Err`: Python has no order of them. `Ok(None)`: one is NaN.
pub(crate) fn compare(a: &Value, b: &Value) -> Result<Option<Ordering>, ()> {
    match (a, b) {
        (Value::Text(a), Value::Text(b)) => Ok(Some(a.cmp(b))),
        (Value::List(a), Value::List(b)) => {
            for (a, b) in a.iter().zip(b) {
                if !equal(a, b) {
                    return compare(a, b);
                }
            }
            Ok(Some(a.len().cmp(&b.len())))
        }
        _ => match (a.number(), b.number()) {
            (Some(a), Some(b)) => Ok(compare_numbers(a, b)),
            _ => Err(()),
        },
    }
}

/// Whether two values are equal as Python sees it: `1 == 1.0 == True`; a text equals no number.
pub fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        _ => compare(a, b) == Ok(Some(Ordering::Equal)),
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(it) => write!(f, "{it}"),
            Value::Float(it) => write!(f, "{it:?}"),
            Value::Bool(true) => f.write_str("True"),
            Value::Bool(false) => f.write_str("False"),
            Value::Text(it) => f.write_str(it),
            Value::List(it) => {
                f.write_str("[")?;
                for (at, it) in it.iter().enumerate() {
                    write!(f, "{}{it}", if at == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
        }
    }
}
