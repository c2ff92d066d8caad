//! TUN009: names of fused-MoE files that differ by spelling only.
//!
//! The file's name is the key, and a name is compared as text.

use crate::device_names::sold_as;
use crate::tunings::{TuningEvidence, at, outcome};
use crate::{Check, Outcome, Rule};
use tunedb::{Detail, Tunings, moe::MoeName};
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "TUN009",
    title: "names of fused-MoE files that differ by spelling only",
    severity: Severity::Warning,
    page: include_str!("tun009.md"),
    checks: &[Check::Tunings(check)],
    panels: &[],
};

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let named: Vec<(&Tunings<'_>, &MoeName)> = evidence
        .files
        .iter()
        .filter_map(|file| if let Detail::Moe(name) = &file.detail { Some((file, name)) } else { None })
        .collect();
    let mut findings = Vec::new();
    for (at_file, (file, name)) in named.iter().enumerate() {
        for (other, before) in &named[..at_file] {
            if let Some(found) = compare(file, name, other, before) {
                findings.push(found);
            }
        }
    }
    outcome(findings)
}

fn compare(file: &Tunings<'_>, name: &MoeName, other: &Tunings<'_>, before: &MoeName) -> Option<Finding> {
    let equal = file.bytes == other.bytes;
    let content = if equal { "with equal content" } else { "with other content" };
    let own = name.folder == before.folder;
    let (message, severity) = if own && name.base(false) == before.base(false) && name.blank != before.blank {
        (format!("differs from `{}` by a blank only, {content}", other.base_name()), Severity::Warning)
    } else if own && silicon(name).base(false) == silicon(before).base(false) && name.device != before.device
    {
        let severity = if equal { Severity::Info } else { Severity::Warning };
        (
            format!("is for the silicon of `{}` under another device name, {content}", other.base_name()),
            severity,
        )
    } else if equal && name.base(false) != before.base(false) {
        (format!("has the content of `{}`", other.base_name()), Severity::Info)
    } else {
        return None;
    };
    let advice = "tune both together, so that neither copy is left behind";
    Some(RULE.finding(severity, message, advice).with_places([at(file, 0), at(other, 0)]))
}

/// The name with the device as sold.
fn silicon(name: &MoeName) -> MoeName {
    MoeName { device: sold_as(&name.device).to_owned(), ..name.clone() }
}
