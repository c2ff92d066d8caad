//! Rules: evidence in, findings out; one file per rule.
//!
//! A rule fires only for the reason its page states. Page, check and the arithmetic's tests of a rule are in
//! one file under `rules/`; [`all`] is the flat list of rules; kernels that must and must not trigger each
//! rule are in `fixtures/rules/`. A rule judges code, a recording, or either; correctness rules judge an
//! emulated run, host rules a machine, its environment or a command, trace rules a timeline (the time between
//! kernels).

mod access;
mod candidate;
mod check;
mod check_host;
mod comm;
mod device_names;
mod execution;
mod gain;
mod guide_checks;
mod host;
mod ir;
mod lanes;
mod launch;
mod lines;
mod merge;
mod narrow;
mod page;
mod parameters;
mod recorded;
mod registry;
mod remainder;
mod rules;
mod search;
mod shapes;
mod sites;
mod text;
mod traced;
mod tunings;
mod waits;
mod work;

pub use candidate::{CandidateCheck, CandidateEvidence};
pub use check::{
    check, check_candidate, check_comm, check_execution, check_launch, check_search, check_traces,
    check_tunings, check_workload,
};
pub use check_host::{check_host, check_names, host_findings};
pub use comm::{CommEvidence, board, expected_bus};
pub use device_names::product_of;
pub use execution::ExecutionEvidence;
pub use guide_checks::{Cover, GuideCheck, guide_checks};
pub use host::{HostEvidence, Judged, Profile};
pub use launch::{LaunchCheck, LaunchEvidence};
pub use page::{SECTIONS, sections};
pub use parameters::parameters;
pub use registry::{all, by_id};
pub use search::{SearchCheck, SearchEvidence};
pub use traced::TraceEvidence;
pub use tunings::{TuneMachine, TuningEvidence};

use analysis::{KernelEvidence, WorkloadEvidence};
use view::{Finding, Missing, Severity};

/// One rule.
#[derive(Clone, Copy)]
pub struct Rule {
    /// Three letters for the subject and three digits, for example `RES003`. Never reused.
    pub id: &'static str,
    /// The problem that the rule reports, as a phrase: "registers spilled to scratch memory".
    pub title: &'static str,
    /// The highest severity its findings have.
    pub severity: Severity,
    /// Markdown with the headings of [`SECTIONS`], in that order.
    pub page: &'static str,
    /// Its checks, one for each kind of evidence that it judges.
    pub checks: &'static [Check],
    /// Panels of a recording that show the numbers behind it.
    pub panels: &'static [u16],
}

/// Judges one kernel by its code.
pub type CodeCheck = fn(&KernelEvidence<'_>) -> Outcome;

/// Judges one kernel by its dispatches. A value that is missing ends the check with its reason.
pub type RecordingCheck = fn(&WorkloadEvidence<'_>) -> Result<Outcome, Missing>;

/// Judges one kernel by an emulated run of it.
pub type ExecutionCheck = fn(&ExecutionEvidence<'_>) -> Vec<Finding>;

/// Judges a machine, an environment or a command.
pub type HostCheck = fn(&HostEvidence<'_>) -> Vec<Judged>;

/// Judges tuning databases that belong together.
pub type TuningCheck = fn(&TuningEvidence<'_>) -> Outcome;

/// Judges the traces of a run.
pub type TraceCheck = fn(&TraceEvidence<'_>) -> Outcome;

/// Judges files on communication.
pub type CommCheck = fn(&CommEvidence<'_>) -> Outcome;

/// Judges one kernel by Triton's IR, and by its code if available.
pub type IrCheck = fn(&tritonir::KernelIr, &KernelEvidence<'_>) -> Outcome;

/// Evidence that a rule judges.
#[derive(Clone, Copy)]
pub enum Check {
    /// The code object or assembly text.
    Code(CodeCheck),
    /// A recording.
    Recording(RecordingCheck),
    /// An emulated run that was checked.
    Execution(ExecutionCheck),
    /// Facts of a machine, an environment or a command line.
    Host(HostCheck),
    /// A timeline, or the timelines of all ranks.
    Trace(TraceCheck),
    /// Files on communication: tests, logs, topologies.
    Comm(CommCheck),
    /// Tuning databases.
    Tunings(TuningCheck),
    /// Triton's IR. Kernels without it are judged by the rule's check of code, if it has one.
    Ir(IrCheck),
    /// The shape of a launch.
    Launch(LaunchCheck),
    /// The search of a tuning space.
    Search(SearchCheck),
    /// A variant of a kernel that was compared with a base.
    Candidate(CandidateCheck),
}

/// Result of a rule for one kernel.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// The evidence is there and nothing is wrong.
    Silent,
    /// Evidence is absent: this input.
    NotChecked(Missing),
    /// Problems found, most costly first.
    Findings(Vec<Finding>),
}

impl Outcome {
    /// Findings, or silence when there are none.
    pub fn from_findings(findings: Vec<Finding>) -> Self {
        if findings.is_empty() { Outcome::Silent } else { Outcome::Findings(findings) }
    }

    /// Evidence `what` is absent.
    pub fn needs(what: impl Into<Missing>) -> Self {
        Outcome::NotChecked(what.into())
    }
}

/// Methods that find a rule's check of one kind of evidence.
macro_rules! accessors {
    ($($name:ident: $kind:ident => $check:ty, $of:literal;)*) => {$(
        #[doc = concat!("The check ", $of, ", if the rule has one.")]
        pub fn $name(&self) -> Option<$check> {
            self.checks.iter().find_map(|check| match check {
                Check::$kind(check) => Some(*check),
                _ => None,
            })
        }
    )*};
}

impl Rule {
    accessors! {
        code_check: Code => CodeCheck, "of code";
        ir_check: Ir => IrCheck, "of Triton's IR";
        recording_check: Recording => RecordingCheck, "of a recording";
        execution_check: Execution => ExecutionCheck, "of an emulated run";
        host_check: Host => HostCheck, "of a machine";
        trace_check: Trace => TraceCheck, "of timelines";
        comm_check: Comm => CommCheck, "of files on communication";
        tuning_check: Tunings => TuningCheck, "of tuning databases";
        launch_check: Launch => LaunchCheck, "of launches";
        search_check: Search => SearchCheck, "of searches";
        candidate_check: Candidate => CandidateCheck, "of variants";
    }

    /// A finding of this rule without cost, evidence and places; add them with the `with_` methods.
    pub fn finding(
        &self,
        severity: Severity,
        message: impl Into<String>,
        advice: impl Into<String>,
    ) -> Finding {
        Finding::new(self.id, severity, message, advice)
    }
}
