//! Words of a POSIX shell.

use std::borrow::Cow;

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
