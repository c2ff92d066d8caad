//! Recordings as a page, for the commands that show one.

use crate::args::Units;
use crate::progress::Progress;
use crate::subjects;
use anyhow::Result;
use host::subjects::Asked;
use host::{page_code, traces};
use view::Page;

/// Options of a page.
pub(crate) struct Wish {
    pub(crate) asked: Asked,
    pub(crate) units: Units,
}

/// Makes a page; returns whether a recording could not be read, which was reported.
pub(crate) fn make(wish: &Wish) -> Result<(Page, bool)> {
    let mut measured = subjects::measured(&wish.asked)?;
    let path = wish.asked.paths.last();
    let mut page = measured.page(wish.units.into(), |subject, kernels| {
        path.map_or_else(Vec::new, |path| page_code::of(path, subject, kernels, Progress::new()))
    })?;
    page.timeline =
        path.and_then(|path| measured.timeline(&path.display().to_string(), || traces::beside(path)));
    Ok((page, measured.failed()))
}
