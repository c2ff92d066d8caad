//! Room beyond memory, for streams that outgrow it.
//!
//! The one idea to keep in mind: nothing comes of it when a stream is put away or where it lies, so that is settled by the memory
//! that streams take at the time. Who owns the room reads and writes it; here are only blocks, and which of them are free.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fmt, io};

/// Bytes of a block. A wave reads what was put away a piece of about this size at a time.
pub(crate) const BLOCK: usize = 8 << 10;

/// Bytes of streams in memory beyond which they are put away: well below what clocks hold before they let waves run early.
const BUDGET: usize = 192 << 20;

/// A row of bytes outside of memory: a file.
pub trait Backing: Send + Sync {
    /// Writes bytes from a place on.
    fn write(&self, at: u64, bytes: &[u8]) -> io::Result<()>;
    /// Reads as many bytes from a place on.
    fn read(&self, at: u64, bytes: &mut [u8]) -> io::Result<()>;
}

/// A [`Backing`] in memory, for tests and fuzzing: a bounded size, and reads that fail after a number of them.
#[derive(Debug)]
pub struct InMemory {
    bytes: Mutex<Vec<u8>>,
    limit: usize,
    /// Reads that succeed.
    reads: AtomicUsize,
}

impl InMemory {
    /// Room for `limit` bytes.
    pub fn new(limit: usize) -> InMemory {
        InMemory { bytes: Mutex::default(), limit, reads: AtomicUsize::new(usize::MAX) }
    }

    /// The same, of which only the first `reads` reads succeed.
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

/// Room for streams beyond memory.
pub struct Depot {
    backing: Box<dyn Backing>,
    budget: usize,
    /// Bytes of streams that are in memory.
    held: AtomicUsize,
    blocks: Mutex<Blocks>,
    /// Something that was put away could not be read.
    lost: AtomicBool,
}

#[derive(Debug)]
struct Blocks {
    free: Vec<u32>,
    /// Blocks that were used at some time, and most that may be.
    used: u32,
    most: u32,
}

impl fmt::Debug for Depot {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Depot")
            .field("held", &self.held)
            .field("blocks", &self.blocks)
            .finish_non_exhaustive()
    }
}

impl Depot {
    /// Room for so many bytes.
    pub fn new(backing: Box<dyn Backing>, bytes: u64) -> Depot {
        Depot::with_budget(backing, bytes, BUDGET)
    }

    /// The same, where so many bytes of streams stay in memory.
    pub fn with_budget(backing: Box<dyn Backing>, bytes: u64, budget: usize) -> Depot {
        let most = u32::try_from(bytes / BLOCK as u64).unwrap_or(u32::MAX);
        let blocks = Mutex::new(Blocks { free: Vec::new(), used: 0, most });
        Depot { backing, budget, held: AtomicUsize::new(0), blocks, lost: AtomicBool::new(false) }
    }

    /// Most bytes that were put away at one time.
    pub fn used(&self) -> u64 {
        u64::from(self.blocks().used) * BLOCK as u64
    }

    /// Whether something that was put away could not be read: then nothing is known of the dispatch that it belongs to. Says so
    /// once.
    pub fn take_lost(&self) -> bool {
        self.lost.swap(false, Ordering::Relaxed)
    }

    /// Whether streams take more memory than they should.
    pub(crate) fn is_pressed(&self) -> bool {
        self.held.load(Ordering::Relaxed) > self.budget
    }

    /// Puts bytes away; the blocks they lie in, none where there is no room.
    pub(crate) fn put(&self, bytes: &[u8]) -> Option<Vec<u32>> {
        let mut taken = Vec::with_capacity(bytes.len().div_ceil(BLOCK));
        for part in bytes.chunks(BLOCK) {
            let number = self.blocks().take();
            match number.filter(|&number| self.backing.write(place(number), part).is_ok()) {
                Some(number) => taken.push(number),
                None => {
                    let mut blocks = self.blocks();
                    blocks.free.append(&mut taken);
                    // The one that could not be written is never taken again, and no other is new: a full disk does not grow.
                    blocks.most = blocks.used;
                    return None;
                }
            }
        }
        Some(taken)
    }

    /// Reads bytes that were put away.
    pub(crate) fn read(&self, blocks: &[u32], bytes: &mut [u8]) -> bool {
        let parts = bytes.chunks_mut(BLOCK).zip(blocks);
        let read =
            parts.fold(true, |all, (part, &number)| all && self.backing.read(place(number), part).is_ok());
        if !read {
            self.lost.store(true, Ordering::Relaxed);
        }
        read
    }

    /// Nobody needs these any longer.
    pub(crate) fn give_back(&self, blocks: &mut Vec<u32>) {
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

/// Bytes of streams in memory that a depot knows of, as long as this lives.
#[derive(Debug, Default)]
pub(crate) struct Held {
    depot: Option<Arc<Depot>>,
    bytes: usize,
}

impl Held {
    pub(crate) fn new(depot: Option<&Arc<Depot>>, bytes: usize) -> Held {
        let mut held = Held { depot: depot.cloned(), bytes: 0 };
        held.set(bytes);
        held
    }

    /// They are so many now.
    pub(crate) fn set(&mut self, bytes: usize) {
        if let Some(depot) = &self.depot {
            // Both wrap, and together they do not.
            depot.held.fetch_add(bytes.wrapping_sub(self.bytes), Ordering::Relaxed);
        }
        self.bytes = bytes;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.set(0);
    }
}

/// What is counted makes no difference to what is held.
impl PartialEq for Held {
    fn eq(&self, _: &Held) -> bool {
        true
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A depot over so many bytes, for streams that may take no memory.
    pub(crate) fn depot(bytes: usize) -> Arc<Depot> {
        Arc::new(Depot::with_budget(Box::new(InMemory::new(bytes)), u64::MAX, 0))
    }

    #[test]
    fn what_is_put_away_is_read_again_and_its_room_used_again() {
        let depot = depot(1 << 20);
        let bytes: Vec<u8> = (0..3 * BLOCK + 5).map(|at| (at % 251) as u8).collect();
        for _ in 0..1000 {
            let mut blocks = depot.put(&bytes).unwrap();
            assert_eq!(blocks.len(), 4);
            let mut found = vec![0; bytes.len()];
            assert!(depot.read(&blocks, &mut found) && found == bytes);
            depot.give_back(&mut blocks);
        }
        assert_eq!(depot.used(), 4 * BLOCK as u64);
    }

    #[test]
    fn a_full_depot_takes_what_was_given_back_and_no_more() {
        let depot = depot(3 * BLOCK);
        let mut first = depot.put(&[1; 2 * BLOCK]).unwrap();
        assert_eq!(depot.put(&[2; 2 * BLOCK]), None);
        assert_eq!(depot.put(&[3; BLOCK]).map(|it| it.len()), Some(1));
        assert_eq!(depot.put(&[4]), None);
        depot.give_back(&mut first);
        assert_eq!(depot.put(&[5; 2 * BLOCK]).map(|it| it.len()), Some(2));
        assert!(!depot.take_lost());
    }

    #[test]
    fn what_cannot_be_read_is_said_once() {
        let depot = depot(BLOCK);
        assert!(!depot.read(&[7], &mut [0; 4]));
        assert!(depot.take_lost() && !depot.take_lost());
    }

    #[test]
    fn what_is_held_is_counted_while_it_lives() {
        let depot = depot(0);
        assert!(!depot.is_pressed());
        let mut held = Held::new(Some(&depot), 5);
        held.set(2);
        assert!(depot.is_pressed() && held.bytes == 2);
        drop(held);
        assert!(!depot.is_pressed());
    }
}
