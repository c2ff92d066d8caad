//! Checks of machines as markdown and CSV.

use std::fmt::Write;
use view::{Examined, HostCheck, Machines};

/// Markdown.
pub(crate) fn markdown(doctor: &Machines, out: &mut String) {
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
        out.push('\n');
    }
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
pub(crate) fn csv(doctor: &Machines) -> String {
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

fn checks(doctor: &Machines) -> impl Iterator<Item = (&Examined, &HostCheck)> {
    doctor.machines.iter().flat_map(|machine| machine.checks.iter().map(move |check| (machine, check)))
}
