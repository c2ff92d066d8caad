//! The emulator: device code runs on the CPU, exactly.
//!
//! The one idea to keep in mind: the executor counts and times nothing. An [`Observer`] sees what happens, and
//! costs nothing if absent.

mod access;
mod altered;
mod arguments;
mod atomics;
mod cpu;
mod decode;
mod deferred_atomics;
mod engine;
mod execute;
mod fault;
mod formation;
mod half;
mod host;
mod hostcall;
mod in_place;
mod indexing;
mod instruction_counts;
mod kernels;
mod lanes;
mod lanes_cross;
mod launch;
mod lds_dma;
mod machine;
mod matrix;
mod memory;
mod minifloat;
mod modifiers;
mod observe;
mod operand;
mod outside;
mod outside_lds;
mod print_buffer;
mod printf;
mod program;
mod quad_sums;
mod raw;
mod run_in_place;
mod scalar;
mod scaled;
mod square;
mod transpose;
mod typed;
mod valu;
mod vector;
mod walk;
mod wave;

pub use arguments::{Hidden, arguments};
pub use decode::executes;
pub use fault::{Cause, Fault};
pub use host::{Host, Services, Stream};
pub use hostcall::Hostcall;
pub use instruction_counts::InstructionCounts;
pub use launch::{Launch, MOST_INSTRUCTIONS, Progress, Summary, run};
pub use memory::{Memory, Nearest};
pub use observe::{LdsDmaLoad, MemoryAccess, Observer};
pub use outside_lds::OutsideLds;
pub use print_buffer::PrintBuffer;
pub use printf::printf;
pub use program::{Program, ProgramError};
pub use raw::Shared;
pub use wave::WaveId;
