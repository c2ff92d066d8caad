//! COM006: ranks that never joined.
//!
//! The rank that is missing from the log is the one to inspect.

use crate::comm::CommEvidence;
use crate::{Check, Outcome, Rule};
use std::collections::{BTreeMap, BTreeSet};
use trace::comm::CommLog;
use view::{Finding, Severity, counted, noun_of};

pub(crate) const RULE: Rule = Rule {
    id: "COM006",
    title: "ranks that never joined",
    severity: Severity::Severe,
    page: include_str!("com006.md"),
    checks: &[Check::Comm(check)],
    panels: &[],
};

/// Ranks named before the rest is only counted.
const NAMED: usize = 8;

fn check(evidence: &CommEvidence<'_>) -> Outcome {
    // Ranks with a log of their own, by the size of the communicator.
    let mut alone: BTreeMap<u64, (BTreeSet<u64>, usize)> = BTreeMap::new();
    for (_, log) in evidence.logs().filter(|(_, log)| is_of_one_rank(log)) {
        let (ranks, files) = alone.entry(log.ranks).or_default();
        ranks.extend(&log.started);
        *files += 1;
    }
    let mut without: Vec<Finding> = alone
        .iter()
        .filter_map(|(ranks, (found, files))| (*files > 1).then(|| without_log(*ranks, found)).flatten())
        .collect();
    let findings = evidence.logs().filter_map(|(name, log)| {
        let missing = if is_of_one_rank(log) { Vec::new() } else { log.missing_ranks() };
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
    without.extend(findings);
    Outcome::from_findings(without)
}

/// Whether a log was written by one rank of several.
fn is_of_one_rank(log: &CommLog) -> bool {
    log.started.len() == 1 && log.ranks > 1 && log.completed <= 1
}

/// Ranks of a communicator without a log among several that were given.
fn without_log(ranks: u64, found: &BTreeSet<u64>) -> Option<Finding> {
    let missing: Vec<String> =
        (0..ranks.min(MOST_RANKS)).filter(|rank| !found.contains(rank)).map(|it| it.to_string()).collect();
    let first = missing.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = missing.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!missing.is_empty()).then(|| {
        RULE.finding(
            Severity::Warning,
            format!("{} {first}{more} of {ranks} have no log here", noun_of(missing.len(), "rank")),
            "give the logs of all ranks; a rank that wrote none did not start",
        )
    })
}

/// Most ranks of a communicator whose names are compared.
const MOST_RANKS: u64 = 100_000;
