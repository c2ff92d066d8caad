//! TUN013: records that are not as MIOpen writes them.
//!
//! MIOpen parses records in one form only, and drops any other.

use crate::tunings::{TuningEvidence, at, outcome};
use crate::{Check, Outcome, Rule};
use tunedb::{FlawKind, Format};
use view::{Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "TUN013",
    title: "records that are not as MIOpen writes them",
    severity: Severity::Info,
    page: include_str!("tun013.md"),
    checks: &[Check::Tunings(check)],
    panels: &[],
};

/// One finding for each kind: a database of an older generation has the same defect in every record.
const KINDS: [(FlawKind, Severity, &str, &str); 4] = [
    (
        FlawKind::RepeatedEntry,
        Severity::Warning,
        "have a solver twice: MIOpen keeps the first, also where the second is faster",
        "`rockhound tunedb merge FILE -o NEW` keeps the faster one of each solver",
    ),
    (
        FlawKind::IllFormedEntry,
        Severity::Warning,
        "have an entry without values: MIOpen skips it",
        "search these problems again: the values are lost",
    ),
    (
        FlawKind::OldGeneration,
        Severity::Info,
        "are of FindDb 1.0: MIOpen converts them each time it reads them",
        "`rockhound tunedb merge FILE -o NEW` writes them in the present form",
    ),
    (
        FlawKind::NotSorted,
        Severity::Info,
        "are not sorted by time",
        "do not take the first entry for the fastest; `rockhound tunedb merge FILE -o NEW` sorts them",
    ),
];

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let mut findings = Vec::new();
    for file in evidence.files.iter().filter(|it| matches!(it.format, Format::FindDb | Format::PerfDb)) {
        for (kind, severity, words, advice) in KINDS {
            let mut lines: Vec<u32> =
                file.flaws.iter().filter(|it| it.kind == kind).map(|it| it.line).collect();
            lines.dedup();
            if lines.is_empty() {
                continue;
            }
            let words = if lines.len() == 1 { singular(words) } else { words.to_owned() };
            let message = format!("{} {words}", counted(lines.len(), "record"));
            let finding = RULE.finding(severity, message, advice);
            findings.push(finding.with_places(lines.iter().map(|line| at(file, *line))));
        }
    }
    outcome(findings)
}

/// The verb of one record.
fn singular(words: &str) -> String {
    words.replacen("have ", "has ", 1).replacen("are ", "is ", 1)
}
