//! SRC001: a configuration that is faster than the one in use.

use crate::{Check, Outcome, Rule, SearchEvidence};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "SRC001",
    title: "a configuration is faster than the one in use",
    severity: Severity::Severe,
    page: include_str!("src001.md"),
    checks: &[Check::Search(check)],
    panels: &[],
};

/// Gain below which nothing is reported.
const LEAST: f64 = 1.02;
/// Gain from which it is a warning.
const WARNING: f64 = 1.05;
/// Gain from which it is severe.
const SEVERE: f64 = 1.25;

fn check(evidence: &SearchEvidence<'_>) -> Outcome {
    let Some(gain) = evidence.gain else {
        return Outcome::needs("the configuration in use (`[start]`), and its time");
    };
    let sure = evidence.least_gain.unwrap_or(gain);
    if sure < LEAST {
        return Outcome::Silent;
    }
    let severity = match sure {
        sure if sure < WARNING => Severity::Info,
        sure if sure < SEVERE => Severity::Warning,
        _ => Severity::Severe,
    };
    Outcome::Findings(vec![
        RULE.finding(
            severity,
            format!("a configuration is {:.1} % faster than the one in use", 100.0 * (gain - 1.0)),
            format!("use {}", evidence.winner),
        )
        .with_cost(format!("{:.1} % of its time", 100.0 * (1.0 - 1.0 / gain)))
        .with_evidence("in use", evidence.start),
    ])
}
