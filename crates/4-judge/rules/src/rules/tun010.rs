//! TUN010: configurations by size that are incomplete or contradictory.
//!
//! A look-up by size takes the first or nearest entry, and missing values come from elsewhere.

use crate::tunings::{TuningEvidence, at, outcome};
use crate::{Check, Outcome, Rule};
use tunedb::{FlawKind, Format, Shape, Tunings};
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "TUN010",
    title: "configurations by size that are incomplete or contradictory",
    severity: Severity::Warning,
    page: include_str!("tun010.md"),
    checks: &[Check::Tunings(check)],
    panels: &[],
};

/// Tokens that decoding has, and that prefill has.
const SMALL: u64 = 4;
const LARGE: u64 = 4096;

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let mut findings = Vec::new();
    for file in evidence.files.iter().filter(|it| by_size(it.format)) {
        for flaw in &file.flaws {
            let severity = match flaw.kind {
                FlawKind::NotSorted | FlawKind::Contradiction | FlawKind::Unused => Severity::Warning,
                _ => continue,
            };
            let advice = "correct the entry and measure again";
            findings
                .push(RULE.finding(severity, flaw.text.clone(), advice).with_places([at(file, flaw.line)]));
        }
        if file.format != Format::AiterJson {
            ladder(file, &mut findings);
        }
    }
    outcome(findings)
}

fn by_size(format: Format) -> bool {
    matches!(format, Format::MoeJson | Format::BlockGemmJson | Format::AiterJson)
}

fn ladder(file: &Tunings<'_>, findings: &mut Vec<Finding>) {
    let tokens = file.rows.iter().filter_map(|row| match &row.shape {
        Ok(Shape::Moe(shape)) => Some(shape.tokens),
        _ => row.key.parse().ok(),
    });
    let tokens: Vec<u64> = tokens.collect();
    let (Some(least), Some(most)) = (tokens.iter().min(), tokens.iter().max()) else { return };
    for (missing, message) in [
        (*least > SMALL, format!("begins at {least} tokens: fewer take that entry")),
        (*most < LARGE, format!("ends at {most} tokens: more take that entry")),
    ] {
        if missing {
            let finding = RULE.finding(Severity::Info, message, "tune the sizes that the service has");
            findings.push(finding.with_places([at(file, 1)]));
        }
    }
}
