//! Offload bundles: one code object per target behind a table of contents.
//!
//! The table is read from a stream, so that a compressed bundle is decompressed only as far as its last
//! wanted entry. Source: the Clang offload bundler's documentation.

use crate::ReadError;
use crate::bytes::{range, u64_at};
use crate::kind::BUNDLE_MAGIC;
use sorting::Sort;

/// Bundles have one entry per target; clang knows fewer than a hundred.
const MOST_ENTRIES: u64 = 4096;
/// Longest target id.
const LONGEST_ID: u64 = 4096;

/// One line of a bundle's table of contents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    /// `hipv4-amdgcn-amd-amdhsa--gfx942` and the like.
    pub(crate) id: String,
    /// Start, relative to the bundle.
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

/// Reads the table of contents with `take`, which gives the next bytes of the bundle. Returns the table and
/// its length in bytes.
pub(crate) fn read_table(
    mut take: impl FnMut(u64) -> Result<Vec<u8>, ReadError>,
) -> Result<(Vec<Entry>, u64), ReadError> {
    let head = take(BUNDLE_MAGIC.len() as u64 + 8)?;
    if !head.starts_with(BUNDLE_MAGIC) {
        return Err(ReadError::new(0, "no offload bundle magic"));
    }
    let count = u64_at(&head, BUNDLE_MAGIC.len()).unwrap_or(0);
    let mut at = head.len() as u64;
    if count > MOST_ENTRIES {
        return Err(ReadError::new(
            BUNDLE_MAGIC.len() as u64,
            format!("an offload bundle with {count} entries"),
        )
        .hint("the bundle is damaged"));
    }
    let mut entries = Vec::new();
    for index in 0..count {
        let numbers = take(24)?;
        let number = |slot: usize| u64_at(&numbers, slot * 8).unwrap_or(0);
        let (offset, size, id_length) = (number(0), number(1), number(2));
        if id_length > LONGEST_ID {
            return Err(ReadError::new(
                at + 16,
                format!("a target id of {id_length} bytes in entry {index}"),
            )
            .hint("the bundle is damaged"));
        }
        let id = String::from_utf8_lossy(&take(id_length)?).into_owned();
        at += 24 + id_length;
        entries.push(Entry { id, offset, size });
    }
    Ok((entries, at))
}

/// The table of a bundle in memory.
pub(crate) fn read_plain_table(data: &[u8]) -> Result<(Vec<Entry>, u64), ReadError> {
    let mut at = 0;
    read_table(|length| {
        let bytes = range(data, at, length, "the table of an offload bundle")?;
        at += length;
        Ok(bytes.to_vec())
    })
}

/// A table whose entries were checked against the bundle's length and against each other.
pub(crate) struct Checked {
    /// Entries in the order of their offsets.
    pub(crate) entries: Vec<Entry>,
    /// Errors in the other entries.
    pub(crate) errors: Vec<ReadError>,
    /// Where the bundle ends.
    pub(crate) end: u64,
}

/// Sorts out entries that reach beyond `length`, begin inside the table or overlap: reading each entry once
/// is then never more work than the bundle is long.
pub(crate) fn check(mut entries: Vec<Entry>, table_end: u64, length: u64) -> Checked {
    entries.in_order_by_key(|entry| entry.offset);
    let mut checked = Checked { entries: Vec::new(), errors: Vec::new(), end: table_end };
    for entry in entries {
        if entry.size == 0 {
            continue;
        }
        let wrong = match entry.offset.checked_add(entry.size) {
            Some(end) if end <= length && entry.offset >= checked.end => {
                checked.end = end;
                checked.entries.push(entry);
                continue;
            }
            Some(end) if end <= length => "overlaps what is before it in its bundle".to_owned(),
            _ => {
                format!("with {} bytes at {:#x} reaches beyond the end of the data", entry.size, entry.offset)
            }
        };
        checked.errors.push(
            ReadError::new(entry.offset.min(length), format!("the entry for `{}` {wrong}", entry.id))
                .hint("the bundle is cut short or damaged"),
        );
    }
    checked
}
