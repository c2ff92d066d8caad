//! Detects instructions that all lanes reach, except lanes beyond the end of the data.
//!
//! `if (i < n)`, where `i` is a work-item's number in the grid and `n` a scalar, disables lanes in the grid's
//! last wave only; any other condition may leave a single lane, so it proves nothing.

use analysis::KernelEvidence;
use isa::{Class, Inst, Operand, RegFile, RegRange};

/// Number of preceding instructions that are searched.
const WITHIN: usize = 2048;
/// Steps from a value to what it is made of.
const MOST_STEPS: u32 = 8;

/// True if there is a condition on the way to an instruction, and every one compares a work-item's number in
/// the grid with a scalar. Conditions are the branches that lead to it, and the loops around it that lanes
/// leave at different times.
pub(crate) fn only_the_end_is_off(evidence: &KernelEvidence<'_>, at: u32) -> bool {
    let mut guards = 0;
    for before in dominating(evidence, at) {
        let inst = &evidence.insts[before as usize];
        if !writes_exec(inst) {
            continue;
        }
        match (inst.op.info().name, inst.operands()) {
            ("s_and_saveexec_b64", [_, Operand::Reg(condition)])
                if is_end_check(evidence, before, *condition) =>
            {
                guards += 1;
            }
            // Lanes are re-enabled.
            ("s_or_b64", _) => {}
            _ => return false,
        }
    }
    let mut around = evidence.cfg.loop_of(at);
    while let Some(id) = around {
        around = evidence.cfg.loops[id as usize].parent;
        for leaving in evidence.cfg.loop_own_insts(id) {
            let inst = &evidence.insts[leaving as usize];
            if inst.op.info().name != "s_andn2_b64" || !writes_exec(inst) {
                continue;
            }
            let [_, _, Operand::Reg(left)] = inst.operands() else { return false };
            if !is_loop_end(evidence, leaving, *left) {
                return false;
            }
            guards += 1;
        }
    }
    guards > 0
}

/// Instructions that always run before one, the nearest first.
fn dominating<'a>(evidence: &'a KernelEvidence<'_>, at: u32) -> impl Iterator<Item = u32> + 'a {
    let cfg = &evidence.cfg;
    let own = cfg.block_of(at);
    let mut next = cfg.blocks[own as usize].dominator;
    let above = std::iter::from_fn(move || {
        let block = next?;
        next = cfg.blocks[block as usize].dominator;
        Some(cfg.blocks[block as usize].insts.clone())
    });
    let start = cfg.blocks[own as usize].insts.start;
    std::iter::once(start..at).chain(above).flat_map(Iterator::rev).take(WITHIN)
}

fn writes_exec(inst: &Inst) -> bool {
    let mut found = false;
    inst.visit_writes(|range| found |= range.file == RegFile::Exec);
    found
}

/// The last instruction before `at` that writes the first register of a run, on the path common to all lanes.
pub(crate) fn written_at(evidence: &KernelEvidence<'_>, at: u32, register: RegRange) -> Option<u32> {
    dominating(evidence, at).find(|before| {
        let mut found = false;
        evidence.insts[*before as usize].visit_writes(|range| {
            found |= range.file == register.file && range.indices().contains(&register.first);
        });
        found
    })
}

/// True if the mask of lanes that left a loop contains only its previous lanes and lanes beyond the end of
/// the data.
fn is_loop_end(evidence: &KernelEvidence<'_>, at: u32, left: RegRange) -> bool {
    let Some(made) = written_at(evidence, at, left) else { return false };
    let inst = &evidence.insts[made as usize];
    let sources = inst.operands().iter().skip(1);
    let mut others = sources.filter_map(|operand| match operand {
        Operand::Reg(range) if *range != left => Some(*range),
        _ => None,
    });
    inst.op.info().name == "s_or_b64"
        && others.next().is_some_and(|mask| is_end_check(evidence, made, mask))
        && others.next().is_none()
}

/// A mask of lanes is made by the comparison of a work-item's number in the grid with a scalar.
fn is_end_check(evidence: &KernelEvidence<'_>, at: u32, mask: RegRange) -> bool {
    let Some(made) = written_at(evidence, at, mask) else { return false };
    let inst = &evidence.insts[made as usize];
    let name = inst.op.info().name;
    let orders = ["v_cmp_lt_", "v_cmp_le_", "v_cmp_gt_", "v_cmp_ge_"].iter().any(|it| name.starts_with(it));
    let integers = ["_i32", "_u32", "_i64", "_u64"].iter().any(|it| name.ends_with(it));
    let [_, Operand::Reg(a), Operand::Reg(b)] = inst.operands() else { return false };
    let number = match (a.file, b.file) {
        (RegFile::Sgpr, RegFile::Vgpr) => *b,
        (RegFile::Vgpr, RegFile::Sgpr) => *a,
        _ => return false,
    };
    // Without a scalar it is a number in the workgroup: comparing that may leave few lanes of each.
    orders && integers && made_of(evidence, made, number, 0).is_some_and(|has_scalar| has_scalar)
}

/// Whether a vector register before `at` is a sum of a work-item's number in the workgroup and scalars, and
/// has some of these.
fn made_of(evidence: &KernelEvidence<'_>, at: u32, register: RegRange, steps: u32) -> Option<bool> {
    let Some(made) = written_at(evidence, at, register) else {
        // What the kernel starts with.
        return (register.first < 3).then_some(false);
    };
    let inst = &evidence.insts[made as usize];
    let name = inst.op.info().name;
    let adds = ["v_add", "v_lshl", "v_or", "v_mad_", "v_mov_b", "v_and_b32", "v_bfe_u32"];
    if inst.class() != Class::Valu || steps == MOST_STEPS || !adds.iter().any(|it| name.starts_with(it)) {
        return None;
    }
    let (mut has_scalar, mut has_number) = (false, false);
    for operand in inst.read_operands() {
        match operand {
            Operand::Reg(range) if range.file == RegFile::Sgpr => has_scalar = true,
            Operand::Reg(range) if range.file == RegFile::Vgpr => {
                has_scalar |= made_of(evidence, made, *range, steps + 1)?;
                has_number = true;
            }
            _ => {}
        }
    }
    has_number.then_some(has_scalar)
}
