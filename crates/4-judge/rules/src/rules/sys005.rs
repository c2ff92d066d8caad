//! SYS005: collectives of a part of the board.

use crate::{Check, HostEvidence, Judged, Rule};
use system::command::Kind;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "SYS005",
    title: "a collective of a part of the board's GPUs",
    severity: Severity::Warning,
    page: PAGE,
    check: Check::Host(check),
};

const PAGE: &str = r"## What it does
Counts the GPUs a job uses: by the variables that select devices, by processes of a launcher, by `--tensor-parallel-size` of vLLM
(`collective-gpus`). Two to seven of a board of eight warn.

## Why it is slow
Every pair of GPUs has links of its own. Two GPUs use one seventh of each one's links, four use three sevenths.

## Evidence
The command line and the environment. Without a command nothing is known of collectives.

## What to do
Use all eight GPUs of the board, or one without a collective.

## Source
The ROCm MI300X workload guide (use all eight GPUs; multi-GPU communications).
";

fn check(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    const CHECK: &str = "collective-gpus";
    let Some(command) = evidence.command else {
        return Vec::new();
    };
    let tensor = command.stage(Kind::VllmServe).map(|stage| {
        let size = stage.value(&["--tensor-parallel-size", "-tp"]).and_then(|it| it.parse::<u64>().ok());
        ("--tensor-parallel-size", size.unwrap_or(1))
    });
    let per_process =
        command.stage(Kind::RcclTests).and_then(|stage| stage.value(&["-g", "--ngpus"])?.parse::<u64>().ok());
    let processes = command
        .processes()
        .map(|count| ("processes of the launcher", count.saturating_mul(per_process.unwrap_or(1))));
    let Some((what, gpus)) = tensor.or(processes).or(per_process.map(|count| ("-g", count))) else {
        return vec![Judged::unknown(CHECK, "the command does not say how many GPUs it uses")];
    };
    vec![match gpus {
        1 => Judged::pass(CHECK, "one GPU, no collective").read(what, gpus),
        2..=7 => {
            Judged::warn(CHECK, format!("{gpus} GPUs use {} of 7 links of each", gpus - 1)).read(what, gpus)
        }
        _ => Judged::pass(CHECK, format!("{gpus} GPUs")).read(what, gpus),
    }]
}
