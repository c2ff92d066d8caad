//! SYS007: collectives that wait in the queues of kernels.

use crate::{Check, HostEvidence, Judged, Profile, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "SYS007",
    title: "collectives share hardware queues with kernels",
    severity: Severity::Warning,
    page: PAGE,
    check: Check::Host(check),
};

const PAGE: &str = r"## What it does
Looks at `TORCH_NCCL_HIGH_PRIORITY` and `GPU_MAX_HW_QUEUES` (`fsdp-queues`), which belong together.

## Why it is slow
Streams share a few hardware queues. A collective that waits behind a kernel in one queue does not overlap with it; FSDP lives from
this overlap. More than four streams share queues in any case.

## Evidence
Both variables of the environment. Without `--profile training` it is not known whether FSDP runs.

## What to do
With FSDP: `export TORCH_NCCL_HIGH_PRIORITY=1 GPU_MAX_HW_QUEUES=2`, which gives two queues to kernels and two to collectives.

## Source
The ROCm MI300X workload guide (multi-node FSDP and RCCL settings).
";

fn check(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    const CHECK: &str = "fsdp-queues";
    let environment = match evidence.environment(CHECK) {
        Ok(environment) => environment,
        Err(judged) => return vec![judged],
    };
    let priority = environment.is_on("TORCH_NCCL_HIGH_PRIORITY");
    let queues = environment.said("GPU_MAX_HW_QUEUES");
    let trains = evidence.is(Profile::Training) || evidence.is(Profile::Distributed);
    let read = |judged: Judged| {
        judged
            .read(
                evidence.environment_from("TORCH_NCCL_HIGH_PRIORITY"),
                environment.get("TORCH_NCCL_HIGH_PRIORITY").unwrap_or("not set"),
            )
            .read(evidence.environment_from("GPU_MAX_HW_QUEUES"), queues.unwrap_or("not set"))
    };
    vec![match (priority, queues) {
        (true, Some("2")) => read(Judged::pass(CHECK, "high priority, 2 queues")),
        (true, None) => read(Judged::warn(CHECK, "TORCH_NCCL_HIGH_PRIORITY without GPU_MAX_HW_QUEUES=2")),
        (false, Some("2")) => {
            read(Judged::warn(CHECK, "GPU_MAX_HW_QUEUES=2 without TORCH_NCCL_HIGH_PRIORITY=1"))
        }
        (_, Some(other)) => match other.parse::<u32>() {
            Ok(count) if count > 4 => {
                read(Judged::warn(CHECK, format!("{count} hardware queues: 4 or fewer are best")))
            }
            Ok(_) if trains => {
                read(Judged::warn(CHECK, format!("GPU_MAX_HW_QUEUES={other}: 2 is advised with FSDP")))
            }
            Ok(_) => Judged::unknown(
                CHECK,
                format!("GPU_MAX_HW_QUEUES={other}; whether FSDP runs is not known (--profile training)"),
            ),
            Err(_) => read(Judged::fail(CHECK, format!("GPU_MAX_HW_QUEUES=`{other}` is not a number"))),
        },
        (false, None) if trains => read(Judged::warn(CHECK, "neither is set; with FSDP both help")),
        (false, None) => {
            Judged::unknown(CHECK, "neither is set, and whether FSDP runs is not known (--profile training)")
        }
    }]
}
