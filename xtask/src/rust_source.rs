//! Rust source divided into code, comments and literals, precisely enough for checks on text.
//!
//! A check looks at code without comments and literals, or at literals alone, and never at code under
//! `#[cfg(test)]`.

/// A source file without its tests.
#[derive(Debug, Default)]
pub(crate) struct RustSource {
    /// Lines of code; comments are gone and literals empty.
    pub(crate) code: Vec<String>,
    /// String literals with their line, from 1.
    pub(crate) literals: Vec<(usize, String)>,
}

impl RustSource {
    pub(crate) fn parse(text: &str) -> Self {
        let (code, literals) = split(text);
        let tests = test_lines(&code);
        let outside = |line: usize| !tests.iter().any(|range| range.contains(&line));
        RustSource {
            literals: literals.into_iter().filter(|(line, _)| outside(line - 1)).collect(),
            code: code
                .lines()
                .enumerate()
                .map(|(line, text)| if outside(line) { text.to_owned() } else { String::new() })
                .collect(),
        }
    }

    /// True if an identifier occurs.
    pub(crate) fn mentions(&self, identifier: &str) -> bool {
        self.code.iter().any(|line| has_word(line, identifier))
    }
}

/// True if `word` occurs in `line` with no identifier character on either side.
pub(crate) fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].chars().next_back().is_some_and(is_part)
            && !line[at + word.len()..].chars().next().is_some_and(is_part)
    })
}

/// The text with comments and the insides of literals blanked, lines kept; and the literals.
fn split(text: &str) -> (String, Vec<(usize, String)>) {
    let bytes = text.as_bytes();
    let mut code = String::with_capacity(text.len());
    let mut literals = Vec::new();
    let mut at = 0;
    let mut line = 1;
    while at < bytes.len() {
        let rest = &text[at..];
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            let end = at + block_comment(rest);
            newlines(&text[at..end], &mut code, &mut line);
            at = end;
        } else if let Some((start, hashes)) = literal_start(rest, code.chars().next_back()) {
            let inside = &text[at + start..];
            let length = literal_length(inside, hashes);
            literals.push((line, inside[..length].to_owned()));
            code.push_str("\"\"");
            let close = 1 + hashes.unwrap_or(0);
            let end = (at + start + length + close).min(text.len());
            newlines(&text[at..end], &mut code, &mut line);
            at = end;
        } else if let Some(length) = char_literal(rest) {
            code.push_str("''");
            at += length;
        } else {
            let c = rest.chars().next().expect("not at the end");
            line += usize::from(c == '\n');
            code.push(c);
            at += c.len_utf8();
        }
    }
    (code, literals)
}

fn newlines(text: &str, code: &mut String, line: &mut usize) {
    let count = text.matches('\n').count();
    code.extend(std::iter::repeat_n('\n', count));
    *line += count;
}

fn block_comment(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// Start of the contents of a string literal, and its number of hashes if it is raw.
fn literal_start(text: &str, before: Option<char>) -> Option<(usize, Option<usize>)> {
    if text.starts_with('"') {
        return Some((1, None));
    }
    if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let prefix = ["br", "cr", "r"].into_iter().find(|prefix| text.starts_with(prefix));
    if let Some(prefix) = prefix {
        let after = &text[prefix.len()..];
        let hashes = after.len() - after.trim_start_matches('#').len();
        return after[hashes..].starts_with('"').then_some((prefix.len() + hashes + 1, Some(hashes)));
    }
    (text.starts_with("b\"") || text.starts_with("c\"")).then_some((2, None))
}

fn literal_length(inside: &str, hashes: Option<usize>) -> usize {
    if let Some(hashes) = hashes {
        let end = format!("\"{}", "#".repeat(hashes));
        return inside.find(&end).unwrap_or(inside.len());
    }
    let mut escaped = false;
    for (at, c) in inside.char_indices() {
        match c {
            '"' if !escaped => return at,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    inside.len()
}

/// Length of a character literal; `None` for a lifetime.
fn char_literal(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('\'')?;
    if let Some(escape) = inside.strip_prefix('\\') {
        let second = escape.chars().next()?.len_utf8();
        return Some(2 + second + escape[second..].find('\'')? + 1);
    }
    let first = inside.chars().next()?.len_utf8();
    inside[first..].starts_with('\'').then_some(first + 2)
}

/// Line ranges, from 0, of items under `#[cfg(test)]`.
fn test_lines(code: &str) -> Vec<std::ops::Range<usize>> {
    let mut ranges = Vec::new();
    for (at, found) in code.match_indices("#[cfg(test)]") {
        let first = code[..at].matches('\n').count();
        let mut depth = 0;
        let mut end = code.len();
        for (offset, c) in code[at + found.len()..].char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if (c == '}' || c == ';') && depth == 0 {
                end = at + found.len() + offset;
                break;
            }
        }
        ranges.push(first..code[..end].matches('\n').count() + 1);
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_literals() {
        for (text, code, literals) in [
            ("let a = \"x // y\"; // b", "let a = \"\"; ", &[(1, "x // y")][..]),
            ("a /* \" /* */ */ b", "a  b", &[]),
            ("r#\"a\"b\"#; 'x' '\\'' &'a str", "\"\"; '' '' &'a str", &[(1, "a\"b")]),
            ("\"a\\\"b\"\n\"c\"", "\"\"\n\"\"", &[(1, "a\\\"b"), (2, "c")]),
            ("b\"x\" var\"", "\"\" var\"\"", &[(1, "x"), (1, "")]),
        ] {
            let (found, found_literals) = split(text);
            assert_eq!(found, code, "{text}");
            let expected: Vec<(usize, String)> =
                literals.iter().map(|(l, t)| (*l, (*t).to_owned())).collect();
            assert_eq!(found_literals, expected, "{text}");
        }
    }

    #[test]
    fn tests_are_left_out() {
        let source =
            RustSource::parse("fn a() {}\n#[cfg(test)]\nmod tests {\n fn b() { \"x\" }\n}\nfn c() {}\n");
        assert!(source.mentions("a") && source.mentions("c") && !source.mentions("b"));
        assert!(source.literals.is_empty());
        let source = RustSource::parse("#[cfg(test)]\nuse x::{a};\nfn c() {}\n");
        assert!(source.mentions("c") && !source.mentions("x"));
    }

    #[test]
    fn words() {
        assert!(has_word("use std::fs;", "std::fs"));
        assert!(!has_word("use std::fsx;", "std::fs"));
        assert!(!has_word("my_print!()", "print!"));
    }
}
