//! Which findings make the exit code 2: conditions of `--fail-on`, a baseline of known findings, exceptions.
//!
//! A finding is identified by rule, kernel and place, never by line or number, so that unrelated changes do not
//! make it new. Several findings with one identity are counted.

mod baseline;
mod exceptions;
#[cfg(test)]
mod tests;

use crate::FailOn;
use baseline::{Known, Seen};
pub use exceptions::{ConfigError, Exceptions};
use rules::{Check, Rule};
use std::collections::BTreeMap;
use view::{
    Baseline, BaselineFinding, Finding, GateMark, GateState, GateSummary, HostCheck, HostVerdict, KernelCard,
    KernelRow,
};

/// Findings that got worse or are new, named in messages at most.
const NAMED: usize = 10;

/// Kind of evidence that a command judges: it decides which rules can have findings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Judges {
    /// Code and Triton's IR.
    #[default]
    Code,
    /// Recordings.
    Recordings,
    /// Machines.
    Machines,
    /// Timelines.
    Timelines,
    /// Communication.
    Communication,
    /// Tuning databases.
    Tunings,
    /// Shapes of launches.
    Launches,
    /// Searches of tuning spaces.
    Searches,
    /// Variants of a kernel.
    Candidates,
}

impl Judges {
    /// True if a rule judges this kind of evidence.
    fn has(self, rule: &Rule) -> bool {
        let is = |check: &Check| match self {
            Judges::Code => matches!(check, Check::Code(_) | Check::Ir(_)),
            Judges::Recordings => {
                matches!(check, Check::Recording(_) | Check::Execution(_) | Check::Launch(_))
            }
            Judges::Machines => matches!(check, Check::Host(_)),
            Judges::Timelines => matches!(check, Check::Trace(_)),
            Judges::Communication => matches!(check, Check::Comm(_)),
            Judges::Tunings => matches!(check, Check::Tunings(_)),
            Judges::Launches => matches!(check, Check::Launch(_)),
            Judges::Searches => matches!(check, Check::Search(_)),
            Judges::Candidates => matches!(check, Check::Candidate(_)),
        };
        rule.checks.iter().any(is)
    }
}

/// Identity of a finding.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Key {
    rule: String,
    kernel: String,
    place: String,
}

/// Subject of a finding, by every name that an exception may use.
#[derive(Clone, Copy, Default)]
struct Subject<'a> {
    /// Name in the identity.
    kernel: &'a str,
    /// Name for people.
    display: &'a str,
    /// Place in the identity.
    place: &'a str,
    /// File of the code or of the finding.
    file: &'a str,
}

/// The gate of one run.
#[derive(Default)]
pub struct Gate {
    conditions: Vec<FailOn>,
    judges: Judges,
    known: Option<Known>,
    exceptions: Exceptions,
    /// Findings are kept for a new baseline.
    writes: bool,
    found: BTreeMap<Key, Seen>,
    summary: GateSummary,
    /// New and worse findings in words.
    offences: Vec<String>,
}

impl Gate {
    /// A gate of conditions alone.
    pub fn new(conditions: Vec<FailOn>, judges: Judges) -> Gate {
        Gate { conditions, judges, ..Gate::default() }
    }

    /// Compares with a baseline: the text of the file `name`. Without conditions every new or worse finding
    /// of warning or more fails.
    ///
    /// # Errors
    /// The text cannot be parsed as a baseline of this version.
    pub fn with_baseline(mut self, name: &str, text: &str) -> Result<Gate, String> {
        self.known = Some(Known::parse(text)?);
        self.summary.baseline = Some(name.to_owned());
        if self.conditions.is_empty() {
            self.conditions.extend(FailOn::parse("warning"));
        }
        Ok(self)
    }

    /// Applies exceptions of the file `name`.
    pub fn with_exceptions(mut self, name: &str, exceptions: Exceptions) -> Gate {
        self.exceptions = exceptions;
        self.summary.config = Some(name.to_owned());
        self
    }

    /// Keeps the findings for a new baseline.
    pub fn writing(mut self) -> Gate {
        self.writes = true;
        self
    }

    /// True if findings are compared, excepted or kept.
    pub fn is_active(&self) -> bool {
        self.writes || self.known.is_some() || !self.exceptions.is_empty()
    }

    /// True if there are conditions or comparisons, so that findings have to be worked out.
    pub fn needs_findings(&self) -> bool {
        !self.conditions.is_empty() || self.is_active()
    }

    /// Counts a kernel by its row, where nothing is compared.
    pub fn row(&mut self, row: &KernelRow) {
        self.conditions.iter_mut().for_each(|condition| condition.add(row));
    }

    /// Marks and counts the findings of a kernel's card.
    pub fn card(&mut self, card: &mut KernelCard) {
        let mut findings = std::mem::take(&mut card.findings);
        let place = card.target.split(':').next().unwrap_or_default();
        let subject = Subject { kernel: &card.name, display: &card.demangled, place, file: &card.file };
        findings.iter_mut().for_each(|it| self.mark(it, subject));
        self.conditions.iter_mut().for_each(|condition| condition.add_kernel(&findings));
        card.findings = findings;
    }

    /// Marks and counts the findings of a kernel of a recording.
    pub fn kernel(&mut self, kernel: &str, findings: &mut [Finding]) {
        let subject = Subject { kernel, display: kernel, ..Subject::default() };
        findings.iter_mut().for_each(|it| self.mark(it, subject));
        self.conditions.iter_mut().for_each(|condition| condition.add_kernel(findings));
    }

    /// Marks and counts findings by the kernels and files that they name.
    pub fn findings(&mut self, findings: &mut [Finding]) {
        for finding in &mut *findings {
            let kernel = finding.kernel.clone().unwrap_or_default();
            let source = finding.places.first().and_then(|it| it.source.as_ref());
            let file = source.map_or_else(String::new, |it| it.file.clone());
            let subject = Subject { kernel: &kernel, display: &kernel, place: stable(&file), file: &file };
            self.mark(finding, subject);
        }
        self.conditions.iter_mut().for_each(|condition| condition.add_findings(findings));
    }

    /// Marks a check of a machine that warns or fails.
    pub fn check(&mut self, machine: &str, check: &mut HostCheck) {
        let severity = match check.verdict {
            HostVerdict::Fail => view::Severity::Severe,
            HostVerdict::Warn => view::Severity::Warning,
            HostVerdict::Unknown | HostVerdict::Pass => return,
        };
        let mut finding = Finding::new(check.rule, severity, "", "");
        let subject = Subject { kernel: check.check, display: check.check, place: "", file: machine };
        self.mark(&mut finding, subject);
        check.gate = finding.gate;
    }

    fn mark(&mut self, finding: &mut Finding, subject: Subject<'_>) {
        if !self.is_active() {
            return;
        }
        if let Some((reason, until)) = self.exceptions.allows(finding.rule, subject) {
            self.summary.allowed += 1;
            finding.gate = Some(GateMark { state: GateState::Allowed, reason, until });
            return;
        }
        let key = Key {
            rule: finding.rule.to_owned(),
            kernel: subject.kernel.to_owned(),
            place: subject.place.to_owned(),
        };
        let seen = self.found.entry(key.clone()).or_default();
        seen.add(finding);
        let Some(known) = &self.known else { return };
        let (state, reason) = known.judge(&key, seen.count, finding);
        match state {
            GateState::Known => self.summary.known += 1,
            GateState::Worse => self.summary.worse += 1,
            GateState::New | GateState::Allowed => self.summary.new += 1,
        }
        let fails = state != GateState::Known
            && self.conditions.iter().any(|condition| condition.is_met_by(finding.severity, finding.rule));
        if fails && self.offences.len() < NAMED {
            let at = key.words();
            self.offences.push(match reason.as_str() {
                "" => format!("{}: {at}", state.as_str()),
                reason => format!("{}: {at}: {reason}", state.as_str()),
            });
        }
        finding.gate = Some(GateMark { state, reason, until: None });
    }

    /// The comparison with baseline and exceptions; `None` if there are neither. Exceptions of rules that the
    /// command does not judge are not unused.
    pub fn summary(&self) -> Option<GateSummary> {
        if self.known.is_none() && self.exceptions.is_empty() {
            return None;
        }
        let mut summary = self.summary.clone();
        if let Some(known) = &self.known {
            summary.gone = known.gone(&self.found);
        }
        (summary.expired, summary.unused) = self.exceptions.idle(|rule| self.judges.has(rule));
        Some(summary)
    }

    /// Messages of the conditions that are met, and what met them.
    pub fn verdicts(&self) -> Vec<String> {
        let mut verdicts: Vec<String> = self.conditions.iter().filter_map(FailOn::verdict).collect();
        if !verdicts.is_empty() {
            verdicts.extend(self.offences.iter().cloned());
        }
        verdicts
    }

    /// The findings as a baseline.
    pub fn baseline(&self, command: &str) -> Baseline {
        let finding = |(key, seen): (&Key, &Seen)| BaselineFinding {
            rule: key.rule.clone(),
            kernel: key.kernel.clone(),
            place: key.place.clone(),
            severity: seen.severity.as_str().to_owned(),
            count: seen.count,
            values: seen.values.clone(),
        };
        Baseline {
            schema: view::BASELINE_SCHEMA.to_owned(),
            command: command.to_owned(),
            findings: self.found.iter().map(finding).collect(),
        }
    }
}

impl Key {
    fn words(&self) -> String {
        let Key { rule, kernel, place } = self.clone();
        let named = BaselineFinding {
            rule,
            kernel,
            place,
            severity: String::new(),
            count: 0,
            values: BTreeMap::new(),
        };
        named.words()
    }
}

/// A file's name that is the same on every machine: the path as given, or of an absolute path the name.
fn stable(file: &str) -> &str {
    let file = file.trim_start_matches("./");
    if file.starts_with('/') { file.rsplit('/').next().unwrap_or(file) } else { file }
}
