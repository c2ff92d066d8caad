//! TUN011: ranks of one job that disagree.
//!
//! Each rank tunes independently, so the choice between about equally fast kernels is noise.

use crate::tunings::{TuningEvidence, at, outcome, slower};
use crate::{Check, Outcome, Rule};
use std::collections::HashMap;
use tunedb::{Format, Row, Tunings};
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "TUN011",
    title: "ranks of one job that disagree",
    severity: Severity::Warning,
    page: include_str!("tun011.md"),
    checks: &[Check::Tunings(check)],
    panels: &[],
};

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let mut first: HashMap<String, usize> = HashMap::new();
    let mut findings = Vec::new();
    for (number, file) in evidence.files.iter().enumerate() {
        if file.format != Format::TunableOp {
            continue;
        }
        let Some(name) = without_number(file) else { continue };
        match first.get(&name) {
            None => {
                first.insert(name, number);
            }
            Some(base) => compare(&evidence.files[*base], file, &mut findings),
        }
    }
    outcome(findings)
}

/// The path without the number at the end of its stem; `None` without such a number.
fn without_number(file: &Tunings<'_>) -> Option<String> {
    let (stem, end) = file.name.rsplit_once('.')?;
    let plain = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    (plain.len() < stem.len()).then(|| format!("{plain}.{end}"))
}

fn compare(base: &Tunings<'_>, file: &Tunings<'_>, findings: &mut Vec<Finding>) {
    let differ: Vec<&str> = file
        .versions
        .iter()
        .filter(|it| base.version(&it.key) != Some(it.value.as_ref()))
        .map(|it| it.key.as_ref())
        .collect();
    if !differ.is_empty() {
        let message = format!("has other versions than `{}`: {}", base.base_name(), differ.join(", "));
        let line = file.versions.iter().find(|it| it.key == differ[0]).map_or(1, |it| it.line);
        let finding =
            RULE.finding(Severity::Severe, message, "set all ranks up alike and tune this one again");
        findings.push(finding.with_places([at(file, line)]));
        return;
    }
    let known: HashMap<&str, &Row<'_>> = base.rows.iter().rev().map(|row| (row.key.as_ref(), row)).collect();
    let common: Vec<(&Row<'_>, &Row<'_>)> =
        file.rows.iter().filter_map(|row| Some((*known.get(row.key.as_ref())?, row))).collect();
    let other: Vec<&(&Row<'_>, &Row<'_>)> =
        common.iter().filter(|(a, b)| a.candidate != b.candidate).collect();
    let slow = common.iter().filter(|(a, b)| match (&a.time_us, &b.time_us) {
        (Ok(a), Ok(b)) => slower(*a, *b) || slower(*b, *a),
        _ => false,
    });
    let slow = slow.count();
    if other.is_empty() && slow == 0 {
        return;
    }
    let message = format!(
        "{} of {} problems in common with `{}` have another kernel, {slow} another time",
        other.len(),
        common.len(),
        base.base_name()
    );
    let severity = if other.is_empty() { Severity::Info } else { Severity::Warning };
    let places = other.iter().flat_map(|(a, b)| [at(file, b.line), at(base, a.line)]);
    let places: Vec<_> = if other.is_empty() { vec![at(file, 1)] } else { places.collect() };
    let advice = "merge the files and give every rank the result";
    findings.push(RULE.finding(severity, message, advice).with_places(places));
}
