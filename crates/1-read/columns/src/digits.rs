//! Numbers as text, for files with millions of them.

/// Appends a whole number.
pub fn whole_number(out: &mut String, mut rest: u64) {
    if rest < 10 {
        out.push(char::from(b'0' + rest as u8));
        return;
    }
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    while rest > 0 {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out.push_str(std::str::from_utf8(&digits[at..]).unwrap_or_default());
}
