//! TRC001: the GPU waits for launches.
//!
//! Time is lost only while the GPU is idle; launches queued behind running kernels cost nothing.

use crate::traced::{TraceEvidence, lost, ms, percent};
use crate::{Check, Outcome, Rule};
use timeline::{Idle, TimelineEvidence, Why};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "TRC001",
    title: "the GPU waits for launches",
    severity: Severity::Severe,
    page: PAGE,
    checks: &[Check::Trace(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Fires when the GPU is idle for at least 10 % of the trace because the host had not launched the next kernel, or the launch was
under way. Severe from 30 %. Traces in which a graph was captured are left out: their kernels ran elsewhere.

## Why it is slow
Each launch costs the host some microseconds, and the framework around it more. Where kernels are shorter than that, the GPU
drains its queue and waits, however fast the kernels are.

## Evidence
Idle time by what the gap's next kernel waited for, mean time of a launch call, mean duration of a kernel, and the operators
before whose kernels the gaps lie.

## What to do
Launch many kernels at once: HIP graphs (`torch.cuda.graph`, `torch.compile(mode='reduce-overhead')`, full graphs in vLLM). Launch
fewer: fuse element-wise kernels with `torch.compile`, raise the batch size. Make launches cheaper: `HIP_FORCE_DEV_KERNARG=1`.
Where gaps are longer than 0.5 ms on average, the host does something else: look at data loading and at Python between steps.

## Source
The tuning guides on vLLM and PyTorch: graphs, `torch.compile`, and kernel arguments in device memory.
";

/// Percent of the span from which it is reported, and from which it is severe.
const MUCH: [f64; 2] = [10.0, 30.0];
/// Mean gap that is longer than any launch, ns.
const LONG: i64 = 500_000;

fn check(run: &TraceEvidence<'_>) -> Outcome {
    run.worst(one)
}

fn one(evidence: &TimelineEvidence<'_>) -> Outcome {
    if !evidence.links.has_launches {
        return Outcome::needs("launches in the trace");
    }
    let idle = |why| evidence.idle.by_reason.get(&why).map_or(0, |it: &Idle| it.ns);
    let waiting = idle(Why::HostLate) + idle(Why::Launching);
    let share = percent(waiting, evidence.total.span);
    if share < MUCH[0] || evidence.is_capture() {
        return Outcome::Silent;
    }
    let gaps = evidence.idle.by_reason.get(&Why::HostLate).map_or(1, |it| it.gaps.max(1));
    // A gap this long is not launch latency: the host does something else.
    let elsewhere = idle(Why::HostLate) / i64::try_from(gaps).unwrap_or(1) > LONG;
    let kernel = evidence.total.sum / i64::try_from(evidence.total.spans.max(1)).unwrap_or(1);
    let finding = RULE
        .finding(
            if share >= MUCH[1] { Severity::Severe } else { Severity::Warning },
            format!(
                "the GPU waits {share:.1} % of the time for the host to launch; a kernel takes {} on average",
                ms(kernel)
            ),
            if elsewhere {
                "look at what the host does in the gaps: data loading, Python between steps, logging, saving"
            } else {
                "launch many kernels at once with graphs (`torch.compile(mode='reduce-overhead')`), fuse short ones, or raise \
                 the batch size"
            },
        )
        .with_evidence("host launches late", ms(idle(Why::HostLate)))
        .with_evidence("launch under way", ms(idle(Why::Launching)));
    let (calls, time) = evidence
        .calls
        .iter()
        .filter(|call| call.launches)
        .fold((0, 0), |all, call| (all.0 + call.durations.count, all.1 + call.durations.total));
    let finding = match i64::try_from(calls) {
        Ok(n) if n > 0 => finding.with_evidence("mean launch call", ms(time / n)),
        _ => finding,
    };
    let before: Vec<&str> =
        evidence.idle.operators.iter().take(3).map(|(name, _, _)| evidence.text(*name)).collect();
    let finding = if before.is_empty() {
        finding
    } else {
        finding.with_evidence("before kernels of", before.join(", "))
    };
    Outcome::Findings(vec![lost(finding, evidence, waiting)])
}
