//! Limits of a GPU that a simulation removed one at a time, and the limit that explains most of a kernel's
//! time.
//!
//! A roofline names the ceiling that a kernel is close to, a simulation without a limit the gain; if both are
//! known, the gain leads.

use crate::roofline::{Bound, Resource};
use crate::workload::predictions::Times;

/// Saving of a kernel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Saved {
    /// Nanoseconds, of all its dispatches.
    pub ns: f64,
    /// Nanoseconds they take.
    pub base: f64,
}

impl Saved {
    pub(crate) fn of(times: Times) -> Saved {
        Saved { ns: times.saved().max(0.0), base: times.base }
    }

    /// Part of the time.
    pub fn part(self) -> f64 {
        self.ns / self.base
    }
}

/// A limit of the GPU that was lifted in a simulation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Limit<'a> {
    /// Name in files: a row of docs/breakdown.md.
    pub name: &'a str,
    /// Display name.
    pub title: &'a str,
    /// Saving of the kernel without this limit.
    pub saved: Saved,
}

/// The limit that costs a kernel most.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Leading<'a> {
    /// The limit.
    pub limit: Limit<'a>,
    /// Effect on the kernel, after "held up by".
    pub what: &'static str,
    /// Advice.
    pub advice: &'static str,
}

/// Part of the time from which on a limit leads.
const LEADS: f64 = 0.05;

impl<'a> Leading<'a> {
    /// The first of the limits, sorted by cost, if it costs enough to lead.
    pub(crate) fn of(limits: &[Limit<'a>]) -> Option<Leading<'a>> {
        let limit = *limits.first().filter(|limit| limit.saved.part() >= LEADS)?;
        let mut rows = WHAT_AND_ADVICE.lines().filter_map(|row| row.split_once('\t'));
        let (what, advice) = rows.find(|(name, _)| *name == limit.name)?.1.split_once('\t')?;
        Some(Leading { limit, what, advice })
    }

    /// The roofline says the same: it is that limit, or the limit that it names is worth nearly as much.
    pub fn agrees(&self, limits: &[Limit<'_>], bound: &Bound) -> bool {
        let least = NEARLY * self.limit.saved.ns;
        limits.iter().any(|limit| limit.is_bound(bound) && limit.saved.ns >= least)
    }
}

/// Part of what the leading limit is worth from which on another is worth nearly as much.
const NEARLY: f64 = 0.9;

impl Limit<'_> {
    /// Lifting the limit takes away what the roofline says stops the kernel.
    pub fn is_bound(&self, bound: &Bound) -> bool {
        let names: &[&str] = match bound {
            Bound::Ceiling { share, .. } if share.resource == Resource::Arithmetic => &["issue", "mfma"],
            Bound::Ceiling { share, .. } => match share.name {
                "HBM" => &["hbm"],
                "L2" => &["l1"],
                _ => &[],
            },
            Bound::VectorIssue { .. } => &["issue"],
            Bound::Launch { .. } => &["launch"],
            Bound::Latency { .. } => &["memory-latency"],
            Bound::Open { .. } => &[],
        };
        names.contains(&self.name)
    }
}

/// Cost of the ceiling that the roofline names, if another limit costs more: "; with infinite memory
/// bandwidth 2 % less".
pub fn beside(limits: &[Limit<'_>], bound: &Bound, percent: impl Fn(f64) -> String) -> String {
    let Bound::Ceiling { .. } = bound else { return String::new() };
    match limits.iter().find(|limit| limit.is_bound(bound)) {
        Some(limit) => {
            format!(", though with {} it takes only {} less", limit.title, percent(limit.saved.part()))
        }
        None => String::new(),
    }
}

/// By limit: its effect on a kernel, and the advice.
const WHAT_AND_ADVICE: &str = include_str!("../data/limits.tsv");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roofline::Share;
    use view::CeilingBasis;

    #[test]
    fn a_limit_that_is_the_ceiling_is_told_from_others() {
        let ceiling = |name, unit| Bound::Ceiling {
            share: Share {
                name,
                rate: Ok(9.0),
                ceiling: 10.0,
                unit,
                resource: if unit == "GB/s" { Resource::Bandwidth } else { Resource::Arithmetic },
                basis: CeilingBasis::DataSheet,
                data_sheet: None,
                trust: None,
            },
            part: 0.9,
            full: 0.9,
        };
        let limit = |name, ns| Limit { name, title: "infinite x", saved: Saved { ns, base: 100.0 } };
        for (bound, same, other) in [
            (ceiling("vector f32", "Gflop/s"), &["issue", "mfma"][..], "memory-latency"),
            (ceiling("matrix i8", "Gop/s"), &["issue", "mfma"], "hbm"),
            (ceiling("HBM", "GB/s"), &["hbm"], "memory-latency"),
            (ceiling("L2", "GB/s"), &["l1"], "hbm"),
            (ceiling("LDS", "GB/s"), &[], "lds-conflicts"),
            (Bound::Latency { nearest: 0.1 }, &["memory-latency"], "issue"),
        ] {
            assert!(same.iter().all(|name| limit(name, 5.0).is_bound(&bound)), "{bound:?}");
            assert!(!limit(other, 5.0).is_bound(&bound), "{bound:?}");
        }
        let limits = [limit("memory-latency", 40.0), limit("hbm", 2.0)];
        let leading = Leading::of(&limits).unwrap();
        assert!(!leading.agrees(&limits, &ceiling("HBM", "GB/s")));
        assert!(leading.agrees(&limits, &Bound::Latency { nearest: 0.1 }));
        assert!(leading.agrees(&[limits[0], limit("hbm", 39.0)], &ceiling("HBM", "GB/s")));
        let said = |bound| beside(&limits, &bound, |part| format!("{:.0} %", 100.0 * part));
        assert!(said(ceiling("HBM", "GB/s")).contains(" infinite x "));
        assert_eq!(said(ceiling("LDS", "GB/s")), "");
    }
}
