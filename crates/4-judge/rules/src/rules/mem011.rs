//! MEM011: reuse that hits in L2 and misses in the vector L1.
//!
//! L2 hits are reused data; L1 misses on them mean that the lines were evicted from L1.

use crate::recorded::{lost_to, part_of};
use crate::{Check, Outcome, Rule};
use analysis::WorkloadEvidence;
use view::{Missing, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "MEM011",
    title: "data is reused in L2 but not in the vector L1",
    severity: Severity::Warning,
    page: include_str!("mem011.md"),
    checks: &[Check::Recording(check)],
    panels: &[16, 17],
};

/// Hit rate of L1 below which it has none, percent.
const L1_NONE: f64 = 10.0;
/// Hit rate of L2 from which on there is reuse, percent.
const L2_REUSE: f64 = 80.0;

fn check(evidence: &WorkloadEvidence<'_>) -> Result<Outcome, Missing> {
    let accesses = evidence.value("vl1d.cache_accesses")?;
    if accesses <= 0.0 {
        return Ok(Outcome::Silent);
    }
    let l1 = evidence.known("vl1d.hit_rate")?;
    let reads = evidence.known("vl1d.l2_reads")?;
    let writes = evidence.value("vl1d.l2_writes")? + evidence.value("vl1d.l2_atomics")?;
    if l1.value >= L1_NONE || reads.value < writes || evidence.value("l2.requests")? <= 0.0 {
        return Ok(Outcome::Silent);
    }
    let l2 = evidence.known("l2.hit_rate")?;
    if l2.value < L2_REUSE {
        return Ok(Outcome::Silent);
    }
    let waiting = evidence.known("vl1d.stall_l2_data").ok();
    let mut finding = RULE
        .finding(
            Severity::Warning,
            format!("the vector L1 hits in {l1:.1} % where L2 hits in {l2:.0} %"),
            "use the values of a line together: neighbouring lanes on neighbouring addresses, tiles in LDS or registers",
        )
        .with_evidence("vector L1 hit rate", format!("{l1:.1} %"))
        .with_evidence("L2 hit rate", format!("{l2:.1} %"))
        .with_evidence("reads from L1 to L2", format!("{reads:.0} per dispatch"))
        .with_trust([l1, l2, reads]);
    if let Some(percent) = waiting {
        let value = format!("{percent:.0} % of its cycles");
        finding = finding.with_evidence("vector L1 waits for data", value).with_trust([percent]);
    }
    let part = waiting.map(|percent| percent.map(|percent| percent / 100.0));
    let part = part.unwrap_or_else(|| part_of(evidence, "L2"));
    Ok(Outcome::Findings(vec![lost_to(evidence, finding, "l1", part)]))
}
