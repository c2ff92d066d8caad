//! Expressions in comments and documents that a native reader stumbles over, counted per crate.
//!
//! The list is short on purpose: each expression hides a subject or a verb that can be named.

use crate::run::{below_root, files, root};
use crate::rust_source::has_word;
use anyhow::{Result, bail};
use std::collections::BTreeMap;

/// Expressions, with how to avoid them.
const EXPRESSIONS: &[(&str, &str)] = &[
    ("stands", "`is`, `means`, `counts for`: the verb that is meant"),
    ("stood", "the verb that is meant"),
    ("lies", "`is`"),
    ("that of", "repeat the noun"),
    ("those of", "repeat the noun"),
    ("of its own", "`its own`"),
    ("of their own", "`their own`"),
    ("is no", "`is not a`"),
    ("are no", "`are not`"),
    ("anew", "`again`"),
    ("kin", "`similar`"),
    ("comes to", "`is`"),
    ("come to", "`are`"),
    ("in the place of", "`instead of`"),
    ("so many", "the number"),
    ("told apart", "`distinguished`, `detected`"),
    ("none where", "`None` if"),
];
/// English that contains an expression of the list.
const FINE: [&str; 4] = ["is no longer", "is no more", "are no longer", "are no more"];
/// First words of a doc line that has no subject.
const HEADLESS: [&str; 2] = ["What", "Those"];
/// Most hits per 1,000 words of a crate or of the documents.
const MOST: f64 = 1.0;
/// Documents written by hand.
const DOCUMENTS: &str = "documents";
/// Pages that generators write.
const GENERATED: [&str; 5] =
    ["counters.md", "environment.md", "guide-checks.md", "derived-counters.md", "accuracy.md"];

#[derive(Default)]
struct Count {
    words: usize,
    hits: Vec<String>,
}

impl Count {
    fn add(&mut self, text: &str, place: impl Fn() -> String, is_doc: bool) {
        self.words += text.split_whitespace().filter(|word| word.contains(char::is_alphabetic)).count();
        let lower = FINE.iter().fold(text.to_lowercase(), |text, fine| text.replace(fine, ""));
        for (expression, instead) in EXPRESSIONS {
            if has_word(&lower, expression) {
                self.hits.push(format!("{}: `{expression}`: write {instead}", place()));
            }
        }
        let first = text.split_whitespace().next().unwrap_or_default();
        if is_doc && HEADLESS.contains(&first) {
            self.hits.push(format!("{}: `{first}` begins a sentence without a subject", place()));
        }
    }

    fn per_thousand(&self) -> f64 {
        1000.0 * self.hits.len() as f64 / self.words.max(1) as f64
    }
}

/// Prints the counts; with the name of a crate every place in it.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let counts = counts()?;
    for (name, count) in &counts {
        let rate = count.per_thousand();
        println!("{name:12} {:6} words {:4} hits {rate:5.1} per 1,000", count.words, count.hits.len());
        if arguments.contains(name) {
            count.hits.iter().for_each(|hit| println!("  {hit}"));
        }
    }
    judge(&counts)
}

/// Fails if a crate or the documents have too many of the expressions.
pub(crate) fn check() -> Result<()> {
    judge(&counts()?)
}

fn judge(counts: &BTreeMap<String, Count>) -> Result<()> {
    let over = counts.iter().filter(|(_, count)| count.per_thousand() > MOST).map(|(name, _)| name.as_str());
    let over: Vec<&str> = over.collect();
    if over.is_empty() {
        return Ok(());
    }
    bail!(
        "more than {MOST} expressions per 1,000 words in {}; `cargo xtask words NAME` lists them",
        over.join(", ")
    )
}

fn counts() -> Result<BTreeMap<String, Count>> {
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    for folder in ["crates", "xtask", "testkit"] {
        for path in files(&root().join(folder), |path| path.extension().is_some_and(|it| it == "rs"))? {
            let place = below_root(&path);
            let mut parts = place.split('/');
            let name = parts.nth(if folder == "crates" { 2 } else { 0 }).unwrap_or(folder);
            let count = counts.entry(name.to_owned()).or_default();
            for (at, line) in std::fs::read_to_string(&path)?.lines().enumerate() {
                let line = line.trim_start();
                if let Some(doc) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) {
                    count.add(doc, || format!("{place}:{}", at + 1), true);
                }
            }
        }
    }
    let documents = counts.entry(DOCUMENTS.to_owned()).or_default();
    for path in files(root(), |path| path.extension().is_some_and(|it| it == "md"))? {
        let place = below_root(&path);
        let is_ours = match place.rsplit_once('/') {
            None | Some(("docs/model", _)) => true,
            Some(("docs", name)) => !GENERATED.contains(&name),
            Some((folder, name)) => folder.starts_with("crates/") && name == "README.md",
        };
        if is_ours {
            for (at, line) in std::fs::read_to_string(&path)?.lines().enumerate() {
                documents.add(line, || format!("{place}:{}", at + 1), false);
            }
        }
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_counted_and_plain_english_is_not() {
        for (text, hits) in [
            ("What limits it.", 1),
            ("A line that stands for others.", 1),
            ("The file is no recording, and lies elsewhere.", 2),
            ("The file is no longer a recording.", 0),
            ("Kinds of skin.", 0),
            ("Limiter of the occupancy.", 0),
        ] {
            let mut count = Count::default();
            count.add(text, String::new, true);
            assert_eq!(count.hits.len(), hits, "{text}");
        }
    }

    #[test]
    fn words_are_spelled_right() {
        let Some(typos) = crate::setup::typos() else {
            return testkit::absent("typos", "`cargo xtask setup`");
        };
        let output = std::process::Command::new(typos)
            .args(["--format", "brief"])
            .current_dir(root())
            .output()
            .expect("typos starts");
        let found = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "misspelled, or missing in typos.toml:\n{found}");
    }
}
