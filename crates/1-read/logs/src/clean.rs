//! Terminal control taken out of text: colours, cursor movement, carriage returns.

use std::borrow::Cow;

/// Separates the states of a progress bar in one line of a file; the number of the line stays.
pub(crate) const SOFT_BREAK: u8 = 0x0b;

/// Text without escape sequences. A carriage return within a line becomes a vertical tab.
pub(crate) fn clean(text: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr3(0x1b, b'\r', 0x08, text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let plain = memchr::memchr3(0x1b, b'\r', 0x08, &text[at..]).unwrap_or(text.len() - at);
        out.extend_from_slice(&text[at..at + plain]);
        at += plain;
        match text.get(at) {
            None => break,
            Some(0x1b) => at += escape(&text[at..]),
            Some(b'\r') => {
                let is_end = matches!(text.get(at + 1), None | Some(b'\n'));
                if !is_end && !matches!(out.last(), None | Some(b'\n' | &SOFT_BREAK)) {
                    out.push(SOFT_BREAK);
                }
                at += 1;
            }
            Some(_) => at += 1,
        }
    }
    Cow::Owned(out)
}

/// Length of the escape sequence at the start of a text, at least 1. It never includes the end of a line, since
/// lines are counted in cleaned text.
fn escape(text: &[u8]) -> usize {
    // A piece of a log may end with this line, so nothing after it may decide what is a sequence.
    let looked_at = &text[..text.len().min(MOST_SEQUENCE)];
    let line = memchr::memchr(b'\n', looked_at).unwrap_or(looked_at.len());
    sequence(&text[..line])
}

/// Longest sequence, bytes.
const MOST_SEQUENCE: usize = 520;

fn sequence(text: &[u8]) -> usize {
    match text.get(1) {
        // Control sequence: parameters, then one final byte.
        Some(b'[') => {
            let end = text[2..].iter().take(64).position(|byte| (0x40..=0x7e).contains(byte));
            end.map_or(2, |end| end + 3)
        }
        // Operating system command, up to BEL or ESC \.
        Some(b']') => {
            let end = text[2..].iter().take(512).position(|byte| matches!(byte, 0x07 | 0x1b));
            match end {
                Some(end) if text[2 + end] == 0x07 => end + 3,
                Some(end) if text[2 + end] == 0x1b => (end + 4).min(text.len()),
                _ => 2,
            }
        }
        Some(b'(' | b')') => 3.min(text.len()),
        Some(_) => 2,
        None => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_is_taken_out() {
        for (text, expected) in [
            (&b"plain\n"[..], &b"plain\n"[..]),
            (b"\x1b[1;31mERROR\x1b[0m: x\n", b"ERROR: x\n"),
            (b"dos\r\nline\r\n", b"dos\nline\n"),
            (b"\r 1%|#\r 2%|##\n", b" 1%|#\x0b 2%|##\n"),
            (b"\x1b]0;title\x07text", b"text"),
            (b"\x1b]8;;x\x1b\\link", b"link"),
            (b"\x1b(Bx\x1b", b"x"),
            (b"\x1b[", b""),
            (b"\x1b)\nx", b"\nx"),
            (b"\x1b[1\nm", b"1\nm"),
            (b"\x1b[12", b"12"),
            (b"\x1b]a\x1b\nx", b"\nx"),
        ] {
            assert_eq!(clean(text).as_ref(), expected, "{}", String::from_utf8_lossy(text));
        }
    }
}
