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
    page: PAGE,
    checks: &[Check::Tunings(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Compares the names of vLLM's and SGLang's fused-MoE files that are linted together: names that are equal but for a blank in
`block_shape`, names of one silicon under two device names, and files of equal content under two names.

## Why it is slow
vLLM writes `[128,128]`, SGLang `[128, 128]`, and each finds only its own. A device that reports `AMD_Instinct_MI325_OAM` does not find the
file for `AMD_Instinct_MI325X`. Without a file both fall back to a default configuration with one warning. Of two copies only one is
improved later.

## Evidence
The names, and whether the contents are equal byte for byte.

## What to do
Keep one content under every name that devices report, made by `rockhound tunedb convert --to vllm` or `--to sglang`.

## Source
vLLM issue 28709 and pull requests with copied files; SGLang, `fused_moe_triton_config.py`.
";

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
