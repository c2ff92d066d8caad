//! Where the waves of a workgroup take turns: before a store that follows a load, and before a load from the LDS that
//! follows a store.
//!
//! The one idea to keep in mind: the waves of a workgroup run on the GPU at the same time, so all of them load what a
//! phase of the kernel loads before the first of them stores in the next phase. A wave that ran on to its next barrier
//! would overwrite what the others have yet to load, or load what they have yet to store. Dataflow over the
//! instructions finds the stores that a load of the same memory reaches without a barrier or another store in between,
//! and the loads from the LDS that a store reaches likewise; a turn ends before each of them.

use crate::control::Condition;
use crate::decode::Action;
use isa::{Access, Inst, Mem, Space};

/// Bit of an entry of `Program::runs`: a turn ends before this instruction.
pub(crate) const TURN_ENDS: u32 = 1 << 31;

/// Memory that waves share, as bits.
type Shared = u8;

const LDS: Shared = 1;
const GLOBAL: Shared = 2;
/// The LDS as stored to by LDS instructions: a load from it ends a turn.
const STORED_LDS: Shared = 4;
const ALL: Shared = LDS | GLOBAL | STORED_LDS;

/// Ends runs where turns end, and marks these places. A loop of one run stays whole: its lanes keep their distances,
/// which makes it fast, and it has no barrier, so its waves have nothing to tell each other.
pub(crate) fn mark(insts: &[Inst], actions: &[Action], runs: &mut [u32]) {
    let mut ends = ends_of_turns(insts, actions);
    for (branch, action) in actions.iter().enumerate() {
        let Action::Branch { target, .. } = *action else { continue };
        if target <= branch && runs[target] as usize == branch + 1 - target {
            ends[target..=branch].fill(false);
        }
    }
    for index in (0..runs.len()).rev() {
        let length = runs[index];
        if length > 1 {
            // The next one may have become shorter.
            runs[index] = if ends[index + 1] { 1 } else { (runs[index + 1] & !TURN_ENDS) + 1 };
        }
        runs[index] |= if ends[index] { TURN_ENDS } else { 0 };
    }
}

/// By instruction: true if a turn ends before it.
fn ends_of_turns(insts: &[Inst], actions: &[Action]) -> Vec<bool> {
    let accesses: Vec<_> = insts.iter().map(|inst| inst.mem().map_or((0, 0), loads_and_stores)).collect();
    let calls = actions.iter().any(|action| matches!(action, Action::Jump { .. } | Action::Call { .. }));
    // Functions begin where no instruction falls through; their callers may have accessed anything.
    let at_functions = if calls { ALL } else { 0 };
    let functions = (0..actions.len()).filter(|&index| index == 0 || !falls_through(&actions[index - 1]));
    let mut work: Vec<(usize, Shared)> = functions.map(|index| (index, at_functions)).collect();
    // By instruction: what may be loaded and stored before it; `None` if it is not reached yet.
    let mut accessed = vec![None::<Shared>; actions.len()];
    while let Some((index, more)) = work.pop() {
        let Some(before) = accessed.get_mut(index) else { continue };
        let joined = before.unwrap_or(0) | more;
        if *before == Some(joined) {
            continue;
        }
        *before = Some(joined);
        let behind = match &actions[index] {
            Action::Barrier | Action::GridBarrier { .. } => 0,
            Action::Call { .. } => ALL,
            _ => accessed_behind(joined, accesses[index]),
        };
        if let Action::Branch { target, .. } | Action::Call { target, .. } = actions[index] {
            work.push((target, behind));
        }
        if falls_through(&actions[index]) {
            work.push((index + 1, behind));
        }
    }
    let ends = |(before, (loads, stores)): (&Option<Shared>, (Shared, Shared))| {
        let before = before.unwrap_or(0);
        before & stores & (LDS | GLOBAL) != 0 || before & STORED_LDS != 0 && loads & LDS != 0
    };
    accessed.iter().zip(accesses).map(ends).collect()
}

/// Memory accessed up to behind an instruction, by the accesses before it and the memory that it loads from and stores to.
fn accessed_behind(before: Shared, (loads, stores): (Shared, Shared)) -> Shared {
    let kept = if loads & LDS != 0 { before & !STORED_LDS } else { before };
    kept & !stores | loads | stores & STORED_LDS
}

/// True if the next instruction may follow.
fn falls_through(action: &Action) -> bool {
    match action {
        Action::Branch { condition, .. } => *condition != Condition::Always,
        Action::End | Action::Jump { .. } => false,
        _ => true,
    }
}

/// Shared memory that an instruction loads from, and that it changes.
fn loads_and_stores(mem: Mem) -> (Shared, Shared) {
    let shared = match mem.space {
        Space::Global | Space::Buffer | Space::Scalar => GLOBAL,
        Space::Flat => GLOBAL | LDS,
        Space::Lds => LDS,
        Space::Scratch | Space::Gds => 0,
    };
    match mem.access {
        Access::Load => (shared, 0),
        Access::Store | Access::Atomic if mem.space == Space::Lds => (0, LDS | STORED_LDS),
        Access::Store | Access::Atomic => (0, shared),
        Access::LoadToLds => (GLOBAL, LDS),
        Access::Exchange => (0, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::TURN_ENDS;
    use crate::program::Program;

    /// Lines before which a turn ends.
    fn ends(lines: &[&str]) -> Vec<usize> {
        let program = Program::of_text(lines);
        let ends = program.runs.iter().enumerate().filter(|(_, run)| **run & TURN_ENDS != 0);
        ends.map(|(line, _)| line).collect()
    }

    #[test]
    fn turns_end_where_loads_and_stores_alternate() {
        let (read, write, add) = ("ds_read_b32 v1, v2", "ds_write_b32 v2, v1", "ds_add_u32 v2, v1");
        let (load, store) = ("global_load_dword v1, v2, s[4:5]", "global_store_dword v2, v1, s[4:5]");
        let (scalar, other) = ("s_load_dword s6, s[4:5], 0x0", "v_mov_b32_e32 v3, v1");
        let dma = "global_load_lds_dword v[2:3], off";
        let cases: &[(&[&str], &[usize])] = &[
            (&[read, other, write, write, "s_endpgm"], &[2]),
            (&[read, write, read, write, "s_endpgm"], &[1, 2, 3]),
            (&[write, other, read, read, "s_endpgm"], &[2]),
            (&[store, load, "s_endpgm"], &[]),
            (&[write, "s_barrier", read, "s_endpgm"], &[]),
            (&[add, read, "s_endpgm"], &[1]),
            (&[dma, read, "s_endpgm"], &[]),
            (&[read, add, "s_endpgm"], &[1]),
            (&[read, dma, "s_endpgm"], &[1]),
            (&[load, store, "s_endpgm"], &[1]),
            (&[scalar, store, "s_endpgm"], &[1]),
            // Other memory, or a barrier in between.
            (&[read, store, "s_endpgm"], &[]),
            (&[load, write, "s_endpgm"], &[]),
            (&[read, "s_barrier", write, "s_endpgm"], &[]),
            (&["scratch_load_dword v1, v2, off", "scratch_store_dword v2, v1, off", "s_endpgm"], &[]),
            // Around a loop, and on one of two ways.
            (&["s_barrier", write, "s_barrier", read, "s_cbranch_scc1 1", "s_endpgm"], &[1]),
            (&["s_cbranch_scc1 2", read, write, "s_endpgm"], &[2]),
            (&["s_cbranch_scc1 3", read, "s_endpgm", write, "s_endpgm"], &[]),
            // A loop of one run stays whole.
            (&[load, store, "s_cbranch_scc1 0", "s_endpgm"], &[]),
            // A function, whose caller may have loaded.
            (&["s_swappc_b64 s[30:31], s[4:5]", "s_endpgm", write, "s_setpc_b64 s[30:31]"], &[2]),
        ];
        for (lines, expected) in cases {
            assert_eq!(ends(lines), *expected, "{lines:?}");
        }
    }

    #[test]
    fn runs_end_where_turns_end() {
        let program = Program::of_text(&[
            "ds_read_b32 v1, v2",
            "v_mov_b32_e32 v3, v1",
            "ds_write_b32 v2, v1",
            "v_mov_b32_e32 v3, v1",
            "s_endpgm",
        ]);
        let lengths: Vec<_> = program.runs.iter().map(|run| run & !TURN_ENDS).collect();
        assert_eq!(lengths, [2, 1, 3, 2, 1]);
    }
}
