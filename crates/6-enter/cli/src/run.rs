//! `rockhound run`: a HIP program on an emulated GPU.
//!
//! The exit code is the program's, so that a test script needs no change.

use crate::args::{Look, Run};
use crate::exit::Outcome;
use crate::output::Output;
use crate::progress::{self, Running};
use anyhow::Result;
use host::run::{self, Ended, OnGpu, Place, Request, What};
use std::path::PathBuf;

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
    // Files that cannot be written are found before the program runs.
    let open = |path: &Option<PathBuf>| path.as_deref().map(|it| Output::open(Some(it))).transpose();
    let (json, junit) = (open(&args.report)?, open(&args.junit)?);
    let ran = match (json.is_some(), junit.is_some()) {
        (false, false) => run::run(&request, &reporter)?,
        _ => {
            let (ran, report) = run::run_and_report(&request, &reporter)?;
            write(json, &args.report, &render::json::fidelity(&report))?;
            write(junit, &args.junit, &render::junit::run(&report, &args.emulate.check))?;
            ran
        }
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

fn write(output: Option<Output>, path: &Option<PathBuf>, text: &str) -> Result<()> {
    let (Some(mut output), Some(path)) = (output, path) else { return Ok(()) };
    output.write(text)?;
    output.finish()?;
    eprintln!("wrote {}", path.display());
    Ok(())
}
