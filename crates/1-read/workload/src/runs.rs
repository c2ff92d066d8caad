//! Classifies files of a folder: passes of one run of a program, or separate runs.
//!
//! A pass repeats the launches of the others and adds counters. A file that repeats their counters, or has
//! other launches, is another run: joining it would mix two programs, or two versions of one.

use crate::join::{self, Launch};
use crate::problem::Error;
use std::collections::BTreeSet;

/// Launches and counters of a file.
pub(crate) struct Recorded {
    /// Name of the file.
    pub(crate) file: String,
    /// Its launches in order.
    pub(crate) launches: Vec<Launch>,
    /// Its counters.
    pub(crate) counters: BTreeSet<String>,
    /// A pass by its place or name, whatever it holds.
    pub(crate) is_pass: bool,
}

/// Files that are one run.
struct Run {
    files: Vec<String>,
    /// Launches of its first file.
    launches: Vec<Launch>,
    counters: BTreeSet<String>,
}

/// Refuses files that are several runs.
pub(crate) fn check(files: Vec<Recorded>) -> Result<(), Error> {
    if files.iter().filter(|it| !it.is_pass).count() == 0 || files.len() < 2 {
        return Ok(());
    }
    let mut runs: Vec<Run> = Vec::new();
    let (passes, others): (Vec<Recorded>, Vec<Recorded>) = files.into_iter().partition(|it| it.is_pass);
    for file in passes.into_iter().chain(others) {
        let fits = |run: &Run| {
            file.is_pass
                || !file.counters.is_subset(&run.counters) && is_one_program(&run.launches, &file.launches)
        };
        match runs.iter_mut().find(|run| fits(run)) {
            Some(run) => {
                run.files.push(file.file);
                run.counters.extend(file.counters);
            }
            None => {
                runs.push(Run { files: vec![file.file], launches: file.launches, counters: file.counters })
            }
        }
    }
    if runs.len() < 2 {
        return Ok(());
    }
    let counted = runs.iter().any(|run| !run.counters.is_empty());
    Err(Error::SeveralRuns { runs: runs.into_iter().map(|run| run.files).collect(), counted })
}

/// Whether most dispatches of both are the same launches. Some programs launch a few kernels more or less
/// from run to run.
fn is_one_program(a: &[Launch], b: &[Launch]) -> bool {
    let met = a.len() as u64 - join::join(a, b).alone;
    2 * met >= a.len().max(b.len()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, kernels: &str, counters: &str) -> Recorded {
        let launch = |kernel: &str| Launch { kernel: kernel.to_string(), grid: 64, workgroup: 64, gpu: 0 };
        Recorded {
            file: name.to_string(),
            launches: kernels.split_whitespace().map(launch).collect(),
            counters: counters.split_whitespace().map(str::to_string).collect(),
            is_pass: name.starts_with("pmc_"),
        }
    }

    #[test]
    fn passes_add_counters_to_the_same_launches() {
        type Case<'a> = (&'a [(&'a str, &'a str, &'a str)], &'a [&'a [&'a str]]);
        let cases: &[Case<'_>] = &[
            (&[("a", "k m", "X Y"), ("b", "k m", "Y Z")], &[]),
            (&[("a", "k m", "X"), ("b", "m k", "Z"), ("c", "k m n", "W")], &[]),
            // The same counters: another run of the program, or of another version.
            (&[("a", "k m", "X Y"), ("b", "k m", "X")], &[&["a"], &["b"]]),
            // Other launches.
            (&[("a", "k m m m", "X"), ("b", "k n", "Y"), ("c", "k m m m", "Z")], &[&["a", "c"], &["b"]]),
            (&[("a", "k", "X Y"), ("b", "m m m", "X Y"), ("c", "n", "X Y")], &[&["a"], &["b"], &["c"]]),
            // Profilers say by place and name what passes are.
            (&[("pmc_1", "k m", "X"), ("pmc_2", "n", "X")], &[]),
            (
                &[("a", "k m", "Y"), ("pmc_1", "k m", "X"), ("pmc_2", "n", "X"), ("b", "o", "Z")],
                &[&["pmc_1", "pmc_2", "a"], &["b"]],
            ),
            (&[("a", "k", "X")], &[]),
        ];
        for (files, want) in cases {
            let found = match check(files.iter().map(|it| file(it.0, it.1, it.2)).collect()) {
                Err(Error::SeveralRuns { runs, counted: true }) => runs,
                other => other.map(|()| Vec::new()).unwrap(),
            };
            assert_eq!(&found, want, "{files:?}");
        }
    }
}
