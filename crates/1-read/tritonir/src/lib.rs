//! Triton's intermediate representations, TTIR and TTGIR, as text: operations, layouts, LDS buffers,
//! pipelining, source lines.
//!
//! [`read`] takes the text of a file, or of a log with dumps of the compiler's passes, and gives modules of
//! operations. It has no fixed list of operations: unknown ones are kept with name, operands and types.
//! [`kernels`] summarizes a module: loops with their prefetch distance, matrix products, accesses with their
//! width, changes of layout with their implementation, and the LDS with every buffer's size, lifetime and
//! offset.
//!
//! Every spelling in use is read: the dialects `triton_gpu` and `ttg`, `amdgpu` and `amdg`, matrix shapes of
//! two and of three numbers, loops as regions and as blocks.

mod access;
mod context;
mod convert;
mod dot;
mod error;
mod kernel;
mod layout;
mod lds;
mod linear;
mod location;
mod loops;
mod model;
mod parse;
mod split;
mod style;
mod trips;
mod types;

pub use access::{Access, Atomic, Direction};
pub use context::At;
pub use convert::{Exchange, between, exchange};
pub use dot::{Dot, Instruction};
pub use error::ReadError;
pub use kernel::{Conversion, Form, KernelIr, LineOps, Reduction, Sink, Transpose, kernels};
pub use layout::{Bases, Layout};
pub use lds::{LdsAccount, LdsBuffer, Purpose, buffer_bytes, lds};
pub use linear::linear;
pub use location::{Frame, Location};
pub use loops::{Bound, Loop, LoopLoad};
pub use model::*;
pub use parse::{read, recognise};
pub use split::Aliases;
pub use style::ScratchStyle;
pub use trips::RoundTrips;
pub use types::{Element, Tensor, Type};
