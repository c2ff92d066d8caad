//! CTR003: the code does not fit in the instruction cache.
//!
//! Every kernel misses once for each line of its code; more misses mean that lines are evicted before they
//! are reused.

use crate::recorded::lost_below_roof;
use crate::{Check, Outcome, Rule};
use analysis::WorkloadEvidence;
use view::{Missing, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "CTR003",
    title: "instruction cache misses",
    severity: Severity::Warning,
    page: include_str!("ctr003.md"),
    checks: &[Check::Recording(check)],
    panels: &[13],
};

/// Percent of hits below which it is reported.
const FEW: f64 = 95.0;
/// Percent of hits below which it is a warning.
const VERY_FEW: f64 = 90.0;
/// Misses of one cache that are more than a first pass.
const MISSES: f64 = 2048.0;

fn check(evidence: &WorkloadEvidence<'_>) -> Result<Outcome, Missing> {
    if evidence.value("l1i.requests")? <= 0.0 {
        return Ok(Outcome::Silent);
    }
    let hits = evidence.known("l1i.hit_rate")?;
    let misses = evidence.known("l1i.misses_per_cache")?;
    if hits.value >= FEW || misses.value <= MISSES {
        return Ok(Outcome::Silent);
    }
    let mut finding = RULE
        .finding(
            if hits.value < VERY_FEW { Severity::Warning } else { Severity::Info },
            format!(
                "{hits:.1} % of instruction fetches hit; each cache misses {misses:.0} times per dispatch"
            ),
            "shorten the hot loop: unroll less, move rare paths out of it, split the kernel",
        )
        .with_evidence("instruction cache hit rate", format!("{hits:.2} %"))
        .with_evidence("misses per cache", format!("{misses:.0}"))
        .with_trust([hits, misses]);
    if let Ok(cycles) = evidence.known("l1i.fetch_latency") {
        finding = finding.with_evidence("fetch latency", format!("{cycles:.0} cycles")).with_trust([cycles]);
    }
    let part = hits.map(|hits| 1.0 - hits / 100.0);
    Ok(Outcome::Findings(vec![lost_below_roof(evidence, finding, part)]))
}
