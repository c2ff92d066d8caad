//! State of an L2 line: valid and dirty sectors.
//!
//! The state is one word per line, so a look-up reads it at once. Requests to memory are runs of sectors.

use crate::shape::Shape;

/// State of a line in one word, from the top: note of the caller, local bit, dirty sectors, valid sectors.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct LineState(u64);

/// Bits of a sector mask, and of all fields below the note.
pub(crate) const SECTORS: u32 = 8;
const STATE: u32 = 2 * SECTORS + 1;

impl LineState {
    /// State of a newly filled line; keeps the note of the line before.
    #[inline(always)]
    pub(crate) fn next(self, local: bool) -> LineState {
        LineState(self.0 >> STATE << STATE | u64::from(local) << (2 * SECTORS))
    }

    /// Valid sectors.
    #[inline(always)]
    pub(crate) fn held(self) -> u8 {
        self.0 as u8
    }

    /// True if all these sectors are valid.
    #[inline(always)]
    pub(crate) fn holds(self, sectors: u8) -> bool {
        sectors & !self.held() == 0
    }

    /// Dirty sectors.
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

    #[inline(always)]
    pub(crate) fn clean(&mut self) {
        self.0 &= !(0xff << SECTORS);
    }

    /// Invalidates all sectors.
    pub(crate) fn invalidate(&mut self) {
        self.0 &= !((1 << (2 * SECTORS)) - 1);
    }

    #[inline(always)]
    pub(crate) fn note(&mut self, note: u64) {
        self.0 = self.0 & ((1 << STATE) - 1) | note << STATE;
    }

    /// The note relative to `since`; 0 for an older note.
    #[inline(always)]
    pub(crate) fn note_since(self, since: u64) -> u64 {
        self.note_from(since).max(0) as u64
    }

    /// The note relative to `since`; negative for an older note.
    #[inline(always)]
    pub(crate) fn note_from(self, since: u64) -> i64 {
        (self.0 >> STATE).wrapping_sub(since) as i64
    }
}

/// Splits sectors of a line into requests to memory.
pub(crate) fn parts(sectors: u8, of_line: u32, of_request: u32) -> impl Iterator<Item = u8> {
    let mask = (1u32 << of_request) - 1;
    (0..of_line)
        .step_by(of_request.max(1) as usize)
        .map(move |first| (u32::from(sectors) >> first & mask) as u8)
        .filter(|part| *part != 0)
}

/// Reads from memory for missing sectors of a line.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct MissingReads {
    /// Sectors read.
    pub(crate) sectors: u8,
    /// Reads of 128 bytes, and smaller reads.
    pub(crate) whole: u8,
    pub(crate) small: u8,
}

impl MissingReads {
    /// Table by mask of missing sectors.
    pub(crate) fn of(shape: &Shape) -> Box<[MissingReads; 1 << SECTORS]> {
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
            MissingReads { sectors, whole: whole as u8, small: small as u8 }
        };
        Box::new(std::array::from_fn(of))
    }
}
