//! Accesses of the LDS past what the workgroup has.
//!
//! The one idea to keep in mind: they do what they do on the hardware, where reads give 0 and writes vanish, and the first of
//! a launch is remembered with its place, because it is always a mistake. Only ways that look at each lane anyway get here.

use crate::decode::Action;
use crate::observe::WaveId;
use crate::program::Program;

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
    /// What a person needs to find the mistake, but for the source line.
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

    /// Two launches' or workgroups' accesses together.
    pub(crate) fn joined(first: Option<OutsideLds>, second: Option<OutsideLds>) -> Option<OutsideLds> {
        let (Some(first), Some(second)) = (first, second) else { return first.or(second) };
        let times = first.times.saturating_add(second.times);
        let earlier = if second.wave.workgroup_index < first.wave.workgroup_index { second } else { first };
        Some(OutsideLds { times, ..earlier })
    }
}

/// What a machine has seen of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outside(pub(crate) Option<OutsideLds>);

impl Outside {
    /// Takes note of one access of a lane by the memory instruction of a number.
    #[cold]
    #[inline(never)]
    pub(crate) fn note(
        &mut self,
        (program, slot): (&Program, u32),
        wave: WaveId,
        lane: usize,
        (offset, bytes): (u64, u32),
        size: usize,
    ) {
        if let Some(known) =
            self.0.as_mut().filter(|known| known.wave.workgroup_index <= wave.workgroup_index)
        {
            known.times += 1;
            return;
        }
        let is_it = |action: &Action| matches!(action, Action::Memory(access) if access.slot == slot);
        let index = program.actions.iter().position(is_it).unwrap_or_default();
        let times = 1 + self.0.map_or(0, |known| known.times);
        self.0 = Some(OutsideLds { times, index, wave, lane: lane as u32, offset, bytes, size: size as u64 });
    }
}
