//! Triton's IR of one kernel, and the positions of its operations.

use tritonir::{At, KernelIr};
use view::{IrPlace, SourceLine};

/// The IR of a kernel and the file it was read from.
#[derive(Clone, PartialEq, Debug)]
pub struct TritonIr {
    /// File name for display.
    pub file: String,
    /// Content of the IR.
    pub kernel: KernelIr,
}

/// Position of an operation of the IR.
pub fn ir_place(at: &At) -> IrPlace {
    IrPlace {
        ir_line: at.line,
        source: source(at),
        in_loop: at.in_loop.and_then(|it| u32::try_from(it + 1).ok()),
    }
}

fn source(at: &At) -> Option<SourceLine> {
    let known = !at.file.is_empty() && at.source_line > 0;
    known.then(|| SourceLine { file: at.file.clone(), line: at.source_line, function: None })
}
