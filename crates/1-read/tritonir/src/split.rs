//! Cutting text at separators outside of brackets.

/// Names for attributes, types and locations.
pub type Aliases<'a> = std::collections::HashMap<&'a str, &'a str>;

/// End of the bracket that opens at the first byte: one past its partner. `None` if it is not closed.
pub(crate) fn closing(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0u32;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'<' | b'(' | b'[' | b'{' => depth += 1,
            // The second half of an arrow closes nothing.
            b'>' if at > 0 && bytes.get(at - 1) == Some(&b'-') => {}
            b'>' | b')' | b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            b'"' => at += string(text.get(at..)?)? - 1,
            _ => {}
        }
        at += 1;
    }
    None
}

/// Bytes of the quoted string the text begins with.
pub(crate) fn string(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            b'\n' => return None,
            _ => at += 1,
        }
    }
}

/// The parts between commas outside of brackets, trimmed; empty for an empty text.
pub(crate) fn commas(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text).filter(|it| !it.trim().is_empty());
    std::iter::from_fn(move || {
        let text = rest?;
        let (part, next) = first(text, b',');
        rest = next;
        Some(part.trim())
    })
}

/// The text before a separator outside of brackets, and what follows it.
pub(crate) fn first(text: &str, separator: u8) -> (&str, Option<&str>) {
    let bytes = text.as_bytes();
    let mut depth = 0u32;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            _ if byte == separator && depth == 0 => {
                return (text.get(..at).unwrap_or_default(), text.get(at + 1..));
            }
            b'<' | b'(' | b'[' | b'{' => depth += 1,
            b'>' if at > 0 && bytes.get(at - 1) == Some(&b'-') => {}
            b'>' | b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => match text.get(at..).and_then(string) {
                Some(length) => at += length - 1,
                None => return (text, None),
            },
            _ => {}
        }
        at += 1;
    }
    (text, None)
}

/// The text within the brackets it begins and ends with.
pub(crate) fn within(text: &str, open: char, close: char) -> Option<&str> {
    text.trim().strip_prefix(open)?.strip_suffix(close)
}

/// Numbers of `[1, 8]`.
pub(crate) fn numbers(text: &str) -> Option<Vec<u32>> {
    commas(within(text, '[', ']')?).map(|it| it.parse().ok()).collect()
}
