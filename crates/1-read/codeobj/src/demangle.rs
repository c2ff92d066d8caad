//! Names as the programmer wrote them.
//!
//! A mangled name of a few bytes can expand to gigabytes of text, so both depth and output are bounded and
//! the raw name is always an acceptable answer.

use std::collections::HashMap;
use std::fmt;
use std::sync::{LazyLock, PoisonError, RwLock};

use cpp_demangle::{BorrowedSymbol, DemangleOptions, ParseOptions};

/// Longest name given to the demangler and longest text taken from it. Real template libraries reach 20
/// thousand.
const LONGEST: usize = 64 * 1024;
/// Text taken from the demangler for all names of one file.
const MOST: usize = 64 << 20;
/// Deepest nesting of types and expressions.
const DEEPEST: u32 = 128;

/// Demangler for all names of one file, which together may not unfold without end.
pub(crate) struct Demangler {
    left: usize,
}

impl Demangler {
    pub(crate) fn new() -> Self {
        Self { left: MOST }
    }

    /// Demangles a name, or returns it as it is once the file has used up its share.
    pub(crate) fn name(&mut self, name: &str) -> String {
        if self.left == 0 {
            return name.to_owned();
        }
        let text = demangle(name);
        self.left = self.left.saturating_sub(text.len());
        text
    }
}

/// Bytes of names that are remembered: a library holds the same kernels for each of its targets.
const REMEMBERED: usize = 24 << 20;

/// Names by all threads, since each may read another target's code.
static KNOWN: LazyLock<RwLock<Known>> = LazyLock::new(RwLock::default);

#[derive(Default)]
struct Known {
    names: HashMap<Box<str>, Box<str>>,
    bytes: usize,
}

/// Demangles an Itanium C++ name; other names come back unchanged.
pub fn demangle(name: &str) -> String {
    if !name.starts_with("_Z") || name.len() > LONGEST {
        return name.to_owned();
    }
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(text) = known.names.get(name) {
        return text.to_string();
    }
    drop(known);
    let text = readable(name).unwrap_or_else(|| name.to_owned());
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    if known.bytes > REMEMBERED {
        *known = Known::default();
    }
    if known.names.insert(name.into(), text.as_str().into()).is_none() {
        known.bytes += name.len() + text.len();
    }
    text
}

fn readable(name: &str) -> Option<String> {
    let parse = ParseOptions::default().recursion_limit(DEEPEST);
    let (symbol, rest) = BorrowedSymbol::with_tail_and_options(name.as_bytes(), &parse).ok()?;
    // Compilers append `.suffix` to clones; anything else means that the name was not understood.
    if !(rest.is_empty() || rest[0] == b'.') {
        return None;
    }
    let options = DemangleOptions::default().recursion_limit(DEEPEST);
    let mut out = Bounded(String::with_capacity(name.len() * 2));
    symbol.structured_demangle(&mut out, &options).ok()?;
    out.0.push_str(std::str::from_utf8(rest).ok()?);
    Some(out.0)
}

struct Bounded(String);

impl cpp_demangle::DemangleWrite for Bounded {
    fn write_string(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let cases = [
            ("plain", "plain"),
            ("_Z4tmplIfLi3EEvPT_", "void tmpl<float, 3>(float*)"),
            ("_ZN3foo3barEi", "foo::bar(int)"),
            ("_ZN3foo3barEi.cold", "foo::bar(int) [clone .cold]"),
            ("_Z", "_Z"),
            ("_ZN", "_ZN"),
            ("_Z3fooi\u{fffd}", "_Z3fooi\u{fffd}"),
        ];
        for (name, expected) in cases {
            assert_eq!(demangle(name), expected);
        }
    }

    /// Each substitution doubles the text of the one before: 60 of them would need exabytes.
    #[test]
    fn a_name_that_doubles_stays_small() {
        let mut name = String::from("_Z1fSt4pairIiiE");
        for step in 0..60 {
            let last = if step == 0 { "S_".to_owned() } else { format!("S{}_", to_base_36(step - 1)) };
            name += &format!("St4pairI{last}{last}E");
        }
        assert!(demangle(&name).len() <= LONGEST);
        let deep = format!("_Z1f{}i", "P".repeat(60_000));
        assert_eq!(demangle(&deep), deep);
        let long = format!("_Z1f{}", "i".repeat(LONGEST));
        assert_eq!(demangle(&long), long);
    }

    fn to_base_36(mut value: usize) -> String {
        let mut digits = Vec::new();
        loop {
            digits.push(char::from_digit((value % 36) as u32, 36).unwrap().to_ascii_uppercase());
            value /= 36;
            if value == 0 {
                return digits.iter().rev().collect();
            }
        }
    }
}
