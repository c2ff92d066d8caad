//! The way of memory accesses through the caches.
//!
//! The one idea to keep in mind: nothing here knows an instruction set. What comes in are addresses of lanes with a
//! policy, in the order in which each wave made them; what comes out is how often each cache was asked, and answered.

mod coalesce;

pub use coalesce::{Coalesced, coalesce};
