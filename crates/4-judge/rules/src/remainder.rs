//! Remainder loops of unrolled loops.
//!
//! An unrolled loop is followed by a short one for the last few steps, which adds to the same sums; it runs a
//! few times, whatever the size of the problem.

use analysis::KernelEvidence;
use foldhash::HashSet;
use isa::{Class, Inst, Operand, RegRange};

/// A loop's multiply-adds: how many, and the registers they add to.
struct Sums {
    count: usize,
    /// Ways out of the loop.
    exits: usize,
    registers: HashSet<RegRange>,
}

impl Sums {
    fn of(evidence: &KernelEvidence<'_>, id: u32) -> Sums {
        let insts = evidence.cfg.loop_own_insts(id).map(|at| &evidence.insts[at as usize]);
        let sums: Vec<RegRange> = insts.filter_map(added_to).collect();
        let cfg = &evidence.cfg;
        let leaves = |block: &u32| cfg.succs(*block).iter().any(|next| !cfg.loop_contains(id, *next));
        let exits = cfg.loop_blocks(id).filter(leaves).count();
        Sums { count: sums.len(), exits, registers: sums.into_iter().collect() }
    }
}

/// The registers that a matrix instruction or a multiply-add adds to.
fn added_to(inst: &Inst) -> Option<RegRange> {
    let name = inst.op.info().name;
    let multiplies = inst.class() == Class::Mfma
        || (inst.class() == Class::Valu && ["fma", "mac", "dot"].iter().any(|part| name.contains(part)));
    let Some(Operand::Reg(sum)) = inst.operands().first().filter(|_| multiplies) else { return None };
    let mut is_read = false;
    inst.visit_reads(|range| is_read |= range == *sum);
    is_read.then_some(*sum)
}

/// True if an earlier sibling loop adds to the same sums at least twice as much per iteration; or as much, if
/// this one can be left after each part of it.
pub(crate) fn is_remainder(evidence: &KernelEvidence<'_>, id: u32) -> bool {
    let loops = &evidence.cfg.loops;
    let own = Sums::of(evidence, id);
    let parent = loops[id as usize].parent;
    !own.registers.is_empty()
        && (0..id).filter(|other| loops[*other as usize].parent == parent).any(|other| {
            let other = Sums::of(evidence, other);
            let is_more =
                other.count >= 2 * own.count || (other.count >= own.count && own.exits > other.exits);
            is_more && own.registers.is_subset(&other.registers)
        })
}
