//! The values that all higher layers exchange: findings, kernel cards, listings, tables.
//!
//! Renderers depend only on this crate, so all output for users is a value here. An unknown value is
//! [`Missing`] with its reason, never blank, zero or NaN.

mod answer;
mod asked;
mod columns;
mod compare;
mod doctor;
mod finding;
mod format;
mod guide;
mod inspect;
mod mark;
mod memory_chart;
mod metrics;
mod missing;
mod number;
mod occupancy;
mod page;
mod recipe;
mod recordings;
mod refusal;
mod roofline;
mod samples;
mod summary;
mod table;
mod thread_trace;
mod tile;
mod timeline;
mod triage;
mod triton;
mod tunings;
mod waves;
mod words;

pub use answer::*;
pub use asked::*;
pub use columns::*;
pub use compare::*;
pub use doctor::*;
pub use finding::*;
pub use format::*;
pub use guide::*;
pub use inspect::*;
pub use mark::*;
pub use memory_chart::*;
pub use metrics::*;
pub use missing::*;
pub use number::*;
pub use occupancy::*;
pub use page::*;
pub use recipe::*;
pub use recordings::*;
pub use refusal::*;
pub use roofline::*;
pub use samples::*;
pub use summary::*;
pub use table::*;
pub use thread_trace::*;
pub use tile::*;
pub use timeline::*;
pub use triage::*;
pub use triton::*;
pub use tunings::*;
pub use waves::*;
pub use words::*;
