//! `rockhound guide`: one turn of the loop of measuring and changing.
//!
//! It shows the guide of the same report that `analyze` makes, so both agree.

use crate::args::{Guide, Look};
use crate::exit::Outcome;
use crate::subjects::{self, Asked, Subjects};
use crate::{output, terminal};
use analysis::workload::{Blocks, Options};
use anyhow::{Context, Result};
use metrics::Definitions;
use render::{json, text};
use view::{Format, NoteKind};

/// Guides.
pub(crate) fn run(args: &Guide, look: &Look) -> Result<Outcome> {
    let asked = Asked {
        paths: args.subject.paths(),
        arch: args.subject.pick.arch.clone(),
        corrections: args.subject.pick.specs_correction.clone(),
        wanted: args.subject.pick.wanted(),
        matches: args.matches.clone(),
        ranks: args.subject.pick.ranks.map(Into::into),
        runs: args.subject.pick.runs.map(Into::into),
    }
    .one("guide")?;
    let Subjects { all, renames, failed } = subjects::read(&asked)?;
    if failed {
        // Half a comparison would answer another question.
        return Ok(Outcome::InputError);
    }
    let definitions = Definitions::built_in();
    let compiled = subjects::compile(definitions, &all)?;
    let compiled = subjects::for_each(&compiled, &all);
    let options = Options { blocks: Blocks::overview(), renames, ..Options::default() };
    let report = study::report(definitions, &compiled, &all, &options, &mut [])?;
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
