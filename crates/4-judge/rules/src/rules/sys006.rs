//! SYS006: several GPUs driven by one process.

use crate::{Check, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "SYS006",
    title: "one process drives several GPUs",
    severity: Severity::Warning,
    page: PAGE,
    checks: &[
        Check::Host(super::jobs::gpus_per_process),
        Check::Trace(|run| run.worst(super::traces::gpus_per_process)),
        Check::Comm(super::traces::gpus_per_process_of_tests),
    ],
    panels: &[],
};

const PAGE: &str = r"## What it does
Looks for commands that give several GPUs to one process: `-g N` of rccl-tests, a Python training script on several visible GPUs
without a launcher (`gpus-per-process`).
Of a timeline it counts the GPUs that calls of one process launched on while
communication ran, of rccl-tests the processes of the run.

## Why it is slow
The runtime serialises launches on several GPUs of one process, so their kernels start one after the other.

## Evidence
The command line, and the number of GPUs that the environment or the machine shows.
A timeline's launches by process and GPU.

## What to do
One process per GPU: `torchrun --nproc-per-node=8`, `mpirun -np 8 all_reduce_perf -g 1`.

## Source
The ROCm MI300X workload guide (use one-process-per-GPU mode).
";
