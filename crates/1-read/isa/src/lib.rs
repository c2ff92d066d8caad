//! Instructions of the CDNA GPUs: tables, decoder, assembly text in and out, control flow, liveness.
//!
//! The one idea to keep in mind: opcodes are rows of one table; machine code and text are two ways to spell
//! the same [`Inst`] values.

mod inst;

pub use inst::*;
