//! Traces of a command line: read and selected, for every command that shows them.

use host::Source;
use host::traces::{self, Trace};
use study::trace::{Input, Wanted, of_recording};
use view::FileError;

/// The readable traces at all addresses, and the errors of the others.
pub(crate) fn read<'a>(
    sources: impl IntoIterator<Item = &'a Source>,
    wanted: &Wanted,
    indexed: bool,
) -> (Vec<Trace>, Vec<FileError>) {
    traces::selected(sources, indexed, &of_recording, &|timeline| wanted.select(timeline))
}

/// Traces as inputs of the answer.
pub(crate) fn inputs(all: &[Trace]) -> Vec<Input<'_>> {
    study::trace::inputs(all.iter().map(|it| (it.path.as_path(), &it.timeline)))
}
