//! Memory instructions of loops whose lanes all move by one amount.
//!
//! The one idea to keep in mind: a loop of one run executes with constant lanes. If only the addition of one number
//! to all lanes changes an address register there, lane distances stay constant and need no comparison.

use crate::decode::Action;
use crate::operand::{Files, Src};
use isa::{Bits, Inst, Lane, Operand, Space};
use std::ops::Range;

/// Marks memory instructions whose lanes move by one amount.
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
            access.walks =
                body.iter().all(|inst| !writes(inst, files, &rows) || adds_to_all_lanes(inst, files, &rows));
        }
    }
}

/// True if an instruction writes one of the rows.
fn writes(inst: &Inst, files: Files, rows: &Range<u16>) -> bool {
    let mut found = false;
    inst.visit_writes(|range| {
        if let Some(row) = files.row(range) {
            found |= row < rows.end && rows.start < row + u16::from(range.count);
        }
    });
    found
}

/// True if an instruction adds one number to all lanes of exactly these rows.
fn adds_to_all_lanes(inst: &Inst, files: Files, rows: &Range<u16>) -> bool {
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

#[cfg(test)]
mod tests {
    use crate::decode::Action;
    use crate::program::Program;

    /// By memory instruction of a loop, true if its lanes move by one amount; the last line jumps to the first.
    fn walks(lines: &[&str]) -> Vec<bool> {
        let lines: Vec<_> = lines.iter().chain(&["s_cbranch_scc1 0"]).copied().collect();
        let program = Program::of_text(&lines);
        let access = |action: &Action| match action {
            Action::Memory(access) => Some(access.walks),
            _ => None,
        };
        program.actions.iter().filter_map(access).collect()
    }

    #[test]
    fn lanes_walk_where_one_number_is_added_to_all() {
        let pair = "global_load_dwordx2 v[8:9], v[2:3], off";
        let offset = "global_load_dword v8, v2, s[4:5]";
        let lds = "ds_read_b32 v8, v2";
        let add = "v_add_u32_e32 v2, s6, v2";
        let cases: [(&[&str], &[bool]); 11] = [
            (&[pair, "v_lshl_add_u64 v[2:3], v[2:3], 0, 32"], &[true]),
            (&[pair, "v_lshl_add_u64 v[2:3], v[2:3], 0, s[6:7]"], &[true]),
            (&[offset, add, lds], &[true, true]),
            // The address does not change.
            (&[pair, "v_add_u32_e32 v4, v2, v5"], &[true]),
            // Shifted, computed from other registers, or with an addend that differs between lanes.
            (&[pair, "v_lshl_add_u64 v[2:3], v[2:3], 1, 32"], &[false]),
            (&[pair, "v_lshl_add_u64 v[2:3], v[4:5], 0, 32"], &[false]),
            (&[pair, "v_lshl_add_u64 v[2:3], v[2:3], 0, v[4:5]"], &[false]),
            (&[offset, "v_add_u32_e32 v2, v6, v2"], &[false]),
            // Only the low half changes, without carry.
            (&[pair, add], &[false]),
            // The load overwrites its own address.
            (&["global_load_dwordx2 v[2:3], v[2:3], off"], &[false]),
            // Two runs, which may have different active lanes.
            (&[pair, "s_mov_b64 exec, s[6:7]"], &[false]),
        ];
        for (lines, expected) in cases {
            assert_eq!(walks(lines), expected, "{lines:?}");
        }
    }
}
