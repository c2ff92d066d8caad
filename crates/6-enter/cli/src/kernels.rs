//! Kernels of the inputs one after the other, with a line on the terminal that says how far the reading is.

use crate::progress::Progress;
use anyhow::Result;
pub(crate) use host::kernels::{Judged, Selection};
use std::path::PathBuf;
use view::FileError;

/// Reads all inputs; see [`host::kernels::each_kernel`].
pub(crate) fn each_kernel<T: Send>(
    paths: &[PathBuf],
    selection: &Selection,
    work: impl Fn(Judged<'_, '_>) -> T + Sync,
    take: impl FnMut(T) -> Result<()>,
) -> Result<Vec<FileError>> {
    host::kernels::each_kernel(paths, selection, Progress::new(), work, take)
}
