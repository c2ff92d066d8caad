//! Files of the passes of one recording: grouping by run of the application, and order.
//!
//! Names are compared with their numbers as numbers, so passes are sorted by number, never by the order in
//! which a folder lists them.

use crate::names::{is_level_file, is_native_file, is_results, is_unjoined};
use std::collections::BTreeMap;

/// Run of the application and process that a row belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Part {
    /// Number of the run's file or files.
    pub(crate) run: u32,
    /// Number of the process in it. Processes count their dispatches each from the start.
    pub(crate) process: u32,
    /// Number of the run that this one repeats; its own number otherwise.
    pub(crate) first: u32,
}

/// Files with the run and process each is of.
pub(crate) struct Passes {
    /// File, run, process.
    files: Vec<(String, Part)>,
    runs: Vec<String>,
}

impl Passes {
    /// Sorts files into runs. Files below one folder of a pass (`pmc_1`, `pmc_perf_3`) belong to one run. If
    /// the pass was repeated, files below each of its folders `run_1`, `run_2`, … belong to one run.
    pub(crate) fn of(names: &[String]) -> Passes {
        let mut names = names.to_vec();
        names.sort_by_cached_key(|name| natural(name));
        let mut files: Vec<(String, Part)> = Vec::with_capacity(names.len());
        let mut runs: Vec<String> = Vec::new();
        let mut last: Option<(String, u32)> = None;
        // The first run of each pass that has several.
        let mut first_of: BTreeMap<String, u32> = BTreeMap::new();
        for name in names {
            let pass = pass_folder(&name);
            let folder = pass.map(|pass| run_folder(&name, pass).unwrap_or(pass).to_string());
            let process = match (&last, &folder) {
                (Some((of, process)), Some(folder)) if of == folder => process + 1,
                _ => 0,
            };
            if process == 0 {
                runs.push(name.clone());
            }
            let run = (runs.len() - 1) as u32;
            let first = match pass.filter(|pass| run_folder(&name, pass).is_some()) {
                Some(pass) => *first_of.entry(pass.to_string()).or_insert(run),
                None => run,
            };
            last = folder.map(|folder| (folder, process));
            files.push((name, Part { run, process, first }));
        }
        Passes { files, runs }
    }

    /// The files, in the order of the passes.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, Part)> {
        self.files.iter().map(|(name, part)| (name.as_str(), *part))
    }

    /// The files: the first of each run by its number, then the rest.
    pub(crate) fn sources(&self) -> Vec<String> {
        let rest = self.files.iter().filter(|(_, part)| part.process > 0).map(|(name, _)| name.clone());
        self.runs.iter().cloned().chain(rest).collect()
    }
}

/// True if a file is a pass by its place or name: it is in a folder of a pass, rocprof-compute numbers it, or
/// it is named as a pass with the number of its process. Other files are classified by content.
pub(crate) fn is_of_pass(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    pass_folder(name).is_some()
        || file.strip_suffix("_counter_collection.csv").is_some_and(is_pass)
        || is_native_file(name)
        || is_unjoined(name)
        || is_results(name)
        || is_level_file(name)
}

/// Name prefix of the folder of one repetition, inside the folder of the pass.
const RUN: &str = "run_";

/// Name of the folder of a run of a repeated pass; `number` counts from 1.
pub fn repeated_run(number: usize) -> String {
    format!("{RUN}{number}")
}

/// The path up to the folder of one run of a repeated pass.
fn run_folder<'a>(name: &'a str, pass: &str) -> Option<&'a str> {
    let below = name.strip_prefix(pass)?.strip_prefix('/')?;
    let (folder, _) = below.split_once('/')?;
    is_repeated_run(folder).then(|| &name[..pass.len() + 1 + folder.len()])
}

/// Whether a folder is named as one run of a repeated pass.
pub fn is_repeated_run(folder: &str) -> bool {
    let number = folder.strip_prefix(RUN).unwrap_or_default();
    !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
}

/// The path up to the folder that is named as a pass.
fn pass_folder(name: &str) -> Option<&str> {
    let mut end = 0;
    let (folders, _) = name.rsplit_once('/')?;
    for part in folders.split('/') {
        end += part.len();
        if is_pass(part) {
            return Some(&name[..end]);
        }
        end += 1;
    }
    None
}

/// Whether a folder is named as one pass of a recording: `pmc_1`, `pmc_perf_3`, `pass_2`.
pub fn is_pass(folder: &str) -> bool {
    folder.rsplit_once('_').is_some_and(|(stem, number)| {
        matches!(stem, "pmc" | "pmc_perf" | "pass")
            && !number.is_empty()
            && number.bytes().all(|b| b.is_ascii_digit())
    })
}

/// A part of a name: text, or a number with its digits.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Piece {
    Number(usize, String),
    Text(String),
}

/// A sort key that puts `pass_2` before `pass_10`.
pub fn natural(name: &str) -> impl Ord + use<> {
    let mut pieces: Vec<Piece> = Vec::new();
    for c in name.chars() {
        match (pieces.last_mut(), c.is_ascii_digit()) {
            (Some(Piece::Number(digits, number)), true) => {
                // Leading zeros do not change the value.
                if number == "0" {
                    number.clear();
                    *digits = 0;
                }
                *digits += 1;
                number.push(c);
            }
            (Some(Piece::Text(text)), false) => text.push(c),
            (_, true) => pieces.push(Piece::Number(1, c.to_string())),
            (_, false) => pieces.push(Piece::Text(c.to_string())),
        }
    }
    (pieces, name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_are_in_the_order_of_their_numbers() {
        let names = [
            "results_pmc_perf_10.csv",
            "results_pmc_perf_2.csv",
            "results_pmc_perf_0.csv",
            "results_pmc_perf_02.csv",
        ];
        let passes = Passes::of(&names.map(str::to_string));
        assert_eq!(
            passes.sources(),
            [
                "results_pmc_perf_0.csv",
                "results_pmc_perf_02.csv",
                "results_pmc_perf_2.csv",
                "results_pmc_perf_10.csv"
            ]
        );
        assert!(passes.files().all(|(_, part)| part.process == 0));
    }

    #[test]
    fn files_below_one_pass_are_of_one_run() {
        let names = [
            "out/pmc_1/host/20_results.db",
            "out/pmc_1/host/3_results.db",
            "out/pmc_2/host/20_results.db",
            "x.db",
        ];
        let passes = Passes::of(&names.map(str::to_string));
        let found: Vec<(&str, u32, u32)> =
            passes.files().map(|(name, part)| (name, part.run, part.process)).collect();
        assert_eq!(
            found,
            [
                ("out/pmc_1/host/3_results.db", 0, 0),
                ("out/pmc_1/host/20_results.db", 0, 1),
                ("out/pmc_2/host/20_results.db", 1, 0),
                ("x.db", 2, 0)
            ]
        );
        assert_eq!(passes.sources().len(), 4);
    }

    #[test]
    fn runs_of_a_repeated_pass_know_their_first() {
        let names = [
            "pmc_1/run_2/pass_8_counter_collection.csv",
            "pmc_1/run_1/pass_7_counter_collection.csv",
            "pmc_1/run_1/pass_9_counter_collection.csv",
            "pmc_1/run_10/pass_5_counter_collection.csv",
            "pmc_2/host_x/pass_5_counter_collection.csv",
        ];
        let passes = Passes::of(&names.map(str::to_string));
        let found: Vec<(u32, u32, u32)> =
            passes.files().map(|(_, part)| (part.run, part.process, part.first)).collect();
        assert_eq!(found, [(0, 0, 0), (0, 1, 0), (1, 0, 0), (2, 0, 0), (3, 0, 3)]);
    }

    #[test]
    fn names_of_passes() {
        for (name, is) in [
            ("pmc_1", true),
            ("pmc_perf_12", true),
            ("pass_0", true),
            ("pmc_", false),
            ("0", false),
            ("rank_1", false),
        ] {
            assert_eq!(is_pass(name), is, "{name}");
        }
    }
}
