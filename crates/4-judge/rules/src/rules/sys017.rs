//! SYS017: settings of the ROCr runtime that depend on firmware.

use crate::{Check, HostEvidence, Judged, Rule};
use system::Fact;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "SYS017",
    title: "runtime settings that old firmware needs",
    severity: Severity::Warning,
    page: include_str!("sys017.md"),
    checks: &[Check::Host(check)],
    panels: &[],
};

/// The first firmware of MI300X that hands scratch memory over without stopping.
const FIRMWARE: u64 = 177;

fn check(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    vec![scratch(evidence), affinity(evidence)]
}

fn scratch(evidence: &HostEvidence<'_>) -> Judged {
    const CHECK: &str = "scratch-reclaim";
    const NAME: &str = "HSA_NO_SCRATCH_RECLAIM";
    let environment = match evidence.environment(CHECK) {
        Ok(environment) => environment,
        Err(judged) => return judged,
    };
    if environment.is_on(NAME) {
        return Judged::pass(CHECK, "scratch memory stays with its queue")
            .read(evidence.environment_from(NAME), "1");
    }
    let gpus = evidence.machine.known_gpus();
    let Some(gpu) = gpus.first() else {
        return Judged::unknown(CHECK, "not set, and the firmware's version is not known");
    };
    // Numbers of firmware count per generation; the bound is of this one.
    if !gpu.target.get().is_some_and(|target| is_mi300(target)) {
        return Judged::unknown(CHECK, "not set; the bound of the firmware is known for MI300X only");
    }
    match &gpu.mec_firmware {
        fact @ Fact::Known { value, .. } if *value < FIRMWARE => {
            Judged::warn(CHECK, format!("not set, with MEC firmware {value}")).read_fact(fact, value)
        }
        fact @ Fact::Known { value, .. } => {
            Judged::pass(CHECK, format!("MEC firmware {value} needs no setting")).read_fact(fact, value)
        }
        Fact::Unknown { reason } => {
            Judged::unknown(CHECK, format!("not set, and the firmware's version is not known: {reason}"))
        }
    }
}

fn is_mi300(target: &str) -> bool {
    arch::Target::by_name(target)
        .is_some_and(|it| arch::Model::by_name("mi300x").is_some_and(|model| model.target().name == it.name))
}

fn affinity(evidence: &HostEvidence<'_>) -> Judged {
    const CHECK: &str = "cpu-affinity-debug";
    const NAME: &str = "HSA_OVERRIDE_CPU_AFFINITY_DEBUG";
    match evidence.environment(CHECK) {
        Err(judged) => judged,
        Ok(environment) => match environment.said(NAME) {
            Some("0") => Judged::pass(CHECK, "threads keep the affinity of the process")
                .read(evidence.environment_from(NAME), "0"),
            Some(value) => {
                Judged::unknown(CHECK, format!("set to {value}: whether a benchmark asks for 0 is not known"))
            }
            None => Judged::unknown(CHECK, "not set: whether a benchmark asks for 0 is not known"),
        },
    }
}
