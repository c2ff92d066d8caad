//! TRC002: the host waits for the GPU and leaves it idle.
//!
//! A wait costs the GPU's idle time after it, not the host's time in it.

use crate::traced::{TraceEvidence, lost, ms, percent};
use crate::{Check, Outcome, Rule};
use timeline::{TimelineEvidence, Why};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "TRC002",
    title: "the host waits for the GPU and leaves it idle",
    severity: Severity::Warning,
    page: PAGE,
    checks: &[Check::Trace(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Fires when the GPU is idle for at least 5 % of the trace because the host waited for it before it launched more: in a
synchronisation, or in a copy that returns only when it is done.

## Why it is slow
While the host waits, it queues nothing. When the GPU is done, the host must first return, prepare the next launch and send it.
`.item()`, `.cpu()`, `print` of a tensor, `nonzero` and masks, `torch.cuda.synchronize()` and copies from pageable memory all wait.

## Evidence
Idle time after such waits, and the calls the host waited in.

## What to do
Keep values on the GPU: no `.item()` or `bool(tensor)` in a loop. Copy with `non_blocking=True` from pinned memory
(`pin_memory=True`). Remove synchronisation that is there for timing.

## Source
The tuning guides: profiling PyTorch with its profiler, and the idle time that synchronising copies leave.
";

/// Percent of the span from which it is reported.
const MUCH: f64 = 5.0;

fn check(run: &TraceEvidence<'_>) -> Outcome {
    run.worst(one)
}

fn one(evidence: &TimelineEvidence<'_>) -> Outcome {
    if !evidence.links.has_launches {
        return Outcome::needs("launches in the trace");
    }
    let Some(idle) = evidence.idle.by_reason.get(&Why::Synchronised) else { return Outcome::Silent };
    let share = percent(idle.ns, evidence.total.span);
    if share < MUCH || evidence.is_capture() {
        return Outcome::Silent;
    }
    let calls: Vec<String> = evidence
        .idle
        .calls
        .iter()
        .take(3)
        .map(|(name, ns, n)| format!("{} {} in {n} gaps", evidence.text(*name), ms(*ns)))
        .collect();
    let finding = RULE
        .finding(
            Severity::Warning,
            format!("the GPU is idle {share:.1} % of the time after the host waited for it"),
            "keep values on the GPU, copy without waiting from pinned memory, remove synchronisation from loops",
        )
        .with_evidence("waits in", calls.join(", "))
        .with_evidence("gaps", idle.gaps);
    Outcome::Findings(vec![lost(finding, evidence, idle.ns)])
}
