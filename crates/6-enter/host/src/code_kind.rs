//! Kinds of code: binaries, assembly, IR and sources that hold kernels.

use crate::hip_source;
use std::io::Read;
use std::path::Path;

/// Bytes by which a file is known.
const HEAD: usize = 4096;

pub(crate) const CODE: &str = "code";
pub(crate) const ASSEMBLY: &str = "assembly text";
pub(crate) const SOURCE: &str = "a HIP source";

/// Beginning of a file; `None` if it cannot be read.
pub(crate) fn head(path: &Path) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    std::fs::File::open(path).ok()?.take(HEAD as u64).read_to_end(&mut head).ok()?;
    Some(head)
}

/// Words for code that begins so; `None` for other files.
pub(crate) fn of_head(head: &[u8]) -> Option<&'static str> {
    match codeobj::recognise(head) {
        Some(codeobj::Kind::Assembly) => Some(ASSEMBLY),
        Some(codeobj::Kind::Json) | None => tritonir::recognise(head).then_some("IR of Triton"),
        Some(_) => Some(CODE),
    }
}

/// Words for a file of code or a source; `None` for other files.
pub(crate) fn of(path: &Path) -> Option<&'static str> {
    of_head(&head(path)?).or_else(|| hip_source::is_source(path).then_some(SOURCE))
}

/// Whether a file is a program for the host, by its name and its beginning.
pub(crate) fn is_program(path: &Path) -> bool {
    let is_host = |head: Vec<u8>| codeobj::recognise(&head) == Some(codeobj::Kind::Host);
    path.extension().is_none() && head(path).is_some_and(is_host)
}
