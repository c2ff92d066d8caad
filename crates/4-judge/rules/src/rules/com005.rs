//! COM005: RCCL warns, or uses a slow path.
//!
//! The path of a connection matters more than any setting.

use crate::comm::{CommEvidence, place};
use crate::{Check, Outcome, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "COM005",
    title: "RCCL warns, or takes a slow way",
    severity: Severity::Warning,
    page: include_str!("com005.md"),
    checks: &[Check::Comm(check)],
    panels: &[],
};

/// Known warnings with their meaning and remedy.
const KNOWN: [(&str, &str, &str); 4] = [
    (
        "NUMA auto balancing",
        "the kernel moves pages while the GPU uses them",
        "`sysctl kernel.numa_balancing=0`",
    ),
    ("iommu=pt", "each access of a device is translated", "add `iommu=pt` to the kernel's command line"),
    (
        "Connection refused",
        "a rank is not there to connect to",
        "look for the rank that died first or never started",
    ),
    (
        "ACS",
        "accesses between devices go through the root",
        "switch ACS off in the firmware or with `setpci`",
    ),
];
/// Settings that switch something off.
const OFF: [&str; 4] = ["NCCL_P2P_DISABLE", "NCCL_IB_DISABLE", "NCCL_SHM_DISABLE", "RCCL_MSCCL_ENABLE"];

fn check(evidence: &CommEvidence<'_>) -> Outcome {
    let mut findings = Vec::new();
    for (name, log) in evidence.logs() {
        for warning in &log.warnings {
            let known = KNOWN.iter().find(|(word, _, _)| warning.text.contains(word));
            let (why, advice) =
                known.map_or(("", "see the log around this line"), |(_, why, advice)| (why, advice));
            let why = if why.is_empty() { String::new() } else { format!(": {why}") };
            let text = format!("{name}: {} (×{}){why}", cut(&warning.text), warning.count);
            let finding =
                RULE.finding(Severity::Warning, text, advice).with_places([place(name, warning.line)]);
            findings.push(finding);
        }
        let of = |way: &str| -> u64 {
            log.connections.iter().filter(|(key, _)| key.starts_with(way)).map(|(_, n)| n).sum()
        };
        let (shared, peer) = (of("SHM"), of("P2P"));
        let off: Vec<String> = OFF
            .iter()
            .filter_map(|key| Some((key, log.settings.get(*key)?)))
            .filter(|(key, value)| (value.as_str() == "1") != key.ends_with("ENABLE"))
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        if shared > 0 {
            let finding = RULE.finding(
                Severity::Severe,
                format!(
                    "{name}: {shared} of {} connections within nodes go through shared memory",
                    shared + peer
                ),
                if off.is_empty() {
                    "check the container's access to the GPUs (`--ipc=host`, `/dev/kfd`, `/dev/dri`)"
                        .to_owned()
                } else {
                    format!("unset {}", off.join(" and "))
                },
            );
            findings.push(finding.with_evidence("peer to peer", peer));
        } else if !off.is_empty() {
            let text = format!("{name}: {} switches a way of communication off", off.join(" and "));
            findings.push(RULE.finding(Severity::Warning, text, format!("unset {}", off.join(" and "))));
        }
        if log.networks.contains("Socket") {
            let several = log.hosts.len() > 1;
            let text = format!("{name}: the network is a socket, no InfiniBand or RoCE card was found");
            let advice =
                "install the cards' driver in the container and check `NCCL_IB_HCA` and `ibv_devinfo`";
            let severity = if several { Severity::Severe } else { Severity::Info };
            findings.push(RULE.finding(severity, text, advice));
        }
    }
    Outcome::from_findings(findings)
}

/// A warning short enough for a sentence.
fn cut(text: &str) -> String {
    const MOST: usize = 90;
    if text.chars().count() <= MOST {
        text.to_owned()
    } else {
        text.chars().take(MOST - 1).chain(['…']).collect()
    }
}
