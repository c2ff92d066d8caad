//! Result of a fill: the place a line went to, and the line it replaced.

/// A line that was put at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Filled {
    /// Index of the set times the ways, plus the way.
    pub(crate) place: usize,
    /// Line that was replaced.
    pub(crate) evicted: Option<u64>,
}
