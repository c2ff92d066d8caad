//! `rockhound run`: a HIP program on an emulated GPU.
//!
//! The one idea to keep in mind: the exit code is the program's, so that a test script needs no change.

use crate::args::Run;
use crate::emulation::Emulation;
use crate::exit::Outcome;
use anyhow::Result;

/// Runs.
pub(crate) fn run(args: &Run) -> Result<Outcome> {
    let emulation = Emulation::prepare(&args.emulate, &args.program)?;
    let finished = emulation.run(&args.emulate, &args.program, &[])?;
    Ok(finished.outcome())
}
