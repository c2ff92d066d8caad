//! Functions.

use crate::error::ErrorKind;
use crate::value::{Number, Value, compare};
use std::cmp::Ordering;

/// Rows of variant and name in Python make the enum.
macro_rules! functions {
    ($($(#[$note:meta])* $Variant:ident $name:literal)*) => {
        /// A function of Python, some of them of its module `math`, that expressions may call.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Function {
            $(#[doc = concat!("`", $name, "`")] $(#[$note])* $Variant,)*
        }

        impl Function {
            /// All.
            pub const ALL: &'static [Function] = &[$(Function::$Variant,)*];

            /// Its name in Python, without `math.`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Function::$Variant => $name,)*
                }
            }
        }
    };
}

functions! {
    Min "min"
    Max "max"
    Abs "abs"
    Len "len"
    Int "int"
    Float "float"
    Bool "bool"
    /// To the even of two.
    Round "round"
    Sum "sum"
    Any "any"
    All "all"
    List "list"
    Tuple "tuple"
    Sorted "sorted"
    Range "range"
    Ceil "ceil"
    Floor "floor"
    Log2 "log2"
    Sqrt "sqrt"
    Gcd "gcd"
}

pub(crate) type Failure = (ErrorKind, String);

impl Function {
    /// The fewest and most arguments.
    pub(crate) fn arguments(self) -> (usize, usize) {
        match self {
            Function::Min | Function::Max => (1, usize::MAX),
            Function::Range => (1, 3),
            Function::Gcd => (2, 2),
            _ => (1, 1),
        }
    }

    pub(crate) fn call(self, arguments: &[Value]) -> Result<Value, Failure> {
        let first = &arguments[0];
        match self {
            Function::Min => extreme(self, arguments, Ordering::Less),
            Function::Max => extreme(self, arguments, Ordering::Greater),
            Function::Abs => match number(self, first)? {
                Number::Int(it) => it.checked_abs().map(Value::Int).ok_or_else(overflow),
                Number::Float(it) => Ok(Value::Float(it.abs())),
            },
            Function::Len => match first {
                Value::List(it) => Ok(Value::Int(it.len() as i64)),
                Value::Text(it) => Ok(Value::Int(it.chars().count() as i64)),
                _ => Err(wrong(self, first)),
            },
            Function::Int => match first {
                Value::Text(it) => it.trim().parse().map(Value::Int).map_err(|_| wrong(self, first)),
                _ => whole(self, first, f64::trunc),
            },
            Function::Float => match first {
                Value::Text(it) => it.trim().parse().map(Value::Float).map_err(|_| wrong(self, first)),
                _ => Ok(Value::Float(number(self, first)?.float())),
            },
            Function::Bool => Ok(Value::Bool(first.truth())),
            Function::Round => whole(self, first, f64::round_ties_even),
            Function::Ceil => whole(self, first, f64::ceil),
            Function::Floor => whole(self, first, f64::floor),
            Function::Sum => sum(list(self, first)?),
            Function::Any => Ok(Value::Bool(list(self, first)?.iter().any(Value::truth))),
            Function::All => Ok(Value::Bool(list(self, first)?.iter().all(Value::truth))),
            Function::List | Function::Tuple => Ok(Value::List(list(self, first)?.to_vec())),
            Function::Sorted => sorted(list(self, first)?),
            Function::Range => range(arguments),
            Function::Log2 => positive(self, first, f64::log2, 0.0),
            Function::Sqrt => positive(self, first, f64::sqrt, -f64::MIN_POSITIVE),
            Function::Gcd => gcd(self, first, &arguments[1]),
        }
    }
}

pub(crate) fn overflow() -> Failure {
    (ErrorKind::TooLarge, "the result is no integer of 64 bits".to_owned())
}

fn wrong(function: Function, value: &Value) -> Failure {
    (ErrorKind::Type, format!("`{}` does not take {}", function.name(), value.kind()))
}

fn number(function: Function, value: &Value) -> Result<Number, Failure> {
    value.number().ok_or_else(|| wrong(function, value))
}

fn list(function: Function, value: &Value) -> Result<&[Value], Failure> {
    match value {
        Value::List(it) => Ok(it),
        _ => Err(wrong(function, value)),
    }
}

fn whole(function: Function, value: &Value, rounded: fn(f64) -> f64) -> Result<Value, Failure> {
    match number(function, value)? {
        Number::Int(it) => Ok(Value::Int(it)),
        Number::Float(it) => match rounded(it) {
            it if it.abs() < 9.2e18 => Ok(Value::Int(it as i64)),
            _ => Err(overflow()),
        },
    }
}

fn extreme(function: Function, arguments: &[Value], wanted: Ordering) -> Result<Value, Failure> {
    let values = match arguments {
        [only] => list(function, only)?,
        _ => arguments,
    };
    let Some((first, rest)) = values.split_first() else {
        return Err((ErrorKind::Type, format!("`{}` of an empty list", function.name())));
    };
    let mut best = first;
    for it in rest {
        if compare(it, best).map_err(|()| wrong(function, it))? == Some(wanted) {
            best = it;
        }
    }
    Ok(best.clone())
}

fn sum(values: &[Value]) -> Result<Value, Failure> {
    let mut total = Number::Int(0);
    for it in values {
        total = match (total, number(Function::Sum, it)?) {
            (Number::Int(a), Number::Int(b)) => Number::Int(a.checked_add(b).ok_or_else(overflow)?),
            (a, b) => Number::Float(a.float() + b.float()),
        };
    }
    Ok(total.value())
}

fn sorted(values: &[Value]) -> Result<Value, Failure> {
    let mut out = values.to_vec();
    if let Some(it) = values.iter().find(|it| compare(it, &values[0]).is_err()) {
        return Err(wrong(Function::Sorted, it));
    }
    // Total even for NaN, which Python leaves where it is.
    out.sort_by(|a, b| match (a.number(), b.number()) {
        (Some(Number::Float(a)), Some(Number::Float(b))) => a.total_cmp(&b),
        _ => compare(a, b).ok().flatten().unwrap_or(Ordering::Equal),
    });
    Ok(Value::List(out))
}

fn range(arguments: &[Value]) -> Result<Value, Failure> {
    let whole = |it: &Value| match it {
        Value::Int(it) => Ok(*it),
        Value::Bool(it) => Ok(i64::from(*it)),
        _ => Err(wrong(Function::Range, it)),
    };
    let numbers: Vec<i64> = arguments.iter().map(whole).collect::<Result<_, _>>()?;
    let (start, end, step) = match numbers[..] {
        [end] => (0, end, 1),
        [start, end] => (start, end, 1),
        [start, end, step, ..] => (start, end, step),
        [] => return Err((ErrorKind::Type, "`range` of nothing".to_owned())),
    };
    if step == 0 {
        return Err((ErrorKind::Type, "`range` with a step of 0".to_owned()));
    }
    let (distance, stride) = (i128::from(end) - i128::from(start), i128::from(step));
    let count =
        if (distance > 0) == (step > 0) { (distance.abs() + stride.abs() - 1) / stride.abs() } else { 0 };
    if count > crate::LONGEST_LIST as i128 {
        let message = format!("a range of {count} values; the limit is {}", crate::LONGEST_LIST);
        return Err((ErrorKind::TooLarge, message));
    }
    Ok(Value::List((0..count as i64).map(|it| Value::Int(start + it * step)).collect()))
}

fn positive(function: Function, value: &Value, of: fn(f64) -> f64, above: f64) -> Result<Value, Failure> {
    match number(function, value)?.float() {
        it if it > above => Ok(Value::Float(of(it))),
        it => Err((ErrorKind::Type, format!("`{}` of {it}", function.name()))),
    }
}

fn gcd(function: Function, a: &Value, b: &Value) -> Result<Value, Failure> {
    let whole = |it: &Value| match it {
        Value::Int(it) => Ok(it.unsigned_abs()),
        _ => Err(wrong(function, it)),
    };
    let (mut a, mut b) = (whole(a)?, whole(b)?);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).map(Value::Int).map_err(|_| overflow())
}
