//! TRC008: repeated type conversions.
//!
//! A conversion that is fused into a kernel is not visible and costs little.

use crate::traced::{lost, ms, percent};
use crate::{Check, Outcome, Rule};
use timeline::TimelineEvidence;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "TRC008",
    title: "types converted again and again",
    severity: Severity::Info,
    page: include_str!("trc008.md"),
    checks: &[Check::Trace(|run| run.worst(check))],
    panels: &[],
};

/// Percent of the GPU's time from which it is reported, and from which it is a warning.
const MUCH: [f64; 2] = [5.0, 15.0];

fn check(evidence: &TimelineEvidence<'_>) -> Outcome {
    let converts = |name: &str| {
        name.contains("float16_copy_kernel")
            || name.contains("float8_copy_kernel")
            || name.contains("LoadWithCast")
    };
    let (mut count, mut time) = (0, 0);
    for kernel in evidence.kernels.iter().filter(|kernel| converts(evidence.text(kernel.name))) {
        count += kernel.durations.count;
        time += kernel.durations.total;
    }
    let share = percent(time, evidence.gpu_time());
    if share < MUCH[0] {
        return Outcome::Silent;
    }
    let finding = RULE
        .finding(
            if share >= MUCH[1] { Severity::Warning } else { Severity::Info },
            format!("{count} kernels that only convert types take {share:.1} % of the GPU's time"),
            "keep weights and activations in one type, or let `torch.compile` fuse the conversions",
        )
        .with_evidence("conversions", ms(time));
    Outcome::Findings(vec![lost(finding, evidence, time)])
}
