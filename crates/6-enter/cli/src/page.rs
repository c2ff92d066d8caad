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
    let source = wish.asked.sources.last();
    let mut page = measured.page(wish.units.into(), |subject, kernels| {
        source.map_or_else(Vec::new, |source| page_code::of(source, subject, kernels, Progress::new()))
    })?;
    page.timeline =
        source.and_then(|source| measured.timeline(&source.to_string(), || traces::beside(source)));
    Ok((page, measured.failed()))
}
