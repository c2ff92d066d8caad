//! Maps the runs of one application to one order of dispatches.
//!
//! Dispatch IDs differ from run to run (one run may begin at 0, the next at 1), but the n-th launch of a
//! kernel with a given size is the same. So rows are matched by kernel, sizes and occurrence.

use sorting::Sort;
use std::collections::HashMap;

/// Identity of a launch without its occurrence number.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Launch {
    pub(crate) kernel: String,
    pub(crate) grid: u64,
    pub(crate) workgroup: u64,
    pub(crate) gpu: u32,
}

/// Result of matching two runs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Match {
    /// For each row of the first run, the row of the second.
    pub(crate) rows: Vec<Option<u32>>,
    /// Rows of the first run without counterpart.
    pub(crate) alone: u64,
    /// Rows of the second run without counterpart.
    pub(crate) left_over: u64,
}

impl Match {
    /// Whether rows that met are in the same order in both runs.
    pub(crate) fn in_order(&self) -> bool {
        let met: Vec<u32> = self.rows.iter().flatten().copied().collect();
        met.is_sorted()
    }
}

/// Matches two runs, each in launch order.
pub(crate) fn join(base: &[Launch], other: &[Launch]) -> Match {
    if base == other {
        return Match { rows: (0..base.len() as u32).map(Some).collect(), alone: 0, left_over: 0 };
    }
    // A GPU may have another number in another run: it counts only when both runs name the same ones.
    let numbers = |l: &[Launch]| {
        let mut n: Vec<u32> = l.iter().map(|l| l.gpu).collect();
        n.in_order();
        n.dedup();
        n
    };
    let by_gpu = numbers(base) == numbers(other);
    let key = |l: &Launch| Launch { gpu: if by_gpu { l.gpu } else { 0 }, ..l.clone() };
    let mut waiting: HashMap<Launch, Vec<u32>> = HashMap::new();
    for (i, l) in other.iter().enumerate().rev() {
        waiting.entry(key(l)).or_default().push(i as u32);
    }
    let rows: Vec<Option<u32>> =
        base.iter().map(|l| waiting.get_mut(&key(l)).and_then(std::vec::Vec::pop)).collect();
    let alone = rows.iter().filter(|r| r.is_none()).count() as u64;
    let left_over = waiting.values().map(|v| v.len() as u64).sum();
    Match { rows, alone, left_over }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str) -> Vec<Launch> {
        text.split_whitespace()
            .map(|t| {
                let (kernel, gpu) = t.split_once('@').unwrap_or((t, "0"));
                Launch { kernel: kernel.into(), grid: 64, workgroup: 64, gpu: gpu.parse().unwrap() }
            })
            .collect()
    }

    #[test]
    fn launches_meet_by_occurrence() {
        type Case = (&'static str, &'static str, &'static [Option<u32>], u64, u64);
        let cases: [Case; 6] = [
            ("a b a", "a b a", &[Some(0), Some(1), Some(2)], 0, 0),
            ("a b a", "a a b", &[Some(0), Some(2), Some(1)], 0, 0),
            ("a b a", "b a", &[Some(1), Some(0), None], 1, 0),
            ("a", "a a c", &[Some(0)], 0, 2),
            ("a@0 a@1", "a@1 a@0", &[Some(1), Some(0)], 0, 0),
            ("a@0 a@0", "a@2 a@2", &[Some(0), Some(1)], 0, 0),
        ];
        for (base, other, rows, alone, left_over) in cases {
            let m = join(&run(base), &run(other));
            assert_eq!(m, Match { rows: rows.to_vec(), alone, left_over }, "{base} / {other}");
        }
    }
}
