//! One operand as it is written, before an opcode gives it a type.
//!
//! `1.0`, `0x3f800000` and `1` mean different bits for different operand types, so this stage keeps numbers
//! as numbers; [`super::form`] turns them into inline constants, literals or fields.

use super::cursor::{Cursor, Number};
use super::expression::{self, Symbols, Value};
use super::names;
use super::{Problem, SymbolUse};
use crate::{RegFile, RegRange};

/// Syntax and value of an operand.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Kind {
    Reg(RegRange),
    Int(i64),
    Real(f64),
    /// `lit(…)`: a literal even where an inline constant exists.
    Literal(i64),
    /// The value of a named field such as `vmcnt(0)` or `hwreg(…)`.
    Field(i64),
    /// An expression with an open symbol: byte range in the line.
    Symbol(SymbolUse),
    Off,
}

/// An operand with the modifiers around it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Raw {
    pub(crate) kind: Kind,
    pub(crate) neg: bool,
    pub(crate) abs: bool,
    pub(crate) sext: bool,
    /// Byte position in the line.
    pub(crate) at: usize,
}

/// Reads one operand.
pub(crate) fn read<'a>(cursor: &mut Cursor<'a>, symbols: Symbols<'_>) -> Result<Raw, Problem> {
    cursor.next_visible();
    let at = cursor.at();
    let mut raw = Raw { kind: Kind::Off, neg: false, abs: false, sext: false, at };
    match cursor.peek() {
        Some(b'-') => {
            cursor.take(b'-');
            let inner = cursor.at();
            match cursor.next_visible() {
                Some(b'|') => {}
                Some(byte) if byte.is_ascii_digit() || byte == b'.' => {
                    if let Some(Number::Real(value)) = cursor.number() {
                        raw.kind = Kind::Real(-value);
                        return Ok(raw);
                    }
                    cursor.go(at);
                    raw.kind = expression_kind(cursor, symbols)?;
                    return Ok(raw);
                }
                _ => {}
            }
            let is_modified = cursor.peek() == Some(b'|') || cursor.take_str("abs(");
            if !is_modified {
                let start = cursor.at();
                let list = cursor.peek() == Some(b'[');
                if !list && register(cursor, symbols)?.is_none() && !cursor.take_str("lit(") {
                    cursor.go(at);
                    raw.kind = expression_kind(cursor, symbols)?;
                    return Ok(raw);
                }
                cursor.go(start);
            } else {
                cursor.go(inner);
                cursor.next_visible();
            }
            raw.neg = true;
        }
        Some(_) => {}
        None => return Err(Problem::MissingOperand),
    }
    for (open, neg, abs, sext) in
        [("neg(", true, false, false), ("abs(", false, true, false), ("sext(", false, false, true)]
    {
        if cursor.take_str(open) {
            let inner = read(cursor, symbols)?;
            if !cursor.take(b')') {
                return Err(Problem::Expected(")"));
            }
            return Ok(Raw {
                neg: raw.neg ^ inner.neg | neg,
                abs: inner.abs | abs,
                sext: inner.sext | sext,
                at,
                ..inner
            });
        }
    }
    if cursor.take(b'|') {
        raw.abs = true;
        cursor.next_visible();
        // The closing bar would read as the operator `|` of an expression.
        let inner = cursor.at();
        let negative = cursor.take(b'-');
        raw.kind = match cursor.number() {
            Some(Number::Int(value)) => Kind::Int(if negative { value.wrapping_neg() } else { value }),
            _ => {
                cursor.go(inner);
                plain(cursor, symbols)?
            }
        };
        if !cursor.take(b'|') {
            return Err(Problem::Expected("|"));
        }
        return Ok(raw);
    }
    raw.kind = plain(cursor, symbols)?;
    Ok(raw)
}

/// An operand without modifiers.
fn plain(cursor: &mut Cursor<'_>, symbols: Symbols<'_>) -> Result<Kind, Problem> {
    if let Some(range) = register(cursor, symbols)? {
        return Ok(Kind::Reg(range));
    }
    let at = cursor.at();
    if cursor.peek() == Some(b'[') {
        return register_list(cursor, symbols).map(Kind::Reg);
    }
    if let Some(Number::Real(value)) = cursor.number() {
        return Ok(Kind::Real(value));
    }
    cursor.go(at);
    if cursor.peek() == Some(b'-') {
        cursor.take(b'-');
        if let Some(Number::Real(value)) = cursor.number() {
            return Ok(Kind::Real(-value));
        }
        cursor.go(at);
    }
    let name = cursor.name();
    if name == "off" {
        return Ok(Kind::Off);
    }
    if !name.is_empty() && cursor.peek() == Some(b'(') {
        return field(name, cursor, symbols);
    }
    cursor.go(at);
    if cursor.peek() == Some(b'{') {
        return names::structured_hwreg(cursor, symbols).map(Kind::Field);
    }
    expression_kind(cursor, symbols)
}

/// `name(…)`, the cursor at the parenthesis.
fn field(name: &str, cursor: &mut Cursor<'_>, symbols: Symbols<'_>) -> Result<Kind, Problem> {
    if matches!(name, "lit" | "lit64") {
        cursor.take(b'(');
        let negative = cursor.take(b'-');
        let at = cursor.at();
        let kind = match cursor.number() {
            Some(Number::Real(value)) => Kind::Real(if negative { -value } else { value }),
            _ => {
                cursor.go(at);
                match expression::read(cursor, symbols) {
                    Some(Value::Known(value)) => {
                        Kind::Literal(if negative { value.wrapping_neg() } else { value })
                    }
                    _ => return Err(Problem::BadNumber),
                }
            }
        };
        return if cursor.take(b')') { Ok(kind) } else { Err(Problem::Expected(")")) };
    }
    names::field(name, cursor, symbols).map(Kind::Field)
}

/// An integer expression, or the text of one that has open symbols.
fn expression_kind(cursor: &mut Cursor<'_>, symbols: Symbols<'_>) -> Result<Kind, Problem> {
    let from = cursor.at();
    match expression::read(cursor, symbols) {
        Some(Value::Known(value)) => Ok(Kind::Int(value)),
        Some(Value::Open) => {
            let to = from + cursor.since(from).trim_end().len();
            Ok(Kind::Symbol(SymbolUse { from: from as u32, to: to as u32 }))
        }
        None => Err(Problem::BadOperand),
    }
}

/// `[s0, s1]`: consecutive registers.
fn register_list(cursor: &mut Cursor<'_>, symbols: Symbols<'_>) -> Result<RegRange, Problem> {
    cursor.take(b'[');
    cursor.next_visible();
    let mut all = register(cursor, symbols)?.ok_or(Problem::BadRegister)?;
    while cursor.take(b',') {
        cursor.next_visible();
        let next = register(cursor, symbols)?.ok_or(Problem::BadRegister)?;
        let follows =
            next.file == all.file && next.count == 1 && next.first == all.first + u16::from(all.count);
        if !follows || all.count >= 32 {
            return Err(Problem::BadRegister);
        }
        all.count += 1;
    }
    if cursor.take(b']') { Ok(all) } else { Err(Problem::Expected("]")) }
}

/// A register or a run of registers; `None` (and nothing taken) if the text does not continue with a register
/// name.
pub(crate) fn register(cursor: &mut Cursor<'_>, symbols: Symbols<'_>) -> Result<Option<RegRange>, Problem> {
    let at = cursor.at();
    let name = cursor.name();
    let bytes = name.as_bytes();
    let (file, digits) = match bytes {
        [b'v', rest @ ..] if numbered(rest) => (RegFile::Vgpr, rest),
        [b's', rest @ ..] if numbered(rest) => (RegFile::Sgpr, rest),
        [b'a', rest @ ..] if numbered(rest) => (RegFile::Agpr, rest),
        [b't', b't', b'm', b'p', rest @ ..] if numbered(rest) => (RegFile::Ttmp, rest),
        [b'a', b'c', b'c', rest @ ..] if numbered(rest) => (RegFile::Agpr, rest),
        _ => {
            let found = names::special_register(name);
            if found.is_none() {
                cursor.go(at);
            }
            return Ok(found);
        }
    };
    let size = match file {
        RegFile::Sgpr => 102,
        RegFile::Ttmp => 16,
        _ => 256,
    };
    let (first, last) = if digits.is_empty() {
        if cursor.peek() != Some(b'[') {
            cursor.go(at);
            return Ok(None);
        }
        cursor.take(b'[');
        let first = index(cursor, symbols)?;
        let mut last = first;
        if cursor.take(b':') {
            last = index(cursor, symbols)?;
        }
        if !cursor.take(b']') {
            return Err(Problem::Expected("]"));
        }
        (first, last)
    } else {
        let mut number = Cursor::new(&name[name.len() - digits.len()..]);
        let first = number.decimal().ok_or(Problem::BadRegister)?;
        (first, first)
    };
    // Disassemblers print `s[100:103]` for a resource whose last two registers are past the end.
    let size = if file == RegFile::Sgpr && last - first.min(last) >= 3 { size + 2 } else { size };
    if first > last || last >= size || last - first >= 32 {
        return Err(Problem::BadRegister);
    }
    Ok(Some(RegRange::new(file, first as u16, (last - first + 1) as u8)))
}

/// The number of a register: an expression whose symbols have values.
fn index(cursor: &mut Cursor<'_>, symbols: Symbols<'_>) -> Result<u32, Problem> {
    cursor.next_visible();
    let at = cursor.at();
    if let Some(number) = cursor.decimal().filter(|_| matches!(cursor.peek(), Some(b':' | b']'))) {
        return Ok(number);
    }
    cursor.go(at);
    match expression::read(cursor, symbols) {
        Some(Value::Known(value)) => u32::try_from(value).map_err(|_| Problem::BadRegister),
        Some(Value::Open) => Err(Problem::UnknownName),
        None => Err(Problem::BadRegister),
    }
}

fn numbered(digits: &[u8]) -> bool {
    digits.iter().all(u8::is_ascii_digit)
}
