//! Dockerfiles: variables and the command that an image gives its containers.

use super::{Job, assignment, defaulted, joined};
use crate::command::{Command, split};

/// Whether a text is one: its first instruction is `FROM`, or `ARG` before it.
pub(super) fn is(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|it| !it.is_empty() && !it.starts_with('#'));
    let mut first = lines.find(|it| !it.to_ascii_uppercase().starts_with("ARG "));
    first.take().is_some_and(|it| {
        let words: Vec<&str> = it.split_whitespace().collect();
        words.first() == Some(&"FROM") && matches!(words.len(), 2..=5)
    })
}

pub(super) fn read(name: &str, text: &str) -> Vec<Job> {
    let mut environment: Vec<(String, String)> = Vec::new();
    let (mut entry, mut command) = (Vec::new(), Vec::new());
    for line in joined(text.lines().filter(|it| !it.trim_start().starts_with('#'))) {
        let Some((instruction, rest)) = line.trim_start().split_once(char::is_whitespace) else { continue };
        let rest = rest.trim();
        match instruction.to_ascii_uppercase().as_str() {
            // A stage starts from another image: what earlier ones set is not in it.
            "FROM" => {
                environment.clear();
                entry.clear();
                command.clear();
            }
            "ENV" => environment.extend(variables(rest)),
            "CMD" => command = words(rest),
            "ENTRYPOINT" => entry = words(rest),
            _ => {}
        }
    }
    entry.extend(command);
    if environment.is_empty() && entry.is_empty() {
        return Vec::new();
    }
    let note = format!("{name}: variables of the image that it is made from are not known");
    vec![Job {
        name: name.to_owned(),
        kind: "Dockerfile",
        environment,
        command: (!entry.is_empty()).then(|| Command::parse(&entry)),
        container: None,
        notes: vec![note],
    }]
}

/// `A=1 B="2 3"`, or the old form `A 1`.
fn variables(text: &str) -> Vec<(String, String)> {
    let words = split(text);
    if words.first().is_some_and(|it| it.contains('=')) {
        return words.iter().filter_map(|it| assignment(it)).collect();
    }
    let old = text.split_once(char::is_whitespace);
    old.map(|(name, value)| (name.to_owned(), defaulted(value.trim()))).into_iter().collect()
}

/// `["a", "b"]`, or a line for a shell.
fn words(text: &str) -> Vec<String> {
    serde_json::from_str(text).unwrap_or_else(|_| split(text))
}
