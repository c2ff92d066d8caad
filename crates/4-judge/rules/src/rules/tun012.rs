//! TUN012: user records that hide better system records.
//!
//! A user's record replaces the system's as a whole, so a shorter one hides entries.

use crate::tunings::{TuningEvidence, at, fastest, outcome, time};
use crate::{Check, Outcome, Rule};
use sorting::Sort;
use std::collections::{BTreeMap, HashMap};
use tunedb::{Format, Row, Tunings, miopen};
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "TUN012",
    title: "user records that hide better system records",
    severity: Severity::Warning,
    page: include_str!("tun012.md"),
    checks: &[Check::Tunings(check)],
    panels: &[],
};

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let is_user = |file: &Tunings<'_>| [".ufdb", ".udb"].iter().any(|it| file.base_name().contains(it));
    let mut findings = Vec::new();
    let mut lonely = false;
    for user in evidence.files.iter().filter(|file| is_user(file)) {
        let matching = |file: &&Tunings<'_>| file.format == user.format && !is_user(file);
        match evidence.files.iter().find(matching) {
            Some(system) => compare(user, system, &mut findings),
            None => lonely |= matches!(user.format, Format::FindDb | Format::PerfDb),
        }
    }
    if lonely && findings.is_empty() {
        return Outcome::needs("the system database beside the user's");
    }
    outcome(findings)
}

/// Rows by record, in the order of lines.
fn records<'f, 'a>(file: &'f Tunings<'a>) -> BTreeMap<u32, Vec<&'f Row<'a>>> {
    let mut records: BTreeMap<u32, Vec<&Row<'_>>> = BTreeMap::new();
    for row in &file.rows {
        records.entry(row.line).or_default().push(row);
    }
    records
}

fn compare(user: &Tunings<'_>, system: &Tunings<'_>, findings: &mut Vec<Finding>) {
    let theirs = records(system);
    let by_key: HashMap<&str, &Vec<&Row<'_>>> =
        theirs.values().rev().map(|rows| (rows[0].key.as_ref(), rows)).collect();
    for (line, own) in records(user) {
        let Some(other) = by_key.get(own[0].key.as_ref()) else { continue };
        let solver = |file: &Tunings<'_>, row: &Row<'_>| {
            miopen::entry(file, row).map(|(it, values)| (it.to_owned(), values.into_owned()))
        };
        let mine: HashMap<String, String> = own.iter().filter_map(|row| solver(user, row)).collect();
        let theirs: HashMap<String, String> = other.iter().filter_map(|row| solver(system, row)).collect();
        let mut lacking: Vec<&str> =
            theirs.keys().filter(|it| !mine.contains_key(*it)).map(String::as_str).collect();
        lacking.in_order();
        let place = [at(user, line), at(system, other[0].line)];
        if !lacking.is_empty() {
            let message = format!("the record lacks {}, which the system's has", lacking.join(", "));
            let advice = "remove the record, or search the problem again with all solvers";
            findings.push(RULE.finding(Severity::Warning, message, advice).with_places(place.clone()));
        }
        if user.format == Format::PerfDb {
            let mut differ: Vec<&str> = mine
                .iter()
                .filter(|(id, values)| theirs.get(*id).is_some_and(|it| it != *values))
                .map(|(id, _)| id.as_str())
                .collect();
            differ.in_order();
            if !differ.is_empty() {
                let message = format!("other parameters than the system's for {}", differ.join(", "));
                let advice = "measure both: the database holds no times";
                findings.push(RULE.finding(Severity::Info, message, advice).with_places(place));
            }
            continue;
        }
        if let (Some(mine), Some(theirs)) = (fastest(&own), fastest(other))
            && mine.candidate != theirs.candidate
        {
            let words = |row: &Row<'_>| {
                let us = row.time_us.as_ref().copied().unwrap_or_default();
                format!("{} ({})", row.candidate.as_deref().unwrap_or_default(), time(us))
            };
            let message = format!("the winner is {}, the system's is {}", words(mine), words(theirs));
            let advice = "nothing if this GPU was measured later; otherwise remove the record";
            findings.push(RULE.finding(Severity::Info, message, advice).with_places(place));
        }
    }
}
