#![doc = include_str!("../README.md")]

mod archive;
mod bundle;
mod bytes;
mod compressed;
mod demangle;
mod descriptor;
mod elf;
mod error;
mod events;
mod image;
mod kind;
mod lines;
mod metadata;
mod model;
mod msgpack;
mod producer;
mod read;
mod scan;
mod target;
mod text;
mod triton;
mod yaml;

pub use demangle::demangle;
pub use error::ReadError;
pub use image::{Image, ImageSymbol, Part};
pub use kind::{Kind, recognise};
pub use lines::{Frame, LineTable, Lines, Row, has_lines};
pub use model::*;
pub use scan::{Found, Scan, Wanted, scan};
pub use text::read_text;
pub use triton::apply_triton;
