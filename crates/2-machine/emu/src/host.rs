//! Host side of calls from device code.
//!
//! The one idea to keep in mind: device code writes a request to memory, interrupts and polls. The answer is in
//! memory when the interrupt returns, so instruction counts do not depend on threads.

use crate::memory::Memory;
use std::fmt::Debug;

/// Host that device code calls.
pub trait Host: Sync + Debug {
    /// Answers all requests in memory; an error stops the kernel.
    fn interrupt(&self, memory: &Memory) -> Result<(), String>;
}

/// Stream of printed text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Error,
}

/// Services for device code.
pub trait Services: Sync {
    /// Prints text.
    fn print(&self, stream: Stream, text: &[u8]);

    /// Allocates memory for device code; `None` if none is left.
    fn allocate(&self, bytes: u64) -> Option<u64>;

    /// Frees memory from `allocate`.
    fn free(&self, address: u64);
}
