//! Expressions of numbers and symbols.
//!
//! An expression either has a value now, or depends on a symbol that nothing has defined yet; the text is
//! then kept and evaluated again when every label has its offset.

use super::cursor::{Cursor, Number};

/// Value of an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Value {
    /// A number.
    Known(i64),
    /// It names a symbol without a known value.
    Open,
}

/// Finds the value of a symbol.
pub(crate) type Symbols<'s> = &'s dyn Fn(&str) -> Option<i64>;

/// Deepest nesting of parentheses and signs that is read.
const MAX_DEPTH: u32 = 64;

/// Reads an expression; `None` if there is none or it cannot be read.
pub(crate) fn read(cursor: &mut Cursor<'_>, symbols: Symbols<'_>) -> Option<Value> {
    binary(cursor, symbols, 0, MAX_DEPTH)
}

/// Operators from loose to tight, as GNU syntax binds them.
fn operator(cursor: &mut Cursor<'_>) -> Option<(&'static str, u32)> {
    cursor.next_visible();
    const OPERATORS: [(&str, u32); 16] = [
        ("||", 1),
        ("&&", 2),
        ("==", 3),
        ("!=", 3),
        ("<<", 6),
        (">>", 6),
        ("<=", 3),
        (">=", 3),
        ("<", 3),
        (">", 3),
        ("+", 4),
        ("-", 4),
        ("|", 5),
        ("^", 5),
        ("&", 5),
        ("*", 6),
    ];
    let rest = cursor.rest();
    if rest.starts_with('/') || rest.starts_with('%') {
        return Some((if rest.starts_with('/') { "/" } else { "%" }, 6));
    }
    OPERATORS.iter().find(|(text, _)| rest.starts_with(text)).copied()
}

fn binary(cursor: &mut Cursor<'_>, symbols: Symbols<'_>, least: u32, depth: u32) -> Option<Value> {
    let mut left = unary(cursor, symbols, depth)?;
    while let Some((text, tightness)) = operator(cursor).filter(|(_, tightness)| *tightness > least) {
        cursor.take_str(text);
        let right = binary(cursor, symbols, tightness, depth.checked_sub(1)?)?;
        left = match (left, right) {
            (Value::Known(a), Value::Known(b)) => Value::Known(apply(text, a, b)?),
            _ => Value::Open,
        };
    }
    Some(left)
}

fn apply(operator: &str, a: i64, b: i64) -> Option<i64> {
    let shift = u32::try_from(b).ok().filter(|&b| b < 64);
    Some(match operator {
        "||" => i64::from(a != 0 || b != 0),
        "&&" => i64::from(a != 0 && b != 0),
        // GNU comparisons give all ones for true.
        "==" => -i64::from(a == b),
        "!=" => -i64::from(a != b),
        "<" => -i64::from(a < b),
        ">" => -i64::from(a > b),
        "<=" => -i64::from(a <= b),
        ">=" => -i64::from(a >= b),
        "<<" => shift.map_or(0, |b| a << b),
        ">>" => shift.map_or(0, |b| ((a as u64) >> b) as i64),
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        "*" => a.wrapping_mul(b),
        "/" => a.checked_div(b)?,
        _ => a.checked_rem(b)?,
    })
}

fn unary(cursor: &mut Cursor<'_>, symbols: Symbols<'_>, depth: u32) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    let map = |value: Value, f: fn(i64) -> i64| match value {
        Value::Known(value) => Value::Known(f(value)),
        Value::Open => Value::Open,
    };
    match cursor.next_visible()? {
        b'-' => {
            cursor.take(b'-');
            unary(cursor, symbols, depth).map(|value| map(value, i64::wrapping_neg))
        }
        b'~' => {
            cursor.take(b'~');
            unary(cursor, symbols, depth).map(|value| map(value, |value| !value))
        }
        b'!' => {
            cursor.take(b'!');
            unary(cursor, symbols, depth).map(|value| map(value, |value| i64::from(value == 0)))
        }
        b'+' => {
            cursor.take(b'+');
            unary(cursor, symbols, depth)
        }
        b'(' => {
            cursor.take(b'(');
            let value = binary(cursor, symbols, 0, depth)?;
            cursor.take(b')').then_some(value)
        }
        b'0'..=b'9' => {
            // `1b` and `1f` name the nearest label `1:` before and after.
            let from = cursor.at();
            if cursor.decimal().is_some() && (cursor.take_str("b") || cursor.take_str("f")) {
                let next = cursor.peek();
                if !next.is_some_and(|byte| byte.is_ascii_alphanumeric()) {
                    let name = cursor.since(from);
                    return Some(symbols(name).map_or(Value::Open, Value::Known));
                }
            }
            cursor.go(from);
            match cursor.number()? {
                Number::Int(value) => Some(Value::Known(value)),
                Number::Real(_) => None,
            }
        }
        _ => {
            let name = cursor.name();
            if name.is_empty() {
                return None;
            }
            Some(symbols(name).map_or(Value::Open, Value::Known))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_bind_as_in_gnu_syntax() {
        let symbols = |name: &str| match name {
            "four" => Some(4),
            ".LBB0_1" => Some(0x100),
            "1b" => Some(8),
            _ => None,
        };
        let known = |value| Some(Value::Known(value));
        let cases = [
            ("1+2*3", known(7), ""),
            ("(1+2)*3", known(9), ""),
            ("8-2-1", known(5), ""),
            ("1 << 4 | 1, s0", known(17), ", s0"),
            ("-four", known(-4), ""),
            ("~0", known(-1), ""),
            ("(.LBB0_1-four)&4294967295", known(0xfc), ""),
            ("(.LBB0_1-other)&4294967295", Some(Value::Open), ""),
            ("f@rel32@lo+4 ", Some(Value::Open), ""),
            ("1b", known(8), ""),
            ("0b11", known(3), ""),
            ("2f", Some(Value::Open), ""),
            ("7/0", None, ""),
            ("(1", None, ""),
            ("", None, ""),
            (",", None, ","),
        ];
        for (text, expected, rest) in cases {
            let mut cursor = Cursor::new(text);
            assert_eq!(read(&mut cursor, &symbols), expected, "{text}");
            assert_eq!(cursor.rest(), rest, "{text}");
        }
        let deep = "(".repeat(100_000);
        assert_eq!(read(&mut Cursor::new(&deep), &symbols), None);
        let long = "1+".repeat(100_000) + "1";
        assert_eq!(read(&mut Cursor::new(&long), &symbols), known(100_001));
    }
}
