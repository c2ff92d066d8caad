//! Emulated dispatches as recordings: counters and times in a profiler's format, and predictions for changes.
//!
//! While a kernel runs, its accesses are recorded as a stream; the clock and each prediction read the same
//! stream afterwards.

mod cache_state;
mod clocks;
mod events;
mod instructions;
mod job;
mod marks;
mod prediction;
mod recorder;
mod sample;
mod settings;
mod traffic;

pub use cache_state::CacheState;
pub use clock::{Detail, RepresentativeXcds};
pub use clocks::Predicted;
pub use events::{Events, EventsError, Head, Replay};
pub use job::{Job, JobError};
pub use marks::{TIME_CLASSES, TIME_SHARED, is_modelled, time_class, time_quantity};
pub use prediction::{CHANGES, Prediction, PredictionError};
pub use recorder::{Columns, Dispatch, Lines, Provenance, Recorder, Timed};
pub use sample::Sample;
pub use settings::Settings;
