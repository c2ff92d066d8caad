//! TRC010: an optimizer that launches kernels parameter by parameter.

use crate::traced::{lost, ms, percent, short};
use crate::{Check, Outcome, Rule};
use timeline::TimelineEvidence;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "TRC010",
    title: "an optimizer that launches kernels parameter by parameter",
    severity: Severity::Warning,
    page: PAGE,
    checks: &[Check::Trace(|run| run.worst(check))],
    panels: &[],
};

const PAGE: &str = r"## What it does
Fires when a step of an optimizer (the range `Optimizer.step#NAME` that PyTorch records) launches at least 100 element-wise kernels, and
these steps take at least 5 % of the trace on the GPU, from the first to the last of their kernels.

## Why it is slow
Without `foreach` or `fused`, each operation of the formula is a kernel for each parameter: a hundred parameters and a dozen operations are
more than a thousand launches of a few microseconds, which the host seldom launches as fast as they run, and each reads
and writes its tensors again.

## Evidence
Element-wise kernels launched in a step, their time, and the time of the steps on the GPU with the gaps in them. A fused step moves
about a quarter of the bytes, which is left off the cost.

## What to do
`torch.optim.AdamW(..., fused=True)`, or `foreach=True`; Apex's fused optimizers for others; or compile the step
(`torch.compile(optimizer.step)`).

## Source
The tuning guides on PyTorch: fused optimizers, and Inductor's fusion of element-wise operators.
";

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
                "`{}` launches {} element-wise kernels a step; its {} steps take {:.1} % of the time",
                short(name),
                it.element_wise / it.calls.max(1),
                it.calls,
                percent(it.span, evidence.total.span)
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
