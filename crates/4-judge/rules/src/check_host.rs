//! Runs every rule on a host, and adds to each verdict what the table of checks says of it.

use crate::host::{HostEvidence, Judged, Profile};
use crate::{HostCheck as RuleCheck, Rule, registry, rules};
use sorting::Sort;
use std::sync::LazyLock;
use view::{Finding, HostCheck, HostVerdict, Severity};

/// A row of `data/checks.tsv`.
struct Row {
    check: &'static str,
    rule: &'static str,
    title: &'static str,
    wanted: &'static str,
    why: &'static str,
    profiles: Vec<&'static str>,
    source: &'static str,
    set: Option<&'static str>,
    undo: Option<&'static str>,
    find_out: Option<&'static str>,
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let lines = include_str!("../data/checks.tsv").lines();
    lines.filter(|line| !line.starts_with('#') && !line.starts_with("id\t")).filter_map(row).collect()
});

fn row(line: &'static str) -> Option<Row> {
    let fields: Vec<&'static str> = line.split('\t').collect();
    let [check, rule, title, wanted, why, profiles, source, set, undo, find_out] = fields[..] else {
        return None;
    };
    let said = |text: &'static str| (text != "-").then_some(text);
    Some(Row {
        check,
        rule,
        title,
        wanted,
        why,
        profiles: profiles.split(' ').collect(),
        source,
        set: said(set),
        undo: said(undo),
        find_out: said(find_out),
    })
}

/// Names of all checks, in the order of the table.
pub fn check_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    ROWS.iter().map(|row| (row.check, row.rule))
}

/// All checks on a host that matter for the work, worst first.
pub fn check_host(evidence: &HostEvidence<'_>) -> Vec<HostCheck> {
    let mut checks: Vec<HostCheck> = registry::all()
        .iter()
        .filter_map(host_check)
        .flat_map(|check| check(evidence))
        .filter_map(|judged| described(judged, evidence.profile))
        .collect();
    // Stable: within a verdict the order of rules stays.
    checks.in_order_by_key(|check| HostVerdict::ALL.iter().position(|it| *it == check.verdict));
    checks
}

/// The check of hosts that belongs to a rule, also where the rule's own evidence is something else.
fn host_check(rule: &Rule) -> Option<RuleCheck> {
    rule.host_check()
        .or_else(|| rules::jobs::CHECKS.iter().find(|(id, _)| *id == rule.id).map(|(_, check)| *check))
}

/// A verdict with the table's text for the check; `None` if the workload does not need the check.
fn described(judged: Judged, profile: Option<Profile>) -> Option<HostCheck> {
    let row = ROWS.iter().find(|row| row.check == judged.check)?;
    if profile.is_some_and(|it| !row.profiles.contains(&it.as_str())) {
        return None;
    }
    let bad = matches!(judged.verdict, HostVerdict::Fail | HostVerdict::Warn);
    Some(HostCheck {
        check: row.check,
        rule: row.rule,
        title: row.title,
        verdict: judged.verdict,
        gate: None,
        message: judged.message,
        readings: judged.readings,
        wanted: row.wanted,
        why: row.why,
        profiles: row.profiles.clone(),
        source: row.source,
        set: bad.then(|| judged.set.or_else(|| row.set.map(str::to_owned))).flatten(),
        undo: if bad { row.undo.map(str::to_owned) } else { None },
        find_out: if judged.verdict == HostVerdict::Unknown { row.find_out } else { None },
    })
}

/// Failed checks, as findings of their rules.
pub fn host_findings(checks: &[HostCheck]) -> Vec<Finding> {
    let of = |check: &HostCheck| {
        let severity = match check.verdict {
            HostVerdict::Fail => Severity::Severe,
            HostVerdict::Warn => Severity::Warning,
            HostVerdict::Pass | HostVerdict::Unknown => return None,
        };
        let advice = check.set.clone().unwrap_or_else(|| format!("wanted: {}", check.wanted));
        let finding =
            Finding::new(check.rule, severity, format!("{}: {}", check.check, check.message), advice);
        Some(
            check
                .readings
                .iter()
                .fold(finding, |finding, it| finding.with_evidence(it.from.clone(), &it.value)),
        )
    };
    checks.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use system::{Machine, Tree};

    #[test]
    fn the_table_names_rules_that_judge_hosts() {
        let lines = include_str!("../data/checks.tsv").lines().filter(|it| !it.starts_with('#'));
        assert_eq!(ROWS.len() + 1, lines.count());
        let names: BTreeSet<&str> = check_names().map(|(check, _)| check).collect();
        assert_eq!(names.len(), ROWS.len(), "a check twice");
        for row in ROWS.iter() {
            let rule =
                crate::by_id(row.rule).unwrap_or_else(|| panic!("{}: no rule {}", row.check, row.rule));
            assert!(host_check(rule).is_some(), "{}: {} judges no host", row.check, row.rule);
            for profile in &row.profiles {
                assert!(Profile::ALL.iter().any(|it| it.as_str() == *profile), "{}: {profile}", row.check);
            }
        }
    }

    #[test]
    fn nothing_read_is_nothing_passed() {
        let machine = Machine::read(&Tree::new("nothing"), &[]);
        for profile in Profile::ALL.into_iter().map(Some).chain([None]) {
            let checks = check_host(&HostEvidence { machine: &machine, command: None, profile });
            for check in &checks {
                assert_eq!(check.verdict, HostVerdict::Unknown, "{}: {}", check.check, check.message);
                assert!(check.find_out.is_some() && !check.message.is_empty(), "{}", check.check);
            }
            if profile.is_none() {
                assert!(checks.len() >= 35, "{}", checks.len());
            }
        }
    }
}
