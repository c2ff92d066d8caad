//! TRC004: exposed communication.
//!
//! Only communication that overlaps with nothing costs time.

use crate::traced::{TraceEvidence, lost, ms, percent};
use crate::{Check, Outcome, Rule};
use timeline::TimelineEvidence;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "TRC004",
    title: "communication that nothing hides",
    severity: Severity::Warning,
    page: include_str!("trc004.md"),
    checks: &[Check::Trace(check)],
    panels: &[],
};

/// Percent of the span from which it is reported, and from which it is severe.
const MUCH: [f64; 2] = [10.0, 30.0];

fn check(run: &TraceEvidence<'_>) -> Outcome {
    run.worst_by_rank(|at, evidence| {
        let matched = run.matched.as_ref().and_then(|it| it.ranks.iter().find(|rank| rank.timeline == at));
        one(evidence, matched.map_or(0, |rank| rank.waiting))
    })
}

/// One rank, of whose time in collectives `waiting` ns were spent waiting for later ranks.
fn one(evidence: &TimelineEvidence<'_>, waiting: i64) -> Outcome {
    let total = &evidence.total;
    // How much of the waiting is exposed is not known: as much as of all communication.
    let waited = percent(waiting, total.communicating.max(1)).min(100.0) / 100.0;
    let exposed = (total.exposed_communication as f64 * (1.0 - waited)) as i64;
    let share = percent(exposed, total.span);
    if share < MUCH[0] {
        return Outcome::Silent;
    }
    let hidden = percent(total.communicating - total.exposed_communication, total.communicating);
    let mut finding = RULE
        .finding(
            if share >= MUCH[1] { Severity::Severe } else { Severity::Warning },
            format!(
                "only communication runs {share:.1} % of the time; computation hides {hidden:.1} % of {}",
                ms(total.communicating)
            ),
            "overlap collectives with computation (buckets, prefetch, a stream of high priority), send less, or find the rank \
             that the others wait for",
        )
        .with_evidence("exposed", ms(exposed));
    if waiting > 0 {
        finding = finding.with_evidence("waiting for later ranks, not counted", ms(waiting));
    }
    if let Some(it) = evidence.collectives.first() {
        let bus = it.bus_gb_per_s().map_or_else(String::new, |v| format!(", {v:.1} GB/s at best"));
        let text = format!(
            "{} ×{} on {} ranks, {}{bus}",
            it.operation,
            it.durations.count,
            it.ranks,
            ms(it.durations.total)
        );
        finding = finding.with_evidence("most time in", text);
    }
    Outcome::Findings(vec![lost(finding, evidence, exposed)])
}
