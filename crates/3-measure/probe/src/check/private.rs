//! Private memory of lanes: reads of what the lane has never written.
//!
//! Registers that a compiler puts away into private memory may be read back in lanes that never held a value. They have the
//! same offset in all lanes, so only reads with an address for each lane are looked at: arrays with a variable index, and
//! whatever a pointer leads to.

use super::shadow::Touch;
use emu::{MemoryAccess, Program, WaveId};
use isa::{Access, Operand, RegFile};
use std::collections::HashMap;

/// Dwords of a workgroup that are watched.
const MOST: usize = 1 << 20;

/// By wave and dword: lanes that have written it, in part at least.
#[derive(Debug, Default)]
pub(super) struct PrivateMemory(HashMap<(u32, u64), u64>);

impl PrivateMemory {
    /// An access; `found` gets the lane, the offset and the number of dwords where all that a lane reads is unwritten.
    pub(super) fn access(
        &mut self,
        program: &Program,
        wave: WaveId,
        access: &MemoryAccess<'_>,
        found: &mut dyn FnMut(Touch, u64, u64),
    ) {
        if access.index > Touch::MOST_INDEX {
            return;
        }
        let reads = access.kind != Access::Store && has_address_of_lane(program, access.index);
        let mut lanes = access.lanes;
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            let start = access.addresses[lane];
            let end = start.saturating_add(u64::from(access.bytes.max(1)));
            let dwords = start / 4..end.div_ceil(4);
            let is_written =
                |dword: u64| self.0.get(&(wave.wave, dword)).is_some_and(|it| it >> lane & 1 != 0);
            if reads && !dwords.clone().any(is_written) && self.0.len() < MOST {
                let touch = Touch::new(wave.workgroup_index as u32, wave.wave, access.index, 0, false);
                found(touch.of(lane, 0xf), start, dwords.end - dwords.start);
            }
            if access.kind == Access::Load {
                continue;
            }
            for dword in dwords {
                if self.0.len() < MOST || self.0.contains_key(&(wave.wave, dword)) {
                    *self.0.entry((wave.wave, dword)).or_default() |= 1 << lane;
                }
            }
        }
    }
}

/// Whether an instruction that reads has an address for each lane.
fn has_address_of_lane(program: &Program, index: usize) -> bool {
    let Some(inst) = program.instructions().get(index) else { return false };
    let is_vector = |it: &Operand| matches!(it, Operand::Reg(range) if range.file == RegFile::Vgpr);
    inst.info().name.starts_with("flat_") || inst.operands().get(1).is_some_and(is_vector)
}
