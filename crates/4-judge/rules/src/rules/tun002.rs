//! TUN002: keys that occur more than once.
//!
//! Every loader resolves duplicate keys differently, and none picks the fastest.

use crate::tunings::{TuningEvidence, at, fastest, has_keys, loss, outcome, repeated, slower, time};
use crate::{Check, Outcome, Rule};
use std::collections::HashMap;
use tunedb::{Detail, Format, Row, Tunings};
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "TUN002",
    title: "keys that occur more than once",
    severity: Severity::Severe,
    page: include_str!("tun002.md"),
    checks: &[Check::Tunings(check)],
    panels: &[],
};

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let mut findings = Vec::new();
    for file in evidence.files.iter().filter(|file| has_keys(file.format)) {
        findings.extend(repeated(file).iter().map(|rows| finding(file, rows)));
    }
    across(evidence.files, &mut findings);
    outcome(findings)
}

fn finding(file: &Tunings<'_>, rows: &[&Row<'_>]) -> Finding {
    let first = rows[0];
    let said = format!("`{}` occurs {} times", short(&first.key), rows.len());
    // A record of MIOpen is more than its first entry.
    let records = matches!(file.format, Format::FindDb | Format::PerfDb);
    let same =
        !records && rows.iter().all(|row| row.candidate == first.candidate && row.time_us == first.time_us);
    let fast = fastest(rows);
    let times = match (&first.time_us, fast) {
        (Ok(used), Some(fast)) if fast.line != first.line => {
            let best = fast.time_us.as_ref().copied().unwrap_or(*used);
            format!("line {} ({}), line {} takes {}", first.line, time(*used), fast.line, time(best))
        }
        (Err(_), Some(fast)) => format!("line {} without a time, line {} has one", first.line, fast.line),
        _ => format!("line {}, which is the fastest", first.line),
    };
    let lost = match (&first.time_us, fast.map(|it| &it.time_us)) {
        (Ok(used), Some(Ok(best))) if slower(*used, *best) => Some(loss(*used, *best)),
        _ => None,
    };
    let (takes, severity) = match file.format {
        _ if same => ("always the same".to_owned(), Severity::Info),
        Format::TunableOp => (format!("PyTorch takes {times}"), Severity::Warning),
        Format::FindDb | Format::PerfDb => (
            format!("MIOpen uses one of the records, not both; the first is on line {}", first.line),
            Severity::Warning,
        ),
        Format::AiterTuned => {
            ("AITER rewrites the file and stops with an error".to_owned(), Severity::Severe)
        }
        Format::Logic => ("the library keeps one solution for a size".to_owned(), Severity::Warning),
        _ => ("hipBLASLt takes one of them".to_owned(), Severity::Warning),
    };
    let severity = if lost.is_some() { Severity::Severe } else { severity };
    let advice = if same {
        "remove the repeated rows, or merge"
    } else {
        "`rockhound tunedb merge` keeps the fastest row"
    };
    let found = RULE.finding(severity, format!("{said}: {takes}"), advice);
    let found = if let Some(lost) = lost { found.with_cost(lost) } else { found };
    found.with_places(rows.iter().map(|row| at(file, row.line)))
}

/// AITER joins the tables of one family, so a key of one is a key of all.
fn across(files: &[Tunings<'_>], findings: &mut Vec<Finding>) {
    let mut seen: HashMap<(String, &str), (usize, &Row<'_>)> = HashMap::new();
    for (number, file) in files.iter().enumerate() {
        let Detail::Columns(columns) = &file.detail else { continue };
        if file.format != Format::AiterTuned {
            continue;
        }
        let keys = columns.names.iter().zip(&columns.is_key).filter(|(_, is_key)| **is_key);
        let mut names: Vec<&str> = keys.map(|(name, _)| *name).filter(|name| *name != "_tag").collect();
        names.push(&columns.family);
        let family = names.join(",");
        for row in &file.rows {
            let Some((other, first)) = seen.insert((family.clone(), row.key.as_ref()), (number, row)) else {
                continue;
            };
            if other == number {
                continue;
            }
            let message = format!(
                "`{}` is in `{}` too, on line {}: AITER stops with an error where it joins the two",
                short(&row.key),
                files[other].base_name(),
                first.line
            );
            let found = RULE.finding(
                Severity::Severe,
                message,
                "keep the faster row in one of the tables, or merge them",
            );
            findings.push(found.with_places([at(file, row.line), at(&files[other], first.line)]));
        }
    }
}

/// A key, truncated if it is long.
fn short(key: &str) -> String {
    let cut: String = key.chars().take(72).collect();
    if cut.len() < key.len() { format!("{cut}…") } else { cut }
}
