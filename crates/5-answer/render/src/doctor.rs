//! `doctor` for bug reports, tables and code scanning.

use crate::sarif;
use serde_json::{Value, json};
use std::fmt::Write;
use view::{Doctor, Examined, HostCheck, HostVerdict, RuleInfo};

/// Markdown.
pub fn markdown(doctor: &Doctor) -> String {
    let mut out = String::new();
    for machine in &doctor.machines {
        let _ = writeln!(out, "## {}\n", words(&machine.name));
        for fact in &machine.facts {
            let value =
                if fact.known { words(&fact.value) } else { format!("unknown: {}", words(&fact.value)) };
            let _ = writeln!(out, "- {}: {value}", fact.name);
        }
        let _ =
            writeln!(out, "\n| verdict | check | what is the case | wanted | set |\n|---|---|---|---|---|");
        for check in &machine.checks {
            let set = check.set.as_ref().map_or_else(String::new, |set| format!("`{}`", words(set)));
            let _ = writeln!(
                out,
                "| {} | {} ({}) | {} | {} | {set} |",
                check.verdict.as_str().to_uppercase(),
                check.check,
                check.rule,
                words(&check.message),
                words(check.wanted)
            );
        }
        out.push('\n');
    }
    if !doctor.odd.is_empty() {
        out.push_str("## What is not the same\n\n| machine | fact | value | usual |\n|---|---|---|---|\n");
        for it in &doctor.odd {
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} |",
                words(&it.machine),
                it.fact,
                words(&it.value),
                words(&it.usual)
            );
        }
    }
    out
}

/// Text in a cell of a table.
fn words(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect::<String>()
        .replace('|', "\\|")
        .replace('<', "&lt;")
}

/// One row per check.
pub fn csv(doctor: &Doctor) -> String {
    let mut out = csv::Writer::from_writer(Vec::new());
    let _ =
        out.write_record(["machine", "verdict", "check", "rule", "message", "read", "wanted", "set", "undo"]);
    for (machine, check) in checks(doctor) {
        let read: Vec<String> =
            check.readings.iter().map(|it| format!("{}: {}", it.from, it.value)).collect();
        let _ = out.write_record([
            machine.name.as_str(),
            check.verdict.as_str(),
            check.check,
            check.rule,
            &check.message,
            &read.join("; "),
            check.wanted,
            check.set.as_deref().unwrap_or_default(),
            check.undo.as_deref().unwrap_or_default(),
        ]);
    }
    out.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

fn checks(doctor: &Doctor) -> impl Iterator<Item = (&Examined, &HostCheck)> {
    doctor.machines.iter().flat_map(|machine| machine.checks.iter().map(move |check| (machine, check)))
}

/// SARIF: a result per check that failed or warns; the place is the file that was read, line 1.
pub fn sarif(doctor: &Doctor, version: &str, rules: &[RuleInfo]) -> String {
    let results: Vec<String> = checks(doctor)
        .filter(|(_, check)| matches!(check.verdict, HostVerdict::Fail | HostVerdict::Warn))
        .map(|(machine, check)| result(machine, check).to_string())
        .collect();
    format!(
        "{}{}{}",
        sarif::begin(version, rules),
        results.join(sarif::SEPARATOR),
        sarif::end(&doctor.errors)
    )
}

fn result(machine: &Examined, check: &HostCheck) -> Value {
    let file = check.readings.first().map_or(machine.name.as_str(), |it| it.from.as_str());
    let remedy = check
        .set
        .as_ref()
        .map_or_else(|| format!("Wanted: {}.", check.wanted), |set| format!("Set it by: {set}"));
    json!({
        "ruleId": check.rule,
        "level": if check.verdict == HostVerdict::Fail { "error" } else { "warning" },
        "message": { "text": format!("{}, {}: {}. {remedy}", machine.name, check.check, check.message) },
        "locations": [{ "physicalLocation": { "artifactLocation": { "uri": sarif::uri(file) }, "region": { "startLine": 1 } } }],
        "partialFingerprints": {
            "primaryLocationLineHash": format!("{:016x}:1", sarif::fingerprint(&format!("{}|{}|{}", machine.name, check.check, check.message)))
        },
        "properties": { "machine": machine.name, "check": check.check, "verdict": check.verdict.as_str() },
    })
}

/// Workflow commands of GitHub.
pub fn github(doctor: &Doctor) -> String {
    let mut out = String::new();
    for (machine, check) in checks(doctor) {
        let level = match check.verdict {
            HostVerdict::Fail => "error",
            HostVerdict::Warn => "warning",
            HostVerdict::Unknown => "notice",
            HostVerdict::Pass => continue,
        };
        let text = format!("{}: {}", machine.name, check.message)
            .replace('%', "%25")
            .replace('\r', "%0D")
            .replace('\n', "%0A");
        let _ = writeln!(out, "::{level} title={} {}::{text}", check.rule, check.check);
    }
    out
}
