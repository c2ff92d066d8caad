//! The end of every command that gives an answer: writing it, notes for scripts, the exit code.

use crate::args::Look;
use crate::exit::Outcome;
use crate::gate::Gated;
use crate::output::Output;
use crate::terminal;
use anyhow::Result;
use render::{How, Part};
use std::path::Path;
use view::{Answer, FileError, Format, NoteKind};

/// Destination of an answer, and its format.
pub(crate) struct Target<'a> {
    pub(crate) format: Format,
    /// A file; without one standard output.
    pub(crate) output: Option<&'a Path>,
    /// Decimals of numbers in tables.
    pub(crate) decimals: u8,
    pub(crate) look: &'a Look,
}

/// Decimals of commands without an option for them.
pub(crate) const DECIMALS: u8 = 2;

/// Writes an answer and ends the command; its findings pass the gate.
pub(crate) fn finish<P: Part>(
    answer: &mut Answer<P>,
    target: &Target<'_>,
    gated: &mut Gated,
) -> Result<Outcome> {
    gated.gate.findings(&mut answer.findings);
    answer.gate = gated.gate.summary();
    write(answer, target)?;
    close(answer, gated)
}

/// Ends a command whose findings have passed the gate.
pub(crate) fn close<P>(answer: &Answer<P>, gated: &Gated) -> Result<Outcome> {
    let met = gated.close(has_failed(answer))?;
    Ok(end(answer, met))
}

/// True if an input could not be read.
fn has_failed<P>(answer: &Answer<P>) -> bool {
    !answer.errors.is_empty() || answer.notes.iter().any(|note| note.kind == NoteKind::Error)
}

/// Prints an answer without findings.
pub(crate) fn print<P: Part>(answer: &Answer<P>, format: Format, look: &Look) -> Result<Outcome> {
    write(answer, &Target { format, output: None, decimals: DECIMALS, look })?;
    Ok(end(answer, false))
}

/// Writes an answer.
pub(crate) fn write<P: Part>(answer: &Answer<P>, target: &Target<'_>) -> Result<()> {
    let mut output = Output::open(target.output)?;
    output.write(&rendered(answer, target))?;
    output.finish()
}

/// The text of an answer in its format.
pub(crate) fn rendered<P: Part>(answer: &Answer<P>, target: &Target<'_>) -> String {
    let rules = study::rules();
    let how = How {
        decimals: usize::from(target.decimals),
        style: terminal::style(target.look, target.output.is_some()),
        version: env!("CARGO_PKG_VERSION"),
        rules: &rules,
    };
    render::answer(answer, target.format, &how)
}

/// Prints notes for scripts on standard error, and returns the outcome; `met` is true if a condition of
/// `--fail-on` is met.
pub(crate) fn end<P>(answer: &Answer<P>, met: bool) -> Outcome {
    let mut failed = false;
    for note in answer.notes.iter().filter(|note| note.kind == NoteKind::Error) {
        failed = true;
        eprintln!("error: {}", note.text);
    }
    for error in &answer.errors {
        failed = true;
        tell(error);
    }
    Outcome::of(failed, met)
}

/// Prints an error with its hint.
pub(crate) fn tell(error: &FileError) {
    eprintln!("error: {}", error.message());
    if let Some(hint) = &error.hint {
        eprintln!("hint: {hint}");
    }
}

/// An input that a command could not read, with the command that can.
pub(crate) fn unread(path: &Path, error: &anyhow::Error, command: &str) -> FileError {
    FileError {
        file: path.display().to_string(),
        error: format!("{error:#}"),
        hint: host::kind::hint(path, command),
    }
}
