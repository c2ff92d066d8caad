//! Kernels of the inputs one after the other, with a line on the terminal that says how far the reading is.

use crate::progress::Progress;
use anyhow::Result;
pub(crate) use host::kernels::{Judged, Remarks, Selection};
use host::{Source, Watch};
use std::path::PathBuf;
use view::{FileError, Note};

/// Reads all inputs; see [`host::kernels::each_kernel`]. Messages and errors name `sources`, not the temporary folders
/// that hold their files.
pub(crate) fn each_kernel<T: Send>(
    sources: &[Source],
    paths: &[PathBuf],
    selection: &Selection,
    work: impl Fn(Judged<'_, '_>) -> T + Sync,
    take: impl FnMut(T) -> Result<()>,
) -> Result<Remarks> {
    let progress = Told { progress: Progress::new(), sources };
    let remarks = host::kernels::each_kernel(paths, selection, progress, work, take)?;
    let told = |it: FileError| FileError {
        file: Source::told_of(sources, it.file),
        error: Source::told_of(sources, it.error),
        hint: it.hint.map(|it| Source::told_of(sources, it)),
    };
    let noted = |it: Note| Note { text: Source::told_of(sources, it.text), ..it };
    Ok(Remarks {
        errors: remarks.errors.into_iter().map(told).collect(),
        notes: remarks.notes.into_iter().map(noted).collect(),
    })
}

struct Told<'a> {
    progress: Progress,
    sources: &'a [Source],
}

impl Watch for Told<'_> {
    fn kernels(&mut self, more: u64) {
        self.progress.kernels(more);
    }

    fn compiles(&mut self, file: &str) {
        self.progress.compiles(file);
    }

    fn at(&mut self, file: &str, done: u64, total: u64) {
        self.progress.at(file, done, total);
    }

    fn say(&mut self, line: &str) {
        self.progress.say(&Source::told_of(self.sources, line.to_owned()));
    }

    fn finish(&mut self) {
        self.progress.finish();
    }
}
