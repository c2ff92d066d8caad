//! Memo of the last access pattern of each memory instruction.
//!
//! Lanes of an instruction mostly keep their distances from access to access. Their look-ups are computed
//! once for each offset of the first lane in a block.

use crate::access::{Lanes, Lookup, Policy};
use crate::sample::Sample;

/// Last access of a memory instruction.
#[derive(Debug)]
pub(crate) struct InstructionMemo {
    policy: Policy,
    lanes: u64,
    bytes: u32,
    /// Formation of the last access.
    formation: Option<u64>,
    /// Distance of each lane from the first active one, bytes.
    distance: [u64; 64],
    /// Block of the last access.
    block: Option<u64>,
    /// Distinct lines of a read, relative to its block, for one offset of the first active lane in the block.
    lines: Option<(u64, Vec<u64>)>,
    /// Pattern index by dword offset of the first active lane in its block.
    pub(crate) known: [Option<u32>; 32],
    /// Look-ups of those patterns, valid for any recording.
    pub(crate) made: Vec<Made>,
}

/// Look-ups of an access, for one offset of its first active lane.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) place: usize,
    pub(crate) lookups: Vec<Lookup>,
    /// Repetitions of the look-ups, and their number with repetitions.
    pub(crate) times: u32,
    pub(crate) all: u32,
}

/// Memo of all memory instructions. A recording of the same program can begin with it; only look-ups are
/// reused.
#[derive(Debug, Default)]
pub struct PatternMemo(pub(crate) Vec<Option<Box<InstructionMemo>>>);

impl PatternMemo {
    /// Prepares the memo for a recording.
    pub(crate) fn begin(&mut self) {
        for slot in self.0.iter_mut().flatten() {
            (slot.formation, slot.block, slot.lines) = (None, None, None);
            slot.known = [None; 32];
        }
    }
}

/// Entry of a memory instruction, reset if the access has another pattern than the last one.
pub(crate) fn known<'a>(
    PatternMemo(slots): &'a mut PatternMemo,
    slot: usize,
    policy: Policy,
    lanes: &Lanes<'_>,
    first: u64,
) -> &'a mut InstructionMemo {
    let Lanes { addresses, active, bytes, formation } = *lanes;
    if slots.len() <= slot {
        slots.resize_with(slot + 1, || None);
    }
    let same = match &mut slots[slot] {
        Some(known) if known.lanes == active && known.bytes == bytes && known.policy == policy => {
            let same = formation.is_some() && known.formation == formation
                || same_distances(&known.distance, addresses, active, first);
            known.formation = formation;
            same
        }
        _ => false,
    };
    if !same {
        slots[slot] = None;
    }
    slots[slot].get_or_insert_with(|| {
        let distance = addresses.map(|address| address.wrapping_sub(first));
        Box::new(InstructionMemo {
            policy,
            lanes: active,
            bytes,
            formation,
            distance,
            block: None,
            lines: None,
            known: [None; 32],
            made: Vec::new(),
        })
    })
}

impl InstructionMemo {
    /// Adds the lines that the lanes read to a sample; `line` is the line size as a power of two.
    #[inline]
    pub(crate) fn note(&mut self, read: &mut Sample, lanes: &Lanes<'_>, first: u64, line: u32) {
        let (block, inside) = (first >> line, first & !(u64::MAX << line));
        let before = self.block.replace(block);
        // A repetition in the same block reads the same lines.
        if before == Some(block) {
            return;
        }
        if let Some((place, lines)) = &self.lines
            && *place == inside
        {
            return lines.iter().for_each(|&line| read.add(block.wrapping_add(line)));
        }
        let mut last = None;
        let mut lines = Vec::new();
        each_line(lanes, line, |line| {
            if last.replace(line) != Some(line) {
                read.add(line);
                // The first access may not repeat.
                if before.is_some() {
                    lines.push(line.wrapping_sub(block));
                }
            }
        });
        if before.is_some() {
            lines.sort_unstable();
            lines.dedup();
            self.lines = Some((inside, lines));
        }
    }
}

/// Calls `each` with each line that lanes access; `line` is the line size as a power of two.
#[inline]
fn each_line(lanes: &Lanes<'_>, line: u32, mut each: impl FnMut(u64)) {
    let Lanes { addresses, active, bytes, .. } = *lanes;
    for (lane, &address) in addresses.iter().enumerate() {
        if active >> lane & 1 != 0 {
            let (first, last) = (address >> line, address.wrapping_add(u64::from(bytes.max(1)) - 1) >> line);
            each(first);
            if last != first {
                each(last);
            }
        }
    }
}

/// True if all active lanes keep their distances from the first.
fn same_distances(distance: &[u64; 64], addresses: &[u64; 64], lanes: u64, first: u64) -> bool {
    let mut different = 0;
    if lanes == u64::MAX {
        for (distance, address) in distance.iter().zip(addresses) {
            different |= address.wrapping_sub(first) ^ distance;
        }
    } else {
        for (lane, (distance, address)) in distance.iter().zip(addresses).enumerate() {
            different |= (address.wrapping_sub(first) ^ distance) & (lanes >> lane & 1).wrapping_neg();
        }
    }
    different == 0
}
