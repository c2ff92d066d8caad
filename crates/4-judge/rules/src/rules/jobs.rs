//! Host checks of rules whose other evidence is a trace: the same facts from command lines and environments.
//!
//! The pages of these rules are in their own files; this file has only the host checks.

use crate::{HostCheck, HostEvidence, Judged, Profile};
use system::command::Kind;

/// Rule and host check.
pub(crate) const CHECKS: [(&str, HostCheck); 5] = [
    ("ENV005", rotating_buffer),
    ("LCH006", kernel_arguments),
    ("SYS005", collective_gpus),
    ("SYS006", gpus_per_process),
    ("SYS007", hardware_queues),
];

/// MiB of the last-level cache of MI300X and MI350X.
const CACHE_MIB: u64 = 256;

/// Buffers of GEMM benchmarks.
pub(crate) fn rotating_buffer(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    const CHECK: &str = "hipblaslt-rotating";
    let Some(stage) = evidence.command.and_then(|command| command.stage(Kind::HipblasltBench)) else {
        return Vec::new();
    };
    let rotating = stage.value(&["--rotating", "--rotating_buffer"]);
    let judged = match rotating.map(str::parse::<u64>) {
        None => Judged::fail(CHECK, "no --rotating: operands stay in the cache"),
        Some(Ok(size)) if size >= CACHE_MIB => Judged::pass(CHECK, format!("{size} MiB rotate")),
        Some(Ok(size)) => Judged::warn(
            CHECK,
            format!("--rotating {size} MiB is less than the last-level cache of {CACHE_MIB} MiB"),
        ),
        Some(Err(_)) => Judged::fail(CHECK, "--rotating takes a number of MiB"),
    };
    vec![judged.read("--rotating", rotating.unwrap_or("absent"))]
}

/// Memory that holds kernel arguments.
pub(crate) fn kernel_arguments(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    const CHECK: &str = "dev-kernarg";
    const NAME: &str = "HIP_FORCE_DEV_KERNARG";
    let environment = match evidence.environment(CHECK) {
        Ok(environment) => environment,
        Err(judged) => return vec![judged],
    };
    let from = evidence.environment_from(NAME);
    vec![match environment.said(NAME) {
        Some(_) if environment.is_on(NAME) => {
            Judged::pass(CHECK, "arguments in device memory").read(from, "1")
        }
        Some(value) => {
            Judged::fail(CHECK, format!("{NAME}={value}: arguments in host memory")).read(from, value)
        }
        None => match evidence.machine.rocm.get().and_then(|text| version(text).map(|it| (text, it))) {
            Some((text, version)) if version >= (6, 2) => {
                Judged::pass(CHECK, format!("not set; ROCm {text} does so by default"))
                    .read_fact(&evidence.machine.rocm, text)
            }
            Some((text, _)) => {
                Judged::warn(CHECK, format!("not set; ROCm {text} keeps arguments in host memory"))
                    .read_fact(&evidence.machine.rocm, text)
            }
            None => Judged::unknown(CHECK, "not set, and the version of ROCm is not known"),
        },
    }]
}

/// Major and minor of `6.3.2-66`.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.trim().split(['.', '-']);
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// GPUs of a collective.
pub(crate) fn collective_gpus(evidence: &HostEvidence<'_>) -> Vec<Judged> {
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

/// GPUs of one process.
pub(crate) fn gpus_per_process(evidence: &HostEvidence<'_>) -> Vec<Judged> {
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

/// Queues of collectives and kernels.
pub(crate) fn hardware_queues(evidence: &HostEvidence<'_>) -> Vec<Judged> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_numbers() {
        for (text, expected) in
            [("6.3.2-66", Some((6, 3))), ("6.10", Some((6, 10))), ("x", None), ("6", None)]
        {
            assert_eq!(version(text), expected);
        }
        assert!(version("6.10") > version("6.2"));
    }
}
