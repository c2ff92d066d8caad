//! Findings of an earlier run.

use super::Key;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use view::{BASELINE_SCHEMA, Baseline, BaselineFinding, Finding, GateState, Severity};

/// Numbers of findings that tell whether one got worse.
const VALUES: &str = include_str!("../../data/gate-values.tsv");

struct Row {
    rule: &'static str,
    evidence: &'static str,
    /// A larger number is worse.
    up: bool,
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let lines = VALUES.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines
        .filter_map(|line| {
            let mut cells = line.split('\t');
            let (rule, evidence, worse) = (cells.next()?, cells.next()?, cells.next()?);
            Some(Row { rule, evidence, up: worse == "more" })
        })
        .collect()
});

/// Numbers of a finding that are compared.
fn values(finding: &Finding) -> impl Iterator<Item = (&'static Row, f64)> + '_ {
    ROWS.iter().filter(|row| row.rule == finding.rule).filter_map(|row| {
        let evidence = finding.evidence.iter().find(|it| it.what == row.evidence)?;
        let number = evidence.value.split(' ').next()?.parse().ok()?;
        Some((row, number))
    })
}

/// Findings of this run with one identity.
pub(super) struct Seen {
    pub(super) count: u64,
    pub(super) severity: Severity,
    pub(super) values: BTreeMap<String, f64>,
}

impl Default for Seen {
    fn default() -> Self {
        Seen { count: 0, severity: Severity::Info, values: BTreeMap::new() }
    }
}

impl Seen {
    pub(super) fn add(&mut self, finding: &Finding) {
        self.count += 1;
        self.severity = self.severity.max(finding.severity);
        for (row, number) in values(finding) {
            let worst = self.values.entry(row.evidence.to_owned()).or_insert(number);
            *worst = if row.up { worst.max(number) } else { worst.min(number) };
        }
    }
}

/// Findings of a baseline by identity.
pub(super) struct Known {
    findings: BTreeMap<Key, BaselineFinding>,
}

impl Known {
    /// Reads a baseline.
    pub(super) fn parse(text: &str) -> Result<Known, String> {
        let baseline: Baseline = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if baseline.schema != BASELINE_SCHEMA {
            return Err(format!("its schema is `{}`, not `{BASELINE_SCHEMA}`", baseline.schema));
        }
        let of = |it: BaselineFinding| {
            (Key { rule: it.rule.clone(), kernel: it.kernel.clone(), place: it.place.clone() }, it)
        };
        Ok(Known { findings: baseline.findings.into_iter().map(of).collect() })
    }

    /// Judges the finding that is number `count` of its identity; the reason says what got worse.
    pub(super) fn judge(&self, key: &Key, count: u64, finding: &Finding) -> (GateState, String) {
        let Some(known) = self.findings.get(key) else { return (GateState::New, String::new()) };
        if count > known.count {
            return (GateState::Worse, format!("{count} findings, {} before", known.count));
        }
        if !severities_up_to(&known.severity).any(|it| it == finding.severity) {
            return (GateState::Worse, format!("{}, {} before", finding.severity.as_str(), known.severity));
        }
        for (row, number) in values(finding) {
            let Some(before) = known.values.get(row.evidence) else { continue };
            if if row.up { number > *before } else { number < *before } {
                return (GateState::Worse, format!("{} {number}, {before} before", row.evidence));
            }
        }
        (GateState::Known, String::new())
    }

    /// Findings that this run lacks, in words.
    pub(super) fn gone(&self, found: &BTreeMap<Key, Seen>) -> Vec<String> {
        let is_gone = |(key, known): &(&Key, &BaselineFinding)| {
            found.get(key).is_none_or(|seen| seen.count < known.count)
        };
        self.findings.iter().filter(is_gone).map(|(_, known)| known.words()).collect()
    }
}

/// Severities that are at most as bad as the one of this name; all for an unknown name.
fn severities_up_to(name: &str) -> impl Iterator<Item = Severity> {
    let most = Severity::ALL.into_iter().find(|it| it.as_str() == name).unwrap_or(Severity::Severe);
    Severity::ALL.into_iter().filter(move |it| *it <= most)
}
