//! Programs that are watched: one whose results are compared, one of whose launches is captured.

use super::{Emulation, selection};
use crate::process::{self, Bounds, End};
use crate::run::report::{Ended, Reporter};
use crate::run::request::Request;
use crate::session::{self, Capture, KeptPiece, Record, Watched};
use anyhow::Result;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Runs a program and captures one of its launches.
///
/// # Errors
/// If the program cannot be started.
pub(crate) fn capture(request: &Request, wanted: Capture, reporter: &dyn Reporter) -> Result<Ended> {
    let mut emulation = Emulation::prepare(request, reporter)?;
    let gpu = emulation.model_name.clone();
    emulation.capture = Some(Capture { gpu, ..wanted });
    Ok(emulation.run(request, None, reporter)?.ended())
}

/// A program that was watched to its end or to a limit.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    /// Its end, and what it wrote.
    pub(crate) end: End,
    /// It called the HIP runtime.
    pub(crate) called: bool,
    /// Messages of stopped kernels.
    pub(crate) faults: Vec<String>,
    /// A kernel would run for ever.
    pub(crate) hangs: bool,
    /// Findings of checks.
    pub(crate) found: Vec<String>,
    /// Contents that it read back from the GPU.
    pub(crate) results: Vec<KeptPiece>,
    /// Folders that it recorded into.
    pub(crate) recordings: Vec<PathBuf>,
}

/// Runs a program silently and within bounds, and keeps what it reads back from the GPU.
pub(crate) fn observed(
    request: &Request,
    watched: Watched,
    bounds: &Bounds,
    reporter: &dyn Reporter,
) -> Result<Observed> {
    let emulation = Emulation::prepare(request, reporter)?;
    let record = request.record.as_ref().map(|recording| -> Result<Record> {
        let name = request.program_name(recording.name.as_deref());
        let output = recording.output.clone().unwrap_or_default();
        Ok(Record { output, command: name.clone(), name, ..selection(recording)? })
    });
    let (folder, variables) =
        emulation.session(&request.emulate, record.transpose()?, Some(watched), None)?;
    let text = |it: OsString| it.to_string_lossy().into_owned();
    let bounds = Bounds {
        variables: variables.into_iter().map(|(name, value)| (text(name), text(value))).collect(),
        ..bounds.clone()
    };
    let words: Vec<&OsStr> = request.program().iter().map(OsString::as_os_str).collect();
    let end = process::program(&words, Path::new("."), &bounds);
    Ok(Observed {
        called: folder.0.join(session::CALLED).exists(),
        hangs: folder.0.join(session::HANGS).exists(),
        faults: session::faults(&folder.0)?.into_iter().map(|it| it.0).collect(),
        found: session::found(&folder.0)?,
        results: session::results(&folder.0)?,
        recordings: session::claims(&folder.0)?,
        end,
    })
}
