//! Control flow of one piece of code: basic blocks, edges, dominators and the loop forest.
//!
//! Every index is a position in the instruction slice the graph was built from; edges and loops are kept in
//! flat arrays, so a kernel of 200,000 instructions costs a handful of allocations.
//!
//! Calls fall through. A jump through a register has no known target: its block has no successor and
//! [`Cfg::has_indirect`] is set; then a block that nothing known reaches counts as one more entry. Without
//! such jumps that block never runs: its own loops are found, its edges into running code change nothing
//! there.

use crate::lists::Lists;
use crate::loops::{self, Loop};
use crate::{Inst, OpFlags, Operand};
use std::ops::Range;

/// A straight run of instructions: entered at its first, left after its last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// Positions of its instructions.
    pub insts: Range<u32>,
    /// The innermost loop it belongs to.
    pub innermost: Option<u32>,
    /// Immediate dominator; `None` for entries and for blocks that several entries reach.
    pub dominator: Option<u32>,
}

/// How an instruction passes control on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flow {
    /// To the next instruction.
    Next,
    /// To the byte offset.
    Jump(i32),
    /// To the byte offset or to the next instruction.
    Branch(i32),
    /// To a place only the run knows.
    Indirect,
    /// To a place only the run knows, or to the next instruction.
    BranchIndirect,
    /// Nowhere.
    End,
}

/// The control-flow graph.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Cfg {
    /// Blocks in code order; block 0 is the entry.
    pub blocks: Vec<Block>,
    /// Loops, outer before inner, otherwise in code order of their headers.
    pub loops: Vec<Loop>,
    /// Some jump goes through a register, so edges are missing.
    pub has_indirect: bool,
    /// Some jump goes to no instruction of the code.
    pub has_outside: bool,
    succs: Lists,
    preds: Lists,
    /// Dominator-tree interval of each block, `(enter, leave)`.
    dominated: Vec<(u32, u32)>,
    /// Blocks in reverse postorder.
    order: Vec<u32>,
}

/// How `inst` passes control on.
fn flow(inst: &Inst) -> Flow {
    if !inst.turns() {
        return Flow::Next;
    }
    let flags = inst.op.info().flags;
    if flags.contains(OpFlags::END) {
        return Flow::End;
    }
    let conditional = flags.contains(OpFlags::COND_JUMP);
    if !conditional && !flags.contains(OpFlags::JUMP) {
        return Flow::Next;
    }
    let target = inst.operands().iter().find_map(|operand| match operand {
        Operand::Target(target) => Some(*target),
        _ => None,
    });
    match (conditional, target) {
        (true, Some(target)) => Flow::Branch(target),
        (false, Some(target)) => Flow::Jump(target),
        (true, None) => Flow::BranchIndirect,
        (false, None) => Flow::Indirect,
    }
}

impl Cfg {
    /// The graph of `insts`, which are in ascending order of their offsets; the first one is the entry.
    pub fn build(insts: &[Inst]) -> Cfg {
        Cfg::from_flow(insts.len(), |i| flow(&insts[i]), |i| insts[i].offset)
    }

    /// The graph of `count` instructions, given the control flow and the offset of each.
    pub(crate) fn from_flow(
        count: usize,
        flow: impl Fn(usize) -> Flow,
        offset: impl Fn(usize) -> u32 + Copy,
    ) -> Cfg {
        let count = count.min(u32::MAX as usize - 1);
        if count == 0 {
            return Cfg::default();
        }
        let mut cfg = Cfg::default();

        // Where control turns, and where it can arrive.
        // About one instruction in sixteen turns.
        let mut turns: Vec<(u32, Flow)> = Vec::with_capacity(count / 16 + 1);
        let mut leaders: Vec<u32> = Vec::with_capacity(count / 8 + 2);
        leaders.push(0);
        for i in 0..count {
            let flow = flow(i);
            if flow == Flow::Next {
                continue;
            }
            if let Flow::Jump(target) | Flow::Branch(target) = flow {
                match find_offset(count, offset, target) {
                    Some(at) => leaders.push(at),
                    None => cfg.has_outside = true,
                }
            }
            cfg.has_indirect |= matches!(flow, Flow::Indirect | Flow::BranchIndirect);
            if i + 1 < count {
                leaders.push(i as u32 + 1);
            }
            turns.push((i as u32, flow));
        }
        leaders.sort_unstable();
        leaders.dedup();
        let ends = leaders.iter().skip(1).copied().chain([count as u32]);
        cfg.blocks = leaders
            .iter()
            .zip(ends)
            .map(|(&from, to)| Block { insts: from..to, innermost: None, dominator: None })
            .collect();

        let mut edges: Vec<(u32, u32)> = Vec::with_capacity(cfg.blocks.len() * 2);
        let mut turns = turns.into_iter().peekable();
        let block_count = cfg.blocks.len() as u32;
        for (b, block) in (0..block_count).zip(&cfg.blocks) {
            let last = block.insts.end - 1;
            let flow = turns.next_if(|(at, _)| *at == last).map_or(Flow::Next, |(_, flow)| flow);
            let falls = matches!(flow, Flow::Next | Flow::Branch(_) | Flow::BranchIndirect);
            if falls && b + 1 < block_count {
                edges.push((b, b + 1));
            }
            if let Flow::Jump(target) | Flow::Branch(target) = flow
                && let Some(at) = find_offset(count, offset, target)
                && let Ok(to) = leaders.binary_search(&at)
                && !(falls && to as u32 == b + 1)
            {
                edges.push((b, to as u32));
            }
        }
        cfg.succs = Lists::group(cfg.blocks.len(), &edges);
        for edge in &mut edges {
            *edge = (edge.1, edge.0);
        }
        cfg.preds = Lists::group(cfg.blocks.len(), &edges);

        let walk = loops::Walk::new(block_count, &cfg.succs, &cfg.preds, cfg.has_indirect);
        let forest = walk.loop_forest(&cfg.preds);
        for (block, innermost) in cfg.blocks.iter_mut().zip(forest.innermost) {
            block.innermost = innermost;
        }
        cfg.loops = forest.loops;
        let dominators = walk.dominators(&cfg.preds);
        for (block, dominator) in cfg.blocks.iter_mut().zip(dominators.immediate) {
            block.dominator = dominator;
        }
        cfg.dominated = dominators.intervals;
        cfg.order = walk.reverse_postorder();
        cfg
    }

    /// Blocks control can pass to from `block`; the next block in code order comes first.
    pub fn succs(&self, block: u32) -> &[u32] {
        self.succs.get(block)
    }

    /// Blocks control can come from to `block`.
    pub fn preds(&self, block: u32) -> &[u32] {
        self.preds.get(block)
    }

    /// The block of instruction `inst`; the last one for a position past the end.
    pub fn block_of(&self, inst: u32) -> u32 {
        self.blocks.partition_point(|block| block.insts.end <= inst).min(self.blocks.len().saturating_sub(1))
            as u32
    }

    /// The innermost loop around instruction `inst`.
    pub fn loop_of(&self, inst: u32) -> Option<u32> {
        self.blocks.get(self.block_of(inst) as usize)?.innermost
    }

    /// Loops around instruction `inst`.
    pub fn depth_of(&self, inst: u32) -> u32 {
        self.loop_of(inst).map_or(0, |at| self.loops[at as usize].depth)
    }

    /// `block` belongs to loop `id` or to a loop inside it.
    pub fn loop_contains(&self, id: u32, block: u32) -> bool {
        let innermost = self.blocks.get(block as usize).and_then(|block| block.innermost);
        let Some(found) = self.loops.get(id as usize) else { return false };
        innermost.is_some_and(|inner| (id..found.nested_end).contains(&inner))
    }

    /// Blocks of loop `id`, inner loops included, in code order.
    pub fn loop_blocks(&self, id: u32) -> impl Iterator<Item = u32> + '_ {
        let range = self.loops.get(id as usize).map_or(0..0, |found| found.first_block..found.last_block + 1);
        range.filter(move |&block| self.loop_contains(id, block))
    }

    /// Blocks of loop `id` that belong to no inner loop, in code order.
    pub fn loop_own_blocks(&self, id: u32) -> impl Iterator<Item = u32> + '_ {
        let range = self.loops.get(id as usize).map_or(0..0, |found| found.first_block..found.last_block + 1);
        range.filter(move |&block| self.blocks[block as usize].innermost == Some(id))
    }

    /// Instructions of loop `id`, inner loops included, in code order.
    pub fn loop_insts(&self, id: u32) -> impl Iterator<Item = u32> + '_ {
        self.loop_blocks(id).flat_map(|block| self.blocks[block as usize].insts.clone())
    }

    /// Instructions of loop `id` that belong to no inner loop, in code order.
    pub fn loop_own_insts(&self, id: u32) -> impl Iterator<Item = u32> + '_ {
        self.loop_own_blocks(id).flat_map(|block| self.blocks[block as usize].insts.clone())
    }

    /// Every block, in an order that follows execution (reverse postorder from the entry).
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Every path from an entry to block `b` passes block `a`; a block dominates itself.
    pub fn dominates(&self, a: u32, b: u32) -> bool {
        match (self.dominated.get(a as usize), self.dominated.get(b as usize)) {
            (Some(a), Some(b)) => a.0 <= b.0 && b.1 <= a.1,
            _ => false,
        }
    }

    /// Loops that contain no other loop.
    pub fn innermost_loops(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.loops.len() as u32).filter(|&id| self.loops[id as usize].nested_end == id + 1)
    }
}

/// The instruction at byte `target`, if one starts there.
fn find_offset(count: usize, offset: impl Fn(usize) -> u32, target: i32) -> Option<u32> {
    let target = u32::try_from(target).ok()?;
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if offset(middle) < target {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    (low < count && offset(low) == target).then_some(low as u32)
}

#[cfg(test)]
mod tests;
