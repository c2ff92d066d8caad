//! SYS006: several GPUs driven by one process.

use crate::{Check, HostEvidence, Judged, Rule};
use system::command::Kind;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "SYS006",
    title: "one process drives several GPUs",
    severity: Severity::Warning,
    page: PAGE,
    check: Check::Host(check),
};

const PAGE: &str = r"## What it does
Looks for commands that give several GPUs to one process: `-g N` of rccl-tests, a Python training script on several visible GPUs
without a launcher (`gpus-per-process`).

## Why it is slow
The runtime serialises launches on several GPUs of one process, so their kernels start one after the other.

## Evidence
The command line, and the number of GPUs that the environment or the machine shows.

## What to do
One process per GPU: `torchrun --nproc-per-node=8`, `mpirun -np 8 all_reduce_perf -g 1`.

## Source
The ROCm MI300X workload guide (use one-process-per-GPU mode).
";

fn check(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    const CHECK: &str = "gpus-per-process";
    let Some(command) = evidence.command else {
        return Vec::new();
    };
    if let Some(stage) = command.stage(Kind::RcclTests) {
        let gpus: u64 = stage.value(&["-g", "--ngpus"]).and_then(|it| it.parse().ok()).unwrap_or(1);
        return vec![if gpus > 1 {
            Judged::warn(CHECK, format!("{gpus} GPUs in one process")).read("-g", gpus)
        } else {
            Judged::pass(CHECK, "one GPU per process").read("-g", gpus)
        }];
    }
    if command.stage(Kind::VllmServe).is_some() {
        return vec![Judged::pass(CHECK, "vLLM starts a process per GPU")];
    }
    match command.processes() {
        Some(count) if count > 1 => {
            vec![Judged::pass(CHECK, format!("{count} processes")).read("the launcher", count)]
        }
        _ => vec![Judged::unknown(CHECK, "how many GPUs the program uses does not follow from the command")],
    }
}
