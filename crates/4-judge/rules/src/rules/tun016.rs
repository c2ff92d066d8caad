//! TUN016: files of a stale generation.
//!
//! A file of an older generation still loads in part, and its missing parts are not looked up.

use crate::tunings::{TuningEvidence, at, outcome};
use crate::{Check, Outcome, Rule};
use tunedb::{Format, Tunings, hipblaslt, time};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "TUN016",
    title: "files of a stale generation",
    severity: Severity::Info,
    page: include_str!("tun016.md"),
    checks: &[Check::Tunings(check)],
    panels: &[],
};

/// Whether the PyTorch that wrote a file is older than 2.4, or not known.
fn is_before_targets(file: &Tunings<'_>) -> bool {
    let version = file.version("PT_VERSION").map(|text| {
        let mut parts = text.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
        (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
    });
    version.is_none_or(|version| version < (2, 4))
}

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let mut findings = Vec::new();
    for file in evidence.files {
        let message = match file.format {
            Format::TunableOp if file.rows.is_empty() => continue,
            Format::TunableOp if file.rows.iter().all(|row| row.time_us == Err(time::ABSENT)) => {
                "no row has a time, as the first TunableOp wrote them: no merge can tell what is faster"
            }
            // A newer PyTorch rejects a file without it, which TUN001 says.
            Format::TunableOp if file.version("GCN_ARCH_NAME").is_none() && is_before_targets(file) => {
                "no target, as PyTorch before 2.4 wrote it: the file loads on every GPU"
            }
            Format::TuningFile if !hipblaslt::has_schema(file) => {
                "no schema version: rows are used for problems that differ in leading dimensions, epilogue or GPU"
            }
            _ => continue,
        };
        let finding = RULE.finding(Severity::Info, message, "tune again with the installed versions");
        findings.push(finding.with_places([at(file, 1)]));
    }
    outcome(findings)
}
