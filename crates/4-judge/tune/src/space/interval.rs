//! Arithmetic on intervals of floats.

use super::op::{Op, OpId};

/// Whether computing a value fails, as division by zero does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Certainty {
    Never,
    Perhaps,
    Surely,
}

/// The numbers that a value may have. True is 1, false 0.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Interval {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) fails: Certainty,
}

use Certainty::{Never, Perhaps, Surely};

impl Interval {
    pub(super) fn point(it: f64) -> Interval {
        Interval { low: it, high: it, fails: Never }
    }

    pub(super) fn between(low: f64, high: f64) -> Interval {
        Interval { low, high, fails: Never }
    }

    pub(super) fn is_point(self) -> bool {
        self.low == self.high
    }

    pub(super) fn is_true(self) -> bool {
        self.low == 1.0 && self.fails == Never
    }

    pub(super) fn is_false(self) -> bool {
        self.high == 0.0 && self.fails == Never
    }

    fn truth(it: bool) -> Interval {
        Interval::point(f64::from(u8::from(it)))
    }

    fn unknown() -> Interval {
        Interval::between(0.0, 1.0)
    }
}

/// The result of an operation for the intervals of its inputs. `Op::Whole` and parameters are not computed here.
#[inline]
pub(super) fn compute(op: Op, of: impl Fn(OpId) -> Interval) -> Interval {
    match op {
        Op::Constant(bits) => Interval::point(f64::from_bits(bits)),
        Op::Parameter(_) | Op::Whole(_) => Interval::unknown(),
        Op::Add(a, b) => strict(of(a), of(b), |a, b| Interval::between(a.low + b.low, a.high + b.high)),
        Op::Subtract(a, b) => strict(of(a), of(b), |a, b| Interval::between(a.low - b.high, a.high - b.low)),
        Op::Multiply(a, b) => strict(of(a), of(b), multiply),
        Op::Divide(a, b) => strict(of(a), of(b), |a, b| divide(a, b, |a, b| a / b)),
        Op::FloorDivide(a, b) => strict(of(a), of(b), |a, b| divide(a, b, floor_divide)),
        Op::Remainder(a, b) => strict(of(a), of(b), remainder),
        Op::Min(a, b) => strict(of(a), of(b), |a, b| Interval::between(a.low.min(b.low), a.high.min(b.high))),
        Op::Max(a, b) => strict(of(a), of(b), |a, b| Interval::between(a.low.max(b.low), a.high.max(b.high))),
        Op::Negate(a) => {
            let a = of(a);
            Interval { low: -a.high, high: -a.low, ..a }
        }
        Op::Abs(a) => {
            let a = of(a);
            let low = if a.low <= 0.0 && a.high >= 0.0 { 0.0 } else { a.low.abs().min(a.high.abs()) };
            Interval { low, high: a.low.abs().max(a.high.abs()), ..a }
        }
        Op::Equal(a, b) => strict(of(a), of(b), |a, b| {
            if a.high < b.low || b.high < a.low {
                Interval::truth(false)
            } else if a.is_point() && b.is_point() {
                Interval::truth(true)
            } else {
                Interval::unknown()
            }
        }),
        Op::Less(a, b) => strict(of(a), of(b), |a, b| ordered(a.high < b.low, a.low >= b.high)),
        Op::LessOrEqual(a, b) => strict(of(a), of(b), |a, b| ordered(a.high <= b.low, a.low > b.high)),
        Op::And(a, b) => and(of(a), of(b)),
        Op::Or(a, b) => not(and(not(of(a)), not(of(b)))),
        Op::Not(a) => not(of(a)),
        Op::If(condition, a, b) => choose(of(condition), of(a), of(b)),
    }
}

/// An operation that fails where an input fails.
#[inline]
fn strict(a: Interval, b: Interval, of: impl Fn(Interval, Interval) -> Interval) -> Interval {
    let result = of(a, b);
    Interval { fails: result.fails.max(a.fails).max(b.fails), ..result }
}

fn ordered(surely: bool, never: bool) -> Interval {
    match (surely, never) {
        (true, _) => Interval::truth(true),
        (_, true) => Interval::truth(false),
        _ => Interval::unknown(),
    }
}

fn not(a: Interval) -> Interval {
    Interval { low: 1.0 - a.high, high: 1.0 - a.low, ..a }
}

/// The right side is computed only where the left is true, and so fails only there.
fn and(a: Interval, b: Interval) -> Interval {
    let right = match (a.high == 0.0, a.low == 1.0) {
        (true, _) => Never,
        (_, true) => b.fails,
        _ => b.fails.min(Perhaps),
    };
    Interval { low: a.low.min(b.low), high: a.high.min(b.high), fails: a.fails.max(right) }
}

fn choose(condition: Interval, a: Interval, b: Interval) -> Interval {
    let (low, high) = (a.low.min(b.low), a.high.max(b.high));
    let it = match (condition.low == 1.0, condition.high == 0.0) {
        (true, _) => a,
        (_, true) => b,
        _ => Interval { low, high, fails: a.fails.max(b.fails).min(Perhaps) },
    };
    Interval { fails: it.fails.max(condition.fails), ..it }
}

#[inline]
fn multiply(a: Interval, b: Interval) -> Interval {
    if a.low >= 0.0 && b.low >= 0.0 {
        return Interval::between(a.low * b.low, a.high * b.high);
    }
    let all = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
    Interval::between(
        all.into_iter().fold(f64::INFINITY, f64::min),
        all.into_iter().fold(f64::NEG_INFINITY, f64::max),
    )
}

/// Both divisions are monotone in each operand where the divisor keeps its sign.
fn divide(a: Interval, b: Interval, by: fn(f64, f64) -> f64) -> Interval {
    if b.low <= 0.0 && b.high >= 0.0 {
        return divided_by_zero(a, b);
    }
    let all = [by(a.low, b.low), by(a.low, b.high), by(a.high, b.low), by(a.high, b.high)];
    Interval::between(
        all.into_iter().fold(f64::INFINITY, f64::min),
        all.into_iter().fold(f64::NEG_INFINITY, f64::max),
    )
}

/// The result of a division whose divisor may be zero has no bounds: a divisor may be any fraction.
fn divided_by_zero(a: Interval, b: Interval) -> Interval {
    match b.is_point() {
        true => Interval { low: a.low, high: a.high, fails: Surely },
        false => Interval { low: f64::NEG_INFINITY, high: f64::INFINITY, fails: Perhaps },
    }
}

fn floor_divide(a: f64, b: f64) -> f64 {
    ((a - python_remainder(a, b)) / b).round()
}

/// Python's `%`: the sign is the divisor's.
fn python_remainder(a: f64, b: f64) -> f64 {
    let it = a % b;
    if it != 0.0 && (it < 0.0) != (b < 0.0) { it + b } else { it }
}

fn remainder(a: Interval, b: Interval) -> Interval {
    if a.is_point() && b.is_point() && b.low != 0.0 {
        return Interval::point(python_remainder(a.low, b.low));
    }
    let fails = match (b.low <= 0.0 && b.high >= 0.0, b.is_point()) {
        (true, true) => Surely,
        (true, false) => Perhaps,
        _ => Never,
    };
    // Python's result lies between 0 and the divisor.
    let (low, high) = (b.low.min(0.0), b.high.max(0.0));
    let within = match () {
        () if a.low >= 0.0 && b.low > 0.0 && a.high < b.low => (a.low, a.high),
        () if a.low >= 0.0 && b.low > 0.0 => (0.0, high.min(a.high)),
        () => (low, high),
    };
    Interval { low: within.0, high: within.1, fails }
}
