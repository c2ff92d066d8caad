//! Tiled matrix products: utilisation of the GPU, traffic, resources and time.
//!
//! [`Estimate::of`] answers for one problem and one tile, [`alternatives`] tries the usual tiles. The time is
//! a model of a kernel that loads, waits and multiplies step by step; [`time`](Constants) lists its constants
//! with their sources.

mod alternatives;
mod compared;
mod counts;
mod estimate;
mod problem;
mod time;

pub use alternatives::{alternatives, usual_tiles};
pub use compared::{Compared, compared};
pub use counts::{Bytes, Need, Rounds};
pub use estimate::Estimate;
pub use problem::{Operands, Problem, ProductLaunch, Scales, Tile};
pub use time::{Bound, Constants, Time};
