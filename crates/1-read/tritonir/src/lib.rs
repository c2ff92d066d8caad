#![doc = include_str!("../README.md")]

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
pub use lds::{LdsAccount, LdsBuffer, Purpose, lds};
pub use linear::linear;
pub use location::{Frame, Location};
pub use loops::{Bound, Loop, LoopLoad};
pub use model::*;
pub use parse::{read, recognise};
pub use split::Aliases;
pub use style::ScratchStyle;
pub use trips::RoundTrips;
pub use types::{Element, Tensor, Type};
