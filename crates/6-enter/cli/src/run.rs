//! `rockhound run`: a HIP program on an emulated GPU.
//!
//! The exit code is the program's, so that a test script needs no change.

use crate::args::{Look, Run};
use crate::exit::Outcome;
use crate::progress::{self, Running};
use anyhow::Result;
use host::run::{self, Ended, OnGpu, Place, Request, What};

/// Runs.
pub(crate) fn run(args: &Run, look: &Look) -> Result<Outcome> {
    let request = Request {
        what: What::Program(args.program.clone()),
        place: Place::Emulator,
        emulate: args.emulate.settings(progress::of_programs()),
        on_gpu: OnGpu::default(),
        record: None,
    };
    let reporter = Running::new(look);
    let ran = match &args.report {
        Some(path) => run::run_and_report(&request, &reporter, path)?,
        None => run::run(&request, &reporter)?,
    };
    let Some(findings) = ran.findings else { return Ok(Outcome::of_run(&ran)) };
    let checked = args.emulate.check.join(", ");
    match findings {
        // A fault has been reported, and nobody knows what would have come.
        0 if matches!(ran.ended, Ended::Program(128..)) => {}
        0 => eprintln!("rockhound: checked {checked}: nothing found"),
        1 => eprintln!("rockhound: checked {checked}: 1 finding"),
        findings => eprintln!("rockhound: checked {checked}: {findings} findings"),
    }
    Ok(Outcome::of_run(&ran))
}
