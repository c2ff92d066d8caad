//! Spill store: storage for streams that exceed the memory budget.
//!
//! Spilling changes no result, so it depends only on the memory in use. The store allocates blocks; a
//! [`Backing`] reads and writes them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fmt, io};

/// Bytes of a block, about the size of the pieces in which a spilled stream is read.
pub(crate) const BLOCK: usize = 8 << 10;

/// Bytes of streams in memory beyond which streams are spilled: well below the bytes at which a clock lets
/// waves run early.
const BUDGET: usize = 192 << 20;

/// Random-access bytes outside of memory, such as a file.
pub trait Backing: Send + Sync {
    /// Writes bytes at an offset.
    fn write(&self, at: u64, bytes: &[u8]) -> io::Result<()>;
    /// Fills `bytes` from an offset.
    fn read(&self, at: u64, bytes: &mut [u8]) -> io::Result<()>;
}

/// A [`Backing`] in memory for tests, with a size limit and an optional number of reads after which reads
/// fail.
#[derive(Debug)]
pub struct InMemory {
    bytes: Mutex<Vec<u8>>,
    limit: usize,
    /// Remaining reads that succeed.
    reads: AtomicUsize,
}

impl InMemory {
    /// A backing of `limit` bytes.
    pub fn new(limit: usize) -> InMemory {
        InMemory { bytes: Mutex::default(), limit, reads: AtomicUsize::new(usize::MAX) }
    }

    /// Lets only the first `reads` reads succeed.
    #[must_use]
    pub fn failing_after(self, reads: usize) -> InMemory {
        InMemory { reads: AtomicUsize::new(reads), ..self }
    }

    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Backing for InMemory {
    fn write(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let end = at as usize + bytes.len();
        if end > self.limit {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let mut all = self.bytes();
        let length = all.len().max(end);
        all.resize(length, 0);
        all[at as usize..end].copy_from_slice(bytes);
        Ok(())
    }

    fn read(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        let less = |left: usize| left.checked_sub(1);
        self.reads
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .map_err(|_| io::Error::from(io::ErrorKind::Other))?;
        let all = self.bytes();
        let from = all.get(at as usize..at as usize + bytes.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        bytes.copy_from_slice(from);
        Ok(())
    }
}

/// Storage for spilled streams.
pub struct SpillStore {
    backing: Box<dyn Backing>,
    budget: usize,
    /// Bytes of streams in memory.
    held: AtomicUsize,
    blocks: Mutex<Blocks>,
    /// A spilled stream could not be read.
    lost: AtomicBool,
}

#[derive(Debug)]
struct Blocks {
    free: Vec<u32>,
    /// Blocks used so far, and the limit.
    used: u32,
    most: u32,
}

impl fmt::Debug for SpillStore {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Depot")
            .field("held", &self.held)
            .field("blocks", &self.blocks)
            .finish_non_exhaustive()
    }
}

impl SpillStore {
    /// A store of `bytes` bytes.
    pub fn new(backing: Box<dyn Backing>, bytes: u64) -> SpillStore {
        SpillStore::with_budget(backing, bytes, BUDGET)
    }

    /// A store of `bytes` bytes, with a budget of bytes for streams in memory.
    pub fn with_budget(backing: Box<dyn Backing>, bytes: u64, budget: usize) -> SpillStore {
        let most = u32::try_from(bytes / BLOCK as u64).unwrap_or(u32::MAX);
        let blocks = Mutex::new(Blocks { free: Vec::new(), used: 0, most });
        SpillStore { backing, budget, held: AtomicUsize::new(0), blocks, lost: AtomicBool::new(false) }
    }

    /// Most bytes in use at a time.
    pub fn used(&self) -> u64 {
        u64::from(self.blocks().used) * BLOCK as u64
    }

    /// True once after a spilled stream could not be read; the result of its dispatch is then invalid.
    pub fn take_unreadable(&self) -> bool {
        self.lost.swap(false, Ordering::Relaxed)
    }

    /// True if streams in memory exceed the budget.
    pub(crate) fn is_over_budget(&self) -> bool {
        self.held.load(Ordering::Relaxed) > self.budget
    }

    /// Writes bytes; returns their blocks, `None` if the store is full.
    pub(crate) fn put(&self, bytes: &[u8]) -> Option<Vec<u32>> {
        let mut taken = Vec::with_capacity(bytes.len().div_ceil(BLOCK));
        for part in bytes.chunks(BLOCK) {
            let number = self.blocks().take();
            match number.filter(|&number| self.backing.write(place(number), part).is_ok()) {
                Some(number) => taken.push(number),
                None => {
                    let mut blocks = self.blocks();
                    blocks.free.append(&mut taken);
                    // The failed block is not reused, and no new block is allocated: a full disk stays full.
                    blocks.most = blocks.used;
                    return None;
                }
            }
        }
        Some(taken)
    }

    /// Reads bytes back; false on failure.
    pub(crate) fn read(&self, blocks: &[u32], bytes: &mut [u8]) -> bool {
        let parts = bytes.chunks_mut(BLOCK).zip(blocks);
        let read =
            parts.fold(true, |all, (part, &number)| all && self.backing.read(place(number), part).is_ok());
        if !read {
            self.lost.store(true, Ordering::Relaxed);
        }
        read
    }

    /// Frees blocks.
    pub(crate) fn free_blocks(&self, blocks: &mut Vec<u32>) {
        self.blocks().free.append(blocks);
    }

    fn blocks(&self) -> MutexGuard<'_, Blocks> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Blocks {
    fn take(&mut self) -> Option<u32> {
        if let Some(number) = self.free.pop() {
            return Some(number);
        }
        if self.used >= self.most {
            return None;
        }
        self.used += 1;
        Some(self.used - 1)
    }
}

fn place(block: u32) -> u64 {
    u64::from(block) * BLOCK as u64
}

/// Bytes of streams in memory, counted by a store for the lifetime of this value.
#[derive(Debug, Default)]
pub(crate) struct HeldBytes {
    spill_store: Option<Arc<SpillStore>>,
    bytes: usize,
}

impl HeldBytes {
    pub(crate) fn new(spill_store: Option<&Arc<SpillStore>>, bytes: usize) -> HeldBytes {
        let mut held = HeldBytes { spill_store: spill_store.cloned(), bytes: 0 };
        held.set(bytes);
        held
    }

    /// Sets the number of held bytes.
    pub(crate) fn set(&mut self, bytes: usize) {
        if let Some(spill_store) = &self.spill_store {
            // Both wrap, and together they do not.
            spill_store.held.fetch_add(bytes.wrapping_sub(self.bytes), Ordering::Relaxed);
        }
        self.bytes = bytes;
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        self.set(0);
    }
}

/// Streams with equal contents are equal, whatever this counts.
impl PartialEq for HeldBytes {
    fn eq(&self, _: &HeldBytes) -> bool {
        true
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A spill store of `bytes` bytes, for streams that may take no memory.
    pub(crate) fn spill_store(bytes: usize) -> Arc<SpillStore> {
        Arc::new(SpillStore::with_budget(Box::new(InMemory::new(bytes)), u64::MAX, 0))
    }

    #[test]
    fn spilled_blocks_are_read_back_and_reused() {
        let spill_store = spill_store(1 << 20);
        let bytes: Vec<u8> = (0..3 * BLOCK + 5).map(|at| (at % 251) as u8).collect();
        for _ in 0..1000 {
            let mut blocks = spill_store.put(&bytes).unwrap();
            assert_eq!(blocks.len(), 4);
            let mut found = vec![0; bytes.len()];
            assert!(spill_store.read(&blocks, &mut found) && found == bytes);
            spill_store.free_blocks(&mut blocks);
        }
        assert_eq!(spill_store.used(), 4 * BLOCK as u64);
    }

    #[test]
    fn a_full_store_takes_freed_blocks_only() {
        let spill_store = spill_store(3 * BLOCK);
        let mut first = spill_store.put(&[1; 2 * BLOCK]).unwrap();
        assert_eq!(spill_store.put(&[2; 2 * BLOCK]), None);
        assert_eq!(spill_store.put(&[3; BLOCK]).map(|it| it.len()), Some(1));
        assert_eq!(spill_store.put(&[4]), None);
        spill_store.free_blocks(&mut first);
        assert_eq!(spill_store.put(&[5; 2 * BLOCK]).map(|it| it.len()), Some(2));
        assert!(!spill_store.take_unreadable());
    }

    #[test]
    fn an_unreadable_stream_is_reported_once() {
        let spill_store = spill_store(BLOCK);
        assert!(!spill_store.read(&[7], &mut [0; 4]));
        assert!(spill_store.take_unreadable() && !spill_store.take_unreadable());
    }

    #[test]
    fn held_bytes_are_counted_until_dropped() {
        let spill_store = spill_store(0);
        assert!(!spill_store.is_over_budget());
        let mut held = HeldBytes::new(Some(&spill_store), 5);
        held.set(2);
        assert!(spill_store.is_over_budget() && held.bytes == 2);
        drop(held);
        assert!(!spill_store.is_over_budget());
    }
}
