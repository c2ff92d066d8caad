//! SYS001: pages that move between NUMA nodes by themselves.

use crate::{Check, HostEvidence, Judged, Rule};
use system::Fact;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "SYS001",
    title: "NUMA balancing moves pages under the GPU",
    severity: Severity::Severe,
    page: include_str!("sys001.md"),
    checks: &[Check::Host(check)],
    panels: &[],
};

fn check(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    vec![balancing(evidence), daemon(evidence)]
}

fn balancing(evidence: &HostEvidence<'_>) -> Judged {
    const CHECK: &str = "numa-balancing";
    let machine = evidence.machine;
    let value = &machine.numa_balancing;
    let of_host = if machine.surroundings.container.is_some() { " (the host's value)" } else { "" };
    match value {
        Fact::Known { value: text, .. } => match text.as_str() {
            "0" => Judged::pass(CHECK, format!("off{of_host}")).read_fact(value, text),
            _ => Judged::fail(CHECK, format!("on{of_host}")).read_fact(value, text),
        },
        Fact::Unknown { reason } => {
            let argument = machine.boot.get().and_then(|boot| boot.last("numa_balancing"));
            match argument {
                Some(text) => Judged::unknown(
                    CHECK,
                    format!("{reason}; booted with numa_balancing={text}, which may have been changed since"),
                ),
                None => Judged::unknown(CHECK, reason.clone()),
            }
        }
    }
}

fn daemon(evidence: &HostEvidence<'_>) -> Judged {
    const CHECK: &str = "numad";
    match &evidence.machine.numad {
        fact @ Fact::Known { value: true, .. } => Judged::fail(CHECK, "numad runs").read_fact(fact, "numad"),
        fact @ Fact::Known { value: false, from } => {
            if evidence.machine.surroundings.container.is_some() {
                return Judged::unknown(CHECK, format!("{from}: a container shows no process of the host"));
            }
            Judged::pass(CHECK, "not running").read_fact(fact, "no numad")
        }
        Fact::Unknown { reason } => Judged::unknown(CHECK, reason.clone()),
    }
}
