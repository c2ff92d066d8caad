//! TUN022: recorded search spaces of which much failed, that were tried twice or cut.

use crate::tunings::{TuningEvidence, at, outcome};
use crate::{Check, Outcome, Rule};
use tunedb::space::Status;
use tunedb::{Detail, FlawKind, Tunings};
use view::{Finding, Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "TUN022",
    title: "a recorded search space with failed or repeated configurations",
    severity: Severity::Warning,
    page: include_str!("tun022.md"),
    checks: &[Check::Tunings(check)],
    panels: &[],
};

/// Share of failures from which they are a warning.
const MANY: f64 = 0.05;
/// Lines that are named.
const NAMED: usize = 5;

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    outcome(evidence.files.iter().flat_map(|file| [failed(file), repeated(file)]).flatten().collect())
}

fn failed(file: &Tunings<'_>) -> Option<Finding> {
    let Detail::Space(space) = &file.detail else { return None };
    let trials = file.rows.iter().zip(&space.trials).filter(|(_, it)| it.status != Status::Correct);
    let lines: Vec<u32> = trials.map(|(row, _)| row.line).collect();
    let share = lines.len() as f64 / space.trials.len().max(1) as f64;
    let severity = if share < MANY { Severity::Info } else { Severity::Warning };
    let message = format!(
        "{} of {} failed, {:.1} %",
        counted(lines.len(), "configuration"),
        space.trials.len(),
        100.0 * share
    );
    let mut found = RULE.finding(severity, message, "add a restriction that excludes what fails");
    for status in Status::FAILURES {
        let count = space.trials.iter().filter(|it| it.status == status).count();
        if count > 0 {
            found = found.with_evidence(status.words(), count);
        }
    }
    (!lines.is_empty()).then(|| found.with_places(lines.iter().take(NAMED).map(|line| at(file, *line))))
}

fn repeated(file: &Tunings<'_>) -> Option<Finding> {
    if !matches!(file.detail, Detail::Space(_)) {
        return None;
    }
    let flaws = file.flaws.iter().filter(|it| it.kind == FlawKind::RepeatedEntry);
    let lines: Vec<u32> = flaws.map(|it| it.line).collect();
    let message = format!("{} tried more than once", counted(lines.len(), "configuration"));
    let advice = "remove the cache after a change of the kernel, and measure again";
    let found = RULE.finding(Severity::Warning, message, advice);
    (!lines.is_empty()).then(|| found.with_places(lines.iter().take(NAMED).map(|line| at(file, *line))))
}
