//! The most common form of a matrix product: tiles in LDS, and few sums per lane.
//!
//! If a lane has one sum, register reuse proves nothing; the proof is that both factors of its products are
//! read from the LDS, which a surrounding loop fills between barriers.

use super::{MultiplyAdd, Sum, Sums, vector_indices, with_sums};
use analysis::KernelEvidence;
use arch::ElementType;
use isa::{Access, Class, Inst, RegFile, RegRange, Space};

/// A loop that multiplies tiles.
pub(super) struct TileProduct {
    pub(super) id: u32,
    pub(super) element: ElementType,
    /// Multiply-adds per iteration with both factors from the LDS.
    pub(super) multiply_adds: u32,
    /// Products of one lane per iteration.
    pub(super) products: u32,
    /// LDS reads per iteration.
    pub(super) reads: u32,
    pub(super) at: u32,
}

/// Multiply-adds per iteration at least.
pub(super) const FEWEST: usize = 4;

/// Finds such a loop: the one with most products.
pub(super) fn find(evidence: &KernelEvidence<'_>, sums: &Sums) -> Option<TileProduct> {
    if evidence.mix.count(Class::Barrier) == 0 || evidence.mix.count(Class::Lds) == 0 {
        return None;
    }
    let has_products = |id: &u32| sums.of_loop(*id).len() >= FEWEST && reads_lds(evidence, *id);
    let mut filled: Vec<Option<bool>> = vec![None; evidence.cfg.loops.len()];
    let found = evidence.cfg.innermost_loops().filter(has_products);
    let found = found.filter(|id| is_filled_between_barriers(evidence, &mut filled, *id));
    found.filter_map(|id| product(evidence, sums.of_loop(id), id)).max_by_key(|it| it.products)
}

/// The loop, or one around it, waits at a barrier and stores to the LDS what it loads from memory.
fn is_filled_between_barriers(evidence: &KernelEvidence<'_>, filled: &mut [Option<bool>], id: u32) -> bool {
    let mut at = Some(id);
    while let Some(id) = at {
        at = evidence.cfg.loops[id as usize].parent;
        match filled[id as usize] {
            Some(true) => return true,
            Some(false) => continue,
            None => {}
        }
        let (mut barrier, mut load, mut store) = (false, false, false);
        for inst in evidence.cfg.loop_insts(id).filter_map(|at| evidence.insts.get(at as usize)) {
            match inst.class() {
                Class::Barrier => barrier = true,
                Class::VmemLoad => load = true,
                Class::Lds => store |= lds(inst) == Some(Access::Store),
                _ => {}
            }
        }
        filled[id as usize] = Some(barrier && load && store);
        if barrier && load && store {
            return true;
        }
    }
    false
}

fn lds(inst: &Inst) -> Option<Access> {
    inst.mem().filter(|mem| mem.space == Space::Lds).map(|mem| mem.access)
}

/// The loop loads from the LDS.
fn reads_lds(evidence: &KernelEvidence<'_>, id: u32) -> bool {
    evidence.cfg.loop_blocks(id).any(|block| {
        let block = evidence.cfg.blocks[block as usize].insts.clone();
        evidence.memory_in(block).iter().any(|at| lds(&evidence.insts[*at as usize]) == Some(Access::Load))
    })
}

/// Role of an instruction for values from the LDS.
struct Step<'a> {
    at: u32,
    sum: Option<&'a Sum>,
    is_read: bool,
    /// The only register read: conversions and moves propagate the origin of their value.
    source: Option<RegRange>,
}

fn steps<'a>(evidence: &'a KernelEvidence<'_>, sums: &'a [Sum], id: u32) -> Vec<Step<'a>> {
    let steps = with_sums(evidence, sums, id).filter_map(|(at, inst, sum)| {
        let sum = sum.filter(|sum| sum.parts.is_some());
        let is_read = lds(inst) == Some(Access::Load);
        // All else that matters is in vector registers.
        if sum.is_none() && !is_read && evidence.vectors_written(at).next().is_none() {
            return None;
        }
        let (mut source, mut sources) = (None, 0);
        if inst.class() == Class::Valu && sum.is_none() {
            inst.visit_reads(|range| {
                sources += 1;
                source = Some(range).filter(|range| range.file == RegFile::Vgpr);
            });
        }
        Some(Step { at, sum, is_read, source: source.filter(|_| sources == 1) })
    });
    steps.collect()
}

fn product(evidence: &KernelEvidence<'_>, sums: &[Sum], id: u32) -> Option<TileProduct> {
    let steps = steps(evidence, sums, id);
    let is_written =
        |index: usize| evidence.loop_writes(id, RegRange::new(RegFile::Vgpr, index as u16, 1)) == Some(true);
    let mut from_lds = [false; 256];
    let reads = steps.iter().filter(|step| step.is_read).count() as u32;
    let mut found =
        TileProduct { id, element: ElementType::F32, multiply_adds: 0, products: 0, reads, at: 0 };
    let mut all = 0;
    // Twice: loads of one iteration may be for the next.
    for round in 0..2 {
        for step in &steps {
            if round == 1
                && let Some(Sum { row, parts: Some(parts), .. }) = step.sum
                && vector_indices(parts.addend).all(is_written)
            {
                all += 1;
                let of_lds = parts.factors.iter().all(|f| vector_indices(*f).all(|index| from_lds[index]));
                if of_lds && parts.factors[0] != parts.factors[1] {
                    found.count(row, step.at);
                }
            }
            let hands_on = step.source.is_some_and(|it| vector_indices(it).all(|index| from_lds[index]));
            for run in evidence.vectors_written(step.at) {
                from_lds[run].fill(step.is_read || hands_on);
            }
        }
    }
    (found.multiply_adds >= FEWEST as u32 && found.multiply_adds * 4 >= all * 3).then_some(found)
}

impl TileProduct {
    fn count(&mut self, row: &MultiplyAdd, at: u32) {
        if self.multiply_adds == 0 {
            (self.element, self.at) = (row.element, at);
        }
        self.multiply_adds += 1;
        self.products += row.products;
    }
}
