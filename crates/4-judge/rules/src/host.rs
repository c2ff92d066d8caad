//! Evidence of rules on machines, environments and commands, and shared parts of their verdicts.
//!
//! Wanted value, reason, and way to set it are data (`data/checks.tsv`); a rule states only the current
//! value. An unknown fact gives [`HostVerdict::Unknown`].

use system::command::Command;
use system::{Environment, Fact, Machine};
pub use view::Profile;
use view::{HostVerdict, Reading};

/// Facts known about a host.
#[derive(Clone, Copy)]
pub struct HostEvidence<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// The command that is to run on it.
    pub command: Option<&'a Command>,
    /// Workload.
    pub profile: Option<Profile>,
}

/// Result of one check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Judged {
    /// Name of the check, a row of `data/checks.tsv`.
    pub check: &'static str,
    /// HostVerdict.
    pub verdict: HostVerdict,
    /// Current state, as a sentence.
    pub message: String,
    /// Values that were read.
    pub readings: Vec<Reading>,
    /// The command that sets it, if it differs from the table's.
    pub set: Option<String>,
}

impl Judged {
    fn new(check: &'static str, verdict: HostVerdict, message: impl Into<String>) -> Judged {
        Judged { check, verdict, message: message.into(), readings: Vec::new(), set: None }
    }

    /// The value is as wanted.
    pub(crate) fn pass(check: &'static str, message: impl Into<String>) -> Judged {
        Judged::new(check, HostVerdict::Pass, message)
    }

    /// Likely costs time.
    pub(crate) fn warn(check: &'static str, message: impl Into<String>) -> Judged {
        Judged::new(check, HostVerdict::Warn, message)
    }

    /// Costs time or breaks programs.
    pub(crate) fn fail(check: &'static str, message: impl Into<String>) -> Judged {
        Judged::new(check, HostVerdict::Fail, message)
    }

    /// The value was not read.
    pub(crate) fn unknown(check: &'static str, reason: impl Into<String>) -> Judged {
        Judged::new(check, HostVerdict::Unknown, reason)
    }

    /// Adds what was read.
    pub(crate) fn read(mut self, from: impl Into<String>, value: impl ToString) -> Judged {
        self.readings.push(Reading { from: from.into(), value: value.to_string() });
        self
    }

    /// Adds what was read of a fact.
    pub(crate) fn read_fact<T>(self, fact: &Fact<T>, value: impl ToString) -> Judged {
        let from = fact.from().unwrap_or("not read").to_owned();
        self.read(from, value)
    }

    /// Says how to set it here.
    pub(crate) fn set_by(mut self, command: impl Into<String>) -> Judged {
        self.set = Some(command.into());
        self
    }
}

impl HostEvidence<'_> {
    /// The environment, or the verdict that it is not known.
    pub(crate) fn environment(&self, check: &'static str) -> Result<&Environment, Judged> {
        match &self.machine.environment {
            Fact::Known { value, .. } => Ok(value),
            Fact::Unknown { reason } => Err(Judged::unknown(check, reason.clone())),
        }
    }

    /// Source of the environment.
    pub(crate) fn environment_from(&self, name: &str) -> String {
        format!("{name} in {}", self.machine.environment.from().unwrap_or("the environment"))
    }

    /// Whether the work is this.
    pub(crate) fn is(&self, profile: Profile) -> bool {
        self.profile == Some(profile)
    }
}
