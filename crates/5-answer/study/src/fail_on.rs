//! `--fail-on`: which findings make the exit code 2.
//!
//! A severity matches that severity or worse. A rule matches whether its finding has an entry or is mentioned
//! by another finding of the same cause. Findings that a gate accepts do not count.

use view::{Finding, KernelRow, Severity};

/// One `--fail-on` with its matches so far.
pub struct FailOn {
    written: String,
    condition: Condition,
    findings: u64,
    kernels: u64,
}

enum Condition {
    Rule(&'static str),
    AtLeast(Severity),
}

impl FailOn {
    /// Parses a condition: a rule, or a severity, which includes worse ones.
    pub fn parse(flag: &str) -> Option<FailOn> {
        let severity =
            Severity::ALL.into_iter().find(|severity| severity.as_str().eq_ignore_ascii_case(flag));
        let rule = rules::all().iter().find(|rule| rule.id.eq_ignore_ascii_case(flag));
        let condition = match (severity, rule) {
            (Some(severity), _) => Condition::AtLeast(severity),
            (None, rule) => Condition::Rule(rule?.id),
        };
        Some(FailOn { written: flag.to_owned(), condition, findings: 0, kernels: 0 })
    }

    pub(crate) fn is_met_by(&self, severity: Severity, rule: &str) -> bool {
        match self.condition {
            Condition::Rule(wanted) => rule == wanted,
            Condition::AtLeast(least) => severity >= least,
        }
    }

    /// Number of matching rules among the rules whose findings were joined into others.
    fn joined(&self, rules: &[&'static str]) -> u64 {
        match self.condition {
            Condition::Rule(wanted) => rules.iter().filter(|rule| **rule == wanted).count() as u64,
            Condition::AtLeast(_) => 0,
        }
    }

    /// Counts the findings of one kernel of a recording.
    pub fn add_kernel(&mut self, findings: &[Finding]) {
        let before = self.findings;
        self.add_findings(findings);
        self.kernels += u64::from(self.findings > before);
    }

    /// Counts findings that are about no kernel.
    pub fn add_findings(&mut self, findings: &[Finding]) {
        let of = |f: &Finding| u64::from(self.is_met_by(f.severity, f.rule)) + self.joined(&f.joined);
        self.findings += findings.iter().filter(|it| !it.is_accepted()).map(of).sum::<u64>();
    }

    /// Counts the findings of one kernel.
    pub fn add(&mut self, row: &KernelRow) {
        let findings: u64 = row
            .findings
            .iter()
            .filter(|(severity, rule, _)| self.is_met_by(*severity, rule))
            .map(|(_, _, times)| u64::from(*times))
            .sum();
        let findings = findings + self.joined(&row.joined);
        self.findings += findings;
        self.kernels += u64::from(findings > 0);
    }

    /// Message if the condition was met.
    pub fn verdict(&self) -> Option<String> {
        let kernels = match self.kernels {
            0 => String::new(),
            kernels => format!(", kernels {kernels}"),
        };
        (self.findings > 0)
            .then(|| format!("failed: `--fail-on {}`: findings {}{kernels}", self.written, self.findings))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_joined_finding_counts_under_its_own_rule() {
        let mut finding = Finding::new("RES003", Severity::Warning, "few waves", "use fewer registers");
        finding.joined = vec!["RES009", "RES002"];
        for (flag, findings) in [
            ("RES003", 1),
            ("res009", 1),
            ("RES002", 1),
            ("RES005", 0),
            ("info", 1),
            ("warning", 1),
            ("severe", 0),
        ] {
            let mut condition = FailOn::parse(flag).unwrap();
            condition.add_kernel(std::slice::from_ref(&finding));
            assert_eq!((condition.findings, condition.kernels), (findings, findings), "{flag}");
        }
    }
}
