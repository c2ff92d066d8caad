//! Report of accesses that the hardware drops without a fault: of the LDS past its end, and of buffers with an offset
//! register that is negative until the immediate offset is added.
//!
//! Such accesses behave as on hardware: reads return 0 and writes are dropped. The first one of a launch is
//! reported, because it is always a mistake, of the program or of its compiler.

use crate::decode::Action;
use crate::outside::Outside;
use crate::program::Program;
use crate::wave::WaveId;

/// Why accesses are dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loss {
    /// They are past the end of the LDS.
    PastLds,
    /// The offset register of a buffer is negative; with the immediate offset the access would be inside.
    NegativeOffset,
}

/// Accesses that are dropped: the first one in the order of workgroups, and how many there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LostAccesses {
    /// The reason.
    pub loss: Loss,
    /// Accesses of lanes.
    pub times: u64,
    /// Index of the first one's instruction in the program.
    pub index: usize,
    /// The wave.
    pub wave: WaveId,
    /// The lane.
    pub lane: u32,
    /// Offset in the LDS, or the offset register.
    pub offset: u64,
    /// Bytes of the access.
    pub bytes: u32,
    /// Bytes of LDS that the workgroup has, or of the buffer.
    pub size: u64,
}

impl LostAccesses {
    /// The accesses of a workgroup that runs a program.
    pub(crate) fn of(loss: Loss, outside: &Outside, program: &Program) -> LostAccesses {
        let Outside { times, slot, wave, lane, offset, bytes, size } = *outside;
        let is_it = |action: &Action| matches!(action, Action::Memory(access) if access.slot == slot);
        let index = program.actions.iter().position(is_it).unwrap_or_default();
        LostAccesses { loss, times, index, wave, lane, offset, bytes, size }
    }

    /// Text of the report, without the source line.
    pub fn text(&self, program: &Program) -> String {
        let LostAccesses { loss, times, index, wave, lane, offset, bytes, size } = self;
        let ([x, y, z], count) = (wave.workgroup, if *times == 1 { "access" } else { "accesses" });
        let what = match loss {
            Loss::PastLds => format!(
                "{times} {count} of the LDS past its {size} bytes: reads give 0 and writes vanish, here as on a GPU\n  \
                 first {bytes} bytes at offset {offset:#x}"
            ),
            Loss::NegativeOffset => format!(
                "{times} {count} of a buffer of {size} bytes with a negative offset register, which the immediate offset \
                 brings back inside: the range check takes them for outside, reads give 0 and writes vanish\n  first {bytes} bytes \
                 at offset register {}",
                *offset as u32 as i32
            ),
        };
        format!(
            "{what} by `{}` at {:#x}\n  workgroup ({x}, {y}, {z}), wave {}, lane {lane}",
            program.text(*index),
            program.address(*index),
            wave.wave
        )
    }

    /// Sum of two reports, with the earlier place.
    pub(crate) fn joined(first: Option<LostAccesses>, second: Option<LostAccesses>) -> Option<LostAccesses> {
        let (Some(first), Some(second)) = (first, second) else { return first.or(second) };
        let times = first.times.saturating_add(second.times);
        let earlier = if second.wave.workgroup_index < first.wave.workgroup_index { second } else { first };
        Some(LostAccesses { times, ..earlier })
    }
}
