//! `rockhound guide`: one turn of the loop of measuring and changing.
//!
//! It shows the guide of the same report that `analyze` makes, so both agree.

use crate::args::{Guide, Look};
use crate::exit::Outcome;
use crate::{output, subjects, terminal};
use anyhow::{Context, Result};
use host::subjects::Asked;
use render::{json, text};
use view::{Format, NoteKind};

/// Guides.
pub(crate) fn run(args: &Guide, look: &Look) -> Result<Outcome> {
    let asked = Asked {
        sources: args.subject.paths(),
        arch: args.subject.pick.arch.clone(),
        corrections: args.subject.pick.specs_correction.clone(),
        wanted: args.subject.pick.wanted(),
        matches: args.matches.clone(),
        ranks: args.subject.pick.ranks.map(Into::into),
        runs: args.subject.pick.runs.map(Into::into),
    }
    .one("guide")?;
    let measured = subjects::measured(&asked)?;
    if measured.failed() {
        // Half a comparison would answer another question.
        return Ok(Outcome::InputError);
    }
    let report = measured.overview()?;
    let guide = report
        .part
        .guide
        .context("the recording does not say which GPU it is from\nhint: `--arch` names it")?;
    output::print(&match args.format {
        Format::Json => json::guide(&guide),
        _ => text::guide(&guide, &terminal::style(look, false)),
    })?;
    let unread = report.notes.iter().any(|note| note.kind == NoteKind::Error);
    Ok(Outcome::of(unread, false))
}
