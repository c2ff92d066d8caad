//! `rockhound run`: a HIP program on an emulated GPU.
//!
//! The exit code is the program's, so that a test script needs no change.

use crate::args::Run;
use crate::emulation::Emulation;
use crate::exit::Outcome;
use anyhow::Result;

/// Runs.
pub(crate) fn run(args: &Run) -> Result<Outcome> {
    let emulation = Emulation::prepare(&args.emulate, &args.program)?;
    let finished = emulation.run(&args.emulate, &args.program, None)?;
    let outcome = finished.outcome();
    if args.emulate.check.is_empty() {
        return Ok(outcome);
    }
    let checked = args.emulate.check.join(", ");
    match finished.findings()? {
        // A fault has been reported, and nobody knows what would have come.
        0 if matches!(outcome, Outcome::Program(128..)) => {}
        0 => eprintln!("rockhound: checked {checked}: nothing found"),
        1 => eprintln!("rockhound: checked {checked}: 1 finding"),
        findings => eprintln!("rockhound: checked {checked}: {findings} findings"),
    }
    Ok(match (outcome, finished.findings()?) {
        (Outcome::Program(0), 1..) => Outcome::ThresholdMet,
        _ => outcome,
    })
}
