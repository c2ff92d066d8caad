//! Evidence of rules on searches of tuning spaces.

use crate::Outcome;

/// A search that ended.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SearchEvidence<'a> {
    /// Time of the start divided by the winner's; `None` without a start or a winner.
    pub gain: Option<f64>,
    /// Lower end of its interval, where times are noisy.
    pub least_gain: Option<f64>,
    /// Values of the start: `TILE=32 ROWS=8`.
    pub start: &'a str,
    /// Values of the winner.
    pub winner: &'a str,
    /// Configurations with wrong results.
    pub wrong: u64,
    /// Why the first of them is wrong.
    pub wrong_because: Option<&'a str>,
}

/// Judges one search.
pub type SearchCheck = fn(&SearchEvidence<'_>) -> Outcome;
