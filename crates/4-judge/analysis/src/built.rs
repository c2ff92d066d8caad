//! A kernel known from the log of a build: the compiler printed its resources, and its code is not at hand.

use view::{CompilerCard, SourceLine};

/// A compiler's messages about a kernel.
pub struct Built {
    /// Source position of the kernel's first line.
    pub source: Option<SourceLine>,
    /// What was assumed to read the messages, as phrases.
    pub assumptions: Vec<String>,
    /// The messages.
    pub said: CompilerCard,
}
