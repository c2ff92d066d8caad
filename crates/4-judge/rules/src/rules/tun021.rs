//! TUN021: default solutions that are slower than another one.

use crate::tunings::{TuningEvidence, at, fastest, loss, outcome, repeated, slower, time};
use crate::{Check, Outcome, Rule};
use tunedb::{Format, Row, Tunings};
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "TUN021",
    title: "default solutions that are slower than another one",
    severity: Severity::Warning,
    page: include_str!("tun021.md"),
    checks: &[Check::Tunings(check)],
    panels: &[],
};

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let mut findings = Vec::new();
    for file in evidence.files.iter().filter(|file| file.format == Format::RocblasBench) {
        findings.extend(repeated(file).iter().filter_map(|rows| one(file, rows)));
    }
    outcome(findings)
}

fn one(file: &Tunings<'_>, rows: &[&Row<'_>]) -> Option<Finding> {
    let default = rows.iter().find(|row| matches!(row.candidate.as_deref(), Ok("0" | "-1")))?;
    let best = fastest(rows)?;
    let (own, least) = (default.time_us.ok()?, best.time_us.ok()?);
    if !slower(own, least) {
        return None;
    }
    let shape = default.shape.as_ref().map(ToString::to_string).unwrap_or_default();
    let message = format!(
        "{shape}: the default solution takes {}, solution {} takes {}",
        time(own),
        best.candidate.as_deref().unwrap_or_default(),
        time(least)
    );
    let advice = "name the faster solution in a file for ROCBLAS_TENSILE_GEMM_OVERRIDE_PATH";
    let found = RULE.finding(Severity::Warning, message, advice).with_cost(loss(own, least));
    Some(found.with_places([at(file, default.line), at(file, best.line)]))
}
