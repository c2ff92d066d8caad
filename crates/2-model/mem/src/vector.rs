//! The vector L1 of a compute unit with its address translation.
//!
//! The one idea to keep in mind: stores go through and never bring in a line; what is written to a line that is there
//! changes it, so the line stays.

use crate::access::{Kind, Lookup, Policy};
use crate::cache::Cache;
use crate::count::{Before, Count};
use crate::l2::{L2, Request, Want};
use crate::places::Places;
use crate::shape::Shape;
use arch::MemoryType;
use std::collections::HashSet;

/// The vector L1 of one compute unit.
#[derive(Clone, Debug)]
pub(crate) struct VectorL1 {
    cache: Cache,
    sets: u64,
    pages: Pages,
    /// Look-ups behind a missing translation.
    pending: u32,
}

/// Pages whose translation is there.
#[derive(Clone, Debug)]
enum Pages {
    Some(Cache),
    /// Nobody knows how many there can be: all.
    All(HashSet<u64>),
}

/// The parts an access passes behind the L1.
pub(crate) struct Path<'a> {
    pub(crate) shape: &'a Shape,
    pub(crate) places: &'a Places,
    pub(crate) l2: &'a mut L2,
    pub(crate) before: &'a mut Before,
}

/// Bytes under way to the L2: stores and atomics of look-ups in a row that lie in one block.
#[derive(Clone, Copy)]
struct Open {
    block: u64,
    touched: u8,
    full: u8,
}

impl VectorL1 {
    pub(crate) fn new(shape: &Shape) -> VectorL1 {
        let (sets, ways) = shape.l1;
        let pages = match shape.translations {
            Some(entries) => Pages::Some(Cache::new(1, entries)),
            None => Pages::All(HashSet::new()),
        };
        VectorL1 { cache: Cache::new(sets, ways), sets: sets as u64, pages, pending: 0 }
    }

    /// What happens at the start of a dispatch.
    pub(crate) fn restart(&mut self, keep_lines: bool, keep_pages: bool) {
        if !keep_lines {
            self.cache.clear();
        }
        if !keep_pages {
            match &mut self.pages {
                Pages::Some(cache) => cache.clear(),
                Pages::All(pages) => pages.clear(),
            }
        }
        self.pending = 0;
    }

    /// An access of a wave at a block of the L2's lines.
    pub(crate) fn access(&mut self, policy: Policy, lookups: &[Lookup], block: u64, path: &mut Path<'_>) {
        let per_block = path.shape.l2_line / path.shape.l1_line;
        let first = block.wrapping_mul(per_block);
        let pages = (path.shape.fragment / path.shape.l1_line).max(1).trailing_zeros();
        let mut page = None;
        let mut merged = None;
        let mut open = None;
        for lookup in lookups {
            let line = first.wrapping_add_signed(lookup.line());
            let asked = line >> pages;
            self.translate(asked, page == Some(asked), path);
            page = Some(asked);
            if policy.kind == Kind::Load {
                self.load(policy, line, &mut merged, path);
            } else {
                self.store(policy, line, *lookup, &mut open, path);
            }
        }
        send(policy, open, path);
    }

    fn translate(&mut self, page: u64, again: bool, path: &mut Path<'_>) {
        // The page of the look-up before is there, or its translation is what is waited for.
        let hit = again
            || match &mut self.pages {
                Pages::Some(cache) => {
                    let hit = cache.find(0, page).is_some();
                    if !hit {
                        cache.fill(0, page, false);
                    }
                    hit
                }
                Pages::All(pages) => !pages.insert(page),
            };
        if !hit {
            path.before.add(Count::TranslationMiss, 1);
            self.pending = path.shape.translation_pending;
        } else if self.pending > 0 {
            self.pending -= 1;
        } else {
            path.before.add(Count::TranslationHit, 1);
        }
    }

    fn load(&mut self, policy: Policy, line: u64, merged: &mut Option<u64>, path: &mut Path<'_>) {
        let set = (line & (self.sets - 1)) as usize;
        match self.cache.find(set, line) {
            Some(_) if !policy.bypass => return,
            Some(_) => {}
            None if policy.bypass => {}
            None => {
                self.cache.fill(set, line, policy.stream);
            }
        }
        let shape = path.shape;
        let address = line.wrapping_mul(shape.l1_line);
        let (memory, local) = path.places.of(address);
        path.before.add(Count::L1Read, 1);
        path.before.add(by_type(Want::Read, memory), 1);
        let wide = address / shape.l2_line;
        // A second read of the same line finds the first still waiting.
        if shape.merges_reads && *merged == Some(wide) {
            return;
        }
        *merged = Some(wide);
        let sectors = ((1u32 << (shape.l1_line / shape.sector)) - 1) as u8;
        let touched = sectors << (address % shape.l2_line / shape.sector);
        path.l2.request(Request {
            want: Want::Read,
            line: wide,
            touched,
            full: touched,
            memory,
            local,
            stream: policy.stream,
        });
    }

    fn store(
        &mut self,
        policy: Policy,
        line: u64,
        lookup: Lookup,
        open: &mut Option<Open>,
        path: &mut Path<'_>,
    ) {
        if policy.kind != Kind::Store
            && let Some(place) = self.cache.peek((line & (self.sets - 1)) as usize, line)
        {
            self.cache.remove(place);
        }
        let shape = path.shape;
        let per_write = (shape.l1_write / shape.sector) as u32;
        let mask = ((1u32 << per_write) - 1) as u8;
        let blocks = (shape.l1_line / shape.l1_write).max(1);
        for number in 0..blocks {
            let shift = number as u32 * per_write;
            let (touched, full) = (lookup.touched() >> shift & mask, lookup.full() >> shift & mask);
            if touched == 0 {
                continue;
            }
            let block = line.wrapping_mul(blocks).wrapping_add(number);
            match open {
                Some(same) if same.block == block => {
                    same.touched |= touched;
                    same.full |= full;
                }
                _ => {
                    send(policy, *open, path);
                    *open = Some(Open { block, touched, full });
                }
            }
        }
    }
}

/// Sends a store or atomic on.
fn send(policy: Policy, open: Option<Open>, path: &mut Path<'_>) {
    let Some(Open { block, touched, full }) = open else { return };
    let shape = path.shape;
    let address = block.wrapping_mul(shape.l1_write);
    let (memory, local) = path.places.of(address);
    let (count, want) = match policy.kind {
        Kind::Load => return,
        Kind::Store => (Count::L1Write, Want::Write),
        Kind::Atomic => (Count::L1Atomic, Want::Atomic),
        Kind::AtomicReturn => (Count::L1AtomicReturn, Want::Atomic),
    };
    path.before.add(count, 1);
    path.before.add(by_type(want, memory), 1);
    let shift = address % shape.l2_line / shape.sector;
    path.l2.request(Request {
        want,
        line: address / shape.l2_line,
        touched: touched << shift,
        full: full << shift,
        memory,
        local,
        stream: policy.stream,
    });
}

fn by_type(want: Want, memory: MemoryType) -> Count {
    match (want, memory) {
        (Want::Read, MemoryType::Rw) => Count::L1ReadRw,
        (Want::Read, MemoryType::Nc) => Count::L1ReadNc,
        (Want::Read, MemoryType::Cc) => Count::L1ReadCc,
        (Want::Read, MemoryType::Uc) => Count::L1ReadUc,
        (Want::Write, MemoryType::Rw) => Count::L1WriteRw,
        (Want::Write, MemoryType::Nc) => Count::L1WriteNc,
        (Want::Write, MemoryType::Cc) => Count::L1WriteCc,
        (Want::Write, MemoryType::Uc) => Count::L1WriteUc,
        (Want::Atomic, MemoryType::Rw) => Count::L1AtomicRw,
        (Want::Atomic, MemoryType::Nc) => Count::L1AtomicNc,
        (Want::Atomic, MemoryType::Cc) => Count::L1AtomicCc,
        (Want::Atomic, MemoryType::Uc) => Count::L1AtomicUc,
    }
}
