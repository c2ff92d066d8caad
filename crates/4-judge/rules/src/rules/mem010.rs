//! MEM010: more bytes are read from memory than the lanes can have requested.
//!
//! An access of the vector L1 carries at most 16 bytes, so the number of accesses bounds the requested bytes;
//! bytes beyond that were unused or fetched repeatedly.

use crate::recorded::{bytes, lost, part_of, simulated};
use crate::{Check, Outcome, Rule};
use analysis::WorkloadEvidence;
use view::{Missing, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "MEM010",
    title: "memory is read more than once or in part only",
    severity: Severity::Warning,
    page: include_str!("mem010.md"),
    checks: &[Check::Recording(check)],
    panels: &[16, 17],
};

/// Maximum bytes of one access.
const ACCESS: f64 = 16.0;
/// Ratio to the requested bytes from which a finding is reported.
const SURPLUS: f64 = 1.5;
/// Ratio from which it is a warning.
const MUCH: f64 = 2.0;
/// Times the L2's size a kernel must read.
const BEYOND_L2: f64 = 4.0;

fn check(evidence: &WorkloadEvidence<'_>) -> Result<Outcome, Missing> {
    let read = evidence.known("fabric.read_bytes")?;
    let asked = evidence.known("vl1d.reads")?.map(|reads| ACCESS * reads);
    if asked.value <= 0.0
        || read.value < SURPLUS * asked.value
        || read.value < BEYOND_L2 * evidence.l2_bytes()?
    {
        return Ok(Outcome::Silent);
    }
    let factor = read.over(asked);
    let mut finding = RULE
        .finding(
            if factor.value >= MUCH { Severity::Warning } else { Severity::Info },
            format!(
                "{} come from memory where the lanes ask for at most {}: {factor:.1} times as many",
                bytes(read),
                bytes(asked)
            ),
            "use whole lines while they are in the caches: contiguous lanes, tiles, neighbours in the same workgroup",
        )
        .with_evidence("read from memory", bytes(read))
        .with_evidence("asked for, at most", bytes(asked))
        .with_trust([read, asked, factor]);
    if let Ok(hit) = evidence.known("l2.hit_rate") {
        finding = finding.with_evidence("L2 hit rate", format!("{hit:.1} %")).with_trust([hit]);
    }
    let written = evidence.known("fabric.write_bytes").unwrap_or(0.0.into());
    let share = read.with(written, |read, written| read / (read + written));
    let surplus = share.with(factor, |share, factor| share * (1.0 - 1.0 / factor));
    let part = part_of(evidence, "HBM").with(surplus, |part, surplus| part * surplus);
    let cost = simulated(evidence, &finding, "l2");
    Ok(Outcome::Findings(vec![cost.unwrap_or_else(|| lost(evidence, finding, part))]))
}
