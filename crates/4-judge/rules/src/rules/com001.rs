//! COM001: wrong results of a collective.
//!
//! Speed is meaningless for a run whose results are wrong.

use crate::comm::{CommEvidence, place, size};
use crate::{Check, Outcome, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "COM001",
    title: "wrong results of a collective",
    severity: Severity::Severe,
    page: include_str!("com001.md"),
    checks: &[Check::Comm(check)],
    panels: &[],
};

fn check(evidence: &CommEvidence<'_>) -> Outcome {
    let findings = evidence.tests().filter_map(|(name, test)| {
        let wrong = test.wrong().unwrap_or(0).max(test.out_of_bounds.unwrap_or(0));
        if wrong > 0 {
            let cells: Vec<_> = test
                .rows
                .iter()
                .filter(|row| {
                    let wrong = |cell: Option<u64>| cell.unwrap_or(0) > 0;
                    wrong(row.out_of_place.wrong) || wrong(row.in_place.and_then(|cell| cell.wrong))
                })
                .collect();
            let sizes: Vec<String> = cells.iter().map(|row| size(row.bytes)).collect();
            let finding = RULE.finding(
                Severity::Severe,
                format!("{name}: {wrong} wrong values, at {}", sizes.join(", ")),
                "use no result of this machine; find the GPU or link with fewer GPUs and `-c 1`",
            );
            return Some(finding.with_places(cells.iter().map(|row| place(name, row.line))));
        }
        let unchecked = !test.rows.is_empty() && test.wrong().is_none();
        unchecked.then(|| {
            RULE.finding(
                Severity::Info,
                format!("{name}: results were not checked"),
                "run once with `-c 1` before the numbers are believed",
            )
        })
    });
    Outcome::from_findings(findings.collect())
}
