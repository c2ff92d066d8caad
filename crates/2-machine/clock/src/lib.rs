//! How long a dispatch takes, and why.
//!
//! This is a discrete-event simulation. Waves issue instructions in order until they wait, and each wait ends
//! at the cycle at which a part of the GPU has served a request. Events run in order of time, so caches see
//! accesses in the order of the hardware, and the last event is the time of the dispatch. The crate knows no
//! instruction set: an instruction is a unit and a number of cycles.

mod atomics;
mod calendar;
mod dispatcher;
mod dram;
mod fabric;
mod footprint;
mod gpu;
mod grid;
mod ideal_limit;
mod infinite_cache;
mod l1_lines;
mod l1_queue;
mod level;
mod limits;
mod link;
mod memory;
mod memory_side_cache;
mod op;
mod outcome;
mod page_tables;
mod rates;
mod representative_xcds;
mod scalar;
mod steady_state;
mod throttle;
mod wave;
mod workgroup;
mod xcd_group;
mod xcd_worker;

pub use gpu::Gpu;
pub use grid::{Grid, Order};
pub use ideal_limit::IdealLimit;
pub use level::Level;
pub use limits::{Estimate, Limit, Work, estimate};
pub use mem::Acquire;
pub use op::{NO_SLOT, Op, Unit};
pub use outcome::{FollowedWorkgroups, Outcome, RepresentativeXcds, Stall, UnderWay};
pub use rates::Rates;
pub use representative_xcds::{Detail, Wanted, can_share};
