//! The wire format of protocol buffers: fields by number, unknown ones skipped by length.

/// One field.
#[derive(Clone, Copy)]
pub(super) struct Field<'a> {
    pub(super) number: u64,
    pub(super) value: Value<'a>,
}

#[derive(Clone, Copy)]
pub(super) enum Value<'a> {
    /// A varint, or a fixed number of 4 or 8 bytes.
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Field<'a> {
    pub(super) fn number_value(&self) -> u64 {
        match self.value {
            Value::Number(n) => n,
            Value::Bytes(_) => 0,
        }
    }

    pub(super) fn bytes(&self) -> &'a [u8] {
        match self.value {
            Value::Number(_) => &[],
            Value::Bytes(bytes) => bytes,
        }
    }
}

/// The fields of a message; iteration ends at the first incomplete one.
pub(super) struct Fields<'a> {
    rest: &'a [u8],
    /// Whether the message ended within a field.
    pub(super) cut: bool,
}

/// Iterates over a message.
pub(super) fn fields(bytes: &[u8]) -> Fields<'_> {
    Fields { rest: bytes, cut: false }
}

impl Fields<'_> {
    /// Bytes not yet read.
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }
}

/// A varint and the bytes behind it.
fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0u64;
    for (at, b) in bytes.iter().take(10).enumerate() {
        value |= u64::from(b & 0x7f).checked_shl(7 * at as u32).unwrap_or(0);
        if b & 0x80 == 0 {
            return Some((value, &bytes[at + 1..]));
        }
    }
    None
}

fn one<'a>(bytes: &'a [u8]) -> Option<(Field<'a>, &'a [u8])> {
    let (key, rest) = varint(bytes)?;
    let number = key >> 3;
    let fixed = |n: usize| -> Option<(Value<'a>, &'a [u8])> {
        let (head, tail) = rest.split_at_checked(n)?;
        let value = head.iter().rev().fold(0u64, |all, b| all << 8 | u64::from(*b));
        Some((Value::Number(value), tail))
    };
    let (value, rest) = match key & 7 {
        0 => varint(rest).map(|(n, rest)| (Value::Number(n), rest))?,
        1 => fixed(8)?,
        2 => {
            let (n, rest) = varint(rest)?;
            let (head, tail) = rest.split_at_checked(usize::try_from(n).ok()?)?;
            (Value::Bytes(head), tail)
        }
        5 => fixed(4)?,
        _ => return None,
    };
    Some((Field { number, value }, rest))
}

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        match one(self.rest) {
            Some((field, rest)) => {
                self.rest = rest;
                Some(field)
            }
            None => {
                self.cut = true;
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_every_kind() {
        let bytes = [8, 0x96, 1, 18, 2, 7, 8, 25, 1, 0, 0, 0, 0, 0, 0, 0, 37, 2, 0, 0, 0];
        let found: Vec<(u64, u64, usize)> =
            fields(&bytes).map(|f| (f.number, f.number_value(), f.bytes().len())).collect();
        assert_eq!(found, [(1, 150, 0), (2, 0, 2), (3, 1, 0), (4, 2, 0)]);
        for end in 1..bytes.len() {
            let mut it = fields(&bytes[..end]);
            let whole = it.by_ref().count();
            assert_eq!(it.cut, ![3, 7, 16].contains(&end), "{end}");
            assert!(whole < 4);
        }
    }
}
