//! SYS005: collectives of a part of the board.

use crate::{Check, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "SYS005",
    title: "a collective of a part of the board's GPUs",
    severity: Severity::Warning,
    page: PAGE,
    checks: &[
        Check::Host(super::jobs::collective_gpus),
        Check::Trace(|run| run.worst(super::traces::collective_gpus)),
        Check::Comm(super::traces::collective_gpus_of_tests),
    ],
    panels: &[],
};

const PAGE: &str = r"## What it does
Counts the GPUs a job uses: by the variables that select devices, by processes of a launcher, by `--tensor-parallel-size` of vLLM
(`collective-gpus`). Two to seven of a board of eight warn.
Of a timeline it counts the ranks of collectives, of rccl-tests those of
the run; for a run that is said and is no defect.

## Why it is slow
Every pair of GPUs has links of its own. Two GPUs use one seventh of each one's links, four use three sevenths.

## Evidence
The command line and the environment. Without a command nothing is known of collectives.
A timeline's collectives with their time.

## What to do
Use all eight GPUs of the board, or one without a collective.

## Source
The ROCm MI300X workload guide (use all eight GPUs; multi-GPU communications).
";
