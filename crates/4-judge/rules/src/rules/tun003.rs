//! TUN003: times that contradict their own rate.
//!
//! Time and rate of a row follow from each other, so a row whose two disagree was not measured as written.

use crate::tunings::{TuningEvidence, at, outcome};
use crate::{Check, Outcome, Rule};
use tunedb::Format;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "TUN003",
    title: "times that contradict their own rate",
    severity: Severity::Warning,
    page: PAGE,
    checks: &[Check::Tunings(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Computes the rate of a matrix product from its sizes and time, 2·M·N·K·batch by time, and compares it with the rate that the row
states. Rows without a rate, or with 0 in its place, are not compared.

## Why it is slow
One of the two numbers belongs to another row, another size or another run. Whoever merges by time may keep the wrong kernel, and
a report made from the rates is wrong.

## Evidence
Stated and computed rate. They differ by more than 2 %, beyond what rounding of the stated number explains.

## What to do
Measure the size again, or leave the row out when files are merged.

## Source
AITER, tuned tables: `tflops` is computed from M, N, K and `us` by its tuner; hipblaslt-bench, `hipblaslt-Gflops`.
";

/// Relative difference, and what rounding to one decimal adds.
const RELATIVE: f64 = 0.02;
const ROUNDING: f64 = 0.06;

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let mut findings = Vec::new();
    for file in evidence.files {
        // Rate and time of these are one number.
        if matches!(file.format, Format::Logic | Format::TensileData) {
            continue;
        }
        for row in &file.rows {
            let (Some(flop), Ok(us), Ok(stated)) = (row.flop(), &row.time_us, row.tera_flops()) else {
                continue;
            };
            let computed = flop / us / 1e6;
            if (computed - stated).abs() <= ROUNDING + RELATIVE * computed {
                continue;
            }
            let shape = row.shape.as_ref().map(ToString::to_string).unwrap_or_default();
            let message = format!("{shape} in {us} us is {computed:.2} TFLOP/s; the row says {stated}");
            let finding =
                RULE.finding(Severity::Warning, message, "measure again, or do not merge by this time");
            findings.push(
                finding
                    .with_evidence("ratio", format!("{:.2}", computed / stated))
                    .with_places([at(file, row.line)]),
            );
        }
    }
    outcome(findings)
}
