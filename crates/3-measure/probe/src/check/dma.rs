//! Outstanding LDS-DMA loads.
//!
//! Such a load may write at any time between its issue and the wait for it, so any access to the bytes
//! meanwhile races with it, even by its own wave; the wait turns it into a write of its wave at that time.

use super::shadow::Touch;
use emu::LdsDmaLoad;

/// All bytes of a dword.
const ALL_BYTES: u32 = 0xf;

/// One load that is outstanding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outstanding {
    pub(super) wave: u32,
    touch: Touch,
    load: LdsDmaLoad,
}

impl Outstanding {
    /// A load of a wave; the touch has its instruction and the time of issue.
    pub(super) fn new(wave: u32, touch: Touch, load: LdsDmaLoad) -> Outstanding {
        Outstanding { wave, touch, load }
    }

    /// Index of the instruction.
    pub(super) fn index(&self) -> usize {
        self.load.index
    }

    /// The dwords below `end` that it writes, each with the touch of the lane.
    pub(super) fn dwords(self, touch: Touch, end: u64) -> impl Iterator<Item = (u64, Touch)> {
        let LdsDmaLoad { start, stride, lanes, .. } = self.load;
        (0..64usize).filter(move |lane| lanes >> lane & 1 != 0).flat_map(move |lane| {
            let first = start.saturating_add(stride * lane as u64) / 4;
            let dwords = first..first.saturating_add(stride / 4);
            dwords.filter(move |dword| *dword < end).map(move |dword| (dword, touch.of(lane, ALL_BYTES)))
        })
    }

    /// The touch of the lane that writes a dword.
    fn touch(&self, dword: u64) -> Option<Touch> {
        let LdsDmaLoad { start, stride, lanes, .. } = self.load;
        let lane = dword.checked_sub(start / 4)? / (stride / 4).max(1);
        (lane < 64 && lanes >> lane & 1 != 0).then(|| self.touch.of(lane as usize, ALL_BYTES))
    }
}

/// The loads of a workgroup that are outstanding.
#[derive(Debug, Default)]
pub(super) struct LdsDma {
    loads: Vec<Outstanding>,
    /// By dword of the LDS: how many of them write it.
    writers: Vec<u16>,
}

impl LdsDma {
    /// The loads that write a dword, each with the touch of the lane that does.
    #[inline]
    pub(super) fn of(&self, dword: u64) -> impl Iterator<Item = (&Outstanding, Touch)> {
        let any = self.writers.get(dword as usize).is_some_and(|&count| count > 0);
        let loads = if any { &self.loads[..] } else { &[] };
        loads.iter().filter_map(move |load| Some((load, load.touch(dword)?)))
    }

    /// Adds a load, as far as it writes dwords below `end`.
    pub(super) fn add(&mut self, load: Outstanding, end: u64) {
        for (dword, _) in load.dwords(load.touch, end) {
            let at = dword as usize;
            if self.writers.len() <= at {
                self.writers.resize(at + 1, 0);
            }
            self.writers[at] += 1;
        }
        self.loads.push(load);
    }

    /// Removes the completed loads of a wave, up to a number.
    pub(super) fn take_done(&mut self, wave: u32, number: u64) -> Vec<Outstanding> {
        let done: Vec<_> =
            self.loads.extract_if(.., |it| it.wave == wave && it.load.number <= number).collect();
        for load in &done {
            for (dword, _) in load.dwords(load.touch, self.writers.len() as u64) {
                self.writers[dword as usize] -= 1;
            }
        }
        done
    }
}
