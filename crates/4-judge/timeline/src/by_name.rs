//! A value for each name of a timeline.
//!
//! Names are small numbers, so that millions of spans are summed by name without hashing one.

use trace::{Name, Timeline};

/// A value for each name that was met, in the order of the names.
pub(crate) struct ByName<T> {
    values: Vec<Option<T>>,
}

impl<T> ByName<T> {
    /// Creates an empty table.
    pub(crate) fn of(timeline: &Timeline) -> Self {
        ByName { values: (0..timeline.names.len()).map(|_| None).collect() }
    }

    /// The value of a name, created on first use.
    pub(crate) fn get(&mut self, name: Name, make: impl FnOnce() -> T) -> &mut T {
        // A timeline has at least the empty string; numbers without a name use its slot.
        let at = Some(name.0 as usize).filter(|at| *at < self.values.len()).unwrap_or(0);
        self.values[at].get_or_insert_with(make)
    }

    /// The values of names that were met.
    pub(crate) fn into_values(self) -> impl Iterator<Item = (Name, T)> {
        self.values.into_iter().enumerate().filter_map(|(at, value)| Some((Name(at as u32), value?)))
    }
}
