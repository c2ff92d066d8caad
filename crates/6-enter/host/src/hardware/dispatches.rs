//! Recorded dispatches of a pass, as far as passes must agree.

use sorting::Sort;
use std::collections::{BTreeMap, BTreeSet};
use workload::{Counter, Workload};

/// Dispatches in order, and the counters they have.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Signature {
    /// Kernel, work-items of grid and workgroup.
    dispatches: Vec<(String, Option<f64>, Option<f64>)>,
    counters: BTreeSet<String>,
    /// Counters that some dispatches lack, and how many.
    gaps: BTreeMap<String, usize>,
}

impl Signature {
    /// Signature of a pass.
    pub(super) fn of(workload: &Workload) -> Signature {
        let d = &workload.dispatches;
        let name = |row: usize| workload.kernels.get(d.kernel[row] as usize).map_or("", String::as_str);
        let mut order: Vec<usize> = (0..d.kernel.len()).collect();
        // Processes number their dispatches alike, and run in any order.
        order
            .in_order_by_key(|row| (d.id.get(*row).copied(), name(*row), d.grid.get(*row).map(f64::to_bits)));
        let rows = order.len();
        let one = |row: usize| (name(row).to_owned(), d.grid.get(row), d.workgroup.get(row));
        let filled = |counter: &&Counter| (0..rows).filter(|row| counter.values.get(*row).is_some()).count();
        let (mut counters, mut gaps) = (BTreeSet::new(), BTreeMap::new());
        for counter in workload.counters.iter() {
            match filled(&counter) {
                0 => {}
                all if all == rows => drop(counters.insert(counter.name.clone())),
                some => drop(gaps.insert(counter.name.clone(), rows - some)),
            }
        }
        Signature { dispatches: order.into_iter().map(one).collect(), counters, gaps }
    }

    /// Number of dispatches.
    pub(super) fn len(&self) -> usize {
        self.dispatches.len()
    }

    /// Whether a counter has a value in every dispatch.
    pub(super) fn has(&self, name: &str) -> bool {
        let sum = || format!("{name}_sum");
        self.counters.contains(name) || self.counters.contains(&sum())
    }

    /// Dispatches that lack a counter which others have.
    pub(super) fn gaps(&self, name: &str) -> Option<usize> {
        self.gaps.get(name).or_else(|| self.gaps.get(&format!("{name}_sum"))).copied()
    }

    /// The first difference to another pass, in words.
    pub(super) fn difference(&self, other: &Signature) -> Option<String> {
        let pairs = self.dispatches.iter().zip(&other.dispatches);
        if let Some((at, (mine, theirs))) = pairs.enumerate().find(|(_, (mine, theirs))| mine != theirs) {
            let size = |of: &(String, Option<f64>, Option<f64>)| match (of.1, of.2) {
                (Some(grid), Some(workgroup)) => format!(" ({grid} work-items by {workgroup})"),
                _ => String::new(),
            };
            return Some(format!(
                "dispatch {at} is `{}`{}, and was `{}`{}",
                theirs.0,
                size(theirs),
                mine.0,
                size(mine)
            ));
        }
        let (mine, theirs) = (self.dispatches.len(), other.dispatches.len());
        (mine != theirs).then(|| format!("{theirs} dispatches, and before {mine}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_named() {
        let of = |rows: &[(&str, f64)]| Signature {
            dispatches: rows.iter().map(|(name, grid)| (name.to_string(), Some(*grid), Some(64.0))).collect(),
            counters: BTreeSet::new(),
            gaps: BTreeMap::new(),
        };
        let first = of(&[("a", 64.0), ("b", 128.0)]);
        for (other, expected) in [
            (of(&[("a", 64.0), ("b", 128.0)]), None),
            (
                of(&[("a", 64.0), ("c", 128.0)]),
                Some("dispatch 1 is `c` (128 work-items by 64), and was `b` (128 work-items by 64)"),
            ),
            (
                of(&[("a", 64.0), ("b", 64.0)]),
                Some("dispatch 1 is `b` (64 work-items by 64), and was `b` (128 work-items by 64)"),
            ),
            (of(&[("a", 64.0)]), Some("1 dispatches, and before 2")),
        ] {
            assert_eq!(first.difference(&other).as_deref(), expected);
        }
    }
}
