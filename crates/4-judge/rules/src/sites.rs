//! Occurrences of one kind of instruction, and the loop that executes them most often.
//!
//! A count over the whole kernel does not show the cost; the count per iteration of the most executed loop
//! does.

use analysis::KernelEvidence;
use isa::{Inst, Operand, RegFile, Space};
use view::Place;

/// Places shown with a finding; the numbers count all of them.
pub(crate) const MOST_PLACES: usize = 8;

/// Instructions of one kind.
pub(crate) struct Sites {
    /// Positions in the kernel's instructions, in code order, each with the innermost loop around it.
    pub(crate) all: Vec<(u32, Option<u32>)>,
    /// The loop that holds most of them among the deepest loops that hold any.
    pub(crate) hottest: Option<LoopShare>,
}

/// Occurrences in an iteration of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LoopShare {
    /// Index of the loop.
    pub(crate) id: u32,
    /// Number of the loop on the card.
    pub(crate) number: u32,
    /// Instructions of the kind per iteration, inner loops excluded.
    pub(crate) sites: u32,
    /// All instructions per iteration, inner loops excluded.
    pub(crate) instructions: u32,
}

impl Sites {
    /// All instructions for which `is_one` holds.
    pub(crate) fn find(evidence: &KernelEvidence<'_>, mut is_one: impl FnMut(&Inst) -> bool) -> Sites {
        let cfg = &evidence.cfg;
        let mut all = Vec::new();
        let mut per_loop = vec![0u32; cfg.loops.len()];
        for block in &cfg.blocks {
            for at in block.insts.clone() {
                if evidence.insts.get(at as usize).is_some_and(&mut is_one) {
                    all.push((at, block.innermost));
                    if let Some(count) = block.innermost.and_then(|id| per_loop.get_mut(id as usize)) {
                        *count += 1;
                    }
                }
            }
        }
        let hottest = (0..)
            .zip(&per_loop)
            .filter(|(_, count)| **count > 0)
            .max_by_key(|(id, count)| (cfg.loops[*id as usize].depth, **count))
            .map(|(id, count)| LoopShare {
                id,
                number: id + 1,
                sites: *count,
                instructions: cfg.loop_own_insts(id).count() as u32,
            });
        Sites { all, hottest }
    }

    /// Accesses to scratch memory.
    pub(crate) fn scratch(evidence: &KernelEvidence<'_>) -> Sites {
        let descriptor = evidence.kernel.descriptor;
        let has_buffer = descriptor.is_some_and(|d| d.properties & PRIVATE_SEGMENT_BUFFER != 0);
        Sites::find(evidence, |inst| is_scratch_access(evidence, inst, has_buffer))
    }

    /// Number of occurrences.
    pub(crate) fn count(&self) -> usize {
        self.all.len()
    }

    /// Number of occurrences in loops.
    pub(crate) fn in_loops(&self) -> usize {
        self.all.iter().filter(|(_, innermost)| innermost.is_some()).count()
    }

    /// The first few places, those in the hottest loop first.
    pub(crate) fn places(&self, evidence: &KernelEvidence<'_>) -> Vec<Place> {
        let hottest = self.hottest.map(|share| share.id);
        let (hot, cold): (Vec<_>, Vec<_>) =
            self.all.iter().copied().partition(|(_, innermost)| hottest.is_some() && innermost == &hottest);
        hot.into_iter().chain(cold).take(MOST_PLACES).map(|(at, _)| evidence.place(at as usize)).collect()
    }
}

impl LoopShare {
    /// "12 of 40 instructions per iteration of loop 2".
    pub(crate) fn per_iteration(&self) -> String {
        format!("{} of {} instructions per iteration of loop {}", self.sites, self.instructions, self.number)
    }
}

/// `ENABLE_SGPR_PRIVATE_SEGMENT_BUFFER` of the kernel descriptor's properties: `s[0:3]` is scratch.
const PRIVATE_SEGMENT_BUFFER: u16 = 1;

fn is_scratch_access(evidence: &KernelEvidence<'_>, inst: &Inst, has_buffer: bool) -> bool {
    let Some(mem) = inst.op.info().mem else { return false };
    match mem.space {
        Space::Scratch => true,
        Space::Buffer => {
            has_buffer
                && inst.operands().iter().any(|operand| {
                    matches!(operand, Operand::Reg(r) if r.file == RegFile::Sgpr
                        && r.count == 4
                        && crate::access::holds_scratch_resource(evidence, r.first))
                })
        }
        _ => false,
    }
}
