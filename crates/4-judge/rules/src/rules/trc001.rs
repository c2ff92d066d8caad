//! TRC001: the GPU waits for launches.
//!
//! Time is lost only while the GPU is idle; launches queued behind running kernels cost nothing.

use crate::traced::{lost, ms, percent, short};
use crate::{Check, Outcome, Rule};
use timeline::gaps::{LongGaps, before, host_in, long_gaps, range_at};
use timeline::{Gap, Idle, TimelineEvidence, Why, is_graph_launch};
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "TRC001",
    title: "the GPU waits for launches",
    severity: Severity::Severe,
    page: include_str!("trc001.md"),
    checks: &[Check::Trace(|run| run.worst(check))],
    panels: &[],
};

/// Percent of the span from which it is reported, and from which it is severe.
const MUCH: [f64; 2] = [10.0, 30.0];
/// A gap that is longer than any launch takes, ns.
const LONG: i64 = 500_000;

fn check(evidence: &TimelineEvidence<'_>) -> Outcome {
    if !evidence.links.has_launches {
        return Outcome::needs("launches in the trace");
    }
    let idle = |why| evidence.idle.by_reason.get(&why).map_or(0, |it: &Idle| it.ns);
    let launching = idle(Why::Launching) - evidence.idle.launching_after_waits;
    let waiting = idle(Why::HostLate) + launching;
    let share = percent(waiting, evidence.total.span);
    if share < MUCH[0] || evidence.is_capture() {
        return Outcome::Silent;
    }
    let long = long_gaps(evidence, LONG);
    let finding = match long.longest {
        Some(gap) if long.ns * 2 >= waiting => long_gap(evidence, &long, &gap, share),
        _ => launches(evidence, waiting, share),
    };
    let finding = finding
        .with_evidence("host launches late", ms(idle(Why::HostLate)))
        .with_evidence("launch under way", ms(launching));
    Outcome::Findings(vec![finding])
}

/// Many small gaps.
fn launches(evidence: &TimelineEvidence<'_>, waiting: i64, share: f64) -> Finding {
    let kernel = evidence.total.sum / i64::try_from(evidence.total.spans.max(1)).unwrap_or(1);
    let profiler = evidence.profiler.total().min(waiting);
    let without = percent(waiting - profiler, evidence.total.span - profiler);
    let mostly_profiler = profiler * 2 >= waiting;
    let severity = match without {
        _ if without >= MUCH[1] => Severity::Severe,
        _ if without >= MUCH[0] && !mostly_profiler => Severity::Warning,
        _ => Severity::Info,
    };
    let message = if severity == Severity::Info {
        format!(
            "the GPU waits {share:.1} % of the time for the host to launch, but of those {} the profiler itself costs about {}",
            ms(waiting),
            ms(profiler)
        )
    } else {
        format!(
            "the GPU waits {share:.1} % of the time for the host to launch; a kernel takes {} on average",
            ms(kernel)
        )
    };
    let advice = if severity == Severity::Info {
        "time some steps without the profiler; trace without `with_stack`, `record_shapes` and `profile_memory`, and judge again"
    } else {
        "launch many kernels at once with graphs (`torch.compile(mode='reduce-overhead')`), fuse short ones, or raise the batch size"
    };
    let mut finding = RULE.finding(severity, message, advice);
    if profiler > 0 {
        finding = finding
            .with_evidence("the profiler's cost, estimated", ms(profiler))
            .with_evidence("waiting without it", format!("{without:.1} %"));
    }
    let (calls, time) = evidence
        .calls
        .iter()
        .filter(|call| call.launches)
        .fold((0, 0), |all, call| (all.0 + call.durations.count, all.1 + call.durations.total));
    if let Ok(n) = i64::try_from(calls)
        && n > 0
    {
        finding = finding.with_evidence("mean launch call", ms(time / n));
    }
    let operators = &evidence.idle.operators;
    let before: Vec<&str> = operators.iter().take(3).map(|(name, _, _)| evidence.text(*name)).collect();
    if !before.is_empty() {
        finding = finding.with_evidence("before kernels of", before.join(", "));
    }
    if without < MUCH[0] { finding } else { lost(finding, evidence, waiting - profiler) }
}

/// Few long gaps, the longest named.
fn long_gap(evidence: &TimelineEvidence<'_>, long: &LongGaps, gap: &Gap, share: f64) -> Finding {
    let timeline = evidence.timeline;
    let call = gap.launch.map(|row| evidence.text(timeline.host.name[row])).unwrap_or_default();
    let (late, launching) = (gap.called - gap.start, gap.end - gap.called);
    let length = ms(gap.end - gap.start);
    let severity = match long.count {
        1 => Severity::Warning,
        _ if share >= MUCH[1] => Severity::Severe,
        _ => Severity::Warning,
    };
    let in_call = launching > late;
    let cause = if in_call {
        format!("most of it from the call of `{call}` to the start of its kernel")
    } else {
        "the host launches late".to_owned()
    };
    let message = match long.count {
        1 => format!(
            "the GPU is idle once for {length}, {:.1} % of the time: {cause}",
            percent(gap.end - gap.start, evidence.total.span)
        ),
        n => format!(
            "the GPU is idle in {n} gaps of {} together, {:.1} % of the time; in the longest, {length}, {cause}",
            ms(long.ns),
            percent(long.ns, evidence.total.span)
        ),
    };
    let advice = match (in_call, is_graph_launch(call)) {
        (true, true) => {
            "the first launch of a graph uploads it: trace after a warm-up, or leave the gap out with `--from`"
        }
        (true, false) => {
            "the first launch of a kernel loads its code: trace after a warm-up, or leave the gap out with `--from`"
        }
        _ => "look at what the host does in the gaps: data loading, Python between steps, logging, saving",
    };
    let mut finding = RULE.finding(severity, message, advice);
    let after = gap.next.map(|gpu| timeline.gpu.name[gpu]);
    if let (Some(before), Some(after)) = (before(evidence, gap), after) {
        let between = format!("{} and {}", short(evidence.text(before)), short(evidence.text(after)));
        finding = finding.with_evidence("between", between);
    }
    let begin = timeline.range().map_or(0, |(begin, _)| begin);
    finding = finding.with_evidence("begins", format!("{} after the trace's begin", ms(gap.start - begin)));
    if let Some(range) = range_at(timeline, gap.called) {
        finding = finding.with_evidence("in the range", short(evidence.text(timeline.host.name[range])));
    }
    if let Some(row) = host_in(timeline, gap) {
        finding = finding.with_evidence("the host is in", short(evidence.text(timeline.host.name[row])));
    }
    lost(finding, evidence, long.ns)
}
