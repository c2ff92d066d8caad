//! Shared parts of findings on Triton's IR.

use tritonir::At;
use view::{Place, SourceLine};

/// Position of an operation of the IR, for a finding: its Python line, and the operation with its line of the
/// IR.
pub(crate) fn place(at: &At) -> Place {
    let known = !at.file.is_empty() && at.source_line > 0;
    Place {
        instruction: Some(format!("{} at IR line {}", at.op, at.line)),
        source: known.then(|| SourceLine { file: at.file.clone(), line: at.source_line, function: None }),
        ..Place::default()
    }
}
