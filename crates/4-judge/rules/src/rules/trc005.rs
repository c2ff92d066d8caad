//! TRC005: ranks wait for a late one.
//!
//! The rank that spends least time in a collective arrived last.

use crate::traced::{TraceEvidence, lost, ms, percent};
use crate::{Check, Outcome, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "TRC005",
    title: "ranks wait for one that comes late",
    severity: Severity::Warning,
    page: PAGE,
    checks: &[Check::Trace(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Fires when several ranks were traced, at least 15 % of the time in matched collectives is waiting, and one rank came last in at
least half of them.

## Why it is slow
A collective ends when all ranks have taken part. A rank that comes early sits in the collective's kernel until the last one
comes; the time counts as communication and is none.

## Evidence
For each matched collective the shortest time any rank spent in it: that rank came last, and what others spent beyond it is
waiting. Clocks of ranks are not compared.

## What to do
Look at what the late rank does before: more work (uneven batches or experts), a slower GPU (clocks, power, temperature), a
host that is late (NUMA placement, data loading, logging of rank 0).

## Source
The tuning guides: training on several GPUs, NUMA balancing and affinity of processes.
";

/// Percent of communication that is waiting, and of collectives in which one rank is last, that are worth a
/// word.
const MUCH: [f64; 2] = [15.0, 50.0];

fn check(run: &TraceEvidence<'_>) -> Outcome {
    let Some(matched) = &run.matched else { return Outcome::needs("traces of several ranks") };
    let all = matched.ranks.iter().map(|rank| rank.matched).max().unwrap_or(0);
    if all == 0 {
        return Outcome::needs("collectives that all traces have equally often");
    }
    let (time, waiting) =
        matched.ranks.iter().fold((0, 0), |sum, rank| (sum.0 + rank.communicating, sum.1 + rank.waiting));
    let Some(late) = matched.ranks.iter().max_by_key(|rank| rank.last) else { return Outcome::Silent };
    let (share, last) = (percent(waiting, time), 100.0 * late.last as f64 / all as f64);
    if share < MUCH[0] || last < MUCH[1] {
        return Outcome::Silent;
    }
    let name = run.names.get(late.timeline).map_or("", String::as_str);
    let most = matched.ranks.iter().map(|rank| rank.waiting).max().unwrap_or(0);
    let finding = RULE
        .finding(
            Severity::Warning,
            format!(
                "{name} comes last in {} of {all} collectives; {share:.1} % of the time in them is waiting",
                late.last
            ),
            "find what that rank does before: more work, a slower GPU, or a host that launches late",
        )
        .with_evidence("longest waiting of a rank", ms(most));
    let Some(first) = run.ranks.first() else { return Outcome::Silent };
    Outcome::Findings(vec![lost(finding, first, most)])
}
