//! SYS002: PCIe access control that sends peer traffic through the root.

use crate::{Check, HostEvidence, Judged, Rule};
use system::Fact;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "SYS002",
    title: "PCIe access control sends peer traffic through the root",
    severity: Severity::Severe,
    page: include_str!("sys002.md"),
    checks: &[Check::Host(check)],
    panels: &[],
};

fn check(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    const CHECK: &str = "acs";
    let acs = &evidence.machine.acs;
    let ports = match acs {
        Fact::Known { value, .. } => value,
        Fact::Unknown { reason } => return vec![Judged::unknown(CHECK, reason.clone())],
    };
    let on: Vec<_> = ports.iter().filter(|port| port.source_validation).collect();
    let of = format!("{} of {} ports", on.len(), ports.len());
    if on.is_empty() {
        return vec![
            Judged::pass(CHECK, format!("off on {} ports", ports.len())).read_fact(acs, "no SrcValid+"),
        ];
    }
    let named: Vec<&str> = on.iter().filter_map(|port| port.bdf.as_deref()).collect();
    if named.is_empty() {
        return vec![
            Judged::fail(CHECK, format!("on at {of} (their addresses are not in the text)"))
                .read_fact(acs, of),
        ];
    }
    let commands: Vec<String> =
        named.iter().map(|bdf| format!("setpci -v -s {bdf} ECAP_ACS+0x6.w=0000")).collect();
    vec![
        Judged::fail(CHECK, format!("on at {of}: {}", named.join(", ")))
            .read_fact(acs, format!("SrcValid+ at {}", named.join(", ")))
            .set_by(commands.join("; ")),
    ]
}
