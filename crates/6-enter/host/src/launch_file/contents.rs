//! What arguments hold at the start.

use emu::Memory;
use std::borrow::Cow;
use std::sync::Arc;

/// Initial value of an argument.
#[derive(Clone, Debug)]
pub enum Contents {
    /// Bytes of a value.
    Scalar(Vec<u8>),
    /// Bytes of a buffer.
    Buffer(Bytes),
}

impl Contents {
    /// The bytes of a value or a buffer.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        match self {
            Contents::Scalar(bytes) => bytes.into(),
            Contents::Buffer(bytes) => bytes.bytes(),
        }
    }
}

/// Bytes of a buffer. They may be gigabytes: copies share them, and a byte that repeats is kept once.
#[derive(Clone, Debug)]
pub enum Bytes {
    /// One byte, this many times.
    Same(u8, usize),
    /// Bytes that were read or made.
    Given(Arc<Vec<u8>>),
}

impl Bytes {
    /// Number of bytes.
    pub(crate) fn len(&self) -> usize {
        match self {
            Bytes::Same(_, length) => *length,
            Bytes::Given(bytes) => bytes.len(),
        }
    }

    /// All of them.
    pub(crate) fn bytes(&self) -> Cow<'_, [u8]> {
        match self {
            Bytes::Same(byte, length) => vec![*byte; *length].into(),
            Bytes::Given(bytes) => bytes.as_slice().into(),
        }
    }

    /// Writes them to an address; `None` if that many bytes from there are not in one range.
    pub(crate) fn write(&self, memory: &Memory, address: u64) -> Option<()> {
        match self {
            Bytes::Same(byte, length) => memory.fill(address, *byte, *length),
            Bytes::Given(bytes) => memory.write(address, bytes),
        }
    }

    /// Writes them to an address of memory that holds zeros, as [`Bytes::write`].
    pub(crate) fn write_fresh(&self, memory: &Memory, address: u64) -> Option<()> {
        match self {
            // Memory that nothing has written needs no pages of the host.
            Bytes::Same(0, length) => memory.locate(address, *length as u64).map(|_| ()),
            _ => self.write(memory, address),
        }
    }
}
