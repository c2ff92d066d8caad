//! MEM012: the vector L1 waits for L2.
//!
//! At a bandwidth roof, waiting is unavoidable; below it, waiting is the time to gain.

use crate::recorded::{lost_below_roof, part_of, percent};
use crate::{Check, Outcome, Rule};
use analysis::WorkloadEvidence;
use view::{Missing, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "MEM012",
    title: "the vector L1 waits for L2",
    severity: Severity::Warning,
    page: include_str!("mem012.md"),
    checks: &[Check::Recording(check)],
    panels: &[16, 17],
};

/// Percent of the cycles waiting for data.
const DATA: f64 = 50.0;
/// Percent of the cycles with requests held back.
const REQUESTS: f64 = 25.0;
/// Part of a ceiling from which on waiting is its price.
const EXHAUSTED: f64 = 0.8;
/// Part of every ceiling below which it is a warning.
const FAR: f64 = 0.5;

fn check(evidence: &WorkloadEvidence<'_>) -> Result<Outcome, Missing> {
    if evidence.value("vl1d.cache_accesses")? <= 0.0 {
        return Ok(Outcome::Silent);
    }
    let data = evidence.known("vl1d.stall_l2_data")?;
    let requests = evidence.known("vl1d.stall_l2_request")?;
    let [memory, l2] = ["HBM", "L2"].map(|level| part_of(evidence, level));
    let busiest = if memory.value > l2.value { memory } else { l2 };
    let roof = evidence.roof().bound.as_ref().ok().and_then(|bound| bound.part()).unwrap_or(0.0);
    if (data.value < DATA && requests.value < REQUESTS) || busiest.value.max(roof) >= EXHAUSTED {
        return Ok(Outcome::Silent);
    }
    let known = evidence.roof().reached.levels.iter().any(|share| share.part().is_some());
    let used = if known { format!(", at {} of the bandwidth", percent(busiest)) } else { String::new() };
    let more = if requests.value > data.value { requests } else { data };
    let (message, advice) = if requests.value >= REQUESTS && requests.value > data.value {
        (
            format!("the vector L1 cannot hand on requests in {requests:.0} % of its cycles{used}"),
            "make fewer and wider requests, and spread addresses over the channels",
        )
    } else {
        (
            format!("the vector L1 waits for data from L2 in {data:.0} % of its cycles{used}"),
            "keep more loads in flight: unroll, load the next values early, more waves, wider loads",
        )
    };
    let far = evidence.roof().nearest().is_none_or(|part| part < FAR);
    let mut finding = RULE
        .finding(if far { Severity::Warning } else { Severity::Info }, message, advice)
        .with_evidence("waits for data", format!("{data:.1} %"))
        .with_evidence("requests held back", format!("{requests:.1} %"))
        .with_trust([data, requests, busiest]);
    for (metric, what) in
        [("vl1d.latency", "latency of L1"), ("vl1d.l2_read_latency", "latency of reads from L2")]
    {
        if let Ok(cycles) = evidence.known(metric) {
            finding = finding.with_evidence(what, format!("{cycles:.0} cycles")).with_trust([cycles]);
        }
    }
    Ok(Outcome::Findings(vec![lost_below_roof(evidence, finding, more.map(|more| more / 100.0))]))
}
