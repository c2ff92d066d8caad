//! TUN004: rows faster than the peak of their GPU.
//!
//! No kernel is faster than the matrix units of the GPU it ran on.

use crate::tunings::{TuningEvidence, at, outcome, peak, time};
use crate::{Check, Outcome, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "TUN004",
    title: "rows faster than the peak of their GPU",
    severity: Severity::Warning,
    page: PAGE,
    checks: &[Check::Tunings(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Compares the rate of each matrix product with the peak of the matrix units of the row's GPU and types at the highest engine clock.
Where the number of compute units is not known the largest GPU of the target counts.

## Why it is slow
Such a time was not measured on that GPU, or the kernel did not do the work: it failed, returned at once, or was timed without waiting
for its end. It wins every merge, and the library then runs a kernel that is slow or wrong.

## Evidence
Rate computed from sizes and time, and the peak. Targets and types without a known peak are left out.

## What to do
Remove the row and tune the size again; check the kernel's result.

## Source
Data sheets of the GPUs, `docs/gpus/`; AITER issue 1418 (a tuned row with a wrong kernel).
";

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let mut findings = Vec::new();
    for file in evidence.files {
        for row in &file.rows {
            let Ok(us) = &row.time_us else { continue };
            let rate = match (row.flop(), row.tera_flops()) {
                (Some(flop), _) => flop / us / 1e6,
                (None, Ok(stated)) => stated,
                _ => continue,
            };
            let Some((peak, model)) = peak(row).filter(|(peak, _)| rate > *peak) else { continue };
            let own = row.cu_count == Ok(model.compute_units.value);
            // A part of a GPU, or a GPU without a data sheet: the fastest of the target bounds it.
            let whose = if own {
                format!("of an {}", model.short())
            } else {
                format!("of any {} (an {})", model.target().name, model.short())
            };
            let message = format!(
                "{} is {rate:.0} TFLOP/s, above the {peak:.0} {whose} for `{}`",
                time(*us),
                row.types.as_deref().unwrap_or_default()
            );
            let advice = "remove the row, check the kernel's result and tune the size again";
            findings.push(RULE.finding(Severity::Warning, message, advice).with_places([at(file, row.line)]));
        }
    }
    outcome(findings)
}
