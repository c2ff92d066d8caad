//! Objects that programs create in a library, by number.

use super::Problem;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Objects of a library. Their numbers look like addresses and lead nowhere.
pub(super) struct Objects<T> {
    first: usize,
    all: Mutex<BTreeMap<usize, T>>,
}

impl<T> Objects<T> {
    /// None yet; the first one gets this number.
    pub(super) const fn numbered_from(first: usize) -> Objects<T> {
        Objects { first, all: Mutex::new(BTreeMap::new()) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, T>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds one; its number.
    pub(super) fn add(&self, object: T) -> usize {
        let mut all = self.lock();
        let number = all.last_key_value().map_or(self.first, |(last, _)| last + 16);
        all.insert(number, object);
        number
    }

    /// Adds one whose number goes where the program wants it.
    pub(super) fn create(&self, at: usize, object: T) -> Result<usize, Problem> {
        if at == 0 {
            return Err(Problem::Pointer);
        }
        let number = self.add(object);
        put(at, number).map(|()| number)
    }

    /// A copy of the one with a number.
    pub(super) fn find(&self, number: usize) -> Result<T, Problem>
    where
        T: Clone,
    {
        self.lock().get(&number).cloned().ok_or(Problem::Handle)
    }

    /// Changes the one with a number.
    pub(super) fn change(&self, number: usize, change: impl FnOnce(&mut T)) -> Result<(), Problem> {
        self.lock().get_mut(&number).map(change).ok_or(Problem::Handle)
    }

    /// Ends the one with a number.
    pub(super) fn remove(&self, number: usize) -> Result<(), Problem> {
        self.lock().remove(&number).map(drop).ok_or(Problem::Handle)
    }
}

/// Writes a result where the program wants it.
pub(super) fn put<T>(at: usize, value: T) -> Result<(), Problem> {
    if at == 0 {
        return Err(Problem::Pointer);
    }
    // SAFETY: not null, and the headers promise room for the type.
    unsafe { std::ptr::with_exposed_provenance_mut::<T>(at).write_unaligned(value) };
    Ok(())
}
