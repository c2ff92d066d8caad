//! Global memory of device code: ranges of 64-bit addresses.
//!
//! The one idea to keep in mind: only addresses inside a registered range are valid. Any other access is a fault
//! that names the nearest range and the distance to it.

use crate::raw::{Digest, Shared};
use crate::unwritten;
use std::fmt;

/// Address of the first allocated range, far from addresses that a program might use by mistake.
const FIRST: u64 = 0x7f00_0000_0000;
/// Gap between ranges in bytes, so that small overruns fault.
const GUARD: u64 = 1 << 16;
/// Alignment of ranges of at least this size, in bytes. Drivers align them so because one translation covers as
/// much.
const FRAGMENT: usize = 1 << 21;

/// Bytes of a block, which is kept whole where a byte of it changes.
const BLOCK: usize = 1 << 16;

/// Digests of contents of memory: of all together and of each block.
#[derive(Clone, PartialEq, Debug)]
pub struct Contents {
    /// Digest of everything.
    pub whole: Digest,
    blocks: Vec<Digest>,
}

/// Blocks of memory that changed, by their addresses.
#[derive(Clone, PartialEq, Debug)]
pub struct Changes(Vec<(u64, Vec<u8>)>);

impl Changes {
    /// Bytes that are kept.
    pub fn bytes(&self) -> usize {
        self.0.iter().map(|it| it.1.len()).sum()
    }
}

/// A registered range.
#[derive(Debug)]
struct Range {
    base: u64,
    /// Up to the end of the dword of the last byte: compilers exchange whole dwords around a smaller element.
    bytes: Shared,
    length: u64,
    name: String,
    freed: bool,
    /// The host may write to it while kernels run.
    hosts: bool,
    /// It is memory of the host, or fine-grained like it: GPU caches keep nothing of it.
    remote: bool,
    /// It is in pages of the host's kernel, which a translation covers one by one.
    small_pages: bool,
    /// It began with the pattern of memory that nothing has written.
    is_patterned: bool,
}

impl Range {
    fn new(name: &str, base: u64, length: u64, bytes: Shared) -> Range {
        let name = name.to_string();
        Range {
            base,
            bytes,
            length,
            name,
            freed: false,
            hosts: false,
            remote: false,
            small_pages: false,
            is_patterned: false,
        }
    }

    fn end(&self) -> u64 {
        self.base + self.length
    }
}

/// Bytes of memory behind a range of `length` bytes at `base`: to the end of its last dword.
pub fn whole_dwords(base: u64, length: usize) -> usize {
    length + (base.wrapping_add(length as u64).wrapping_neg() & 3) as usize
}

/// The two ranges found last; loops often alternate between two.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hint([usize; 2]);

/// Memory of kernels.
#[derive(Debug, Default)]
pub struct Memory {
    /// Sorted by address, not overlapping.
    ranges: Vec<Range>,
}

/// The range nearest to an invalid address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Nearest {
    /// Name given at registration.
    pub name: String,
    /// First address.
    pub base: u64,
    /// Bytes of the range.
    pub bytes: u64,
    /// Distance in bytes; negative if the address is before the range.
    pub distance: i64,
    /// The address is inside the range, and the range was freed.
    pub freed: bool,
}

impl fmt::Display for Nearest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Nearest { name, base, bytes, distance, freed } = self;
        if *freed {
            return write!(out, "inside `{name}` ({bytes} bytes at {base:#x}), which was freed");
        }
        if *distance == 0 {
            return write!(out, "just behind `{name}` ({bytes} bytes at {base:#x})");
        }
        let (far, side) =
            if *distance < 0 { (distance.unsigned_abs(), "before") } else { (*distance as u64, "behind") };
        write!(out, "{far} bytes {side} `{name}` ({bytes} bytes at {base:#x})")
    }
}

impl Memory {
    /// Memory without ranges.
    pub fn new() -> Memory {
        Memory::default()
    }

    /// Adds a zeroed range and returns its address.
    pub fn allocate(&mut self, name: &str, bytes: usize) -> u64 {
        let step = if bytes < FRAGMENT { GUARD } else { FRAGMENT as u64 };
        let base = self.ranges.last().map_or(FIRST, |last| (last.end() + GUARD).next_multiple_of(step));
        let contents = Shared::zeroed(whole_dwords(base, bytes));
        self.ranges.push(Range::new(name, base, bytes as u64, contents));
        base
    }

    /// Adds a range with contents and returns its address.
    pub fn allocate_with(&mut self, name: &str, bytes: &[u8]) -> u64 {
        let base = self.allocate(name, bytes.len());
        if let Some((range, at)) = self.locate(base, bytes.len() as u64) {
            range.write(at, bytes);
        }
        base
    }

    /// Loads a code object's image and returns the address of its virtual address 0.
    pub fn load(&mut self, name: &str, image: &codeobj::Image<'_>) -> u64 {
        let length = usize::try_from(image.bytes).unwrap_or(usize::MAX);
        let base = self.allocate(name, length);
        self.place(base, image, length);
        base
    }

    /// Loads a code object's image so that its virtual address 0 is at `base`. False if memory is there.
    pub fn load_at(&mut self, name: &str, image: &codeobj::Image<'_>, base: u64) -> bool {
        let length = usize::try_from(image.bytes).unwrap_or(usize::MAX);
        let is_free = self.register(name, base, length, Shared::zeroed(whole_dwords(base, length))).is_ok();
        if is_free {
            self.place(base, image, length);
        }
        is_free
    }

    fn place(&self, base: u64, image: &codeobj::Image<'_>, length: usize) {
        if let Some((range, start)) = self.locate(base, image.bytes) {
            // Pages of zeros are not touched, so the host need not back them.
            image.place_with(base, length, |at, bytes| range.write(start + at, bytes));
        }
    }

    /// Registers a range of `length` bytes at a given address, for example memory of the process itself; `bytes` are
    /// [`whole_dwords`]. Refuses a range that overlaps a live one; replaces freed ranges.
    pub fn register(&mut self, name: &str, base: u64, length: usize, bytes: Shared) -> Result<(), Shared> {
        let length = length as u64;
        let end = base.saturating_add(length);
        // Ranges do not overlap, so their ends are sorted too. Binary search, because programs may have thousands
        // of ranges.
        let first = self.ranges.partition_point(|it| it.end() <= base);
        let last = self.ranges.partition_point(|it| it.base < end).max(first);
        if self.ranges[first..last].iter().any(|it| !it.freed) {
            return Err(bytes);
        }
        self.ranges.splice(first..last, [Range::new(name, base, length, bytes)]);
        Ok(())
    }

    /// Marks the range that begins at an address as memory of the host, or fine-grained like it: GPU caches keep
    /// nothing of it.
    pub fn place_on_host(&mut self, base: u64) {
        if let Some(range) = self.begins_at(base) {
            range.remote = true;
        }
    }

    /// Addresses of the ranges marked by [`Memory::place_on_host`].
    pub fn on_host(&self) -> Vec<std::ops::Range<u64>> {
        self.ranges.iter().filter(|it| it.remote && !it.freed).map(|it| it.base..it.end()).collect()
    }

    /// Marks the range that begins at an address as memory in pages of the host's kernel, which programs have from `malloc`.
    pub fn place_in_small_pages(&mut self, base: u64) {
        if let Some(range) = self.begins_at(base) {
            range.small_pages = true;
        }
    }

    /// Addresses of the ranges marked by [`Memory::place_in_small_pages`].
    pub fn in_small_pages(&self) -> Vec<std::ops::Range<u64>> {
        self.ranges.iter().filter(|it| it.small_pages && !it.freed).map(|it| it.base..it.end()).collect()
    }

    /// Live range that begins at an address.
    fn begins_at(&mut self, base: u64) -> Option<&mut Range> {
        let first = self.ranges.partition_point(|it| it.base < base);
        self.ranges[first..].iter_mut().take_while(|it| it.base == base).find(|it| !it.freed)
    }

    /// Marks the range that begins at an address as writable by the host while kernels run.
    pub fn share_with_host(&mut self, base: u64) {
        if let Some(range) = self.begins_at(base) {
            range.hosts = true;
        }
    }

    /// Marks the range that begins at an address as filled with [`fill_unwritten`](crate::fill_unwritten), so that reads
    /// of what nothing has written since are found.
    pub fn expect_unwritten(&mut self, base: u64) {
        if let Some(range) = self.begins_at(base) {
            range.is_patterned = true;
        }
    }

    /// True if a range is marked by [`Memory::expect_unwritten`].
    pub fn expects_unwritten(&self) -> bool {
        self.ranges.iter().any(|it| it.is_patterned && !it.freed)
    }

    /// Whether none of the dwords of an access has been written since their range was marked.
    pub fn is_unwritten(&self, address: u64, bytes: u64) -> bool {
        let found = self.find(&Hint::default(), address, bytes);
        let range = found.and_then(|(index, _)| self.ranges.get(index)).filter(|it| it.is_patterned);
        range.is_some_and(|it| {
            unwritten::is_unwritten(&it.bytes, it.length, (address - it.base) as usize, bytes)
        })
    }

    /// True if an address is in a range marked by [`Memory::share_with_host`].
    pub(crate) fn is_hosts(&self, address: u64) -> bool {
        let found = self.find(&Hint::default(), address, 1);
        found.and_then(|(index, _)| self.ranges.get(index)).is_some_and(|range| range.hosts)
    }

    /// Frees the range that begins at an address; the fault of a later access reports that it was freed. False if
    /// none begins there.
    pub fn free(&mut self, base: u64) -> bool {
        let Some(range) = self.begins_at(base) else { return false };
        range.freed = true;
        true
    }

    /// Removes the range that begins at an address, as if it had never been registered. False if none begins there.
    pub fn forget(&mut self, base: u64) -> bool {
        let found = self.ranges.iter().position(|range| range.base == base && !range.freed);
        found.map(|index| self.ranges.remove(index)).is_some()
    }

    /// Bytes that [`Memory::contents`] reads.
    pub fn digest_bytes(&self, except: &[u64]) -> u64 {
        self.watched(except).map(|it| it.length).sum()
    }

    fn watched<'a>(&'a self, except: &'a [u64]) -> impl Iterator<Item = &'a Range> {
        self.ranges.iter().filter(|it| !it.freed && !except.contains(&it.base))
    }

    /// Digests of addresses and contents of all live ranges but those that begin at these addresses.
    pub fn contents(&self, except: &[u64]) -> Contents {
        let mut contents = Contents { whole: Digest::EMPTY, blocks: Vec::new() };
        for range in self.watched(except) {
            contents.whole.add(range.base);
            contents.whole.add(range.bytes.len() as u64);
            for block in blocks(range) {
                let mut digest = Digest::EMPTY;
                range.bytes.digest(block, &mut digest);
                contents.whole.join(digest);
                contents.blocks.push(digest);
            }
        }
        contents
    }

    /// Blocks that differ from `before`, as they are now; `now` are their digests. `None` if ranges came or went.
    pub fn changes(&self, before: &Contents, now: &Contents, except: &[u64]) -> Option<Changes> {
        let all: Vec<_> =
            self.watched(except).flat_map(|it| blocks(it).map(move |block| (it, block))).collect();
        if [before, now].iter().any(|it| it.blocks.len() != all.len()) {
            return None;
        }
        let pairs = before.blocks.iter().zip(&now.blocks);
        let changed = all.into_iter().zip(pairs).filter(|(_, (before, now))| before != now);
        let read = |(range, block): (&Range, std::ops::Range<usize>)| {
            let mut bytes = vec![0; block.len()];
            range.bytes.read(block.start, &mut bytes);
            (range.base + block.start as u64, bytes)
        };
        Some(Changes(changed.map(|(place, _)| read(place)).collect()))
    }

    /// Makes the memory as it was after a change, if it is as it was before the change.
    pub fn change(&self, changes: &Changes) {
        for (address, bytes) in &changes.0 {
            self.write(*address, bytes);
        }
    }

    /// Range that contains `size` bytes at an address, and the offset in it.
    #[inline]
    pub fn locate(&self, address: u64, size: u64) -> Option<(&Shared, usize)> {
        let mut hint = Hint::default();
        self.locate_near(&mut hint, address, size)
    }

    /// [`Memory::locate`] that first tries the ranges found last.
    #[inline]
    pub(crate) fn locate_near(&self, hint: &mut Hint, address: u64, size: u64) -> Option<(&Shared, usize)> {
        let (index, found) = self.find(hint, address, size)?;
        if index != hint.0[0] {
            hint.0 = [index, hint.0[0]];
        }
        Some(found)
    }

    #[inline]
    fn find(&self, hint: &Hint, address: u64, size: u64) -> Option<(usize, (&Shared, usize))> {
        for index in hint.0 {
            if let Some(found) = self.ranges.get(index).and_then(|range| within(range, address, size)) {
                return Some((index, found));
            }
        }
        let index = self.ranges.partition_point(|range| range.base <= address).checked_sub(1)?;
        Some((index, within(&self.ranges[index], address, size)?))
    }

    /// Range that contains an address, and the range's first address; first tries the ranges found last.
    #[inline]
    pub(crate) fn range_near(&self, hint: &mut Hint, address: u64) -> Option<(&Shared, u64)> {
        self.locate_near(hint, address, 1)?;
        let range = self.ranges.get(hint.0[0])?;
        Some((&range.bytes, range.base))
    }

    /// Copies bytes out, for the host side; `None` if they are not in one range.
    pub fn read(&self, address: u64, length: usize) -> Option<Vec<u8>> {
        let (range, at) = self.locate(address, length as u64)?;
        let mut bytes = vec![0; length];
        range.read(at, &mut bytes);
        Some(bytes)
    }

    /// Copies bytes in; `None` if they are not in one range.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Option<()> {
        let (range, at) = self.locate(address, bytes.len() as u64)?;
        range.write(at, bytes);
        Some(())
    }

    /// Writes one byte many times; `None` if that many bytes are not in one range.
    pub fn fill(&self, address: u64, byte: u8, length: usize) -> Option<()> {
        let (range, at) = self.locate(address, length as u64)?;
        let block = [byte; BLOCK];
        for start in (0..length).step_by(BLOCK) {
            range.write(at + start, &block[..BLOCK.min(length - start)]);
        }
        Some(())
    }

    /// Range nearest to an address that is in no live range.
    pub fn nearest(&self, address: u64) -> Option<Nearest> {
        let distance = |range: &Range| {
            if address < range.base {
                -i64::try_from(range.base - address).unwrap_or(i64::MAX)
            } else {
                i64::try_from(address.saturating_sub(range.end())).unwrap_or(i64::MAX)
            }
        };
        let range = self.ranges.iter().min_by_key(|range| (distance(range).unsigned_abs(), !range.freed))?;
        Some(Nearest {
            name: range.name.clone(),
            base: range.base,
            bytes: range.length,
            distance: distance(range),
            freed: range.freed && address >= range.base && address < range.end(),
        })
    }
}

/// Parts of a range that have their own digests.
fn blocks(range: &Range) -> impl Iterator<Item = std::ops::Range<usize>> + use<> {
    let length = range.bytes.len();
    (0..length).step_by(BLOCK).map(move |start| start..length.min(start + BLOCK))
}

#[inline]
fn within(range: &Range, address: u64, size: u64) -> Option<(&Shared, usize)> {
    let at = address.checked_sub(range.base)?;
    let fits = |length: u64| at <= length && length - at >= size;
    let in_last_dword = || at < range.length && fits(range.bytes.len() as u64);
    ((fits(range.length) || in_last_dword()) && !range.freed).then_some((&range.bytes, at as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registered_ranges_do_not_overlap_live_ones_and_replace_freed_ones() {
        let mut memory = Memory::new();
        let register = |memory: &mut Memory, base, bytes| {
            memory.register("range", base, bytes, Shared::zeroed(bytes)).is_ok()
        };
        let steps: [(u64, usize, bool); 8] = [
            (1000, 100, true),
            (2000, 100, true),
            (1100, 900, true),
            (900, 101, false),
            (1050, 10, false),
            (2099, 1, false),
            (500, 0, true),
            (500, 10, true),
        ];
        for (base, bytes, expected) in steps {
            assert_eq!(register(&mut memory, base, bytes), expected, "{base} {bytes}");
        }
        assert!(memory.free(1000) && !memory.free(1000) && memory.free(1100));
        assert!(!register(&mut memory, 1050, 1000));
        assert!(register(&mut memory, 1050, 100));
        assert!(memory.locate(1050, 100).is_some() && memory.locate(1049, 1).is_none());
        assert!(memory.locate(1200, 1).is_none() && memory.locate(2000, 100).is_some());
    }

    #[test]
    fn the_dword_of_the_last_byte_is_inside() {
        let mut memory = Memory::new();
        let a = memory.allocate("a", 6);
        // (offset, bytes, whether they are inside)
        for (at, bytes, expected) in [
            (4, 2, true),
            (4, 4, true),
            (5, 2, true),
            (6, 1, false),
            (6, 2, false),
            (2, 8, false),
            (3, 4, true),
        ] {
            assert_eq!(memory.locate(a + at, bytes).is_some(), expected, "{at} {bytes}");
        }
        assert_eq!(
            [(0, 4), (0, 5), (2, 3), (1, 3)].map(|(base, length)| whole_dwords(base, length)),
            [4, 8, 6, 3]
        );
    }

    #[test]
    fn the_digest_is_of_addresses_and_contents() {
        let mut memory = Memory::new();
        let (a, b) = (memory.allocate("a", 1000), memory.allocate("b", 8));
        let before = (memory.contents(&[]).whole, memory.contents(&[b]).whole);
        memory.write(b, &[1]);
        assert_ne!(memory.contents(&[]).whole, before.0);
        assert_eq!((memory.contents(&[b]).whole, memory.digest_bytes(&[b])), (before.1, 1000));
        memory.write(a + 999, &[1]);
        assert_ne!(memory.contents(&[b]).whole, before.1);
        memory.free(a);
        let mut other = Memory::new();
        other.allocate("a", 0);
        assert_eq!(memory.contents(&[b]).whole, Memory::new().contents(&[]).whole);
        assert_ne!(other.contents(&[]).whole, Memory::new().contents(&[]).whole);
    }

    #[test]
    fn changes_are_kept_by_block_and_made_again() {
        let mut memory = Memory::new();
        let (a, b) = (memory.allocate("a", 3 * BLOCK + 6), memory.allocate("b", 9));
        let before = memory.contents(&[]);
        for (at, bytes) in [(a + BLOCK as u64 + 5, [1; 9]), (a + 3 * BLOCK as u64 - 3, [2; 9]), (b, [3; 9])] {
            memory.write(at, &bytes);
        }
        let after = memory.contents(&[]);
        let changes = memory.changes(&before, &after, &[]).unwrap();
        assert_eq!(changes.bytes(), 2 * BLOCK + 8 + 12);
        memory.write(a + BLOCK as u64 + 7, &[7; 100]);
        memory.write(b, &[0; 9]);
        memory.change(&changes);
        assert_eq!(memory.contents(&[]), after);
        memory.allocate("c", 1);
        assert_eq!(memory.changes(&before, &after, &[]), None);
    }

    #[test]
    fn what_is_not_written_keeps_its_pattern() {
        let mut memory = Memory::new();
        let (a, b) = (memory.allocate("a", 38), memory.allocate("b", 38));
        let mut pattern = vec![0; 38];
        unwritten::fill_unwritten(&mut pattern);
        memory.write(a, &pattern);
        assert!(!memory.expects_unwritten() && !memory.is_unwritten(a, 4));
        memory.expect_unwritten(a);
        memory.expect_unwritten(b);
        memory.write(a + 6, &[1, 2]);
        // (offset, bytes, whether nothing has written any of their dwords)
        for (at, bytes, expected) in [
            (0, 4, true),
            (3, 1, true),
            (0, 8, false),
            (4, 1, false),
            (8, 16, true),
            (32, 4, true),
            (36, 2, false),
            (36, 4, false),
            (40, 4, false),
        ] {
            assert_eq!(memory.is_unwritten(a + at, bytes), expected, "{at} {bytes}");
        }
        assert!(!memory.is_unwritten(b, 4));
        assert!(memory.free(a) && !memory.is_unwritten(a, 4) && memory.expects_unwritten());
    }

    #[test]
    fn forgotten_ranges_are_not_named() {
        let mut memory = Memory::new();
        let (a, b) = (memory.allocate("a", 8), memory.allocate("b", 8));
        assert!(memory.forget(a) && !memory.forget(a) && memory.locate(b, 8).is_some());
        assert!(memory.nearest(a).unwrap().name == "b");
    }

    #[test]
    fn addresses_outside_ranges_name_the_nearest() {
        let mut memory = Memory::new();
        let a = memory.allocate("a", 100);
        let b = memory.allocate("b", 8);
        assert!(memory.locate(a + 96, 4).is_some());
        assert!(memory.locate(a + 97, 4).is_none());
        let near = |memory: &Memory, address| memory.nearest(address).unwrap().to_string();
        let mut said = vec![near(&memory, a + 104), near(&memory, b - 3)];
        assert!(memory.free(a));
        assert!(memory.locate(a, 4).is_none());
        said.push(near(&memory, a + 5));
        let said = said.join("\n").replace(&format!("{a:#x}"), "A").replace(&format!("{b:#x}"), "B");
        testkit::golden("near allocations", &said);
    }
}
