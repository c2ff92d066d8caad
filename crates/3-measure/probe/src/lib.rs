//! Observers of the emulator: one counts the events of hardware counters, one finds races and reads of
//! unwritten memory.
//!
//! The executor counts nothing; a probe does. While a kernel runs it counts executions and analyses memory
//! accesses. Properties of an instruction are computed once per program, and multiplied with its executions
//! afterwards.

mod check;
mod classify;
mod code;
mod counts;
mod event;
mod issue;
mod launch_registers;
mod memo;
mod observe;
mod policy;
mod registry;
mod size;
mod table;
mod tracer;

pub use check::{Checked, Checks, Conflict, Side, Wrong, check};
pub use code::Code;
pub use counts::{Counts, Memory};
pub use event::{Event, Source, Time, Times, Totals};
pub use observe::{Probe, each_dword};
pub use registry::{Basis, Formula, Registry, RegistryError, Rule, Value, channels, reason, registry, value};
pub use size::{LaunchSize, Oversize};
pub use table::{NO_SLOT, Table};
pub use tracer::{Tracer, run_counted, run_traced};
