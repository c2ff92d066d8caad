//! TUN013: records that are not as MIOpen writes them.
//!
//! MIOpen parses records in one form only, and drops any other.

use crate::tunings::{TuningEvidence, at, outcome};
use crate::{Check, Outcome, Rule};
use tunedb::{FlawKind, Format};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "TUN013",
    title: "records that are not as MIOpen writes them",
    severity: Severity::Info,
    page: PAGE,
    checks: &[Check::Tunings(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Finds in MIOpen's text databases entries that occur twice in one record, entries without values, entries that are not sorted by time,
and records of an older generation.

## Why it is slow
A repeated solver is ignored, also where its time is better; an entry without values is skipped. Shipped files are sorted by time and
tools that take the first entry for the fastest are wrong on user files, which MIOpen writes in the order of a map.

## Evidence
The record's line and the entry.

## What to do
`rockhound tunedb merge FILE -o NEW` writes records with each solver once, sorted by time, and keys sorted.

## Source
MIOpen, `find_db` and `db_record`.
";

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let mut findings = Vec::new();
    for file in evidence.files.iter().filter(|it| matches!(it.format, Format::FindDb | Format::PerfDb)) {
        let mut unsorted = Vec::new();
        for flaw in &file.flaws {
            let severity = match flaw.kind {
                FlawKind::RepeatedEntry | FlawKind::IllFormedEntry => Severity::Warning,
                FlawKind::OldGeneration => Severity::Info,
                FlawKind::NotSorted => {
                    unsorted.push(flaw.line);
                    continue;
                }
                _ => continue,
            };
            let finding = RULE.finding(
                severity,
                flaw.text.clone(),
                "write the record anew, with `rockhound tunedb merge`",
            );
            findings.push(finding.with_places([at(file, flaw.line)]));
        }
        if !unsorted.is_empty() {
            let finding = RULE.finding(
                Severity::Info,
                "entries are not sorted by time",
                "do not take the first entry for the fastest",
            );
            findings.push(finding.with_places(unsorted.iter().map(|line| at(file, *line))));
        }
    }
    outcome(findings)
}
