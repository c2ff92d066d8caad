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
    page: PAGE,
    checks: &[Check::Tunings(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Counts rows whose time is 0, infinite, NaN, negative or no number, by file and kind. A failed candidate among others that ran, as in
Triton's cache, is none of them, and neither is a format that holds no times.

## Why it is slow
0 is smaller than every measurement, so a script that keeps the smallest time keeps a row that nobody measured. A row with
`Default` and 0 says that nothing was tuned.

## Evidence
Lines of the rows and what they hold. MIOpen's own files have thousands of records that begin with a time of 0.

## What to do
Tune these problems, or merge with `rockhound tunedb merge`, where a row without a time loses to one with a time.

## Source
PyTorch, `aten/src/ATen/cuda/tunable` (`inf`: every candidate failed); AITER, `dsv3_bf16_tuned_gemm.csv`; MIOpen, FindDb of gfx90a.
";

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
