//! Functions of the HIP runtime by state: implemented, answered as on GPUs without images, not implemented with its reason,
//! absent.
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

/// File with the functions that answer as AMD's runtime does on GPUs without image instructions.
const IMAGES: &str = "images.rs";

/// Prints the counts, and every function that is not implemented under its reason.
pub(crate) fn run(_arguments: &[String]) -> Result<()> {
    let folder = root().join("crates/6-enter/hip/src/api");
    let mut implemented = BTreeSet::new();
    collect(&folder, &mut implemented)?;
    let unsupported =
        std::fs::read_to_string(folder.join(UNSUPPORTED)).context("names without implementation")?;
    let reasons = reasons(&unsupported);
    let images = std::fs::read_to_string(folder.join(IMAGES)).context("functions of images")?;
    let images = answered(&images);
    let (mut done, mut answers) = (0, Vec::new());
    let (mut refused, mut absent) = (BTreeMap::<&str, Vec<&str>>::new(), Vec::new());
    for name in NAMES.lines() {
        match reasons.get(name) {
            Some(why) => refused.entry(why).or_default().push(name),
            None if images.contains(name) => answers.push(name),
            None if implemented.contains(name) => done += 1,
            None => absent.push(name),
        }
    }
    let all = NAMES.lines().count();
    let stubs: usize = refused.values().map(Vec::len).sum();
    println!(
        "{all} functions: {done} implemented and {} answered as on GPUs without images ({} %), {stubs} not supported, {} absent",
        answers.len(),
        (done + answers.len()) * 100 / all,
        absent.len()
    );
    println!(
        "\nanswered as AMD's runtime does on GPUs without image instructions (gfx942, gfx950); refused on the others ({})\n  {}",
        answers.len(),
        answers.join(" ")
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
        } else if path.file_name().is_some_and(|it| it != UNSUPPORTED && it != IMAGES) {
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

/// Functions of images: entries, and the lists `images! { [checks] answer => { name name … } }`.
fn answered(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    entries(text.split("\nentries! {").nth(1).unwrap_or_default(), &mut names);
    let lists = text.split("\nimages! {").nth(1).and_then(|it| it.split("\n}").next()).unwrap_or_default();
    let groups = lists.split("=> {").skip(1).filter_map(|it| it.split('}').next());
    names.extend(groups.flat_map(str::split_whitespace).map(str::to_owned));
    names
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
        let images = "\nimages! {\n    [0: a] b => {\n        hipP hipQ\n    }\n}\nstruct X;\nentries! {\n    fn hipR = hipS(a: u8) {\n";
        assert_eq!(answered(images).into_iter().collect::<Vec<_>>(), ["hipP", "hipQ", "hipR", "hipS"]);
        assert_eq!((reasons.get("hipY"), reasons.get("hipZ")), (Some(&"one: why"), Some(&"two")));
    }
}
