//! Record of LDS accesses past the end of the LDS.

use crate::wave::WaveId;

/// LDS accesses of a workgroup past its LDS: their number, and the first one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outside {
    /// Accesses of lanes.
    pub(crate) times: u64,
    /// Index of the first one's instruction among the memory instructions.
    pub(crate) slot: u32,
    pub(crate) wave: WaveId,
    pub(crate) lane: u32,
    /// Offset in the LDS, or the offset register of a buffer.
    pub(crate) offset: u64,
    /// Bytes of the access.
    pub(crate) bytes: u32,
    /// Bytes of LDS that the workgroup has, or of the buffer.
    pub(crate) size: u64,
}

impl Outside {
    /// Records an access of a lane by memory instruction `slot`.
    #[cold]
    #[inline(never)]
    pub(crate) fn note(
        outside: &mut Option<Outside>,
        slot: u32,
        wave: WaveId,
        lane: usize,
        (offset, bytes): (u64, u32),
        size: usize,
    ) {
        let earlier = |known: &&mut Outside| known.wave.workgroup_index <= wave.workgroup_index;
        if let Some(known) = outside.as_mut().filter(earlier) {
            known.times += 1;
            return;
        }
        let times = 1 + outside.map_or(0, |known| known.times);
        *outside = Some(Outside { times, slot, wave, lane: lane as u32, offset, bytes, size: size as u64 });
    }
}
