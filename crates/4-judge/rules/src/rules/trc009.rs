//! TRC009: the GPU idles while the next kernel is queued.
//!
//! The host did its part: what is between two spans is the runtime, the GPU's queues or a dependency.

use crate::traced::{lost, ms, percent, short};
use crate::{Check, Outcome, Rule};
use timeline::gaps::{GraphPlace, QueuedGaps, queued_gaps};
use timeline::{TimelineEvidence, Why};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "TRC009",
    title: "the GPU idles while the next kernel is queued",
    severity: Severity::Severe,
    page: include_str!("trc009.md"),
    checks: &[Check::Trace(|run| run.worst(check))],
    panels: &[],
};

/// Percent of the span from which it is reported, and from which it is severe.
const MUCH: [f64; 2] = [10.0, 30.0];

fn check(evidence: &TimelineEvidence<'_>) -> Outcome {
    if !evidence.links.has_launches {
        return Outcome::needs("launches in the trace");
    }
    let Some(idle) = evidence.idle.by_reason.get(&Why::Queued) else { return Outcome::Silent };
    let share = percent(idle.ns, evidence.total.span);
    if share < MUCH[0] || evidence.is_capture() {
        return Outcome::Silent;
    }
    let all = queued_gaps(evidence);
    let at = |place: GraphPlace| -> (i64, u64) {
        let of = all.iter().filter(|it| it.place == place);
        of.fold((0, 0), |sum, it| (sum.0 + it.ns, sum.1 + it.count))
    };
    let (after, within) = (at(GraphPlace::After), at(GraphPlace::Within));
    let other: u64 = all.iter().map(|it| it.other_stream).sum();
    let mean = |(ns, count): (i64, u64)| ms(ns / i64::try_from(count.max(1)).unwrap_or(1));
    let (what, advice) = if after.0 * 2 >= idle.ns {
        (
            format!("in {} gaps of {} after the end of a graph launch", after.1, mean(after)),
            "capture what follows the graph into it, or several steps as one graph; time a step without the profiler first",
        )
    } else if within.0 * 2 >= idle.ns {
        (
            format!("in {} gaps of {} within graphs", within.1, mean(within)),
            "fuse the graph's short kernels; time a step without the profiler, which may make these gaps",
        )
    } else if other * 2 >= idle.gaps {
        (
            format!(
                "in {} gaps of {}, most before a kernel of another stream",
                idle.gaps,
                mean((idle.ns, idle.gaps))
            ),
            "use fewer streams and events, so that kernels do not wait for those of other streams",
        )
    } else {
        (
            format!("in {} gaps of {}", idle.gaps, mean((idle.ns, idle.gaps))),
            "fuse short kernels or replay them as a graph, and set `HIP_FORCE_DEV_KERNARG=1`",
        )
    };
    let between = |it: &QueuedGaps| {
        let (before, after) = (short(evidence.text(it.before)), short(evidence.text(it.after)));
        format!("{before} and {after} ×{}, {}, longest {}", it.count, ms(it.ns), ms(it.longest))
    };
    let finding = RULE
        .finding(
            if share >= MUCH[1] { Severity::Severe } else { Severity::Warning },
            format!("the GPU is idle {share:.1} % of the time with the next kernel queued, {what}"),
            advice,
        )
        .with_evidence(
            "between",
            all.iter()
                .take_while(|it| it.ns * 20 >= all[0].ns)
                .take(3)
                .map(between)
                .collect::<Vec<_>>()
                .join("; "),
        );
    Outcome::Findings(vec![lost(finding, evidence, idle.ns)])
}
