//! Sectors of a line of the L2: which are there and which differ from memory.
//!
//! The one idea to keep in mind: it is one word for a line, a bit for each sector and each question, so that a look-up reads it
//! at once; and requests to memory are runs of sectors.

use crate::shape::Shape;

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
        self.noted_from(since).max(0) as u64
    }

    /// What was noted, counted from a moment.
    #[inline(always)]
    pub(crate) fn noted_from(self, since: u64) -> i64 {
        (self.0 >> STATE).wrapping_sub(since) as i64
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

/// What comes from memory where sectors of a line are missing.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Reads {
    /// All sectors of the reads.
    pub(crate) sectors: u8,
    /// Reads of 128 bytes, and smaller ones.
    pub(crate) whole: u8,
    pub(crate) small: u8,
}

impl Reads {
    /// By sectors that are missing.
    pub(crate) fn of(shape: &Shape) -> Box<[Reads; 1 << SECTORS]> {
        let sectors = |bytes: u64| ((bytes / shape.sector) as u32).max(1);
        let [of_line, least, most] = [shape.l2_line, shape.fabric_read_least, shape.fabric_read].map(sectors);
        let read = (1u32 << least) - 1;
        let of = |missing: usize| {
            let reads = (0..of_line).step_by(least as usize).map(|first| (read << first) as u8);
            let sectors = reads.filter(|read| read & missing as u8 != 0).fold(0, |all, read| all | read);
            let whole = match u64::from(most) * shape.sector {
                128.. => {
                    parts(sectors, of_line, most).filter(|part| part.count_ones() == most).count() as u32
                }
                _ => 0,
            };
            let small = (sectors.count_ones() - whole * most) / least;
            Reads { sectors, whole: whole as u8, small: small as u8 }
        };
        Box::new(std::array::from_fn(of))
    }
}
