//! SYS007: collectives that wait in the queues of kernels.

use crate::{Check, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "SYS007",
    title: "collectives share hardware queues with kernels",
    severity: Severity::Warning,
    page: PAGE,
    checks: &[
        Check::Host(super::jobs::hardware_queues),
        Check::Trace(|run| run.worst(super::traces::streams)),
    ],
    panels: &[],
};

const PAGE: &str = r"## What it does
Looks at `TORCH_NCCL_HIGH_PRIORITY` and `GPU_MAX_HW_QUEUES` (`fsdp-queues`), which belong together.
Of a timeline it counts the streams or queues of
a GPU on which kernels ran: more than four beside communication.

## Why it is slow
Streams share a few hardware queues. A collective that waits behind a kernel in one queue does not overlap with it; FSDP lives from
this overlap. More than four streams share queues in any case.

## Evidence
Both variables of the environment. Without `--profile training` it is not known whether FSDP runs.
A timeline's streams.

## What to do
With FSDP: `export TORCH_NCCL_HIGH_PRIORITY=1 GPU_MAX_HW_QUEUES=2`, which gives two queues to kernels and two to collectives.

## Source
The ROCm MI300X workload guide (multi-node FSDP and RCCL settings).
";
