//! TUN005: placeholders instead of times.
//!
//! A placeholder may be smaller than every real time.

use crate::tunings::{TuningEvidence, at, outcome};
use crate::{Check, Outcome, Rule};
use std::collections::BTreeMap;
use tunedb::{Format, time};
use view::{Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "TUN005",
    title: "placeholders in the place of times",
    severity: Severity::Warning,
    page: include_str!("tun005.md"),
    checks: &[Check::Tunings(check)],
    panels: &[],
};

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let mut findings = Vec::new();
    for file in evidence.files {
        let failures_are_usual =
            matches!(file.format, Format::Autotune | Format::TritonParse | Format::TensileData);
        if failures_are_usual {
            continue;
        }
        let mut found: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for row in &file.rows {
            if let Err(reason) = row.time_us
                && time::is_placeholder(reason)
            {
                found.entry(reason).or_default().push(row.line);
            }
        }
        for (reason, mut lines) in found {
            lines.dedup();
            let message = format!("{} where {reason}", counted(lines.len(), "line"));
            let advice = "tune these problems, or let no script take the smallest of these numbers";
            let finding =
                RULE.finding(Severity::Warning, message, advice).with_evidence("lines", lines.len());
            findings.push(finding.with_places(lines.iter().map(|line| at(file, *line))));
        }
    }
    outcome(findings)
}
