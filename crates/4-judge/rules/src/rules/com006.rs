//! COM006: ranks that never joined.
//!
//! The rank that is missing from the log is the one to inspect.

use crate::comm::CommEvidence;
use crate::{Check, Outcome, Rule};
use view::{Severity, counted, noun_of};

pub(crate) const RULE: Rule = Rule {
    id: "COM006",
    title: "ranks that never joined",
    severity: Severity::Severe,
    page: PAGE,
    checks: &[Check::Comm(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Fires when a debug log has a communicator of n ranks and fewer ranks in it, or ranks that began to initialise and never completed.

## Why it is slow
A communicator waits for all ranks. One that never starts, or dies while it starts, keeps the others waiting until a timeout.

## Evidence
Ranks that the log never names, ranks that began, and ranks that completed.

## What to do
Look on the host of the missing rank for the first error: memory, a GPU that is not visible, a wrong address. Check that every rank gets the
same `NCCL_SOCKET_IFNAME`, and that firewalls let the bootstrap's port through.

## Source
RCCL's log: `Init START` and `Init COMPLETE` of each rank.
";

/// Ranks named before the rest is only counted.
const NAMED: usize = 8;

fn check(evidence: &CommEvidence<'_>) -> Outcome {
    let findings = evidence.logs().filter_map(|(name, log)| {
        let missing = log.missing_ranks();
        let started = log.started.len() as u64;
        if log.ranks == 0 || missing.is_empty() && log.completed >= started {
            return None;
        }
        let named: Vec<String> = missing.iter().take(NAMED).map(ToString::to_string).collect();
        let text = if missing.is_empty() {
            format!("{name}: {} began to initialise, {} completed", counted(started, "rank"), log.completed)
        } else {
            let more = missing.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let noun = noun_of(missing.len(), "rank");
            format!("{name}: {noun} {}{more} of {} never started", named.join(", "), log.ranks)
        };
        let finding = RULE
            .finding(
                Severity::Severe,
                text,
                "look for the first error on the missing rank's host: memory, visibility of the GPU, addresses, firewalls",
            )
            .with_evidence("began", started)
            .with_evidence("completed", log.completed);
        Some(finding)
    });
    Outcome::from_findings(findings.collect())
}
