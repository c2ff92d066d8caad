//! SYS008: few channels in collectives of end-to-end work.

use crate::{Check, HostEvidence, Judged, Profile, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "SYS008",
    title: "RCCL may use more channels in end-to-end work",
    severity: Severity::Warning,
    page: include_str!("sys008.md"),
    checks: &[Check::Host(check)],
    panels: &[],
};

fn check(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    const CHECK: &str = "nccl-channels";
    const NAME: &str = "NCCL_MIN_NCHANNELS";
    let environment = match evidence.environment(CHECK) {
        Ok(environment) => environment,
        Err(judged) => return vec![judged],
    };
    let from = evidence.environment_from(NAME);
    let of_profile = evidence.is(Profile::Training) || evidence.is(Profile::Distributed);
    let communicates =
        if of_profile { Some(true) } else { evidence.command.and_then(|command| command.communicates()) };
    vec![match environment.said(NAME) {
        Some(text) => match text.parse::<u32>() {
            Ok(channels) if channels >= 32 => {
                Judged::pass(CHECK, format!("at least {channels} channels")).read(from, text)
            }
            Ok(channels) => {
                Judged::warn(CHECK, format!("at least {channels} channels, fewer than 32")).read(from, text)
            }
            Err(_) => Judged::fail(CHECK, format!("`{text}` is not a number")).read(from, text),
        },
        None if communicates == Some(true) => Judged::warn(CHECK, "not set").read(from, "not set"),
        None if communicates == Some(false) => {
            Judged::pass(CHECK, "not set, and the command runs on one GPU").read(from, "not set")
        }
        None => Judged::unknown(
            CHECK,
            "not set, and whether the job communicates is not known (--profile training or distributed)",
        ),
    }]
}
