//! LCH006: kernel arguments in host memory.

use crate::{Check, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "LCH006",
    title: "kernel arguments are read from host memory",
    severity: Severity::Warning,
    page: PAGE,
    checks: &[
        Check::Host(super::jobs::kernel_arguments),
        Check::Trace(|run| run.worst(super::traces::kernel_arguments)),
    ],
    panels: &[6, 7],
};

const PAGE: &str = r"## What it does
Looks at `HIP_FORCE_DEV_KERNARG` of the job's environment and at the version of ROCm (`dev-kernarg`).
Of a timeline whose environment was recorded (rocpd) it fires where gaps of at
least 1 % of the time end with a kernel that was launched already.

## Why it is slow
A kernel begins with loads of its arguments. From host memory they take 2 to 3 us, which short kernels do not hide; a decode step of
several kernels loses about 6 us.

## Evidence
The variable; without it the version of ROCm, which from 6.2 on places arguments in device memory by itself. Not set, and no version: unknown.
Idle time of a timeline with a launch under way.

## What to do
`export HIP_FORCE_DEV_KERNARG=1` in the shell that starts the job. `env_check.sh set` of the Triton wiki exports it in a shell of its
own, which ends: the job does not get it.

## Source
The ROCm MI300X workload guide, the ROCm Triton wiki and kernel guide; release notes of ROCm 6.2.
";
