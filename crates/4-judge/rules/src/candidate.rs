//! Evidence of rules on variants of a kernel that were compared.

use crate::Outcome;
use view::CandidateVerdict;

/// A candidate that was judged.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CandidateEvidence<'a> {
    /// Name.
    pub name: &'a str,
    /// Verdict.
    pub verdict: CandidateVerdict,
    /// Its grounds in a sentence.
    pub because: &'a str,
    /// Inputs that show it.
    pub inputs: Option<&'a str>,
}

impl CandidateEvidence<'_> {
    /// Name, inputs and grounds.
    pub(crate) fn message(&self) -> String {
        let inputs = self.inputs.map_or_else(String::new, |it| format!(" ({it})"));
        format!("{}{inputs}: {}", self.name, self.because)
    }
}

/// Judges one candidate.
pub type CandidateCheck = fn(&CandidateEvidence<'_>) -> Outcome;
