//! SYS014: settings of the machine with no single right value.

use crate::{Check, HostEvidence, Judged, Profile, Rule};
use system::Fact;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "SYS014",
    title: "settings of CPUs, memory and BIOS to know of",
    severity: Severity::Warning,
    page: include_str!("sys014.md"),
    checks: &[Check::Host(check)],
    panels: &[],
};

fn check(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    let machine = evidence.machine;
    let smt = match &machine.smt {
        fact @ Fact::Known { value, .. } => match value.as_str() {
            "on" if evidence.is(Profile::Benchmark) || evidence.profile.is_none() => {
                Judged::warn("smt", "on: host-side times may scatter").read_fact(fact, value)
            }
            other => Judged::pass("smt", other.to_owned()).read_fact(fact, value),
        },
        Fact::Unknown { reason } => Judged::unknown("smt", reason.clone()),
    };
    let pages = match &machine.huge_pages {
        fact @ Fact::Known { value, .. } => Judged::pass("thp", value.clone()).read_fact(fact, value),
        Fact::Unknown { reason } => Judged::unknown("thp", reason.clone()),
    };
    let bios = match &machine.bios {
        Fact::Known { value, .. } => {
            Judged::unknown("bios", format!("version {value}; Linux shows no setting"))
        }
        Fact::Unknown { .. } => Judged::unknown("bios", "Linux shows no setting"),
    };
    vec![smt, pages, bios]
}
