//! TRC007: layouts converted around convolutions.
//!
//! Without a convolution, the user may have requested the transpose.

use crate::traced::{lost, ms, percent};
use crate::{Check, Outcome, Rule};
use timeline::{TimelineEvidence, by_category};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "TRC007",
    title: "layouts converted around convolutions",
    severity: Severity::Warning,
    page: include_str!("trc007.md"),
    checks: &[Check::Trace(|run| run.worst(check))],
    panels: &[],
};

/// Percent of the GPU's time from which it is reported.
const MUCH: f64 = 5.0;

fn check(evidence: &TimelineEvidence<'_>) -> Outcome {
    let rows = by_category(&evidence.kernels);
    let of = |name: &str| rows.iter().find(|row| row.0 == name).map_or((0, 0), |row| (row.1, row.2));
    let ((layout, transposes), (convolution, convolutions)) = (of("layout"), of("convolution"));
    let share = percent(layout, evidence.gpu_time());
    if convolutions == 0 || share < MUCH {
        return Outcome::Silent;
    }
    let finding = RULE
        .finding(
            Severity::Warning,
            format!("{transposes} kernels that convert layouts take {share:.1} % of the GPU's time"),
            "keep the model in channels-last (`torch.channels_last`, `PYTORCH_MIOPEN_SUGGEST_NHWC=1`)",
        )
        .with_evidence("conversions", ms(layout))
        .with_evidence("convolutions", format!("{convolutions}, {}", ms(convolution)));
    Outcome::Findings(vec![lost(finding, evidence, layout)])
}
