//! Evidence from code objects and recordings, as values.
//!
//! The one idea to keep in mind: everything a rule or a card needs is computed once per kernel, here; rules
//! only judge and renderers only write.

pub mod affine;
mod calls;
mod card;
mod compare;
mod evidence;
mod listing;
mod resources;
mod text;
pub mod workload;

pub use calls::Call;
pub use card::card;
pub use compare::{Better, METRICS, Metric, changes, compare, compare_kernels};
pub use evidence::{KernelEvidence, Source};
pub use listing::listing;
pub use text::TextFile;
