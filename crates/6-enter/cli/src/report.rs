//! `rockhound report`: a recording as one HTML file.

use crate::args::Report;
use crate::exit::Outcome;
use crate::output::Output;
use crate::page::{self, Wish};
use crate::subjects::Asked;
use anyhow::Result;
use std::path::Path;
use view::NoteKind;

/// Writes the page.
pub(crate) fn run(args: &Report) -> Result<Outcome> {
    let wish = Wish {
        asked: Asked {
            paths: args.subject.paths(),
            arch: args.subject.pick.arch.clone(),
            corrections: args.subject.pick.specs_correction.clone(),
            wanted: args.subject.pick.wanted(),
            matches: args.matches.clone(),
            ranks: args.subject.pick.ranks.map(Into::into),
        }
        .one("report")?,
        units: args.units,
    };
    let (page, failed) = page::make(&wish)?;
    if failed {
        // Half a comparison would answer another question.
        return Ok(Outcome::InputError);
    }
    let html = render::page(&page);
    let to_file = args.output.as_path() != Path::new("-");
    let mut output = Output::open(to_file.then_some(args.output.as_path()))?;
    output.write(&html)?;
    output.finish()?;
    if to_file {
        eprintln!("wrote {} ({} KB)", args.output.display(), html.len().div_ceil(1000));
    }
    let unread = page.report.notes.iter().filter(|note| note.kind == NoteKind::Error);
    let unread = unread.inspect(|note| eprintln!("error: {}", note.text)).count() > 0;
    Ok(Outcome::of(unread, false))
}
