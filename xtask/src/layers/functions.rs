//! Functions that are too long or take too many arguments.
//!
//! Lines count from the one with `fn` to the closing brace; arguments include `self`, as in clippy.

use crate::rust_source::RustSource;

/// A function as text shows it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// Line of `fn`, from 1.
    pub(crate) line: usize,
    /// Lines of signature and body.
    pub(crate) lines: usize,
    pub(crate) arguments: usize,
}

/// The functions of a source, those without body too.
pub(crate) fn functions(source: &RustSource) -> Vec<Function> {
    let code = source.code.join("\n");
    code.match_indices("fn ").filter_map(|(at, _)| function(&code, at)).collect()
}

fn function(code: &str, at: usize) -> Option<Function> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    if code[..at].chars().next_back().is_some_and(is_part) {
        return None;
    }
    let rest = code[at + 3..].trim_start();
    let length = rest.find(|c| !is_part(c))?;
    let name = rest[..length].to_owned();
    let mut inside = &rest[length..];
    if inside.starts_with('<') {
        inside = &inside[end_of_generics(inside)?..];
    }
    let parameters = inside.strip_prefix('(').filter(|_| !name.is_empty())?;
    let (arguments, end) = arguments(parameters)?;
    let after = &parameters[end..];
    let body = after.find_outside(&['{', ';'])?;
    let length = if after[body..].starts_with('{') { body + block(&after[body..])? } else { body };
    let line = code[..at].matches('\n').count() + 1;
    let end = code.len() - after.len() + length;
    Some(Function { name, line, lines: code[at..end].matches('\n').count() + 1, arguments })
}

trait FindOutside {
    /// Position of the first of these characters outside parentheses and brackets.
    fn find_outside(&self, characters: &[char]) -> Option<usize>;
}

impl FindOutside for str {
    fn find_outside(&self, characters: &[char]) -> Option<usize> {
        let mut depth = 0;
        self.char_indices().find_map(|(at, c)| {
            depth += nesting(c, "([", ")]");
            (depth == 0 && characters.contains(&c)).then_some(at)
        })
    }
}

fn nesting(c: char, open: &str, close: &str) -> i32 {
    i32::from(open.contains(c)) - i32::from(close.contains(c))
}

/// Bytes of a block in braces.
fn block(text: &str) -> Option<usize> {
    let mut depth = 0;
    text.char_indices().find_map(|(at, c)| {
        depth += nesting(c, "{", "}");
        (depth == 0).then_some(at)
    })
}

/// Bytes of `<…>`; the arrow of a function type closes nothing.
fn end_of_generics(text: &str) -> Option<usize> {
    let mut depth = 0;
    let mut before = ' ';
    text.char_indices().find_map(|(at, c)| {
        if !(c == '>' && before == '-') {
            depth += nesting(c, "<", ">");
        }
        before = c;
        (depth == 0).then_some(at + 1)
    })
}

/// Number of arguments before the closing parenthesis, and the position after it.
fn arguments(text: &str) -> Option<(usize, usize)> {
    let (mut depth, mut count, mut before, mut is_empty) = (0, 0, ' ', true);
    for (at, c) in text.char_indices() {
        if depth == 0 && c == ')' {
            return Some((count + usize::from(!is_empty), at + 1));
        }
        if !(c == '>' && matches!(before, '-' | '=')) {
            depth += nesting(c, "([{<", ")]}>");
        }
        if depth == 0 && c == ',' {
            count += 1;
            is_empty = true;
        } else if !c.is_whitespace() {
            is_empty = false;
        }
        before = c;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_arguments() {
        for (text, expected) in [
            ("fn a() {}", &[("a", 1, 0)][..]),
            ("pub fn a(x: (u8, u8), y: Vec<[u8; 2]>,) -> [u8; 4] {\n  x\n}", &[("a", 3, 2)]),
            (
                "fn a<T: Fn(u8) -> u8>(&self, f: impl Fn(u8, u8) -> T);\nfn b(\n  x: u8,\n) {\n}",
                &[("a", 1, 2), ("b", 4, 1)],
            ),
            ("let f: fn(u8) = g; // fn a()\nlet s = \"fn b()\";", &[]),
            ("fn a() {\n  fn b() {\n  }\n}", &[("a", 4, 0), ("b", 2, 0)]),
            ("#[cfg(test)]\nmod tests {\n fn a() {}\n}", &[]),
        ] {
            let found = functions(&RustSource::parse(text));
            let found: Vec<_> = found.iter().map(|it| (it.name.as_str(), it.lines, it.arguments)).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
