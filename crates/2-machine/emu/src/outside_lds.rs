//! Report of LDS accesses past the end of a workgroup's LDS.
//!
//! Such accesses behave as on hardware: reads return 0 and writes are dropped. The first one of a launch is
//! reported, because it is always a mistake.

use crate::decode::Action;
use crate::outside::Outside;
use crate::program::Program;
use crate::wave::WaveId;

/// Accesses of the LDS past its end: the first one in the order of workgroups, and how many there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutsideLds {
    /// Accesses of lanes.
    pub times: u64,
    /// Index of the first one's instruction in the program.
    pub index: usize,
    /// The wave.
    pub wave: WaveId,
    /// The lane.
    pub lane: u32,
    /// Offset in the LDS.
    pub offset: u64,
    /// Bytes of the access.
    pub bytes: u32,
    /// Bytes of LDS that the workgroup has.
    pub size: u64,
}

impl OutsideLds {
    /// The accesses of a workgroup that runs a program.
    pub(crate) fn of(outside: &Outside, program: &Program) -> OutsideLds {
        let Outside { times, slot, wave, lane, offset, bytes, size } = *outside;
        let is_it = |action: &Action| matches!(action, Action::Memory(access) if access.slot == slot);
        let index = program.actions.iter().position(is_it).unwrap_or_default();
        OutsideLds { times, index, wave, lane, offset, bytes, size }
    }

    /// Text of the report, without the source line.
    pub fn text(&self, program: &Program) -> String {
        let OutsideLds { times, index, wave, lane, offset, bytes, size } = self;
        let ([x, y, z], count) = (wave.workgroup, if *times == 1 { "access" } else { "accesses" });
        format!(
            "{times} {count} of the LDS past its {size} bytes: reads give 0 and writes vanish, here as on a GPU\n  \
             first {bytes} bytes at offset {offset:#x} by `{}` at {:#x}\n  workgroup ({x}, {y}, {z}), wave {}, lane {lane}",
            program.text(*index),
            program.address(*index),
            wave.wave
        )
    }

    /// Sum of two reports, with the earlier place.
    pub(crate) fn joined(first: Option<OutsideLds>, second: Option<OutsideLds>) -> Option<OutsideLds> {
        let (Some(first), Some(second)) = (first, second) else { return first.or(second) };
        let times = first.times.saturating_add(second.times);
        let earlier = if second.wave.workgroup_index < first.wave.workgroup_index { second } else { first };
        Some(OutsideLds { times, ..earlier })
    }
}
