//! GPU facts per target: limits, sizes, rates, and occupancy arithmetic.
//!
//! The one idea to keep in mind: facts are data files; nothing above this crate names a GPU.
