//! Words of a POSIX shell, and of counters that are too many to name.

use metrics::{Compiled, Definitions};
use std::borrow::Cow;
use view::{counted, listed};

/// Counters that are named one by one.
const NAMED: usize = 5;

/// `32 counters of panels 10 and 17` in place of names; none where they are few enough to be named.
pub fn in_short(counters: &[&str], compiled: &Compiled) -> Option<String> {
    if counters.len() <= NAMED {
        return None;
    }
    let count = counted(counters.len() as u32, "counter");
    let panels = Definitions::built_in().panels_with(compiled, counters);
    let of = if panels.len() == 1 { "panel" } else { "panels" };
    let numbers: Vec<String> = panels.iter().map(u16::to_string).collect();
    Some(if panels.is_empty() { count } else { format!("{count} of {of} {}", listed(&numbers, "and")) })
}

/// A word for a POSIX shell.
pub(super) fn quoted(word: &str) -> Cow<'_, str> {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "_-./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(harmless) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

/// The words before `--`, as [`quoted`] writes them, and the text behind; none where there is no `--`.
pub(super) fn split(text: &str) -> Option<(Vec<String>, &str)> {
    let mut words = Vec::new();
    let (mut word, mut inside) = (String::new(), false);
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' => inside = !inside,
            '\\' if !inside => word.extend(chars.next().map(|(_, c)| c)),
            ' ' if !inside => {
                if word == "--" {
                    return Some((words, &text[at + 1..]));
                }
                words.push(std::mem::take(&mut word));
            }
            c => word.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        for (word, expected) in [
            ("workloads/a-2/MI300X", "workloads/a-2/MI300X"),
            ("my runs/a", "'my runs/a'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
            ("$(rm -rf ~)", "'$(rm -rf ~)'"),
        ] {
            assert_eq!(quoted(word), expected);
            let line = format!("-k {expected} -- rest 'of it'");
            assert_eq!(split(&line), Some((vec!["-k".to_owned(), word.to_owned()], "rest 'of it'")));
        }
        assert_eq!(split("no program"), None);
    }
}
