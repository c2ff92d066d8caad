//! The other side of a call from device code.
//!
//! The one idea to keep in mind: device code writes a request to memory, interrupts and polls. The answer is in
//! memory when the interrupt returns, so instruction counts do not depend on threads.

use crate::memory::Memory;
use std::fmt::Debug;

/// Whom device code calls.
pub trait Host: Sync + Debug {
    /// Answers all requests in memory; an error stops the kernel.
    fn interrupt(&self, memory: &Memory) -> Result<(), String>;
}

/// Where text goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Error,
}

/// What device code may ask for.
pub trait Services: Sync {
    /// Prints.
    fn print(&self, stream: Stream, text: &[u8]);

    /// Memory for device code; `None` when there is none.
    fn allocate(&self, bytes: u64) -> Option<u64>;

    /// Takes such memory back.
    fn free(&self, address: u64);
}
