//! Caches of a GPU: coalescer, vector L1, scalar cache, L2, address translation.
//!
//! The crate knows no instruction set and no time. Input is lane addresses with a policy, output is requests
//! and hits of each cache. [`Trace`] records the accesses of workgroups as they run; the caller reads the
//! records with a [`Cursor`], orders them in time, and answers questions of time through [`Timing`].

mod access;
mod access_patterns;
mod backend;
mod banks;
mod cache;
mod caches;
mod coalesce;
mod count;
mod cursor;
mod eviction;
mod l1_miss_path;
mod l2;
mod line_state;
mod load_run;
mod memory_owner;
mod named;
mod pattern_memo;
mod place_predictor;
mod sample;
mod scalar;
mod sets16;
mod sets64;
mod sets_any;
mod shape;
mod sparse_cache;
mod spill_store;
mod store;
mod timing;
mod trace;
mod translations;
mod unique_access;
mod vector_l1;
mod wave_stream;
mod xor_hash;

pub use access::{AccessKind, Lanes, Lookup, Policy};
pub use access_patterns::{AccessPatterns, LdsAccess, VectorAccess};
pub use banks::{BankCycles, bank_cycles};
pub use caches::{Acquire, Caches};
pub use coalesce::{Coalesced, coalesce};
pub use count::{Count, Tally};
pub use cursor::{Cursor, Event};
pub use l2::{L2Answer, RequestType, fold};
pub use pattern_memo::PatternMemo;
pub use sample::Sample;
pub use shape::Shape;
pub use sparse_cache::SparseCache;
pub use spill_store::{Backing, InMemory, SpillStore};
pub use store::{BatchReader, BatchWriter, Unreadable};
pub use timing::{FastPath, HIT, L1_WAYS, MshrSlots, TagLookup, Timing};
pub use trace::{Batch, Group, MOST_PER_GROUP, Trace};
pub use translations::Translation;
pub use unique_access::{UniqueAccess, unique_access_size};
pub use vector_l1::Progress;
pub use wave_stream::{StreamWindow, WaveStream};
pub use xor_hash::XorHash;
