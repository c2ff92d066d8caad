//! Compiles device code for one GPU.

use std::path::Path;

/// The code of a source of `tests/sources`, or `None` (reported as skipped) where the compiler is missing.
pub(crate) fn compile(compiler: &str, source: &str, target: &str, more: &[&str]) -> Option<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sources");
    testkit::compile(compiler, &folder.join(source), target, more)
}
