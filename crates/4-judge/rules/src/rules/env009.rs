//! ENV009: transports of RCCL that are turned off.

use crate::{Check, HostEvidence, Judged, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "ENV009",
    title: "transports or channels of RCCL are turned off",
    severity: Severity::Severe,
    page: include_str!("env009.md"),
    checks: &[Check::Host(check)],
    panels: &[],
};

fn check(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    [transports(evidence), vec![forced(evidence)]].concat()
}

fn forced(evidence: &HostEvidence<'_>) -> Judged {
    const CHECK: &str = "nccl-forced";
    let environment = match evidence.environment(CHECK) {
        Ok(environment) => environment,
        Err(judged) => return judged,
    };
    let names = ["NCCL_PROTO", "NCCL_ALGO"];
    let set: Vec<(&str, &str)> =
        names.into_iter().filter_map(|name| Some((name, environment.said(name)?))).collect();
    if set.is_empty() {
        return Judged::pass(CHECK, "RCCL chooses protocol and algorithm")
            .read(evidence.environment_from("NCCL_PROTO, NCCL_ALGO"), "not set");
    }
    let words: Vec<String> = set.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let unset: Vec<&str> = set.iter().map(|(name, _)| *name).collect();
    let judged = Judged::warn(CHECK, format!("{}: forced for messages of every size", words.join(", ")))
        .set_by(format!("unset {}", unset.join(" ")));
    set.iter().fold(judged, |judged, (name, value)| judged.read(evidence.environment_from(name), *value))
}

fn transports(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    const CHECK: &str = "nccl-p2p";
    let environment = match evidence.environment(CHECK) {
        Ok(environment) => environment,
        Err(judged) => return vec![judged],
    };
    let switches = ["NCCL_P2P_DISABLE", "NCCL_P2P_DIRECT_DISABLE", "NCCL_SHM_DISABLE", "NCCL_IB_DISABLE"];
    let mut off: Vec<&str> = switches.into_iter().filter(|name| environment.is_on(name)).collect();
    if environment.said("NCCL_MAX_NCHANNELS").is_some() {
        off.push("NCCL_MAX_NCHANNELS");
    }
    if off.is_empty() {
        return vec![
            Judged::pass(CHECK, "every transport may be used")
                .read(evidence.environment_from("NCCL_*_DISABLE"), "not set"),
        ];
    }
    let text: Vec<String> =
        off.iter().map(|name| format!("{name}={}", environment.get(name).unwrap_or_default())).collect();
    let judged = Judged::fail(CHECK, text.join(", ")).set_by(format!("unset {}", off.join(" ")));
    vec![off.iter().fold(judged, |judged, name| {
        judged.read(evidence.environment_from(name), environment.get(name).unwrap_or_default())
    })]
}
