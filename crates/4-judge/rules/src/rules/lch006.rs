//! LCH006: kernel arguments in host memory.

use crate::{Check, HostEvidence, Judged, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "LCH006",
    title: "kernel arguments are read from host memory",
    severity: Severity::Warning,
    page: PAGE,
    check: Check::Host(check),
};

const PAGE: &str = r"## What it does
Looks at `HIP_FORCE_DEV_KERNARG` of the job's environment and at the version of ROCm (`dev-kernarg`).

## Why it is slow
A kernel begins with loads of its arguments. From host memory they take 2 to 3 us, which short kernels do not hide; a decode step of
several kernels loses about 6 us.

## Evidence
The variable; without it the version of ROCm, which from 6.2 on places arguments in device memory by itself. Not set, and no version: unknown.

## What to do
`export HIP_FORCE_DEV_KERNARG=1` in the shell that starts the job. `env_check.sh set` of the Triton wiki exports it in a shell of its
own, which ends: the job does not get it.

## Source
The ROCm MI300X workload guide, the ROCm Triton wiki and kernel guide; release notes of ROCm 6.2.
";

fn check(evidence: &HostEvidence<'_>) -> Vec<Judged> {
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
