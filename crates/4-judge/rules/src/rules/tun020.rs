//! TUN020: files without rows.

use crate::tunings::{TuningEvidence, at, has_keys, outcome};
use crate::{Check, Outcome, Rule};
use tunedb::{Detail, Format, Tunings};
use view::{Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "TUN020",
    title: "files without rows",
    severity: Severity::Warning,
    page: include_str!("tun020.md"),
    checks: &[Check::Tunings(check)],
    panels: &[],
};

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let mut findings = Vec::new();
    for file in evidence.files.iter().filter(|file| is_empty(file)) {
        let head = match file.versions.len() {
            0 => "a header".to_owned(),
            versions => counted(versions, "version"),
        };
        let message = format!("no row, only {head}: every problem takes the default kernel");
        let advice = match file.format {
            Format::TunableOp => {
                "set PYTORCH_TUNABLEOP_ENABLED=1 and PYTORCH_TUNABLEOP_TUNING=1 without PYTORCH_TUNABLEOP_RECORD_UNTUNED, call \
                 `torch.cuda.tunable.write_file()` before the process ends, and look at the files of other ranks; \
                 `rockhound explain TUN020` has more reasons"
            }
            _ => "tune, or remove the file: the loader reads it and finds nothing",
        };
        findings.push(RULE.finding(Severity::Warning, message, advice).with_places([at(file, 1)]));
    }
    outcome(findings)
}

fn is_empty(file: &Tunings<'_>) -> bool {
    // A logic file without sizes may have solutions for all of them.
    let serves_all = matches!(&file.detail, Detail::Logic(logic) if !logic.solutions.is_empty());
    file.rows.is_empty() && file.flaws.iter().all(|it| !it.spoils_row) && has_keys(file.format) && !serves_all
}
