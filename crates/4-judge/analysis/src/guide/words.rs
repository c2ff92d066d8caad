//! Words of a POSIX shell, and of counters that are too many to name.

use metrics::{Compiled, Definitions};
use view::{counted, listed, noun_of};

/// Counters that are named one by one.
const NAMED: usize = 5;

/// `32 counters of panels 10 and 17` instead of names; `None` if they are few enough to be named.
pub fn in_short(counters: &[&str], compiled: &Compiled) -> Option<String> {
    if counters.len() <= NAMED {
        return None;
    }
    let count = counted(counters.len(), "counter");
    let panels = Definitions::built_in().panels_with(compiled, counters);
    let of = noun_of(panels.len(), "panel");
    let numbers: Vec<String> = panels.iter().map(u16::to_string).collect();
    Some(if panels.is_empty() { count } else { format!("{count} of {of} {}", listed(&numbers, "and")) })
}

/// The words before `--`, as [`view::shell_word`] writes them, and the text after it; `None` without `--`.
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
    fn words_before_the_program_are_taken_apart() {
        for word in ["workloads/a-2/MI300X", "my runs/a", "it's", "", "$(rm -rf ~)"] {
            let line = format!("-k {} -- rest 'of it'", view::shell_word(word));
            assert_eq!(split(&line), Some((vec!["-k".to_owned(), word.to_owned()], "rest 'of it'")));
        }
        assert_eq!(split("no program"), None);
    }
}
