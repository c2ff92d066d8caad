//! Which memory instructions of a loop have lanes that only move together.
//!
//! The one idea to keep in mind: a loop that is one run is executed from its first instruction to its last with the same
//! lanes. If all that changes the registers of an address there is the addition of one number to every lane, then the
//! lanes stand to each other as they did the time before, and nobody has to look.

use crate::decode::Action;
use crate::operand::{Files, Src};
use isa::{Bits, Inst, Lane, Operand, Space};
use std::ops::Range;

/// Marks the memory instructions whose lanes move together.
pub(crate) fn mark(insts: &[Inst], files: Files, runs: &[u32], actions: &mut [Action]) {
    for branch in 0..actions.len() {
        let Action::Branch { target, .. } = actions[branch] else { continue };
        if target > branch || runs[target] as usize != branch + 1 - target {
            continue;
        }
        let body = &insts[target..branch];
        for action in &mut actions[target..branch] {
            let Action::Memory(access) = action else { continue };
            let Src::Row(first) = access.address else { continue };
            let pair = access.base == Src::None && matches!(access.space, Space::Global | Space::Flat);
            let rows = first..first + if pair { 2 } else { 1 };
            access.walks = body.iter().all(|inst| !writes(inst, files, &rows) || moves(inst, files, &rows));
        }
    }
}

/// Whether an instruction writes some of the rows.
fn writes(inst: &Inst, files: Files, rows: &Range<u16>) -> bool {
    let mut found = false;
    inst.visit_writes(|range| {
        if let Some(row) = files.row(range) {
            found |= row < rows.end && rows.start < row + u16::from(range.count);
        }
    });
    found
}

/// Whether an instruction adds one number to all lanes of exactly these rows.
fn moves(inst: &Inst, files: Files, rows: &Range<u16>) -> bool {
    if inst.mods.lane != Lane::None || inst.mods.bits.contains(Bits::CLAMP) {
        return false;
    }
    let these = |operand: Operand| match operand {
        Operand::Reg(range) => files.row(range) == Some(rows.start) && usize::from(range.count) == rows.len(),
        _ => false,
    };
    let one_number = |operand: Operand| match operand {
        Operand::Reg(range) => files.row(range).is_none(),
        Operand::Int(_) | Operand::Imm(_) | Operand::Literal(_) => true,
        _ => false,
    };
    match (inst.info().name, inst.operands(), rows.len()) {
        ("v_lshl_add_u64", &[into, from, Operand::Int(0), by], 2) => {
            these(into) && these(from) && one_number(by)
        }
        ("v_add_u32", &[into, a, b], 1) => {
            these(into) && (these(a) && one_number(b) || one_number(a) && these(b))
        }
        _ => false,
    }
}
