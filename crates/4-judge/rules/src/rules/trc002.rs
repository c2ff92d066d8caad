//! TRC002: the host waits for the GPU and leaves it idle.
//!
//! A wait costs the GPU's idle time after it, not the host's time in it.

use crate::traced::{lost, ms, percent, short};
use crate::{Check, Outcome, Rule};
use timeline::gaps::{WaitSum, waits};
use timeline::{TimelineEvidence, Why};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "TRC002",
    title: "the host waits for the GPU and leaves it idle",
    severity: Severity::Warning,
    page: include_str!("trc002.md"),
    checks: &[Check::Trace(|run| run.worst(check))],
    panels: &[],
};

/// Percent of the span from which it is reported.
const MUCH: f64 = 5.0;

fn check(evidence: &TimelineEvidence<'_>) -> Outcome {
    if !evidence.links.has_launches {
        return Outcome::needs("launches in the trace");
    }
    let Some(idle) = evidence.idle.by_reason.get(&Why::Synchronised) else { return Outcome::Silent };
    let lost_ns = idle.ns + evidence.idle.launching_after_waits;
    let share = percent(lost_ns, evidence.total.span);
    if share < MUCH || evidence.is_capture() {
        return Outcome::Silent;
    }
    let waits = waits(evidence);
    let named = |it: &WaitSum| {
        let call = evidence.text(it.call);
        let place =
            it.operator.map_or_else(|| call.to_owned(), |op| format!("{} ({call})", evidence.text(op)));
        let copies = if it.copies { ", copies" } else { "" };
        format!("{place} ×{}, {}{copies}", it.gaps, ms(it.ns))
    };
    let list: Vec<String> = waits.iter().take(4).map(named).collect();
    let most = waits.first().map_or_else(String::new, |it| {
        let name = evidence.text(it.operator.unwrap_or(it.call));
        let times = if it.gaps == 1 { "once".to_owned() } else { format!("{} times", it.gaps) };
        format!(", most in `{}`, {times}", short(name))
    });
    let finding = RULE
        .finding(
            Severity::Warning,
            format!("the GPU is idle {share:.1} % of the time after the host waited for it{most}"),
            "keep values on the GPU, copy without waiting from pinned memory, remove synchronisation from loops",
        )
        .with_evidence("waits in", list.join("; "))
        .with_evidence("gaps", idle.gaps);
    Outcome::Findings(vec![lost(finding, evidence, lost_ns)])
}
