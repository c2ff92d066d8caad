//! Upper limits for ceilings whose own counters were not recorded.
//!
//! A counter that was not recorded is often bounded by one that was. Zero matrix instructions mean zero
//! matrix operations of every type, so a verdict does not need the counter of each type.

use crate::numbers::KernelNumbers;
use std::sync::LazyLock;

/// A row of `data/at-most.tsv`.
struct Limit {
    /// Beginning of the names of ceilings.
    ceiling: &'static str,
    /// Metric, percent of the ceiling.
    metric: &'static str,
    /// Reason for the upper bound.
    reason: &'static str,
}

static LIMITS: LazyLock<Vec<Limit>> = LazyLock::new(|| {
    let lines = include_str!("../../data/at-most.tsv").lines();
    lines.filter_map(row).collect()
});

fn row(line: &'static str) -> Option<Limit> {
    let mut fields = line.split('\t');
    let (ceiling, metric, reason) = (fields.next()?, fields.next()?, fields.next()?);
    (!ceiling.starts_with('#')).then_some(Limit { ceiling, metric, reason })
}

/// At most how much of a ceiling is reached, by counters other than the ceiling's own.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AtMost {
    /// The ceiling.
    pub ceiling: &'static str,
    /// Part of the ceiling.
    pub part: f64,
    /// Reason for the upper bound.
    pub reason: &'static str,
}

/// The lowest limit that the recording gives for a ceiling.
pub(super) fn at_most(kernel: &KernelNumbers<'_>, ceiling: &'static str) -> Option<AtMost> {
    let is_of = |it: &&Limit| {
        ceiling.strip_prefix(it.ceiling).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            // Vector instructions issue for more than arithmetic.
            && (ceiling != super::verdict::ISSUE_NAME || it.ceiling == ceiling)
    };
    let limits = LIMITS.iter().filter(is_of).filter_map(|it| {
        let percent = kernel.value(it.metric).ok()?;
        Some(AtMost { ceiling, part: percent / 100.0, reason: it.reason })
    });
    limits.min_by(|a, b| a.part.total_cmp(&b.part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roofline::ceilings::{LEVELS, LOOKUPS, RATES};

    #[test]
    fn every_row_names_a_ceiling_and_a_metric() {
        let names: Vec<&str> = LEVELS
            .iter()
            .map(|it| it.name)
            .chain(RATES.iter().map(|it| it.name))
            .chain([LOOKUPS.name, super::super::verdict::ISSUE_NAME])
            .collect();
        let compiled = metrics::Definitions::built_in().compile("gfx950").unwrap();
        let lines = include_str!("../../data/at-most.tsv").lines().filter(|line| !line.starts_with('#'));
        assert_eq!(LIMITS.len(), lines.count(), "a line that is not read");
        for limit in LIMITS.iter() {
            assert!(names.iter().any(|name| name.starts_with(limit.ceiling)), "{}", limit.ceiling);
            assert!(compiled.defined(limit.metric), "{}", limit.metric);
        }
    }
}
