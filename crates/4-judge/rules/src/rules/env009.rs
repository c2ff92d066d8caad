//! ENV009: transports of RCCL that are turned off.

use crate::{Check, HostEvidence, Judged, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "ENV009",
    title: "transports or channels of RCCL are turned off",
    severity: Severity::Severe,
    page: PAGE,
    checks: &[Check::Host(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Looks at `NCCL_P2P_DISABLE`, `NCCL_P2P_DIRECT_DISABLE`, `NCCL_SHM_DISABLE`, `NCCL_IB_DISABLE` and `NCCL_MAX_NCHANNELS` (`nccl-p2p`), and at
`NCCL_PROTO` and `NCCL_ALGO` (`nccl-forced`).

## Why it is slow
Without copies between GPUs all data goes through host memory, at a tenth of the rate of XGMI. Without InfiniBand nodes talk by
sockets. A bound on channels bounds the bandwidth. RCCL chooses protocol and algorithm by the size of a message: a forced one is slow for
other sizes, Simple for small messages, LL for large ones.

## Evidence
The variables of the environment.

## What to do
Unset them. They are set to get around a fault; ACS (SYS002) and a missing `iommu=pt` (SYS010) are its usual reasons.

## Source
RCCL documentation (environment variables).
";

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
