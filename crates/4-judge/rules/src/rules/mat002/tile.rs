//! The matrix product that is written most often: tiles in LDS, and few sums per lane.
//!
//! The one idea to keep in mind: reuse in registers tells nothing where a lane has one sum; that both factors of its products
//! are read from the LDS, which a surrounding loop fills between barriers, does.

use super::{MultiplyAdd, Registers, multiply_add, parts, vector_indices};
use analysis::KernelEvidence;
use isa::{Access, Class, Inst, RegFile, Space};

/// A loop that multiplies tiles.
pub(super) struct TileProduct {
    pub(super) id: u32,
    pub(super) element: &'static str,
    /// Multiply-adds per iteration with both factors from the LDS.
    pub(super) multiply_adds: u32,
    /// Products of one lane per iteration.
    pub(super) products: u32,
    /// LDS reads per iteration.
    pub(super) reads: u32,
    pub(super) at: u32,
}

/// Multiply-adds per iteration at least.
pub(super) const FEWEST: u32 = 4;

/// Finds such a loop: the one with most products.
pub(super) fn find(evidence: &KernelEvidence<'_>) -> Option<TileProduct> {
    if evidence.mix.count(Class::Barrier) == 0 || evidence.mix.count(Class::Lds) == 0 {
        return None;
    }
    let mut sums = vec![0u32; evidence.cfg.loops.len()];
    for block in &evidence.cfg.blocks {
        let Some(id) = block.innermost else { continue };
        let insts = &evidence.insts[block.insts.start as usize..block.insts.end as usize];
        sums[id as usize] += insts.iter().filter(|inst| multiply_add(inst).is_some()).count() as u32;
    }
    let has_products = |id: &u32| sums[*id as usize] >= FEWEST;
    let mut filled: Vec<Option<bool>> = vec![None; evidence.cfg.loops.len()];
    let found = evidence.cfg.innermost_loops().filter(has_products);
    let found = found.filter(|id| is_filled_between_barriers(evidence, &mut filled, *id));
    found.filter_map(|id| product(evidence, id)).max_by_key(|it| it.products)
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

fn product(evidence: &KernelEvidence<'_>, id: u32) -> Option<TileProduct> {
    let insts: Vec<(u32, &Inst)> = evidence
        .cfg
        .loop_insts(id)
        .filter_map(|at| evidence.insts.get(at as usize).map(|inst| (at, inst)))
        .collect();
    if !insts.iter().any(|(_, inst)| lds(inst) == Some(Access::Load)) {
        return None;
    }
    let registers = Registers::new(evidence, id);
    let mut from_lds = [false; 256];
    let mut found = TileProduct { id, element: "", multiply_adds: 0, products: 0, reads: 0, at: 0 };
    let mut all = 0;
    // Twice: loads of one iteration may be for the next.
    for round in 0..2 {
        for (at, inst) in &insts {
            let sum = multiply_add(inst).and_then(|row| Some((row, parts(inst, row)?)));
            if let Some((row, parts)) = &sum
                && round == 1
                && vector_indices(parts.addend).all(|index| registers.written[index])
            {
                all += 1;
                let of_lds = parts.factors.iter().all(|f| vector_indices(*f).all(|index| from_lds[index]));
                if of_lds && parts.factors[0] != parts.factors[1] {
                    found.count(row, *at);
                }
            }
            let is_read = lds(inst) == Some(Access::Load);
            found.reads += u32::from(round == 1 && is_read);
            // Conversions and moves hand on where a value comes from.
            let mut sources = 0;
            let mut kept = true;
            if inst.class() == Class::Valu && sum.is_none() {
                inst.visit_reads(|range| {
                    sources += 1;
                    kept &= vector_indices(range).all(|index| from_lds[index]) && range.file == RegFile::Vgpr;
                });
            }
            let hands_on = sources == 1 && kept;
            inst.visit_writes(|range| {
                vector_indices(range).for_each(|index| from_lds[index] = is_read || hands_on);
            });
        }
    }
    (found.multiply_adds >= FEWEST && found.multiply_adds * 4 >= all * 3).then_some(found)
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
