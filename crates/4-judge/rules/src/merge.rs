//! Narrow accesses of one block that are adjacent in memory.
//!
//! Two addresses of one group are a known number of bytes apart, whatever the unknowns are; sorting a group
//! by position shows which accesses are contiguous.

use crate::access::{MemoryAccess, WIDEST};
use foldhash::{HashMap, HashMapExt};
use sorting::Sort;

/// Accesses that together touch one run of bytes.
pub(crate) struct Run {
    /// Their instructions in code order.
    pub(crate) insts: Vec<u32>,
    /// Bytes per lane of each.
    pub(crate) bytes: Vec<u32>,
    /// Number of accesses of up to 16 bytes that move the same data.
    pub(crate) needed: u32,
}

impl Run {
    /// Accesses saved by merging.
    pub(crate) fn saved(&self) -> u32 {
        (self.insts.len() as u32).saturating_sub(self.needed)
    }
}

/// Number of accesses of 16, 12, 8, 4, 2 and 1 bytes that move exactly this many bytes.
fn accesses_for(bytes: u32) -> u32 {
    let dwords = u32::from(bytes % WIDEST >= 4);
    bytes / WIDEST + dwords + (bytes % 4).count_ones()
}

/// Runs of at least two accesses narrower than `narrower_than`, of which merging saves some.
pub(crate) fn runs(accesses: &[MemoryAccess<'_>], narrower_than: u32) -> Vec<Run> {
    let mut groups: HashMap<_, Vec<&MemoryAccess<'_>>> = HashMap::new();
    for access in accesses.iter().filter(|access| access.bytes < narrower_than) {
        groups.entry(access.address.group()).or_default().push(access);
    }
    let mut runs: Vec<Run> = Vec::new();
    for mut group in groups.into_values() {
        group.in_order_by_key(|access| (access.position, access.inst));
        group.dedup_by_key(|access| access.position);
        for run in group.chunk_by(|a, b| a.position + i64::from(a.bytes) == b.position) {
            let total: u32 = run.iter().map(|access| access.bytes).sum();
            let mut insts: Vec<u32> = run.iter().map(|access| access.inst).collect();
            insts.in_order();
            let needed = accesses_for(total);
            let bytes = run.iter().map(|access| access.bytes).collect();
            runs.push(Run { insts, bytes, needed });
        }
    }
    runs.retain(|run| run.saved() > 0);
    runs.in_order_by_key(|run| run.insts[0]);
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_moved_beyond_the_run() {
        for (bytes, expected) in
            [(3, 2), (4, 1), (6, 2), (8, 1), (9, 2), (12, 1), (13, 2), (16, 1), (20, 2), (31, 4), (40, 3)]
        {
            assert_eq!(accesses_for(bytes), expected, "{bytes} bytes");
        }
    }
}
