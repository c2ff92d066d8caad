//! `--fail-on` of `doctor`: which verdicts make the exit code 2.
//!
//! A verdict means that verdict or worse; a check or rule means that it warns or fails.

use crate::exit::usage;
use anyhow::Result;
use view::{GateMark, HostCheck, HostVerdict, Machines};

/// One condition as written.
pub(super) struct Condition {
    written: String,
    kind: Kind,
}

enum Kind {
    AtLeast(HostVerdict),
    Named(String),
}

/// Checks the flags.
pub(super) fn parse(flags: &[String]) -> Result<Vec<Condition>> {
    flags.iter().map(|flag| one(flag)).collect()
}

fn one(flag: &str) -> Result<Condition> {
    let verdict = [HostVerdict::Unknown, HostVerdict::Warn, HostVerdict::Fail]
        .into_iter()
        .find(|it| it.as_str().eq_ignore_ascii_case(flag));
    let named = study::doctor::is_check(flag);
    let kind = match verdict {
        Some(verdict) => Kind::AtLeast(verdict),
        None if named => Kind::Named(flag.to_owned()),
        None => {
            return Err(usage(
                format!("`--fail-on {flag}` is no verdict, check or rule"),
                "verdicts are unknown, warn and fail; docs/doctor.md lists the checks",
            ));
        }
    };
    Ok(Condition { written: flag.to_owned(), kind })
}

impl Condition {
    fn is_met_by(&self, check: &HostCheck) -> bool {
        if check.gate.as_ref().is_some_and(GateMark::is_accepted) {
            return false;
        }
        match &self.kind {
            Kind::AtLeast(verdict) => check.verdict >= *verdict,
            Kind::Named(name) => {
                check.verdict >= HostVerdict::Warn
                    && (check.check.eq_ignore_ascii_case(name) || check.rule.eq_ignore_ascii_case(name))
            }
        }
    }
}

/// Messages for the conditions that were met.
pub(super) fn verdicts(conditions: &[Condition], doctor: &Machines) -> Vec<String> {
    let checks: Vec<&HostCheck> = doctor.machines.iter().flat_map(|machine| &machine.checks).collect();
    conditions
        .iter()
        .filter_map(|condition| {
            let met: Vec<&str> =
                checks.iter().filter(|check| condition.is_met_by(check)).map(|check| check.check).collect();
            (!met.is_empty()).then(|| {
                format!("failed: `--fail-on {}`: {} checks: {}", condition.written, met.len(), met.join(", "))
            })
        })
        .collect()
}
