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
    page: include_str!("tun004.md"),
    checks: &[Check::Tunings(check)],
    panels: &[],
};

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
