//! MEM003: lanes of a wave access memory far apart.
//!
//! The one idea to keep in mind: the vector L1 looks up one line at a time; four accesses share a look-up when lanes are
//! neighbours, none when they are not.

use crate::recorded::lost_below_roof;
use crate::{Check, Outcome, Rule};
use analysis::WorkloadEvidence;
use view::{Missing, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "MEM003",
    title: "lanes of a wave access memory far apart",
    severity: Severity::Warning,
    page: PAGE,
    check: Check::Recording(check),
};

const PAGE: &str = r"## What it does
Fires when an access of the vector L1 shares its line look-up with few others: fewer than 3 accesses per look-up where
contiguous lanes have 4. Warning below 2. Kernels that look up a line in less than 2 % of their cycles are left out.

## Why it is slow
The L1 looks up one line per cycle. A load of 8 bytes per lane makes 64 accesses: with neighbouring lanes on neighbouring
addresses 16 look-ups, with lanes in different lines 64. Lines that hold one wanted value each also fill the caches with
unwanted ones. Reading a matrix by rows in one lane each instead of by columns cost a factor of 5.6.

## Evidence
Accesses and line look-ups of the vector L1, and look-ups per memory instruction. The cost is the share of look-ups that
contiguous lanes would save, within what the roofline leaves.

## What to do
Let neighbouring lanes access neighbouring addresses: exchange the loops or the index mapping, transpose the data or a tile of
it in LDS, use arrays of fields instead of arrays of structs.

## Source
The Omniperf training, exercise 4 (strided data access); the IREE AMDGPU guide (coalesced accesses).
";

/// Accesses per look-up of contiguous lanes.
const CONTIGUOUS: f64 = 4.0;
/// Below it is worth a word.
const FEW: f64 = 3.0;
/// Below it is a warning.
const VERY_FEW: f64 = 2.0;
/// Percent of the peak of look-ups below which it does not matter.
const USED: f64 = 2.0;

fn check(evidence: &WorkloadEvidence<'_>) -> Result<Outcome, Missing> {
    if evidence.value("vl1d.cache_accesses")? <= 0.0 {
        return Ok(Outcome::Silent);
    }
    let per_lookup = evidence.known("access.per_lookup")?;
    let used = evidence.evaluation.percent_of_peak("vl1d.bandwidth");
    if per_lookup.value >= FEW || matches!(used, Some(Ok(percent)) if percent < USED) {
        return Ok(Outcome::Silent);
    }
    let mut finding = RULE
        .finding(
            if per_lookup.value < VERY_FEW { Severity::Warning } else { Severity::Info },
            format!("{per_lookup:.1} accesses share a line look-up of the vector L1, contiguous lanes {CONTIGUOUS:.0}"),
            "let neighbouring lanes access neighbouring addresses: exchange index roles, or transpose a tile in LDS",
        )
        .with_evidence("accesses per look-up", format!("{per_lookup:.2}"))
        .with_trust([per_lookup]);
    for (metric, what, unit) in [
        ("access.lookups_per_instruction", "look-ups per memory instruction", ""),
        ("vl1d.hit_rate", "vector L1 hit rate", " %"),
        ("l2.hit_rate", "L2 hit rate", " %"),
    ] {
        if let Ok(value) = evidence.known(metric) {
            finding = finding.with_evidence(what, format!("{value:.1}{unit}")).with_trust([value]);
        }
    }
    let part = per_lookup.map(|accesses| 1.0 - accesses / CONTIGUOUS);
    Ok(Outcome::Findings(vec![lost_below_roof(evidence, finding, part)]))
}
