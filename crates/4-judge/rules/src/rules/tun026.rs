//! TUN026: benchmarks on data that make the GPU faster.

use crate::tunings::{TuningEvidence, at, outcome};
use crate::{Check, Outcome, Rule};
use tunedb::tensile_space::groups;
use tunedb::{Format, Tunings};
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "TUN026",
    title: "kernels are measured on zeros or equal numbers",
    severity: Severity::Warning,
    page: include_str!("tun026.md"),
    checks: &[Check::Tunings(check)],
    panels: &[],
};

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let files = evidence.files.iter().filter(|it| it.format == Format::TensileConfig);
    outcome(files.filter_map(one).collect())
}

fn one(file: &Tunings<'_>) -> Option<Finding> {
    let all = groups(file.bytes).ok()?;
    let group = all.first()?;
    let word = |value: Option<u64>| match value? {
        0 => Some("zeros"),
        1 => Some("ones"),
        _ => None,
    };
    let named = ["A", "B"].into_iter().zip(group.data);
    let equal: Vec<String> =
        named.filter_map(|(name, value)| Some(format!("factor {name} is {}", word(value)?))).collect();
    if equal.is_empty() {
        return None;
    }
    let message = equal.join(", ");
    let found = RULE.finding(Severity::Warning, message, "measure on random data");
    Some(found.with_cost("20 % and more that real data does not reach").with_places([at(file, 0)]))
}
