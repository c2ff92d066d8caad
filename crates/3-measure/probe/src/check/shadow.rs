//! Shadow memory: the last accesses to each dword.
//!
//! Shadow memory exists only for pages that were touched, and in each only for the kinds of accesses that
//! happened; when its share is used up, further accesses are not watched, and are counted.
//!
//! A dword remembers one writer and up to three readers: the last one, one of another wave of the same
//! workgroup, and one of another workgroup. If several waves access different bytes of one dword only the
//! last is kept, so a race on its other bytes can be missed; no false race is reported.

use std::collections::HashMap;

/// Dwords of a page.
const DWORDS: usize = 1024;

/// One access of a lane to a dword.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Touch {
    /// Number of the workgroup and 1; 0 is nobody.
    group: u32,
    /// Instruction, wave and lane.
    who: u32,
    /// When in its workgroup, whether it was atomic, which bytes.
    when: u32,
}

/// Bits of [`Touch::who`] below the instruction: 4 of the wave, 6 of the lane.
const WHO_BITS: u32 = 10;
/// Bits of [`Touch::when`] below the time: one for atomics, 4 of the bytes.
const WHEN_BITS: u32 = 5;

impl Touch {
    /// Latest time that fits into the bits.
    pub(super) const LAST: u32 = u32::MAX >> WHEN_BITS;
    /// Largest index of an instruction that fits into the bits.
    pub(super) const MOST_INDEX: usize = (u32::MAX >> WHO_BITS) as usize;

    /// An access without bytes.
    pub(super) fn new(group: u32, wave: u32, index: usize, time: u32, atomic: bool) -> Touch {
        Touch {
            group: group + 1,
            who: (index as u32) << WHO_BITS | (wave & 15) << 6,
            when: time << WHEN_BITS | u32::from(atomic) << 4,
        }
    }

    /// The same by a lane to some bytes.
    pub(super) fn of(self, lane: usize, bytes: u32) -> Touch {
        Touch { who: self.who | lane as u32, when: self.when | bytes, ..self }
    }

    fn is_any(self) -> bool {
        self.group != 0
    }

    pub(super) fn group(self) -> u32 {
        self.group.wrapping_sub(1)
    }

    pub(super) fn wave(self) -> u32 {
        self.who >> 6 & 15
    }

    pub(super) fn lane(self) -> u32 {
        self.who & 63
    }

    pub(super) fn index(self) -> usize {
        (self.who >> WHO_BITS) as usize
    }

    pub(super) fn time(self) -> u32 {
        self.when >> WHEN_BITS
    }

    pub(super) fn is_atomic(self) -> bool {
        self.when >> 4 & 1 != 0
    }

    /// True if both accesses share a byte and are not both atomic.
    pub(super) fn meets(self, other: Touch) -> bool {
        self.is_any()
            && other.is_any()
            && self.when & other.when & 0xf != 0
            && !(self.is_atomic() && other.is_atomic())
    }

    fn same_wave(self, other: Touch) -> bool {
        self.group == other.group && self.wave() == other.wave()
    }

    /// Record of two accesses of one wave: the bytes of both, unless an ordering operation separates them.
    fn after(self, old: Touch, since: u32) -> Touch {
        let joined = self.same_wave(old) && old.time() > since && old.is_atomic() == self.is_atomic();
        if joined { Touch { when: self.when | old.when & 0xf, ..self } } else { self }
    }
}

/// Accesses recorded for a dword.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub(super) enum Slot {
    Writer,
    Reader,
    /// A reader of another wave of the last reader's workgroup.
    OtherWave,
    /// A reader of another workgroup.
    OtherGroup,
}

const SLOTS: [Slot; 4] = [Slot::Writer, Slot::Reader, Slot::OtherWave, Slot::OtherGroup];

type Touches = Box<[Touch; DWORDS]>;

/// Shadow of one page.
#[derive(Debug, Default)]
struct Page([Option<Touches>; SLOTS.len()]);

impl Page {
    fn get(&self, slot: Slot, dword: usize) -> Touch {
        self.0[slot as usize].as_ref().map_or_else(Touch::default, |touches| touches[dword])
    }

    /// Records an access; `false` if the shadow is full.
    fn set(&mut self, slot: Slot, dword: usize, touch: Touch, room: &mut usize) -> bool {
        let place = &mut self.0[slot as usize];
        if place.is_none() {
            if *room == 0 {
                return false;
            }
            *room -= 1;
            *place = Some(Box::new([Touch::default(); DWORDS]));
        }
        if let Some(touches) = place {
            touches[dword] = touch;
        }
        true
    }

    /// Calls `meet` with each recorded access to a dword that shares bytes.
    fn meet(&self, dword: usize, new: Touch, writes: bool, mut meet: impl FnMut(Touch)) {
        let slots = if writes { &SLOTS[..] } else { &SLOTS[..1] };
        for slot in slots {
            let old = self.get(*slot, dword);
            if new.meets(old) {
                meet(old);
            }
        }
    }

    fn parts(&self) -> usize {
        self.0.iter().flatten().count()
    }
}

/// Shadow of an address space.
#[derive(Debug)]
pub(super) struct Shadow {
    pages: HashMap<u64, Page>,
    /// Parts of pages that may still be allocated.
    room: usize,
    /// Accesses of lanes that were not recorded.
    pub(super) lost: u64,
}

impl Shadow {
    /// A shadow of at most `bytes` bytes.
    pub(super) fn new(bytes: usize) -> Shadow {
        Shadow { pages: HashMap::new(), room: bytes / size_of::<[Touch; DWORDS]>(), lost: 0 }
    }

    /// Passes the recorded accesses of a dword to `meet`, and records an access. `since` is the time of the
    /// last barrier.
    pub(super) fn access(
        &mut self,
        dword: u64,
        new: Touch,
        writes: bool,
        since: u32,
        meet: impl FnMut(Touch),
    ) {
        let (page, dword) = (dword / DWORDS as u64, dword as usize % DWORDS);
        let Shadow { pages, room, lost } = self;
        let page = pages.entry(page).or_default();
        page.meet(dword, new, writes, meet);
        let writer = page.get(Slot::Writer, dword);
        if writes {
            *lost += u64::from(!page.set(Slot::Writer, dword, new.after(writer, since), room));
            return;
        }
        let reader = page.get(Slot::Reader, dword);
        if reader.is_any() && !reader.same_wave(new) {
            let slot = if reader.group == new.group { Slot::OtherWave } else { Slot::OtherGroup };
            *lost += u64::from(!page.set(slot, dword, reader, room));
        }
        *lost += u64::from(!page.set(Slot::Reader, dword, new.after(reader, since), room));
    }

    /// Passes the recorded accesses of a dword to `meet`, for an access that is not recorded.
    pub(super) fn meet(&self, dword: u64, new: Touch, writes: bool, meet: impl FnMut(Touch)) {
        if let Some(page) = self.pages.get(&(dword / DWORDS as u64)) {
            page.meet(dword as usize % DWORDS, new, writes, meet);
        }
    }

    /// Merges the shadow of workgroups that ran later; `meet` gets the older and the newer access.
    pub(super) fn take_in(&mut self, later: Shadow, mut meet: impl FnMut(u64, Touch, Touch)) {
        self.lost += later.lost;
        for (number, new) in later.pages {
            let Some(old) = self.pages.get_mut(&number) else {
                let parts = new.parts();
                if parts <= self.room {
                    self.room -= parts;
                    self.pages.insert(number, new);
                } else {
                    self.lost +=
                        new.0.iter().flatten().flat_map(|it| it.iter()).filter(|it| it.is_any()).count()
                            as u64;
                }
                continue;
            };
            for dword in 0..DWORDS {
                let address = number * DWORDS as u64 + dword as u64;
                let writer = old.get(Slot::Writer, dword);
                let written = new.get(Slot::Writer, dword);
                for slot in SLOTS {
                    let later = new.get(slot, dword);
                    if later.meets(writer) {
                        meet(address, writer, later);
                    }
                    let earlier = old.get(slot, dword);
                    if slot != Slot::Writer && written.meets(earlier) {
                        meet(address, earlier, written);
                    }
                }
                let reader = old.get(Slot::Reader, dword);
                for slot in SLOTS {
                    let later = new.get(slot, dword);
                    if !later.is_any() {
                        continue;
                    }
                    if slot == Slot::Reader && reader.is_any() {
                        self.lost += u64::from(!old.set(Slot::OtherGroup, dword, reader, &mut self.room));
                    }
                    self.lost += u64::from(!old.set(slot, dword, later, &mut self.room));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(group: u32, wave: u32, time: u32) -> Touch {
        Touch::new(group, wave, 7, time, false).of(3, 0xf)
    }

    #[test]
    fn touches_round_trip() {
        let it = Touch::new(5, 15, Touch::MOST_INDEX, Touch::LAST, true).of(63, 0b0110);
        assert_eq!((it.group(), it.wave(), it.lane()), (5, 15, 63));
        assert_eq!((it.index(), it.time(), it.is_atomic()), (Touch::MOST_INDEX, Touch::LAST, true));
        assert!(!it.meets(it), "two atomics");
        assert!(!touch(1, 0, 0).meets(Touch::default()));
        assert!(!Touch::new(0, 0, 0, 0, false).of(0, 1).meets(Touch::new(0, 1, 0, 0, false).of(0, 2)));
    }

    #[test]
    fn a_writer_meets_all_kinds_of_readers() {
        let mut shadow = Shadow::new(1 << 20);
        for reader in [touch(0, 0, 1), touch(1, 0, 1), touch(1, 1, 2)] {
            shadow.access(5000, reader, false, 0, |_| panic!("readers do not meet"));
        }
        let mut met = Vec::new();
        shadow.access(5000, touch(2, 0, 1), true, 0, |old| met.push((old.group(), old.wave())));
        met.sort_unstable();
        assert_eq!(met, [(0, 0), (1, 0), (1, 1)]);
    }

    #[test]
    fn shadows_meet_when_one_takes_in_the_other() {
        let (mut first, mut second) = (Shadow::new(1 << 20), Shadow::new(1 << 20));
        first.access(10, touch(0, 0, 1), true, 0, |_| {});
        first.access(11, touch(0, 0, 2), false, 0, |_| {});
        second.access(10, touch(9, 0, 1), false, 0, |_| {});
        second.access(11, touch(9, 0, 2), true, 0, |_| {});
        second.access(12, touch(9, 0, 3), true, 0, |_| {});
        let mut met = Vec::new();
        first.take_in(second, |address, old, new| met.push((address, old.group(), new.group())));
        assert_eq!(met, [(10, 0, 9), (11, 0, 9)]);
    }

    #[test]
    fn untracked_bytes_are_counted() {
        let mut shadow = Shadow::new(size_of::<[Touch; DWORDS]>());
        shadow.access(0, touch(0, 0, 1), true, 0, |_| {});
        assert_eq!(shadow.lost, 0);
        shadow.access(1 << 20, touch(0, 0, 2), true, 0, |_| {});
        assert_eq!(shadow.lost, 1);
    }
}
