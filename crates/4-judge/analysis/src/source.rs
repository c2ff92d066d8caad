//! Sources that instructions are read from, and positions in them.

use crate::text::TextFile;
use view::SourceLine;

/// Source that the instructions of a kernel are read from.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// The bytes of the code object, and its line table when it has debug information.
    Binary {
        /// The code object the kernel's byte range refers to.
        data: &'a [u8],
        /// Source lines by address.
        lines: Option<&'a codeobj::LineTable<'a>>,
    },
    /// The lines of the assembly file.
    Text {
        /// The file the kernel's line range refers to.
        file: &'a TextFile<'a>,
    },
}

/// Source position of an address, innermost inlined function first.
pub(crate) fn source_of(lines: &codeobj::LineTable<'_>, address: u64) -> Option<SourceLine> {
    let frame = lines.frames(address).into_iter().next()?;
    Some(SourceLine {
        file: frame.file,
        line: frame.line,
        function: Some(frame.function).filter(|name| !name.is_empty()),
    })
    .filter(|source| !source.file.is_empty())
}
