//! Filter of recorded launches.
//!
//! The command has validated the user's selection.

use crate::message::say;
use host::session::{KernelNames, Record};
use std::collections::{BTreeSet, HashMap};

/// Kernels named in a message before the rest is only counted.
const NAMED: usize = 8;

/// Selection of the session.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    kernels: KernelNames,
    /// First and last number; empty: all.
    dispatches: Vec<(u64, u64)>,
    /// First and last launch of each kernel, counted from 1; empty: all.
    iterations: Vec<(u64, u64)>,
    /// Launches of each kernel so far.
    launches: HashMap<String, u64>,
    /// Most dispatches.
    limit: u64,
    /// Launches that are not recorded need not run.
    pub(crate) no_results: bool,
    /// Kernels that were not selected.
    others: BTreeSet<String>,
}

impl Selection {
    /// Filter of the session.
    pub(crate) fn new(record: &Record) -> Selection {
        Selection {
            kernels: KernelNames::new(&record.kernels),
            dispatches: record.dispatches.clone(),
            iterations: record.iterations.clone(),
            launches: HashMap::new(),
            limit: record.limit.unwrap_or(u64::MAX),
            no_results: record.no_results,
            others: BTreeSet::new(),
        }
    }

    /// Whether launch `number` is to be recorded when `recorded` have been.
    pub(crate) fn wants(&mut self, kernel: &str, number: u64, recorded: u64) -> bool {
        let name = workload::plain_kernel_name(kernel);
        let by_name = self.kernels.admit(name);
        if !by_name && !self.others.contains(name) {
            self.others.insert(name.to_owned());
        }
        let by_number = self.dispatches.is_empty()
            || self.dispatches.iter().any(|(first, last)| (first..=last).contains(&&number));
        let by_iteration = self.iterations.is_empty() || {
            let iteration = self.count(name);
            self.iterations.iter().any(|(first, last)| (first..=last).contains(&&iteration))
        };
        by_name && by_number && by_iteration && recorded < self.limit
    }

    /// Counts a launch of a kernel, from 1.
    fn count(&mut self, name: &str) -> u64 {
        if let Some(count) = self.launches.get_mut(name) {
            *count += 1;
            return *count;
        }
        self.launches.insert(name.to_owned(), 1);
        1
    }

    /// Prints why nothing was recorded of `launches` launches.
    pub(crate) fn explain(&self, launches: u64) {
        if launches == 0 {
            return;
        }
        let some = |names: Vec<&str>| {
            let more = names.len().saturating_sub(NAMED);
            let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{}{rest}", names[..names.len() - more].join(", "))
        };
        if self.others.is_empty() {
            say(&format!("no dispatch was selected\nhint: the program has {launches}, from 0 on"));
        } else {
            let wanted = some(self.kernels.texts().collect());
            let others = some(self.others.iter().map(String::as_str).collect());
            say(&format!("no kernel was selected by `{wanted}`\nhint: kernels are {others}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_numbers_and_the_limit_select_together() {
        let of = |kernels: &[&str], dispatches: &[(u64, u64)], limit| Selection {
            kernels: KernelNames::new(&kernels.iter().map(ToString::to_string).collect::<Vec<_>>()),
            dispatches: dispatches.to_vec(),
            limit,
            ..Selection::default()
        };
        let kernels =
            ["copy(int*)", "scale(float)", "copy(int*)", "last(int [4])", "scale(float) [clone .kd]"];
        for (mut selection, expected) in [
            (of(&[], &[], u64::MAX), vec![0, 1, 2, 3, 4]),
            (of(&["copy"], &[], u64::MAX), vec![0, 2]),
            (of(&["^scale", "last(int [4])"], &[], u64::MAX), vec![1, 3, 4]),
            (of(&["copy"], &[(1, 9)], u64::MAX), vec![2]),
            (of(&[], &[(0, 0), (3, u64::MAX)], u64::MAX), vec![0, 3, 4]),
            (of(&[], &[(1, 9)], 2), vec![1, 2]),
            (of(&["scale(float)"], &[], u64::MAX), vec![1, 4]),
        ] {
            let mut found = Vec::new();
            for (number, kernel) in (0..).zip(kernels) {
                if selection.wants(kernel, number, found.len() as u64) {
                    found.push(number);
                }
            }
            assert_eq!(found, expected, "{selection:?}");
        }
        for (ranges, kernel, expected) in [
            (&[(1, 1)][..], "", vec![0, 1, 3]),
            (&[(2, 2)], "", vec![2, 4]),
            (&[(2, u64::MAX)], "scale", vec![4]),
            (&[(1, 1), (2, 2)], "copy", vec![0, 2]),
            (&[(3, 9)], "", vec![]),
        ] {
            let names: &[&str] = if kernel.is_empty() { &[] } else { &[kernel] };
            let mut selection = Selection { iterations: ranges.to_vec(), ..of(names, &[], u64::MAX) };
            let found = (0..).zip(kernels).filter(|(number, kernel)| selection.wants(kernel, *number, 0));
            assert_eq!(found.map(|it| it.0).collect::<Vec<u64>>(), expected, "{ranges:?} of {kernel}");
        }
    }
}
