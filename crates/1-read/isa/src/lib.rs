#![doc = include_str!("../README.md")]

mod cfg;
mod decode;
mod effects;
mod field;
mod fields;
mod form;
mod generated;
mod inst;
mod isa;
mod lists;
mod live;
mod lookup;
mod loops;
mod mix;
mod mtbuf;
mod names;

mod print;
mod regset;
pub mod text;

pub use cfg::{Block, Cfg};
pub use decode::{Decoder, decode, decode_all};
pub use inst::*;
pub use isa::Isa;
pub use live::{Live, Liveness};
pub use loops::Loop;
pub use mix::Mix;
pub use regset::{RegSet, SLOTS, register, slots};
