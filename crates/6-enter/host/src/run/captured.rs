//! Capture of one launch of a program, on an emulated GPU or on the one of this machine.

use super::emulated::{self, library};
use super::report::{Ended, Reporter};
use super::request::{Place, Request};
use super::{GPU_DEVICE, vendor};
use crate::session::{CALLED, CAPTURE_VARIABLE, Capture};
use crate::usage;
use anyhow::{Context, Result};
use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;

/// Runs a program and captures one of its launches.
///
/// # Errors
/// If the program cannot be started, or the folder exists.
pub fn capture(request: &Request, wanted: Capture, reporter: &dyn Reporter) -> Result<Ended> {
    let folder = std::path::absolute(&wanted.folder)?;
    if std::fs::read_dir(&folder).is_ok_and(|mut it| it.next().is_some()) {
        let text = format!("`{}` exists and is not empty", folder.display());
        return Err(usage(text, "`-o DIR` names another"));
    }
    let wanted = Capture { folder, ..wanted };
    if is_on_gpu(request)? {
        on_gpu(request, &wanted, reporter)
    } else {
        emulated::capture(request, wanted, reporter)
    }
}

fn is_on_gpu(request: &Request) -> Result<bool> {
    let (named, device) = (request.emulate.gpu.is_some(), std::fs::File::open(GPU_DEVICE));
    Ok(match request.place {
        Place::Gpu if named => {
            return Err(usage(
                "`--gpu` names a GPU to emulate",
                "without it `--on gpu` takes the GPU of this machine",
            ));
        }
        Place::Gpu => true,
        Place::Emulator => false,
        Place::Auto => !named && device.is_ok(),
    })
}

/// With a library of ours before the runtime of the machine.
fn on_gpu(request: &Request, wanted: &Capture, reporter: &dyn Reporter) -> Result<Ended> {
    let library = library::find_capture(reporter)?;
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let file = folder.path().join("capture.json");
    std::fs::write(&file, serde_json::to_vec(wanted)?)
        .with_context(|| format!("cannot write `{}`", file.display()))?;
    let mut first = library.into_os_string();
    if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|it| !it.is_empty()) {
        first.push(":");
        first.push(others);
    }
    // The program hears Ctrl-C itself.
    reporter.interrupts()?;
    let program = request.program();
    let mut command = Command::new(&program[0]);
    command.args(&program[1..]).env("LD_PRELOAD", first).env(CAPTURE_VARIABLE, &file);
    let status = command.status().with_context(|| format!("cannot start {}", program[0].display()))?;
    if !folder.path().join(CALLED).exists() {
        reporter.say(
            "no launch was seen: launches in graphs are not, and functions that a program looks up in the runtime itself, as Triton does, are not",
        );
        if let Err(error) = std::fs::File::open(GPU_DEVICE) {
            reporter.say(&vendor::denied(&error));
        }
    }
    let code = status.code().or_else(|| status.signal().map(|it| 128 + it)).unwrap_or(1);
    Ok(Ended::Program(u8::try_from(code).unwrap_or(u8::MAX)))
}
