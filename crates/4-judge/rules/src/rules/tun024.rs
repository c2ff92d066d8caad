//! TUN024: orders of workgroups that do not fit the XCDs.

use crate::tunings::{TuningEvidence, at, outcome};
use crate::{Check, Outcome, Rule};
use arch::Model;
use tunedb::tensile_space::{BenchmarkGroup, Fork, ForkValue, groups};
use tunedb::{Format, Tunings};
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "TUN024",
    title: "no WorkGroupMapping of a space is a multiple of the XCDs",
    severity: Severity::Warning,
    page: include_str!("tun024.md"),
    checks: &[Check::Tunings(check)],
    panels: &[],
};

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let configurations: Vec<&Tunings<'_>> =
        evidence.files.iter().filter(|it| it.format == Format::TensileConfig).collect();
    if configurations.is_empty() {
        return Outcome::Silent;
    }
    let model = evidence.machine.and_then(|it| it.model.as_deref()).and_then(Model::by_name);
    let Some(model) = model else { return Outcome::needs("the GPU that the configuration is for (`--gpu`)") };
    let xcds = i64::from(model.xcds.value);
    let mut findings = Vec::new();
    for file in configurations.into_iter().filter(|_| xcds > 1) {
        findings.extend(groups(file.bytes).iter().flatten().filter_map(|it| one(file, it, xcds)));
    }
    outcome(findings)
}

fn one(file: &Tunings<'_>, group: &BenchmarkGroup, xcds: i64) -> Option<Finding> {
    let find = |name: &str| group.common.iter().chain(&group.forked).rfind(|it: &&Fork| it.name == name);
    let numbers = |it: &Fork| it.values.iter().filter_map(ForkValue::number).collect::<Vec<i64>>();
    let own = numbers(find("WorkGroupMapping")?);
    let deals = find("WorkGroupMappingXCC").map(numbers).unwrap_or_default().iter().any(|it| *it > 1);
    if own.is_empty() || deals || own.iter().any(|it| *it != 0 && it % xcds == 0) {
        return None;
    }
    let list: Vec<String> = own.iter().map(ToString::to_string).collect();
    let message = format!(
        "problem {}, group {}: WorkGroupMapping {} on a GPU of {xcds} XCDs",
        group.problem,
        group.group,
        list.join(", ")
    );
    let advice = format!("add {xcds}, {} and {} to the space", 2 * xcds, 3 * xcds);
    Some(RULE.finding(Severity::Warning, message, advice).with_places([at(file, group.line)]))
}
