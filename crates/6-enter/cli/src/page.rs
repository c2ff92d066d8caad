//! Recordings as a page, for the commands that show one.

mod code;

use crate::args::Units;
use crate::subjects::{self, Asked, Subjects, refuse};
use analysis::workload::{Blocks, Options, Renames};
use anyhow::Result;
use metrics::{Definitions, Settings};
use study::DISPATCHES;
use view::Page;

/// What a page is to show.
pub(crate) struct Wish {
    pub(crate) asked: Asked,
    pub(crate) units: Units,
}

/// Makes a page; whether a recording could not be read, which was said.
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
    Ok((page.map_err(refuse)?, failed))
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
