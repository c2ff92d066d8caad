//! CTR002: many waves, few instructions.
//!
//! If the wave slots are full and few instructions issue, more waves do not help.

use crate::recorded::lost_below_roof;
use crate::{Check, Outcome, Rule};
use analysis::WorkloadEvidence;
use view::{Missing, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "CTR002",
    title: "few instructions per cycle although waves are resident",
    severity: Severity::Warning,
    page: PAGE,
    checks: &[Check::Recording(check)],
    panels: &[10, 11],
};

const PAGE: &str = r"## What it does
Fires when a busy compute unit runs less than 0.5 instructions per cycle (10 % of the 5 it can) although half of its wave slots
or more are in use and the kernel is bound by latency (CTR001).

## Why it is slow
The waves are there and all wait. Another wave would wait with them: the time must come from shorter waits or more independent
work within each wave.

## Evidence
Instructions per busy cycle of a compute unit, waves in flight against the slots, and the latency of vector memory. The cost is
the share of the latency that the roofline leaves.

## What to do
Find what the waves wait for: SYN004 says for what, MEM003, MEM011 and CTR004 why it takes long. Within a wave, issue several
loads before the first use, and keep dependent chains short.

## Source
The Omniperf training: instructions per cycle in the speed of light.
";

/// Instructions per cycle below which little is issued.
const LITTLE: f64 = 0.5;
/// Percent of the wave slots from which on waves are resident.
const RESIDENT: f64 = 50.0;

fn check(evidence: &WorkloadEvidence<'_>) -> Result<Outcome, Missing> {
    let ipc = evidence.known("issue.ipc")?;
    let none = || Err(Missing::because("the number of wave slots"));
    let resident = evidence.percent_of_peak("wave.occupancy").unwrap_or_else(none)?;
    evidence.roof().known_bound()?;
    if !evidence.roof().may_wait() {
        return Ok(Outcome::Silent);
    }
    if ipc.value >= LITTLE || resident.value < RESIDENT {
        return Ok(Outcome::Silent);
    }
    let mut finding = RULE
        .finding(
            Severity::Warning,
            format!("{ipc:.2} instructions per cycle with {resident:.0} % of the wave slots in use"),
            "more waves will not help: put more independent loads into each wave, and shorten what they wait for",
        )
        .with_evidence("instructions per busy cycle", format!("{ipc:.2}"))
        .with_evidence("wave slots in use", format!("{resident:.0} %"))
        .with_trust([ipc, resident]);
    if let Ok(cycles) = evidence.known("latency.vmem") {
        let value = format!("{cycles:.0} cycles");
        finding = finding.with_evidence("vector memory latency", value).with_trust([cycles]);
    }
    // All that is above the nearest roof.
    Ok(Outcome::Findings(vec![lost_below_roof(evidence, finding, 1.0)]))
}
