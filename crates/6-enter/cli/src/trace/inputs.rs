//! Traces of a command line: read and selected, for every command that shows them.

use host::Source;
use host::traces::{self, Trace};
use study::trace::{Input, Wanted, of_recording};
use view::FileError;

/// The readable traces at all addresses, the base first, and the errors of the others. The base does not belong to a run of
/// the others.
pub(crate) fn read<'a>(
    base: Option<&'a Source>,
    sources: impl IntoIterator<Item = &'a Source>,
    wanted: &Wanted,
    indexed: bool,
) -> (Vec<Trace>, Vec<FileError>) {
    let select = |timeline| wanted.select(timeline);
    let (mut all, mut errors) = traces::selected(base, indexed, &of_recording, &select);
    let (others, failed) = traces::selected(sources, indexed, &of_recording, &select);
    all.extend(others);
    errors.extend(failed);
    (all, errors)
}

/// Traces as inputs of the answer.
pub(crate) fn inputs(all: &[Trace]) -> Vec<Input<'_>> {
    study::trace::inputs(all.iter().map(|it| (it.path.as_path(), &it.timeline)))
}
