//! TUN017: logic files whose table of sizes does not match their solutions.
//!
//! The table of sizes refers to solutions by position, and the loader does not check that both still match.

use crate::tunings::{TuningEvidence, at, outcome};
use crate::{Check, Outcome, Rule};
use tunedb::{FlawKind, Format};
use view::{Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "TUN017",
    title: "logic files whose sizes and solutions do not fit",
    severity: Severity::Severe,
    page: include_str!("tun017.md"),
    checks: &[Check::Tunings(check)],
    panels: &[],
};

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let mut findings = Vec::new();
    for file in evidence.files.iter().filter(|it| it.format == Format::Logic) {
        let mut grouped: [(FlawKind, Vec<u32>); 2] =
            [(FlawKind::Contradiction, vec![]), (FlawKind::Unused, vec![])];
        for flaw in &file.flaws {
            if let Some((_, lines)) = grouped.iter_mut().find(|(kind, _)| *kind == flaw.kind) {
                lines.push(flaw.line);
                continue;
            }
            let severity = if flaw.kind == FlawKind::BadIndex { Severity::Severe } else { Severity::Warning };
            let finding = RULE.finding(severity, flaw.text.clone(), "correct the line");
            findings.push(finding.with_places([at(file, flaw.line)]));
        }
        let unknown = file.rows.iter().filter(|row| row.tera_flops().is_err()).map(|row| row.line).collect();
        let [(_, contradict), (_, unused)] = grouped;
        for (lines, what, words, severity, advice) in [
            (
                contradict,
                "solution",
                "with another index than their position, which counts",
                Severity::Info,
                "merge the file, which counts solutions again",
            ),
            (
                unused,
                "solution",
                "that serve no size",
                Severity::Warning,
                "merge the file, which drops solutions that serve no size",
            ),
            (
                unknown,
                "size",
                "of efficiency 0, which means unknown: a merge by speed takes anything over it",
                Severity::Info,
                "measure these sizes, or merge with a file that has their efficiencies; a merge of this file alone keeps 0",
            ),
        ] {
            let lines: Vec<u32> = lines;
            if !lines.is_empty() {
                let message = format!("{} {words}", counted(lines.len(), what));
                let finding = RULE.finding(severity, message, advice);
                findings.push(finding.with_places(lines.iter().map(|line| at(file, *line))));
            }
        }
    }
    outcome(findings)
}
