//! What each memory instruction did last.
//!
//! The one idea to keep in mind: most accesses of an instruction have lanes that stand to each other as those of the one before, so
//! what such lanes become is worked out once for each place in a block where the first can begin.

use crate::access::{Lanes, Lookup, Policy};
use crate::sample::Sample;

/// The last form of a memory instruction.
#[derive(Debug)]
pub(crate) struct Slot {
    policy: Policy,
    lanes: u64,
    bytes: u32,
    /// What its last access was called.
    formation: Option<u64>,
    /// Distance of each lane from the first active one.
    distance: [u64; 64],
    /// The block it accessed last.
    block: Option<u64>,
    /// Lines that it reads, counted from that block, where the first active lane begins in this place of it; each once.
    lines: Option<(u64, Vec<u64>)>,
    /// Forms by where in its block the first active lane begins, in dwords.
    pub(crate) known: [Option<u32>; 32],
    /// What those come to, whichever recording they are of.
    pub(crate) made: Vec<Made>,
}

/// What an access comes to whose first active lane begins in a place of its block.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) place: usize,
    pub(crate) lookups: Vec<Lookup>,
    /// How many times these come, and how many look-ups they are.
    pub(crate) times: u32,
    pub(crate) all: u32,
}

/// What each memory instruction did last, for the next recording of the same program: what accesses come to is not worked out
/// again, and nothing else is known of them.
#[derive(Debug, Default)]
pub struct Slots(pub(crate) Vec<Option<Box<Slot>>>);

impl Slots {
    /// A recording begins.
    pub(crate) fn begin(&mut self) {
        for slot in self.0.iter_mut().flatten() {
            (slot.formation, slot.block, slot.lines) = (None, None, None);
            slot.known = [None; 32];
        }
    }
}

/// What a memory instruction did last, made anew where an access is of another form.
pub(crate) fn known<'a>(
    Slots(slots): &'a mut Slots,
    slot: usize,
    policy: Policy,
    lanes: &Lanes<'_>,
    first: u64,
) -> &'a mut Slot {
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
        Box::new(Slot {
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

impl Slot {
    /// Notes which lines of so many bytes, as a power of two, its lanes read.
    #[inline]
    pub(crate) fn note(&mut self, read: &mut Sample, lanes: &Lanes<'_>, first: u64, line: u32) {
        let (block, inside) = (first >> line, first & !(u64::MAX << line));
        let before = self.block.replace(block);
        // An access that repeats the last in the same block reads nothing else.
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
                // Of the first access nobody knows whether there will be one like it.
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

/// Calls with each line of so many bytes, as a power of two, that lanes access.
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

/// Whether all active lanes lie as far from the first as before.
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
