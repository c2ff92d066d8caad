//! Where the waves of a workgroup take turns: before a store that follows a load.
//!
//! The one idea to keep in mind: the waves of a workgroup run on the GPU at the same time, so all of them load what a
//! phase of the kernel loads before the first of them stores in the next phase. A wave that ran on to its next barrier
//! would overwrite what the others have yet to load. Dataflow over the instructions finds the stores that a load of
//! the same memory reaches without a barrier or another store in between; a turn ends before each of them.

use crate::control::Condition;
use crate::decode::Action;
use isa::{Access, Inst, Mem, Space};

/// Bit of an entry of `Program::runs`: a turn ends before this instruction.
pub(crate) const TURN_ENDS: u32 = 1 << 31;

/// Memory that waves share, as bits.
type Shared = u8;

const LDS: Shared = 1;
const GLOBAL: Shared = 2;

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
    // Functions begin where no instruction falls through; their callers may have loaded anything.
    let at_functions = if calls { LDS | GLOBAL } else { 0 };
    let functions = (0..actions.len()).filter(|&index| index == 0 || !falls_through(&actions[index - 1]));
    let mut work: Vec<(usize, Shared)> = functions.map(|index| (index, at_functions)).collect();
    // By instruction: what may be loaded before it; `None` if it is not reached yet.
    let mut loaded = vec![None::<Shared>; actions.len()];
    while let Some((index, more)) = work.pop() {
        let Some(before) = loaded.get_mut(index) else { continue };
        let joined = before.unwrap_or(0) | more;
        if *before == Some(joined) {
            continue;
        }
        *before = Some(joined);
        let (loads, stores) = accesses[index];
        let behind = match &actions[index] {
            Action::Barrier | Action::GridBarrier { .. } => 0,
            Action::Call { .. } => LDS | GLOBAL,
            _ => joined & !stores | loads,
        };
        if let Action::Branch { target, .. } | Action::Call { target, .. } = actions[index] {
            work.push((target, behind));
        }
        if falls_through(&actions[index]) {
            work.push((index + 1, behind));
        }
    }
    loaded.iter().zip(accesses).map(|(loaded, (_, stores))| loaded.unwrap_or(0) & stores != 0).collect()
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
    fn turns_end_before_a_store_that_follows_a_load() {
        let (read, write, add) = ("ds_read_b32 v1, v2", "ds_write_b32 v2, v1", "ds_add_u32 v2, v1");
        let (load, store) = ("global_load_dword v1, v2, s[4:5]", "global_store_dword v2, v1, s[4:5]");
        let (scalar, other) = ("s_load_dword s6, s[4:5], 0x0", "v_mov_b32_e32 v3, v1");
        let dma = "global_load_lds_dword v[2:3], off";
        let cases: &[(&[&str], &[usize])] = &[
            (&[read, other, write, write, "s_endpgm"], &[2]),
            (&[read, write, read, write, "s_endpgm"], &[1, 3]),
            (&[write, read, "s_endpgm"], &[]),
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
