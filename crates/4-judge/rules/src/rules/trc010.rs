//! TRC010: an optimizer that launches kernels parameter by parameter.

use crate::traced::{lost, ms, percent, short};
use crate::{Check, Outcome, Rule};
use timeline::TimelineEvidence;
use view::{Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "TRC010",
    title: "an optimizer that launches kernels parameter by parameter",
    severity: Severity::Warning,
    page: include_str!("trc010.md"),
    checks: &[Check::Trace(|run| run.worst(check))],
    panels: &[],
};

/// Element-wise kernels of a step that are many.
const MANY: u64 = 100;
/// Percent of the span from which it is reported.
const MUCH: f64 = 5.0;
/// Part of the kernels' time that a fused step takes.
const FUSED: f64 = 0.25;

fn check(evidence: &TimelineEvidence<'_>) -> Outcome {
    let steps = evidence.named.iter().filter(|it| evidence.text(it.name).starts_with("Optimizer.step#"));
    let found = steps.filter(|it| {
        it.element_wise >= MANY * it.calls.max(1) && percent(it.span, evidence.total.span) >= MUCH
    });
    let Some(it) = found.max_by_key(|it| it.span) else { return Outcome::Silent };
    let name = evidence.text(it.name).trim_start_matches("Optimizer.step#").trim_end_matches(".step");
    let finding = RULE
        .finding(
            Severity::Warning,
            format!(
                "`{}` launches {} element-wise kernels a step; {:.1} % of the time is in its {}",
                short(name),
                it.element_wise / it.calls.max(1),
                percent(it.span, evidence.total.span),
                counted(it.calls, "step")
            ),
            "give the optimizer `fused=True` or `foreach=True`, or compile its step",
        )
        .with_evidence("steps, first to last kernel", ms(it.span))
        .with_evidence("their kernels run", ms(it.busy))
        .with_evidence(
            "element-wise kernels",
            format!(
                "{}, {}, {:.1} % of the GPU's time",
                it.element_wise,
                ms(it.element_wise_ns),
                percent(it.element_wise_ns, evidence.gpu_time())
            ),
        );
    let saved = it.span as f64 - FUSED * it.busy as f64;
    Outcome::Findings(vec![lost(finding, evidence, saved.max(0.0) as i64)])
}
