//! The way of memory accesses through the caches.
//!
//! The one idea to keep in mind: nothing here knows an instruction set, or time. What comes in are addresses of lanes with
//! a policy; what comes out is how often each cache was asked, and answered. [`Trace`] records what some workgroups do
//! while they run; who drives the caches reads the recordings with a [`Cursor`] and decides who comes when.

mod access;
mod asks;
mod away;
mod cache;
mod coalesce;
mod count;
mod cursor;
mod depot;
mod few;
mod forms;
mod l2;
mod layers;
mod own;
mod parts;
mod places;
mod sample;
mod scalar;
mod sectors;
mod shape;
mod sixteen;
mod slot;
mod store;
mod stream;
mod sums;
mod vector;
mod wide;

pub use access::{Kind, Lanes, Lookup, Policy};
pub use asks::{FOUND, Look, ROW, Room, Steps};
pub use away::{Stream, Window};
pub use coalesce::{Coalesced, coalesce};
pub use count::{Count, Tally};
pub use cursor::{Cursor, Event};
pub use depot::{Backing, Depot, InMemory};
pub use forms::{Forms, LdsAccess, Shared};
pub use l2::{Answer, Want, fold};
pub use layers::Layers;
pub use own::{Own, own_size};
pub use parts::Caches;
pub use sample::Sample;
pub use shape::Shape;
pub use slot::Slots;
pub use store::{BatchReader, BatchWriter, Unreadable};
pub use stream::{Batch, Group, MOST_PER_GROUP, Trace};
pub use sums::Sums;
pub use vector::{Follow, Progress};
