//! Recordings as a page, for the commands that show one.

mod code;

use crate::args::Units;
use crate::subjects::{self, Asked, Subjects};
use analysis::workload::Subject;
use analysis::workload::{Blocks, Options, Renames};
use anyhow::Result;
use host::traces;
use metrics::{Definitions, Settings};
use std::path::Path;
use study::DISPATCHES;
use study::trace::Input;
use view::{Page, TimelineChart};

/// Options of a page.
pub(crate) struct Wish {
    pub(crate) asked: Asked,
    pub(crate) units: Units,
}

/// Makes a page; returns whether a recording could not be read, which was reported.
pub(crate) fn make(wish: &Wish) -> Result<(Page, bool)> {
    let Subjects { all: mut subjects, renames, failed } = subjects::read(&wish.asked)?;
    let definitions = Definitions::built_in();
    let compiled = subjects::compile(definitions, &subjects)?;
    let compiled = subjects::for_each(&compiled, &subjects);
    let path = wish.asked.paths.last();
    let page =
        study::page(definitions, &compiled, &mut subjects, &options(wish, renames), |subject, kernels| {
            path.map_or_else(Vec::new, |path| code::of(path, subject, kernels))
        });
    let mut page = page?;
    page.timeline = path.zip(subjects.last()).and_then(|(path, subject)| timeline(path, subject));
    Ok((page, failed))
}

/// The timeline of the trace beside a recording's counters; without a trace, of its dispatches, if their
/// times are known.
fn timeline(path: &Path, subject: &Subject) -> Option<TimelineChart> {
    let everything = subject.selection.is_empty();
    let (name, timeline) = everything.then(|| traces::beside(path)).flatten().or_else(|| {
        let rows = subject.rows.iter().map(|row| *row as usize);
        let timeline = study::trace::of_dispatches(&subject.workload, rows)?;
        Some(("the dispatches of the recording".to_owned(), timeline))
    })?;
    let input = Input { name, path: path.display().to_string(), timeline: &timeline };
    Some(study::trace::chart(&[input]))
}

fn options(wish: &Wish, renames: Renames) -> Options {
    Options {
        settings: Settings { norm: wish.units.norm(), ..Settings::default() },
        time_unit: wish.units.time(),
        top: DISPATCHES,
        blocks: Blocks::all(),
        renames,
        ..Options::default()
    }
}
