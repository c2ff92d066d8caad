//! CTR004: the path from L2 to memory is slow, or leads to remote memory.
//!
//! A latency far above an idle GPU's means queueing; if memory is not saturated, the queue is elsewhere.

use crate::recorded::{lost_below_roof, part_of, percent};
use crate::{Check, Outcome, Rule};
use analysis::WorkloadEvidence;
use analysis::roofline::Bound;
use view::{Finding, Missing, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "CTR004",
    title: "high latency from L2 to memory, or traffic to other memory",
    severity: Severity::Warning,
    page: include_str!("ctr004.md"),
    checks: &[Check::Recording(check)],
    panels: &[17],
};

/// Multiples of the idle latency from which it is reported, and from which it is a warning.
const SLOW: f64 = 2.0;
const VERY_SLOW: f64 = 3.0;
/// Part of memory bandwidth from which on a queue is its price.
const FULL: f64 = 0.8;
/// Percent of requests to other memory.
const REMOTE: f64 = 5.0;
/// Part of the bytes from which on a direction counts.
const COUNTS: f64 = 0.1;
/// Bytes below which nothing is to be gained.
const LEAST: f64 = 1e6;

fn check(evidence: &WorkloadEvidence<'_>) -> Result<Outcome, Missing> {
    let moved = evidence.value("roofline.hbm_bytes")?;
    if moved < LEAST {
        return Ok(Outcome::Silent);
    }
    let counts = |metric: &str| Ok::<bool, Missing>(evidence.value(metric)? >= COUNTS * moved);
    let ways = (counts("fabric.read_bytes")?, counts("fabric.write_bytes")?);
    let findings = [slow(evidence, ways)?, remote(evidence, ways)?];
    Ok(Outcome::from_findings(findings.into_iter().flatten().collect()))
}

/// `ways`: whether reads and writes count.
fn slow(evidence: &WorkloadEvidence<'_>, ways: (bool, bool)) -> Result<Option<Finding>, Missing> {
    let idle = evidence.value("fabric.idle_latency")?;
    let read = ways.0.then(|| evidence.known("fabric.read_latency")).transpose()?;
    let write = ways.1.then(|| evidence.known("fabric.write_latency")).transpose()?;
    let (what, cycles) = match (read, write) {
        (Some(read), Some(write)) if write.value > read.value => ("writes", write),
        (Some(read), _) => ("reads", read),
        (None, Some(write)) => ("writes", write),
        (None, None) => return Ok(None),
    };
    let memory = part_of(evidence, "HBM");
    let launch = matches!(evidence.roof().bound, Ok(Bound::Launch { .. }));
    if cycles.value < SLOW * idle || memory.value >= FULL || launch {
        return Ok(None);
    }
    let known = evidence.roof().level("HBM").is_some_and(|share| share.part().is_some());
    let at = if known { format!(" at {} of the bandwidth", percent(memory)) } else { String::new() };
    let times = cycles.map(|cycles| cycles / idle);
    let mut finding = RULE
        .finding(
            if times.value >= VERY_SLOW { Severity::Warning } else { Severity::Info },
            format!("{what} take {cycles:.0} cycles from L2 to memory and back{at}, {times:.1} times the idle latency"),
            "spread addresses over the channels (pad power-of-two strides), use large pages, keep reads and writes apart",
        )
        .with_evidence("idle latency", format!("{idle:.0} cycles"))
        .with_trust([cycles, memory]);
    for (value, what) in [(read, "read latency"), (write, "write latency")] {
        if let Some(cycles) = value {
            finding = finding.with_evidence(what, format!("{cycles:.0} cycles")).with_trust([cycles]);
        }
    }
    Ok(Some(lost_below_roof(evidence, finding, times.map(|times| 1.0 - 1.0 / times))))
}

fn remote(evidence: &WorkloadEvidence<'_>, ways: (bool, bool)) -> Result<Option<Finding>, Missing> {
    let share = |counts: bool, metric: &str| if counts { evidence.known(metric) } else { Ok(0.0.into()) };
    let reads = share(ways.0, "fabric.remote_read_share")?;
    let writes = share(ways.1, "fabric.remote_write_share")?;
    if reads.value.max(writes.value) < REMOTE {
        return Ok(None);
    }
    let (share, what) = if reads.value >= writes.value { (reads, "reads") } else { (writes, "writes") };
    let finding = RULE
        .finding(
            Severity::Warning,
            format!("{share:.0} % of the {what} go to memory other than the GPU's own"),
            "copy the data to the GPU's memory first; check host, managed and peer allocations",
        )
        .with_evidence("remote reads", format!("{reads:.1} %"))
        .with_evidence("remote writes", format!("{writes:.1} %"))
        .with_trust([reads, writes]);
    Ok(Some(lost_below_roof(evidence, finding, share.map(|share| share / 100.0))))
}
