//! Traces of a command line: read and selected, for every command that shows them.

use host::traces::{self, Trace};
use std::path::PathBuf;
use study::trace::{Input, Wanted, of_recording};
use view::FileError;

/// The readable traces of all paths, and the errors of the others.
pub(crate) fn read<'a>(
    paths: impl IntoIterator<Item = &'a PathBuf>,
    wanted: &Wanted,
    indexed: bool,
) -> (Vec<Trace>, Vec<FileError>) {
    traces::selected(paths, indexed, &of_recording, &|timeline| wanted.select(timeline))
}

/// Traces as inputs of the answer.
pub(crate) fn inputs(all: &[Trace]) -> Vec<Input<'_>> {
    study::trace::inputs(all.iter().map(|it| (it.path.as_path(), &it.timeline)))
}
