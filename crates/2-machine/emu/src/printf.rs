//! C's `printf` for device code: a format text, then arguments, in words of eight bytes.
//!
//! The one idea to keep in mind: a text fills whole words and ends with a zero; any other argument is one word.
//! Where the C standard allows a choice, this does the same as the GNU library.

/// Largest width and precision; larger ones are reduced.
const MOST: usize = 10_000;

/// Output as bytes, because texts of a program need not be Unicode.
pub fn printf(words: &[u64]) -> Vec<u8> {
    let mut rest = words;
    let format = text(&mut rest);
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(&byte) = format.get(at) {
        at += 1;
        if byte != b'%' {
            out.push(byte);
        } else if format.get(at) == Some(&b'%') {
            out.push(b'%');
            at += 1;
        } else {
            // Without an argument or a valid conversion, the rest of the text is dropped.
            if rest.is_empty() {
                break;
            }
            let Some(spec) = Spec::read(&format, &mut at, &mut rest) else { break };
            spec.write(&mut rest, &mut out);
        }
    }
    out
}

/// Takes a text: the bytes up to a zero, and all words they fill.
fn text(rest: &mut &[u64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let Some((word, more)) = rest.split_first() {
        *rest = more;
        let word = word.to_le_bytes();
        let end = word.iter().position(|byte| *byte == 0);
        bytes.extend(&word[..end.unwrap_or(8)]);
        if end.is_some() {
            break;
        }
    }
    bytes
}

fn next(format: &[u8], at: &mut usize) -> Option<u8> {
    *at += 1;
    format.get(*at - 1).copied()
}

/// Takes a width or precision that begins with `byte`: digits, or a star for the next argument. `byte` becomes
/// the next byte of the format.
fn number(byte: &mut u8, format: &[u8], at: &mut usize, rest: &mut &[u64]) -> Option<i64> {
    if *byte == b'*' {
        let (word, more) = rest.split_first()?;
        *rest = more;
        *byte = next(format, at)?;
        return Some(i64::from(*word as i32));
    }
    let mut value = 0;
    while byte.is_ascii_digit() {
        value = (value * 10 + i64::from(*byte - b'0')).min(1 << 32);
        *byte = next(format, at)?;
    }
    Some(value)
}

/// A conversion such as `%-8.3lf`.
#[derive(Default, Debug)]
struct Spec {
    minus: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    /// Bits of an integer argument.
    bits: u32,
    conversion: u8,
}

impl Spec {
    fn read(format: &[u8], at: &mut usize, rest: &mut &[u64]) -> Option<Spec> {
        let mut spec = Spec { bits: 32, ..Spec::default() };
        let mut byte = next(format, at)?;
        loop {
            match byte {
                b'-' => spec.minus = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                b'0' => spec.zero = true,
                b'\'' => {}
                _ => break,
            }
            byte = next(format, at)?;
        }
        let width = number(&mut byte, format, at, rest)?;
        spec.minus |= width < 0;
        spec.width = (width.unsigned_abs() as usize).min(MOST);
        if byte == b'.' {
            byte = next(format, at)?;
            // A negative precision means none.
            let precision = number(&mut byte, format, at, rest)?;
            spec.precision = usize::try_from(precision).ok().map(|it| it.min(MOST));
        }
        loop {
            spec.bits = match byte {
                b'h' => (spec.bits / 2).max(8),
                b'l' | b'j' | b'z' | b't' | b'q' | b'L' => 64,
                _ => break,
            };
            byte = next(format, at)?;
        }
        spec.conversion = byte;
        b"diouxXfFeEgGaAcspn".contains(&byte).then_some(spec)
    }

    fn write(&self, rest: &mut &[u64], out: &mut Vec<u8>) {
        if self.conversion == b's' {
            let mut bytes = text(rest);
            bytes.truncate(self.precision.unwrap_or(usize::MAX));
            return self.pad(&[], &bytes, false, out);
        }
        let Some((&word, more)) = rest.split_first() else { return };
        *rest = more;
        match self.conversion {
            b'n' => {}
            b'c' => self.pad(&[], &[word as u8], false, out),
            b'p' if word == 0 => self.pad(&[], b"(nil)", false, out),
            b'p' => self.integer(self.sign(false), format!("0x{word:x}").into_bytes(), out),
            b'd' | b'i' => {
                let shift = 64 - self.bits;
                let value = (word as i64) << shift >> shift;
                self.integer(self.sign(value < 0), value.unsigned_abs().to_string().into_bytes(), out);
            }
            b'o' | b'u' | b'x' | b'X' => self.unsigned(word << (64 - self.bits) >> (64 - self.bits), out),
            _ => self.float(f64::from_bits(word), out),
        }
    }

    fn sign(&self, negative: bool) -> &'static [u8] {
        match (negative, self.plus, self.space) {
            (true, _, _) => b"-",
            (false, true, _) => b"+",
            (false, false, true) => b" ",
            _ => b"",
        }
    }

    fn unsigned(&self, value: u64, out: &mut Vec<u8>) {
        let digits = match self.conversion {
            b'o' => format!("{value:o}"),
            b'x' => format!("{value:x}"),
            b'X' => format!("{value:X}"),
            _ => value.to_string(),
        };
        let mut digits = digits.into_bytes();
        let prefix: &[u8] = match self.conversion {
            b'x' if self.alternate && value != 0 => b"0x",
            b'X' if self.alternate && value != 0 => b"0X",
            b'o' if self.alternate && value != 0 && self.precision.is_none_or(|it| it <= digits.len()) => {
                digits.insert(0, b'0');
                b""
            }
            b'o' if self.alternate && self.precision == Some(0) => b"0",
            _ => b"",
        };
        self.integer(prefix, digits, out);
    }

    /// Writes an integer with at least `precision` digits; 0 has no digits at precision 0.
    fn integer(&self, prefix: &[u8], mut digits: Vec<u8>, out: &mut Vec<u8>) {
        let least = self.precision.unwrap_or(1);
        if least == 0 && digits == b"0" {
            digits.clear();
        }
        if digits.len() < least && self.conversion != b'p' {
            let mut zeros = vec![b'0'; least - digits.len()];
            zeros.append(&mut digits);
            digits = zeros;
        }
        self.pad(prefix, &digits, self.zero && self.precision.is_none(), out);
    }

    fn float(&self, value: f64, out: &mut Vec<u8>) {
        let sign = self.sign(value.is_sign_negative());
        let upper = self.conversion.is_ascii_uppercase();
        let magnitude = value.abs();
        if !value.is_finite() {
            let name = if value.is_nan() { "nan" } else { "inf" };
            let name = if upper { name.to_ascii_uppercase() } else { name.to_string() };
            return self.pad(sign, name.as_bytes(), false, out);
        }
        let precision = self.precision.unwrap_or(6);
        let mut text = match self.conversion.to_ascii_lowercase() {
            b'f' => fixed(magnitude, precision, self.alternate),
            b'e' => scientific(magnitude, precision, self.alternate),
            b'g' => self.shortest(magnitude, precision.max(1)),
            _ => hexadecimal(magnitude, self.precision, self.alternate),
        };
        if upper {
            text.make_ascii_uppercase();
        }
        match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
            // Padding zeros follow the prefix.
            Some(digits) => {
                self.pad(&[sign, &text.as_bytes()[..2]].concat(), digits.as_bytes(), self.zero, out);
            }
            None => self.pad(sign, text.as_bytes(), self.zero, out),
        }
    }

    /// `%g`: fixed or exponent notation by the exponent, without trailing zeros.
    fn shortest(&self, magnitude: f64, digits: usize) -> String {
        let scaled = format!("{magnitude:.*e}", digits - 1);
        let exponent: i64 = scaled.split_once('e').and_then(|(_, it)| it.parse().ok()).unwrap_or(0);
        let in_range = exponent >= -4 && exponent < digits as i64;
        let text = match in_range {
            true => fixed(magnitude, (digits as i64 - 1 - exponent) as usize, self.alternate),
            false => scientific(magnitude, digits - 1, self.alternate),
        };
        if self.alternate || !text.contains('.') {
            return text;
        }
        let (number, power) = text.split_at(text.find('e').unwrap_or(text.len()));
        let number = number.trim_end_matches('0').trim_end_matches('.');
        format!("{number}{power}")
    }

    fn pad(&self, prefix: &[u8], body: &[u8], zeros: bool, out: &mut Vec<u8>) {
        let missing = self.width.saturating_sub(prefix.len() + body.len());
        let fill = |out: &mut Vec<u8>, byte: u8| out.resize(out.len() + missing, byte);
        if !self.minus && !zeros {
            fill(out, b' ');
        }
        out.extend(prefix);
        if !self.minus && zeros {
            fill(out, b'0');
        }
        out.extend(body);
        if self.minus {
            fill(out, b' ');
        }
    }
}

fn fixed(value: f64, precision: usize, point: bool) -> String {
    let text = format!("{value:.precision$}");
    if point && precision == 0 { text + "." } else { text }
}

fn scientific(value: f64, precision: usize, point: bool) -> String {
    let text = format!("{value:.precision$e}");
    let (number, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |it| ('-', it));
    let point = if point && precision == 0 { "." } else { "" };
    format!("{number}{point}e{sign}{exponent:0>2}")
}

fn hexadecimal(value: f64, precision: Option<usize>, point: bool) -> String {
    const BITS: u32 = 52;
    let bits = value.to_bits();
    let (field, mut fraction) = (bits >> BITS, bits & ((1 << BITS) - 1));
    let mut first = u64::from(field != 0);
    let exponent = match (field, fraction) {
        (0, 0) => 0,
        (0, _) => -1022,
        _ => field as i64 - 1023,
    };
    let digits = precision.unwrap_or(13);
    if digits < 13 {
        // Rounds to nearest, ties to even.
        let dropped = 4 * (13 - digits as u32);
        let whole = first << BITS | fraction;
        let (kept, lost) = (whole >> dropped, whole & ((1 << dropped) - 1));
        let half = 1u64 << (dropped - 1);
        let rounded = kept + u64::from(lost > half || lost == half && kept & 1 != 0);
        first = (rounded << dropped) >> BITS;
        fraction = (rounded << dropped) & ((1 << BITS) - 1);
    }
    let mut text = format!("{fraction:013x}");
    match precision {
        Some(count) if count <= 13 => text.truncate(count),
        Some(count) => text += &"0".repeat(count - 13),
        None => text.truncate(text.trim_end_matches('0').len()),
    }
    let dot = if text.is_empty() && !point { "" } else { "." };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("0x{first}{dot}{text}p{sign}{}", exponent.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(format: &str, arguments: &[u64]) -> Vec<u64> {
        let mut bytes = format.as_bytes().to_vec();
        bytes.resize((bytes.len() + 1).next_multiple_of(8), 0);
        let mut words: Vec<u64> = bytes.as_chunks().0.iter().map(|it| u64::from_le_bytes(*it)).collect();
        words.extend(arguments);
        words
    }

    #[test]
    fn texts_and_ends() {
        let hello = u64::from_le_bytes(*b"hello\0\0\0");
        for (format, arguments, expected) in [
            ("", &[][..], ""),
            ("plain", &[], "plain"),
            ("%s|%5.2s|%-7s|", &[hello, hello, hello], "hello|   he|hello  |"),
            ("%s%d", &[0, 7], "7"),
            ("100%% %d", &[5], "100% 5"),
            // Missing arguments, invalid conversions.
            ("a %d b", &[], "a "),
            ("a %d b %d", &[1], "a 1 b "),
            ("a %y b", &[1], "a "),
            ("a %", &[1], "a "),
            ("%*d|%-*d|%.*f", &[5, 42, 4, 7, 1, 1.25f64.to_bits()], "   42|7   |1.2"),
            ("%*d|", &[(-5i64) as u64, 42], "42   |"),
            ("%n%d", &[1, 2], "2"),
            ("%p %p", &[0, 0x1234], "(nil) 0x1234"),
            ("%hhd %hd %d %ld", &[200, 40000, 1 << 31, 1 << 31], "-56 -25536 -2147483648 2147483648"),
        ] {
            assert_eq!(String::from_utf8(printf(&message(format, arguments))).unwrap(), expected, "{format}");
        }
    }

    #[test]
    fn endless_texts_end() {
        assert_eq!(printf(&[u64::MAX, u64::MAX]), [255; 16]);
        assert_eq!(printf(&message("%999999999d", &[1])).len(), MOST);
        assert!(printf(&[]).is_empty());
    }
}
