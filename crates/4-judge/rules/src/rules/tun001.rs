//! TUN001: versions by which the loader rejects the whole file.
//!
//! One differing string is enough for the loader to drop the whole file with only a warning.

use crate::tunings::{TuningEvidence, at, outcome};
use crate::{Check, Outcome, Rule};
use tunedb::{Format, Tunings, tunableop::VALIDATORS};
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "TUN001",
    title: "versions by which the loader rejects the whole file",
    severity: Severity::Severe,
    page: include_str!("tun001.md"),
    checks: &[Check::Tunings(check)],
    panels: &[],
};

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let mut findings = Vec::new();
    for file in evidence.files {
        match file.format {
            Format::TunableOp => names(file, &mut findings),
            Format::TuningFile if file.version("Git Version").is_none() => {
                let message =
                    "no `Git Version` on the first line: hipBLASLt cannot tell which build the rows are for";
                findings.push(finding(
                    file,
                    1,
                    message.to_owned(),
                    "write the file with HIPBLASLT_TUNING_FILE again",
                ));
            }
            _ => {}
        }
        values(evidence, file, &mut findings);
    }
    outcome(findings)
}

fn finding(file: &Tunings<'_>, line: u32, message: String, advice: &str) -> Finding {
    RULE.finding(Severity::Severe, message, advice).with_places([at(file, line)])
}

/// PyTorch compares the set of names in both directions.
fn names(file: &Tunings<'_>, findings: &mut Vec<Finding>) {
    // A byte-order mark or carriage returns hide names and values; that is another finding.
    let has = |key: &str| file.versions.iter().any(|it| it.key == key);
    let old = file.version("PT_VERSION").is_some_and(|it| it.starts_with("2.2") || it.starts_with("2.3"));
    let mut missing: Vec<&str> = VALIDATORS.into_iter().filter(|key| !has(key)).collect();
    missing.retain(|key| match *key {
        "ROCM_VERSION" => !has("HIP_VERSION"),
        "HIP_VERSION" => false,
        "GCN_ARCH_NAME" => !old,
        _ => true,
    });
    let advice = "tune again with this PyTorch; a name added by hand makes it use kernels of another build";
    for key in missing {
        let key = if key == "ROCM_VERSION" { "ROCM_VERSION` or `HIP_VERSION" } else { key };
        let line = file.versions.last().map_or(1, |it| it.line);
        findings.push(finding(
            file,
            line,
            format!("`{key}` is missing: PyTorch rejects the whole file"),
            advice,
        ));
    }
    for version in file.versions.iter().filter(|it| !VALIDATORS.contains(&it.key.as_ref())) {
        let message = format!("PyTorch knows no validator `{}`: it rejects the whole file", version.key);
        let advice = "remove the line if this PyTorch has no such validator";
        findings.push(finding(file, version.line, message, advice));
    }
}

fn values(evidence: &TuningEvidence<'_>, file: &Tunings<'_>, findings: &mut Vec<Finding>) {
    let Some(machine) = evidence.machine else { return };
    for version in &file.versions {
        let own = version.value.trim_end();
        let differs = match (version.key.as_ref(), &machine.target) {
            ("GCN_ARCH_NAME", Some(target)) => {
                own.split(':').next().filter(|it| it != target).map(|_| target.clone())
            }
            (key, _) => machine.versions.get(key).filter(|wanted| *wanted != own).cloned(),
        };
        if let Some(wanted) = differs {
            let message = format!(
                "`{}` is `{own}` and the machine has `{wanted}`: the loader rejects the file",
                version.key
            );
            findings.push(finding(
                file,
                version.line,
                message,
                "tune again on this machine, or use the versions of the file",
            ));
        }
    }
}
