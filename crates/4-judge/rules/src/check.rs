//! Runs every rule on one kernel, by its code or by a recording.
//!
//! Rules do not see each other's findings; findings are sorted afterwards, by severity and place.

use crate::{
    CandidateEvidence, CommEvidence, ExecutionEvidence, LaunchEvidence, Outcome, Rule, SearchEvidence,
    TraceEvidence, TuningEvidence, registry,
};
use analysis::roofline::Bound;
use analysis::{KernelEvidence, WorkloadEvidence};
use sorting::Sort;
use view::{Evidence, Finding, NotChecked, Severity};

/// All findings for a kernel, most severe first, and the rules whose evidence is absent.
pub fn check(evidence: &KernelEvidence<'_>) -> (Vec<Finding>, Vec<NotChecked>) {
    if evidence.is_empty {
        return (Vec::new(), Vec::new());
    }
    // IR without code: what the code would say is not missed.
    let ir_alone = evidence.ir.is_some() && evidence.kernel.body == codeobj::Body::Absent;
    let unread =
        evidence.unread_lines().map(|lines| format!("all lines of the code ({lines} cannot be read)"));
    let (mut findings, not_checked) = outcomes(|rule| match (rule.ir_check(), evidence.ir) {
        (Some(check), Some(ir)) => Some(check(&ir.kernel, evidence)),
        _ if ir_alone => None,
        _ if unread.is_some() => rule.code_check().and(unread.clone()).map(Outcome::needs),
        _ => Some(rule.code_check()?(evidence)),
    });
    join_causes(&mut findings);
    // Nobody can change the code of a kernel of the runtime.
    if analysis::RuntimeKernel::by_name(&evidence.kernel.name).is_some() {
        findings.iter_mut().for_each(|finding| finding.severity = Severity::Info);
    }
    sort_by_severity(&mut findings);
    (findings, not_checked)
}

/// Rules that compare with a base.
const COMPARING: [&str; 1] = ["CTR005"];

/// Findings of two rules that have one cause: the first, or the second where that is worse, is kept and says
/// the other; the second's advice is better where it names the cause.
const ONE_CAUSE: [(&str, &str, bool); 5] = [
    ("RES001", "RES005", true),
    ("RES001", "TIL006", true),
    ("RES003", "RES009", false),
    ("RES003", "RES002", false),
    ("RES002", "RES009", false),
];

/// Joins findings with a common cause into one.
fn join_causes(findings: &mut Vec<Finding>) {
    for (kept, joined, names_cause) in ONE_CAUSE {
        let at = |rule: &str| findings.iter().position(|finding| finding.rule == rule);
        let (Some(to), Some(from)) = (at(kept), at(joined)) else { continue };
        // The worse one speaks.
        let swapped = findings[from].severity > findings[to].severity;
        let (kept, joined, from) = if swapped { (joined, kept, to) } else { (kept, joined, from) };
        let mut other = findings.remove(from);
        let Some(finding) = findings.iter_mut().find(|finding| finding.rule == kept) else { continue };
        finding.severity = finding.severity.max(other.severity);
        if names_cause && !swapped {
            finding.advice = other.advice;
        }
        finding.joined.push(joined);
        finding.joined.append(&mut other.joined);
        finding.evidence.push(Evidence { what: format!("{joined} too"), value: other.message });
    }
}

/// Too few workgroups are why a kernel is bound by launch: one finding, which names the cause and says the
/// verdict.
fn join_launch(findings: &mut Vec<Finding>) {
    let at = |rule: &str| findings.iter().position(|finding| finding.rule == rule);
    let (Some(_), Some(verdict)) = (at("LCH002"), at("CTR001")) else { return };
    let verdict = findings.remove(verdict);
    if let Some(finding) = findings.iter_mut().find(|finding| finding.rule == "LCH002") {
        finding.severity = finding.severity.max(verdict.severity);
        let marks =
            verdict.trust.into_iter().filter(|mark| !finding.trust.contains(mark)).collect::<Vec<_>>();
        finding.trust.extend(marks);
        finding.joined.push("CTR001");
        finding.evidence.push(Evidence { what: "CTR001 too".to_owned(), value: verdict.message });
    }
}

/// All findings for a kernel of a recording, most time lost first, and the rules whose evidence was not
/// recorded.
pub fn check_workload(evidence: &WorkloadEvidence<'_>) -> (Vec<Finding>, Vec<NotChecked>) {
    // A user cannot change a kernel of the runtime: only a finding on a change is useful.
    let applies = |rule: &Rule| evidence.runtime().is_none() || COMPARING.contains(&rule.id);
    let (mut findings, not_checked) = outcomes(|rule| {
        let outcome = rule.recording_check().filter(|_| applies(rule))?(evidence);
        Some(outcome.unwrap_or_else(Outcome::NotChecked))
    });
    if matches!(evidence.roof().bound, Ok(Bound::Launch { .. })) {
        join_launch(&mut findings);
    }
    sort_by_time(&mut findings);
    (findings, not_checked)
}

/// All findings for the traces of a run, most time lost first, and the rules whose evidence they lack.
pub fn check_traces(evidence: &TraceEvidence<'_>) -> (Vec<Finding>, Vec<NotChecked>) {
    if evidence.ranks.iter().all(|it| it.total.kernels == 0) {
        return (Vec::new(), Vec::new());
    }
    let (mut findings, not_checked) = outcomes(|rule| Some(rule.trace_check()?(evidence)));
    sort_by_time(&mut findings);
    (findings, not_checked)
}

/// All findings for files on communication, most severe first, and the rules whose evidence they lack.
pub fn check_comm(evidence: &CommEvidence<'_>) -> (Vec<Finding>, Vec<NotChecked>) {
    let (mut findings, not_checked) = outcomes(|rule| Some(rule.comm_check()?(evidence)));
    sort_by_severity(&mut findings);
    (findings, not_checked)
}

/// All findings, by file and line, and the rules whose evidence is absent.
pub fn check_tunings(evidence: &TuningEvidence<'_>) -> (Vec<Finding>, Vec<NotChecked>) {
    let (mut findings, not_checked) = outcomes(|rule| Some(rule.tuning_check()?(evidence)));
    let order: std::collections::HashMap<&str, usize> =
        evidence.files.iter().enumerate().map(|(at, file)| (file.name.as_str(), at)).collect();
    findings.sort_by_cached_key(|finding| {
        let source = finding.places.first().and_then(|place| place.source.as_ref());
        let file = source.and_then(|it| order.get(it.file.as_str())).copied().unwrap_or(usize::MAX);
        (file, std::cmp::Reverse(finding.severity), finding.rule, source.map_or(0, |it| it.line))
    });
    (findings, not_checked)
}

/// All findings for a launch, most severe first, and the rules whose evidence is absent.
pub fn check_launch(evidence: &LaunchEvidence<'_>) -> (Vec<Finding>, Vec<NotChecked>) {
    let (mut findings, not_checked) = outcomes(|rule| Some(rule.launch_check()?(evidence)));
    sort_by_severity(&mut findings);
    (findings, not_checked)
}

/// Judges the search of a tuning space.
pub fn check_search(evidence: &SearchEvidence<'_>) -> (Vec<Finding>, Vec<NotChecked>) {
    let (mut findings, not_checked) = outcomes(|rule| Some(rule.search_check()?(evidence)));
    sort_by_severity(&mut findings);
    (findings, not_checked)
}

/// Judges a candidate that was compared with a base.
pub fn check_candidate(evidence: &CandidateEvidence<'_>) -> Vec<Finding> {
    outcomes(|rule| Some(rule.candidate_check()?(evidence))).0
}

/// Outcomes of the rules that have this kind of check, in the order of the registry.
fn outcomes(check: impl Fn(&Rule) -> Option<Outcome>) -> (Vec<Finding>, Vec<NotChecked>) {
    let (mut findings, mut not_checked) = (Vec::new(), Vec::new());
    for rule in registry::all() {
        match check(rule) {
            None | Some(Outcome::Silent) => {}
            Some(Outcome::NotChecked(needs)) => not_checked.push(NotChecked::new(rule.id, needs)),
            Some(Outcome::Findings(found)) => findings.extend(found),
        }
    }
    (findings, not_checked)
}

/// Sorts by severity, most severe first. Stable: a rule's own order stays within one severity.
fn sort_by_severity(findings: &mut [Finding]) {
    findings.in_order_by(|a, b| b.severity.cmp(&a.severity).then_with(|| a.rule.cmp(b.rule)));
}

/// Sorts by lost time, most first; findings without a known time by severity.
fn sort_by_time(findings: &mut [Finding]) {
    let time = |finding: &Finding| finding.time_lost_ns.unwrap_or(-1.0);
    findings.in_order_by(|a, b| {
        time(b).total_cmp(&time(a)).then_with(|| b.severity.cmp(&a.severity)).then_with(|| a.rule.cmp(b.rule))
    });
}

/// All findings for an emulated run, by rule and then by instruction.
pub fn check_execution(evidence: &ExecutionEvidence<'_>) -> Vec<Finding> {
    registry::all()
        .iter()
        .filter_map(|rule| rule.execution_check())
        .flat_map(|check| check(evidence))
        .collect()
}
