//! Dialects of CSV: field separator and decimal mark.
//!
//! In locales with a decimal comma, spreadsheets separate fields with semicolons or tabs.

use std::borrow::Cow;

/// Field separator: a comma, unless the first line has no comma outside of quotes but semicolons or tabs, as
/// spreadsheets write in locales with a decimal comma.
pub fn separator(bytes: &[u8]) -> u8 {
    let mut quoted = false;
    let mut found = b',';
    for byte in bytes {
        match byte {
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'\n' => break,
            b',' => return b',',
            b';' | b'\t' if found == b',' => found = *byte,
            _ => {}
        }
    }
    found
}

/// A number's field with a point for its comma; the comma is of the numbers where fields are parted
/// otherwise.
pub fn with_point(field: &[u8], separator: u8) -> Cow<'_, [u8]> {
    match field.iter().position(|byte| *byte == b',') {
        Some(at) if separator != b',' => {
            let mut field = field.to_vec();
            field[at] = b'.';
            Cow::Owned(field)
        }
        _ => Cow::Borrowed(field),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_says_what_parts_the_fields() {
        for (line, want) in [
            ("a,b", b','),
            ("a;b\n1,5;2", b';'),
            ("\"a,b\";c", b';'),
            ("a\tb", b'\t'),
            ("a;b,c", b','),
            ("a", b','),
            ("", b','),
        ] {
            assert_eq!(separator(line.as_bytes()), want, "{line}");
        }
    }

    #[test]
    fn a_comma_is_a_point_where_it_parts_no_fields() {
        for (field, separator, want) in
            [("1,5", b';', "1.5"), ("1,5", b',', "1,5"), ("15", b';', "15"), ("1,5,6", b';', "1.5,6")]
        {
            assert_eq!(with_point(field.as_bytes(), separator), want.as_bytes());
        }
    }
}
