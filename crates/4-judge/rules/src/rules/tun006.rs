//! TUN006: line ends, marks and blank lines that break the loader.
//!
//! Loaders compare bytes, including bytes that an editor does not show.

use crate::tunings::{TuningEvidence, at, outcome};
use crate::{Check, Outcome, Rule};
use tunedb::{FlawKind, Format};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "TUN006",
    title: "line ends, marks and blank lines that break the loader",
    severity: Severity::Severe,
    page: include_str!("tun006.md"),
    checks: &[Check::Tunings(check)],
    panels: &[],
};

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let mut findings = Vec::new();
    for file in evidence.files {
        let pytorch = file.format == Format::TunableOp;
        let mut empty = Vec::new();
        for flaw in &file.flaws {
            let (says, severity) = match flaw.kind {
                FlawKind::CarriageReturn if pytorch => ("PyTorch rejects the whole file", Severity::Severe),
                FlawKind::CarriageReturn => ("the last field of each ends in one", Severity::Warning),
                FlawKind::ByteOrderMark if pytorch => {
                    ("PyTorch misses the first validator and rejects the whole file", Severity::Severe)
                }
                FlawKind::ByteOrderMark => ("the first column or key has another name", Severity::Warning),
                FlawKind::EmptyLine => {
                    empty.push(flaw.line);
                    continue;
                }
                _ => continue,
            };
            let finding = RULE.finding(
                severity,
                format!("{}: {says}", flaw.text),
                "write the file again with plain line ends, for example with `dos2unix`",
            );
            findings.push(finding.with_places([at(file, flaw.line)]));
        }
        if empty.is_empty() {
            continue;
        }
        let (message, severity) = match file.format {
            Format::TunableOp => (
                "empty: old versions of PyTorch stop here with an error, newer ones skip it",
                Severity::Warning,
            ),
            _ => ("empty: the loader skips it", Severity::Info),
        };
        let finding = RULE.finding(severity, message, "remove blank lines");
        findings.push(finding.with_places(empty.iter().map(|line| at(file, *line))));
    }
    outcome(findings)
}
