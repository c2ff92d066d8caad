//! Sectors of a line of the L2: which are there and which differ from memory.
//!
//! The one idea to keep in mind: it is one word for a line, a bit for each sector and each question, so that a look-up reads it
//! at once; and requests to memory are runs of sectors.

/// What is known of the line at a place, in one word: a note, then a bit for memory of this GPU, the sectors that differ from
/// memory, and those that are there.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct State(u64);

/// All sectors are there.
pub(crate) const WHOLE: u8 = u8::MAX;

/// Bits of a mask of sectors, and of everything before the note.
pub(crate) const SECTORS: u32 = 8;
const STATE: u32 = 2 * SECTORS + 1;

impl State {
    /// That of a line that comes to a place; the note stays until there is another.
    #[inline(always)]
    pub(crate) fn next(self, local: bool) -> State {
        State(self.0 >> STATE << STATE | u64::from(local) << (2 * SECTORS))
    }

    /// Sectors that are there.
    #[inline(always)]
    pub(crate) fn held(self) -> u8 {
        self.0 as u8
    }

    /// Sectors that differ from memory.
    #[inline(always)]
    pub(crate) fn dirty(self) -> u8 {
        (self.0 >> SECTORS) as u8
    }

    #[inline(always)]
    pub(crate) fn local(self) -> bool {
        self.0 >> (2 * SECTORS) & 1 != 0
    }

    #[inline(always)]
    pub(crate) fn add(&mut self, held: u8, dirty: u8) {
        self.0 |= u64::from(held) | u64::from(dirty) << SECTORS;
    }

    /// Where all sectors of a line are there, nothing is missing.
    #[inline(always)]
    pub(crate) fn complete(&mut self, all: u8) {
        if self.held() & all == all {
            self.add(WHOLE, 0);
        }
    }

    #[inline(always)]
    pub(crate) fn clean(&mut self) {
        self.0 &= !(0xff << SECTORS);
    }

    #[inline(always)]
    pub(crate) fn note(&mut self, note: u64) {
        self.0 = self.0 & ((1 << STATE) - 1) | note << STATE;
    }

    /// What was noted after a moment.
    #[inline(always)]
    pub(crate) fn noted(self, since: u64) -> u64 {
        (self.0 >> STATE).saturating_sub(since)
    }
}

/// The sectors of each part of a line that is one request to memory.
pub(crate) fn parts(sectors: u8, of_line: u32, of_request: u32) -> impl Iterator<Item = u8> {
    let mask = (1u32 << of_request) - 1;
    (0..of_line)
        .step_by(of_request.max(1) as usize)
        .map(move |first| (u32::from(sectors) >> first & mask) as u8)
        .filter(|part| *part != 0)
}

/// All sectors of the reads of a line by which some of its sectors come.
pub(crate) fn reads(sectors: u8, of_line: u32, of_read: u32) -> u8 {
    if sectors == 0 {
        return 0;
    }
    let read = (1u32 << of_read) - 1;
    let reads = (0..of_line).step_by(of_read.max(1) as usize).map(|first| (read << first) as u8);
    reads.filter(|read| read & sectors != 0).fold(0, |all, read| all | read)
}
