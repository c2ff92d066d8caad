//! Sets of 32-bit registers.
//!
//! Every register that code can write has one slot number below [`SLOTS`], so a set is ten words and set
//! operations touch only the words they need.

use crate::effects::IMPLICIT;
use crate::{Implicit, RegFile, RegRange};
use std::ops::Range;

/// Number of register slots.
pub const SLOTS: usize = WORDS * 64;
const WORDS: usize = 10;

/// First slot and number of registers of each file that is tracked; the others hold constants or bits that no
/// instruction names.
const FILES: [(RegFile, u16, u16); 10] = [
    (RegFile::Vgpr, 0, 256),
    (RegFile::Agpr, 256, 256),
    (RegFile::Sgpr, 512, 102),
    (RegFile::Vcc, 614, 2),
    (RegFile::M0, 616, 1),
    (RegFile::Exec, 617, 2),
    (RegFile::FlatScratch, 619, 2),
    (RegFile::XnackMask, 621, 2),
    (RegFile::SrcScc, 623, 1),
    (RegFile::Ttmp, 624, 16),
];

/// First slot and number of registers by file number; (0, 0) for files that are not tracked.
const PLACES: [(u16, u16); RegFile::LdsDirect as usize + 1] = {
    let mut places = [(0, 0); RegFile::LdsDirect as usize + 1];
    let mut at = 0;
    while at < FILES.len() {
        let (file, base, size) = FILES[at];
        places[file as usize] = (base, size);
        at += 1;
    }
    places
};

/// Bits in the last word of the registers in each combination of [`Implicit`] flags. All have their slots
/// there; MODE is not tracked.
const IMPLICIT_BITS: [u64; 64] = {
    let mut table = [0; 64];
    let mut flags = 0;
    while flags < 64 {
        let mut at = 0;
        while at < IMPLICIT.len() {
            let (flag, range) = IMPLICIT[at];
            let (base, size) =
                if matches!(range.file, RegFile::Mode) { (0, 0) } else { PLACES[range.file as usize] };
            if flags & flag.bits() as usize != 0 && size > 0 {
                let first = base + range.first;
                assert!(first as usize / 64 == WORDS - 1 && range.count as u16 <= size);
                table[flags] |= ((1 << range.count) - 1) << (first % 64);
            }
            at += 1;
        }
        flags += 1;
    }
    table
};

/// The slots of a run of registers; empty for files that hold constants. Registers past the end of their file
/// have no slot.
#[inline]
pub fn slots(range: RegRange) -> Range<u16> {
    // The bits `vccz` and `execz` are views of whole masks.
    let (file, first, count) = match range.file {
        RegFile::SrcVccz => (RegFile::Vcc, 0, 2),
        RegFile::SrcExecz => (RegFile::Exec, 0, 2),
        file => (file, range.first, u16::from(range.count)),
    };
    let (base, size) = PLACES.get(file as usize).copied().unwrap_or((0, 0));
    let first = first.min(size);
    base + first..base + (first + count).min(size)
}

/// The register of a slot.
pub fn register(slot: u16) -> Option<RegRange> {
    let (file, base, _) = FILES.iter().find(|(_, base, size)| (*base..base + size).contains(&slot))?;
    Some(RegRange::new(*file, slot - base, 1))
}

/// Registers of one file within one word of a set: what a run of registers is cut into, once, for the several
/// operations it takes part in.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    pub(crate) file: RegFile,
    word: u8,
    mask: u64,
}

impl Run {
    /// Cuts a run of registers; most runs fit in one word. Registers without a slot give nothing.
    #[inline]
    pub(crate) fn each(range: RegRange, mut visit: impl FnMut(Run)) {
        let slots = slots(range);
        let (first, count) = (u32::from(slots.start), u32::from(slots.end - slots.start));
        if count == 0 {
            return;
        }
        let (word, bit) = (first / 64, first % 64);
        if bit + count <= 64 {
            let mask = (u64::MAX >> (64 - count)) << bit;
            visit(Run { file: range.file, word: word as u8, mask });
        } else {
            masks(slots).for_each(|(word, mask)| visit(Run { file: range.file, word: word as u8, mask }));
        }
    }
}

/// Set bits of a word that mostly has few.
#[inline]
fn few(mut bits: u64) -> u16 {
    let mut count = 0;
    while bits != 0 {
        bits &= bits - 1;
        count += 1;
    }
    count
}

/// A set of registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RegSet {
    words: [u64; WORDS],
}

/// The words a run of slots touches, each with the bits of the run in it.
fn masks(slots: Range<u16>) -> impl Iterator<Item = (usize, u64)> {
    let (from, to) = (u32::from(slots.start), u32::from(slots.end));
    let words = if from < to { from / 64..(to - 1) / 64 + 1 } else { 0..0 };
    words.map(move |word| {
        let low = from.max(word * 64) - word * 64;
        let high = to.min(word * 64 + 64) - word * 64;
        (word as usize, (u64::MAX >> (64 - (high - low))) << low)
    })
}

impl RegSet {
    /// Adds registers that an instruction accesses without naming them; none of them is counted anywhere.
    #[inline]
    pub(crate) fn insert_implicit(&mut self, flags: Implicit) {
        self.words[WORDS - 1] |= IMPLICIT_BITS[usize::from(flags.bits()) % 64];
    }

    /// Takes such registers out.
    #[inline]
    pub(crate) fn remove_implicit(&mut self, flags: Implicit) {
        self.words[WORDS - 1] &= !IMPLICIT_BITS[usize::from(flags.bits()) % 64];
    }

    /// Adds the registers of `range`.
    #[inline]
    pub fn insert(&mut self, range: RegRange) {
        Run::each(range, |run| _ = self.insert_run(run));
    }

    /// Takes the registers of `range` out.
    #[inline]
    pub fn remove(&mut self, range: RegRange) {
        Run::each(range, |run| _ = self.remove_run(run));
    }

    /// Adds the registers of a run; returns how many were not in the set.
    #[inline]
    pub(crate) fn insert_run(&mut self, run: Run) -> u16 {
        let Some(word) = self.words.get_mut(usize::from(run.word)) else { return 0 };
        let new = run.mask & !*word;
        *word |= run.mask;
        few(new)
    }

    /// Takes the registers of a run out; returns how many were in the set.
    #[inline]
    pub(crate) fn remove_run(&mut self, run: Run) -> u16 {
        let Some(word) = self.words.get_mut(usize::from(run.word)) else { return 0 };
        let gone = run.mask & *word;
        *word &= !run.mask;
        few(gone)
    }

    /// Some register of `range` is in the set.
    pub fn touches(&self, range: RegRange) -> bool {
        masks(slots(range)).any(|(word, mask)| self.words[word] & mask != 0)
    }

    /// Every register of `range` that has a slot is in the set.
    pub fn contains(&self, range: RegRange) -> bool {
        masks(slots(range)).all(|(word, mask)| self.words[word] & mask == mask)
    }

    /// Registers of `file` in the set.
    pub fn count(&self, file: RegFile) -> u16 {
        let (base, size) = PLACES[file as usize];
        masks(base..base + size).map(|(word, mask)| (self.words[word] & mask).count_ones() as u16).sum()
    }

    /// The set has no register.
    pub fn is_empty(&self) -> bool {
        self.words == [0; WORDS]
    }

    /// Slots in the set, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            let next = |word: &u64| Some(word & (word - 1)).filter(|rest| *rest != 0);
            std::iter::successors(Some(word).filter(|word| *word != 0), next)
                .map(move |word| at as u16 * 64 + word.trailing_zeros() as u16)
        })
    }

    /// Adds the registers of `other`; returns whether that changed anything.
    pub fn union(&mut self, other: &RegSet) -> bool {
        let before = *self;
        for (word, add) in self.words.iter_mut().zip(other.words) {
            *word |= add;
        }
        *self != before
    }

    /// Takes the registers of `other` out.
    pub(crate) fn subtract(&mut self, other: &RegSet) {
        for (word, gone) in self.words.iter_mut().zip(other.words) {
            *word &= !gone;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_register_has_one_slot() {
        let mut seen = vec![false; SLOTS];
        for &(file, base, size) in &FILES {
            for first in 0..size {
                let range = RegRange::new(file, first, 1);
                assert_eq!(slots(range), base + first..base + first + 1);
                assert_eq!(register(base + first), Some(range));
                assert!(!std::mem::replace(&mut seen[usize::from(base + first)], true), "{file:?} {first}");
            }
        }
        assert!(seen.iter().all(|&slot| slot));
    }

    #[test]
    fn runs_may_cross_words_and_end_outside() {
        // (first, count, slots)
        let cases = [
            (62, 4, 62..66),
            (0, 255, 0..255),
            (250, 32, 250..256),
            (300, 2, 256..256),
            (65535, 1, 256..256),
        ];
        for (first, count, expected) in cases {
            let range = RegRange::new(RegFile::Vgpr, first, count);
            assert_eq!(slots(range), expected);
            let mut set = RegSet::default();
            let (mut new, mut again, mut gone) = (0, 0, 0);
            Run::each(range, |run| new += set.insert_run(run));
            Run::each(range, |run| again += set.insert_run(run));
            assert_eq!((new, again), (expected.len() as u16, 0));
            Run::each(range, |run| gone += set.remove_run(run));
            assert_eq!(gone, expected.len() as u16);
            assert!(set.is_empty());
            set.insert(range);
            assert_eq!(set.iter().collect::<Vec<_>>(), expected.clone().collect::<Vec<_>>());
            assert_eq!(set.count(RegFile::Vgpr), expected.len() as u16);
            assert_eq!(set.count(RegFile::Agpr), 0);
            assert!(set.contains(range));
            assert_eq!(set.touches(range), !expected.is_empty());
            set.remove(range);
            assert!(set.is_empty());
        }
    }

    #[test]
    fn zero_bits_are_views_of_their_masks() {
        let mut set = RegSet::default();
        set.insert(RegRange::new(RegFile::Exec, 1, 1));
        assert!(set.touches(RegRange::new(RegFile::SrcExecz, 0, 1)));
        assert!(!set.touches(RegRange::new(RegFile::SrcVccz, 0, 1)));
        assert!(!set.touches(RegRange::new(RegFile::SrcSharedBase, 0, 2)));
    }
}
