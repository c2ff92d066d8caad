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
`rockhound tunedb merge FILE -o NEW` writes records with each solver once, sorted by time, and keys sorted. Records of version 1.0 get the
present form: the algorithm is the word before the colon, as MIOpen converts them.

## Source
MIOpen, `find_db` and `db_record`.
";

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
