//! TUN015: problems that the look-up cannot distinguish.
//!
//! A look-up that ignores a part of the problem takes two problems for one.

use crate::tunings::{TuningEvidence, at, outcome};
use crate::{Check, Outcome, Rule};
use std::collections::BTreeMap;
use tunedb::{Format, Row, Tunings, hipblaslt};
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "TUN015",
    title: "problems that the look-up cannot tell apart",
    severity: Severity::Warning,
    page: include_str!("tun015.md"),
    checks: &[Check::Tunings(check)],
    panels: &[],
};

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let files =
        evidence.files.iter().filter(|it| it.format == Format::TuningFile && !hipblaslt::has_schema(it));
    outcome(files.flat_map(collisions).collect())
}

fn collisions(file: &Tunings<'_>) -> Vec<Finding> {
    let mut groups: BTreeMap<String, Vec<&Row<'_>>> = BTreeMap::new();
    for row in &file.rows {
        let rows = groups.entry(hipblaslt::lookup_key(file, row)).or_default();
        // The same problem twice is another rule's finding.
        if !rows.iter().any(|it| it.key == row.key) {
            rows.push(row);
        }
    }
    let several = groups.into_values().filter(|rows| rows.len() > 1);
    several
        .map(|rows| {
            let shape = rows[0].shape.as_ref().map(ToString::to_string).unwrap_or_default();
            let message = format!(
                "{} problems fall together for the loader: {shape} and others with the same sizes, but other leading dimensions, epilogue or GPU",
                rows.len()
            );
            let advice = "keep the row of the problem that matters, or use a file with a schema version";
            RULE.finding(Severity::Warning, message, advice).with_places(rows.iter().map(|row| at(file, row.line)))
        })
        .collect()
}
