//! TUN018: configurations that a GPU does not find by its name.

use crate::device_names::{others_of, sold_as};
use crate::tunings::{TuningEvidence, at, outcome};
use crate::{Check, Outcome, Rule};
use std::collections::BTreeSet;
use tunedb::{Detail, Format, Row, Tunings, moe::MoeName};
use view::{Finding, Severity, counted, shell_word};

pub(crate) const RULE: Rule = Rule {
    id: "TUN018",
    title: "configurations that a GPU does not find by its name",
    severity: Severity::Warning,
    page: include_str!("tun018.md"),
    checks: &[Check::Tunings(check)],
    panels: &[],
};

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let named: Vec<(&Tunings<'_>, &MoeName)> = evidence
        .files
        .iter()
        .filter_map(|file| if let Detail::Moe(name) = &file.detail { Some((file, name)) } else { None })
        .collect();
    let logs: Vec<&Tunings<'_>> =
        evidence.files.iter().filter(|file| file.format == Format::ServerLog).collect();
    let mut findings = Vec::new();
    for log in &logs {
        for row in log.rows.iter().filter(|row| row.key.ends_with(".json")) {
            findings.extend(looked_for(log, row, &named));
        }
    }
    let expected = evidence.machine.and_then(|it| it.versions.get("device_name"));
    match (expected, logs.is_empty()) {
        (Some(device), _) => {
            findings.extend(named.iter().filter_map(|it| expected_name(*it, device, &named)))
        }
        // The log names the device.
        (None, false) => {}
        (None, true) => findings.extend(possible_names(evidence, &named)),
    }
    outcome(findings)
}

/// The key of a file but for the device.
fn rest(name: &MoeName) -> String {
    MoeName { device: String::new(), ..name.clone() }.base(false)
}

/// `cp OLD NEW` in the folder of the file.
fn copy(file: &Tunings<'_>, name: &MoeName, device: &str) -> String {
    let folder = file.name.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
    let new = MoeName { device: device.to_owned(), ..name.clone() }.base(name.blank);
    format!("cp {} {}", shell_word(&file.name), shell_word(&format!("{folder}{new}")))
}

/// A file that a server looked for.
fn looked_for(log: &Tunings<'_>, row: &Row<'_>, named: &[(&Tunings<'_>, &MoeName)]) -> Option<Finding> {
    let wanted = MoeName::parse(&row.key)?;
    let base = wanted.base(wanted.blank);
    let same = |it: &&(&Tunings<'_>, &MoeName)| rest(it.1) == rest(&wanted);
    if let Some((file, _)) = named.iter().filter(same).find(|it| it.1.device == wanted.device) {
        let message = format!("`{base}` was looked for and not found; the file is here, in another folder");
        let advice = format!("put it where the server looks: `{}`", row.key);
        return Some(
            RULE.finding(Severity::Info, message, advice).with_places([at(log, row.line), at(file, 0)]),
        );
    }
    let silicon = |it: &&(&Tunings<'_>, &MoeName)| sold_as(&it.1.device) == sold_as(&wanted.device);
    let times = counted(row.calls, "time");
    match named.iter().filter(same).find(silicon) {
        Some((file, name)) => {
            let message = format!(
                "`{base}` was looked for {times} and not found; `{}` is for the same silicon",
                file.base_name()
            );
            let found = RULE.finding(Severity::Warning, message, copy(file, name, &wanted.device));
            Some(found.with_places([at(log, row.line), at(file, 0)]))
        }
        None => {
            let message =
                format!("`{base}` was looked for {times} and not found: the default configuration is used");
            let advice = format!(
                "tune it: `rockhound tunedb shapes {} --to vllm` has the command; or name the folder of the configurations here too",
                shell_word(&log.name)
            );
            Some(RULE.finding(Severity::Warning, message, advice).with_places([at(log, row.line)]))
        }
    }
}

/// A file of the device's silicon, without one under the device's name.
fn expected_name(
    (file, name): (&Tunings<'_>, &MoeName),
    device: &str,
    named: &[(&Tunings<'_>, &MoeName)],
) -> Option<Finding> {
    let device = device.replace(' ', "_");
    let same_silicon = sold_as(&name.device) == sold_as(&device);
    let there = named.iter().any(|it| it.1.device == device && rest(it.1) == rest(name));
    if !same_silicon || there {
        return None;
    }
    let message = format!(
        "the file is for `{}`: a GPU that calls itself `{device}`, of the same silicon, does not find it",
        name.device
    );
    Some(RULE.finding(Severity::Warning, message, copy(file, name, &device)).with_places([at(file, 0)]))
}

/// Names that a GPU of the model may have and no file has.
fn possible_names(evidence: &TuningEvidence<'_>, named: &[(&Tunings<'_>, &MoeName)]) -> Option<Finding> {
    let model = evidence.machine?.model.as_deref()?;
    let of_model =
        |it: &&(&Tunings<'_>, &MoeName)| sold_as(&it.1.device).to_ascii_lowercase().ends_with(model);
    let (file, name) = named.iter().find(of_model)?;
    let sold = sold_as(&name.device);
    let there: BTreeSet<&str> = named.iter().map(|it| it.1.device.as_str()).collect();
    // Numbers are for logs; nobody asks a GPU for one.
    let absent: Vec<&str> =
        others_of(sold).into_iter().filter(|it| !there.contains(it) && !it.starts_with("0x")).collect();
    let (example, count) = (absent.first()?, named.iter().filter(of_model).count());
    // The board or virtual function that is met most.
    let example = absent.iter().find(|it| it.ends_with("_VF")).unwrap_or(example);
    let message = format!(
        "{} for `{sold}`; GPUs of the same silicon that call themselves `{}` do not find them",
        counted(count, "file"),
        absent.join("`, `")
    );
    let advice = format!(
        "compare with `torch.cuda.get_device_name()`, blanks as `_`; where it differs, copy each: {}",
        copy(file, name, example)
    );
    Some(RULE.finding(Severity::Info, message, advice).with_places([at(file, 0)]))
}
