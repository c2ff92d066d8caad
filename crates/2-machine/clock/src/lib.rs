//! How long a dispatch takes, and why.
//!
//! The one idea to keep in mind: waves issue instructions one after the other until they have to wait; what they wait for
//! is a moment at which some part of the GPU is done with an earlier request. Moments come in order, so the caches see
//! accesses as they would come, and the last moment is the time of the dispatch. Nothing here knows an instruction set:
//! an instruction is the unit it needs and for how long.

mod calendar;
mod device;
mod dies;
mod fabric;
mod follower;
mod footprint;
mod gpu;
mod level;
mod lift;
mod limits;
mod memory;
mod op;
mod outcome;
mod place;
mod rates;
mod scalar;
mod share;
mod side;
mod vector;
mod wave;

pub use gpu::{Gpu, Grid, Order};
pub use level::Level;
pub use lift::Lift;
pub use limits::{Estimate, Limit, Work, estimate};
pub use op::{NO_SLOT, Op, Unit};
pub use outcome::{Outcome, Stall, UnderWay};
pub use rates::Rates;
pub use share::{Detail, Shared, Wanted, can_share};
