//! Caches without a limit, which predictions simulate.

/// An infinite cache.
#[derive(Clone, Copy, Debug)]
pub(crate) enum InfiniteCache {
    /// Vector L1 of a compute unit.
    Unit(usize),
    /// Lines read in the L2 of an XCD, and lines written back.
    Read(usize),
    Written(usize),
}

/// Most lines of all infinite caches.
pub(crate) const MOST_KEPT: usize = 1 << 23;
