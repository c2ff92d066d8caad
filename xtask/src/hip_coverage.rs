//! Functions of the HIP runtime by state: implemented, not implemented with its reason, absent.
//!
//! The names are those of the version map of AMD's runtime of October 2024 and of headers up to 7.1
//! (`data/hip-functions.txt`). States are read from the sources: entries in `api/`, names with their reasons in
//! `api/unsupported.rs`.

use crate::run::root;
use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Names, one a line.
const NAMES: &str = include_str!("../data/hip-functions.txt");

/// File with the functions that are not implemented.
const UNSUPPORTED: &str = "unsupported.rs";

/// Prints the counts, and every function that is not implemented under its reason.
pub(crate) fn run(_arguments: &[String]) -> Result<()> {
    let folder = root().join("crates/6-enter/hip/src/api");
    let mut implemented = BTreeSet::new();
    collect(&folder, &mut implemented)?;
    let unsupported =
        std::fs::read_to_string(folder.join(UNSUPPORTED)).context("names without implementation")?;
    let reasons = reasons(&unsupported);
    let (mut done, mut refused, mut absent) = (0, BTreeMap::<&str, Vec<&str>>::new(), Vec::new());
    for name in NAMES.lines() {
        match reasons.get(name) {
            Some(why) => refused.entry(why).or_default().push(name),
            None if implemented.contains(name) => done += 1,
            None => absent.push(name),
        }
    }
    let all = NAMES.lines().count();
    let stubs: usize = refused.values().map(Vec::len).sum();
    println!(
        "{all} functions: {done} implemented ({} %), {stubs} not supported, {} absent",
        done * 100 / all,
        absent.len()
    );
    for (why, names) in refused {
        println!("\n{why} ({})\n  {}", names.len(), names.join(" "));
    }
    println!("\nabsent ({})\n  {}", absent.len(), absent.join(" "));
    Ok(())
}

/// Names of entries in the sources of a folder: `fn NAME = OTHER…(`.
fn collect(folder: &Path, names: &mut BTreeSet<String>) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| format!("{}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, names)?;
        } else if path.file_name().is_some_and(|it| it != UNSUPPORTED) {
            entries(&std::fs::read_to_string(&path)?, names);
        }
    }
    Ok(())
}

fn entries(text: &str, names: &mut BTreeSet<String>) {
    for rest in text.split("fn ").skip(1) {
        let before = rest.split('(').next().unwrap_or_default();
        names.extend(before.split(['=', ' ', '\n']).filter(|it| !it.is_empty()).map(str::to_owned));
    }
}

/// Functions with their reasons: `"reason" => { name name … }`.
fn reasons(text: &str) -> BTreeMap<&str, &str> {
    let lists = text.split("\nunsupported! {").nth(1).unwrap_or_default();
    let groups = lists.split('}').filter_map(|group| group.split_once("=> {"));
    groups
        .flat_map(|(why, names)| {
            names.split_whitespace().map(move |name| (name, why.trim().trim_matches('"')))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_with_their_other_names_and_reasons() {
        let mut names = BTreeSet::new();
        entries("    fn hipA = hipA_spt hipB(x: i32) {\n    fn hipC(\n", &mut names);
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["hipA", "hipA_spt", "hipB", "hipC"]);
        let text = "macro {}\nunsupported! {\n    \"one: why\" => {\n        hipX hipY\n    }\n    \"two\" => {\n        hipZ\n    }\n}\n";
        let reasons = reasons(text);
        assert_eq!((reasons.get("hipY"), reasons.get("hipZ")), (Some(&"one: why"), Some(&"two")));
    }
}
