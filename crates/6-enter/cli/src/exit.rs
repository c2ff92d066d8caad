//! Exit codes of the program.
//!
//! A script can tell "could not read" from "read, and too slow" from "asked wrongly".

use host::run::{Ended, Ran};
pub(crate) use host::usage;
use std::process::ExitCode;
pub(crate) use view::UsageError;

/// Result of a command that came to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// Everything was read, no threshold was met.
    Fine,
    /// An input could not be read. Takes precedence over a threshold: half the input gives no verdict.
    InputError,
    /// A threshold was met.
    ThresholdMet,
    /// A program ran, and this is its own exit code.
    Program(u8),
}

impl Outcome {
    pub(crate) fn of(input_errors: bool, threshold_met: bool) -> Self {
        match (input_errors, threshold_met) {
            (true, _) => Outcome::InputError,
            (false, true) => Outcome::ThresholdMet,
            (false, false) => Outcome::Fine,
        }
    }

    /// Exit state of a run: the program's own, or 2 for findings and results that differ.
    pub(crate) fn of_run(ran: &Ran) -> Self {
        let found = ran.findings.is_some_and(|findings| findings > 0);
        match ran.ended {
            Ended::Well | Ended::Program(0) if found => Outcome::ThresholdMet,
            Ended::Well => Outcome::Fine,
            Ended::Program(code) => Outcome::Program(code),
            Ended::Interrupted => Outcome::Program(INTERRUPTED),
            Ended::InPart => Outcome::InputError,
            Ended::Differs => Outcome::ThresholdMet,
        }
    }

    /// The same, or a threshold met where all else was fine.
    pub(crate) fn or_met(self, met: bool) -> Self {
        if met && self == Outcome::Fine { Outcome::ThresholdMet } else { self }
    }

    pub(crate) fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Outcome::Fine => 0,
            Outcome::InputError => 1,
            Outcome::ThresholdMet => 2,
            Outcome::Program(code) => code,
        })
    }
}

/// Exit code of a shell after Ctrl-C.
const INTERRUPTED: u8 = 130;

/// Exit code of a wrong command line (`EX_USAGE` of sysexits).
pub(crate) const USAGE: u8 = 64;

/// Something that this build was made without.
#[cfg(not(all(feature = "pictures", feature = "server", feature = "tui")))]
pub(crate) fn left_out(what: &str, feature: &str) -> anyhow::Error {
    usage(
        format!("{what} not part of this build, which leaves out the feature `{feature}`"),
        "build the command with `--features full`; wheel and archive have it",
    )
}
