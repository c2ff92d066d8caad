//! SYS004: CPUs that save power while a GPU waits for them.

use crate::{Check, HostEvidence, Judged, Rule};
use std::collections::{BTreeMap, BTreeSet};
use system::Fact;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "SYS004",
    title: "CPUs slow down or sleep deeply between launches",
    severity: Severity::Severe,
    page: include_str!("sys004.md"),
    checks: &[Check::Host(check)],
    panels: &[],
};

fn check(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    vec![governor(evidence), idle(evidence)]
}

fn governor(evidence: &HostEvidence<'_>) -> Judged {
    const CHECK: &str = "cpu-governor";
    let fact = &evidence.machine.governors;
    let governors = match fact {
        Fact::Known { value, .. } => value,
        Fact::Unknown { reason } => return Judged::unknown(CHECK, reason.clone()),
    };
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    governors.values().for_each(|name| *counts.entry(name).or_default() += 1);
    let counted: Vec<String> = counts.iter().map(|(name, count)| format!("{name} on {count}")).collect();
    let others: Vec<String> = counts
        .iter()
        .filter(|(name, _)| **name != "performance")
        .map(|(name, count)| format!("{count} of {} CPUs {name}", governors.len()))
        .collect();
    if others.is_empty() {
        Judged::pass(CHECK, format!("performance on all {} CPUs", governors.len()))
            .read_fact(fact, counted.join(", "))
    } else {
        Judged::fail(CHECK, others.join(", ")).read_fact(fact, counted.join(", "))
    }
}

fn idle(evidence: &HostEvidence<'_>) -> Judged {
    const CHECK: &str = "c-state";
    let fact = &evidence.machine.idle_states;
    let states = match fact {
        Fact::Known { value, .. } => value,
        Fact::Unknown { reason } => return Judged::unknown(CHECK, reason.clone()),
    };
    let deep: Vec<_> =
        states.iter().filter(|state| state.name == "C2" || state.name.starts_with("C2-")).collect();
    if deep.is_empty() {
        let names: BTreeSet<&str> = states.iter().map(|state| state.name.as_str()).collect();
        let names: Vec<&str> = names.into_iter().collect();
        return Judged::unknown(
            CHECK,
            format!(
                "no state is named C2 (there are {}); deep states of this CPU have other names",
                names.join(", ")
            ),
        );
    }
    let on = deep.iter().filter(|state| !state.disabled).count();
    let numbers: BTreeSet<u32> = deep.iter().map(|state| state.state).collect();
    let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
    let read = format!("C2 (state {}) on at {on} of {}", numbers.join(", "), deep.len());
    if on == 0 {
        Judged::pass(CHECK, format!("C2 disabled on all {} CPUs", deep.len())).read_fact(fact, read)
    } else {
        Judged::fail(CHECK, format!("C2 enabled on {on} of {} CPUs", deep.len()))
            .read_fact(fact, read)
            .set_by(format!("cpupower idle-set -d {}", numbers.join(",")))
    }
}
