//! Hardware counters of emulated kernels.
//!
//! The one idea to keep in mind: the executor counts nothing, a probe does. While a kernel runs it counts executions
//! of instructions and works off memory accesses; everything that is a property of an instruction is settled once
//! per program, and multiplied with its executions afterwards.

mod check;
mod classify;
mod clocks;
mod code;
mod counts;
mod event;
mod events;
mod instructions;
mod issue;
mod job;
mod launch_registers;
mod marks;
mod memo;
mod observe;
mod policy;
mod prediction;
mod recorder;
mod registry;
mod sample;
mod settings;
mod size;
mod table;
mod traffic;

pub use check::{Checked, Checks, Conflict, Side, Wrong, check};
pub use clock::{Detail, RepresentativeXcds};
pub use clocks::Predicted;
pub use code::Code;
pub use counts::{Counts, Memory};
pub use event::{Event, Source, Time, Times, Totals};
pub use events::{Events, EventsError, Head, Replay};
pub use job::{Job, JobError};
pub use marks::{TIME_SHARED, is_modelled, time_quantity};
pub use observe::Probe;
pub use prediction::{CHANGES, Prediction, PredictionError};
pub use recorder::{Dispatch, Provenance, Recorder, Timed};
pub use registry::{Basis, Formula, Registry, RegistryError, Rule, Value, reason, registry};
pub use sample::Sample;
pub use settings::Settings;
pub use size::{LaunchSize, Oversize};
pub use table::Table;
