//! TUN007: rows that the loader skips or misreads.
//!
//! An unreadable row is skipped silently, so a tuned problem runs its default.

use crate::tunings::{TuningEvidence, at, outcome};
use crate::{Check, Outcome, Rule};
use tunedb::{FlawKind, Format};
use view::{Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "TUN007",
    title: "rows that the loader leaves out or reads wrongly",
    severity: Severity::Severe,
    page: include_str!("tun007.md"),
    checks: &[Check::Tunings(check)],
    panels: &[],
};

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let mut findings = Vec::new();
    for file in evidence.files {
        // Configurations by size and logic files are checked by other rules.
        if matches!(file.format, Format::MoeJson | Format::BlockGemmJson | Format::AiterJson | Format::Logic)
        {
            continue;
        }
        let mut short = Vec::new();
        for flaw in &file.flaws {
            let severity = match flaw.kind {
                FlawKind::ShiftedFields => Severity::Severe,
                FlawKind::Malformed
                | FlawKind::UnknownOperation
                | FlawKind::Contradiction
                | FlawKind::CutLine => Severity::Warning,
                FlawKind::ShortFields => {
                    short.push(flaw.line);
                    continue;
                }
                _ => continue,
            };
            let advice = "repair or remove the line, and tune its problem again";
            findings
                .push(RULE.finding(severity, flaw.text.clone(), advice).with_places([at(file, flaw.line)]));
        }
        if !short.is_empty() {
            let message =
                format!("{} without the last field, which is read as empty", counted(short.len(), "row"));
            let finding = RULE.finding(Severity::Info, message, "nothing, unless the column matters");
            findings.push(finding.with_places(short.iter().map(|line| at(file, *line))));
        }
    }
    outcome(findings)
}
