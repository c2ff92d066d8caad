//! Tokens: texts that no other claim has.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

/// A new token: 128 random bits. The standard library seeds each thread's hashes from the system's random numbers;
/// process number and count part the rest.
pub(crate) fn new() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let part = || RandomState::new().hash_one((std::process::id(), count));
    format!("{:016x}{:016x}", part(), part())
}
