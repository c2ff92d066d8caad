//! SYS008: few channels in collectives of end-to-end work.

use crate::{Check, HostEvidence, Judged, Profile, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "SYS008",
    title: "RCCL may use more channels in end-to-end work",
    severity: Severity::Warning,
    page: PAGE,
    checks: &[Check::Host(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Looks at `NCCL_MIN_NCHANNELS` of the environment (`nccl-channels`).

## Why it is slow
A collective moves data by as many workgroups as it has channels. In end-to-end work, where kernels run beside it, more channels
may carry more.

## Evidence
`NCCL_MIN_NCHANNELS`. Training, distributed work and benchmarks of collectives are asked for it: elsewhere an unset variable is not judged.

## What to do
`export NCCL_MIN_NCHANNELS=112` with eight GPUs of a board, 32 with fewer. Measure: channels take compute units from kernels.

## Source
The ROCm MI300X workload guide (RCCL in E2E workloads), the vLLM guide for AMD GPUs, RCCL usage tips.
";

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
