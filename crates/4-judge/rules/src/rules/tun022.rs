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
    page: PAGE,
    checks: &[Check::Tunings(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Counts, in caches of Kernel Tuner and T4 results, configurations that failed, by reason, and those that are in the file twice.

## Why it is slow
A configuration that does not compile or fails costs the tuner its compilation and improves nothing; restrictions that leave it out cost
nothing. One with wrong results may be the fastest: a script that reads times only takes it. A cache with a configuration twice was
written by two versions of a kernel or of the tuner, and which of the times holds is not known.

## Evidence
The number of each reason with the first lines, the share of all that were tried. Below 5 % failures are information.

## What to do
Add a restriction that excludes what fails; remove the cache after a change of the kernel.

## Source
Kernel Tuner, `kernel_tuner/util.py` (`ErrorConfig`); FAIR benchmark hub, schema T4.
";

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
