//! `rockhound analyze`: recordings as reports.
//!
//! The one idea to keep in mind: reading, selecting, evaluating and writing are functions of their own; here they
//! only meet.

use crate::args::{Analyze, Look};
use crate::exit::Outcome;
use crate::output::Output;
use crate::{recording, terminal};
use analysis::workload::{Options, Subject, fill, report};
use anyhow::{Result, anyhow};
use metrics::{Definitions, Settings};
use render::text;
use view::NoteKind;

/// Analyzes.
pub(crate) fn run(args: &Analyze, look: &Look) -> Result<Outcome> {
    let path = &args.path[0];
    let mut workload = recording::read(path)?;
    let filled = fill(&mut workload.machine);
    let subject = Subject {
        name: path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned()),
        path: path.display().to_string(),
        rows: (0..workload.dispatches.len() as u32).collect(),
        filled,
        workload,
        selection: String::new(),
    };
    let definitions = Definitions::built_in();
    let target = subject.workload.machine.target().unwrap_or_default();
    let compiled = definitions.compile(target).map_err(|errors| {
        anyhow!("{}", errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    })?;
    let options = Options { settings: Settings::default(), top: 10 };
    let report = report(definitions, &compiled, &subject, &options);
    let mut output = Output::open(None)?;
    output.write(&text::report(&report, 2, &terminal::style(look, false)))?;
    output.finish()?;
    Ok(Outcome::of(report.notes.iter().any(|n| n.kind == NoteKind::Error), false))
}
