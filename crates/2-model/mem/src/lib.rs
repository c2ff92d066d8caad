//! The way of memory accesses through the caches.
//!
//! The one idea to keep in mind: nothing here knows an instruction set. What comes in are addresses of lanes with a
//! policy, in the order in which each wave made them; what comes out is how often each cache was asked, and answered.
//! [`Trace`] records the accesses of some workgroups while they run, [`Caches`] takes the recordings in the order of
//! the grid and lets the waves that would be resident together go through the caches together.

mod access;
mod cache;
mod coalesce;
mod count;
mod dispatch;
mod l2;
mod places;
mod scalar;
mod shape;
mod stream;
mod vector;

pub use access::{Kind, Policy};
pub use coalesce::{Coalesced, coalesce};
pub use count::{Count, Tally};
pub use dispatch::{Caches, Grid};
pub use shape::Shape;
pub use stream::{Batch, Trace};
