//! The short way of most look-ups: loads that go on in a page.
//!
//! The one idea to keep in mind: this is where most of the time of a long dispatch goes, so what is the same for a run of
//! look-ups is settled before it, and a line of the L2 is looked for first where such a line was there the last time.

use crate::access::Lookup;
use crate::cache::{Ways, With};
use crate::l2::{L2, Request, Want};
use crate::shape::Shape;
use crate::vector::{Follow, Path, by_type};
use arch::MemoryType;

/// Lines of the L2 whose place a compute unit knows, at most.
const GUESSES: usize = 512;
/// No place.
const NOWHERE: u32 = u32::MAX;

/// What a vector L1 knows of the L2.
#[derive(Clone, Debug)]
pub(crate) struct Asks {
    /// Bytes of a line, and lines of one of the L2, as powers of two.
    shifts: (u32, u32),
    /// Sectors of a line: how many, and all of them.
    sectors: (u32, u8),
    /// By a few bits of a line of the L2: where such a line was there when it was read last.
    guesses: Box<[u32; GUESSES]>,
}

impl Asks {
    pub(crate) fn new(shape: &Shape) -> Asks {
        let sectors = (shape.l1_line / shape.sector) as u32;
        let lines = (shape.l2_line / shape.l1_line).max(1);
        Asks {
            shifts: (shape.l1_line.trailing_zeros(), lines.trailing_zeros()),
            sectors: (sectors, ((1u32 << sectors) - 1) as u8),
            guesses: Box::new([NOWHERE; GUESSES]),
        }
    }

    /// Asks the L2 for a line of the vector L1.
    #[inline(never)]
    pub(crate) fn read<F: Follow>(
        &mut self,
        line: u64,
        stream: bool,
        merged: &mut Option<u64>,
        path: &mut Path<'_, F>,
    ) {
        let (bytes, lines) = self.shifts;
        let address = line << bytes;
        let (memory, local) = path.places.of(address);
        path.before.add(by_type(Want::Read, memory), 1);
        let wide = address >> (bytes + lines);
        // A second read of the same line finds the first still waiting.
        if path.shape.merges_reads && *merged == Some(wide) && path.follow.joins() {
            return;
        }
        *merged = Some(wide);
        let touched = self.touched(line);
        if memory == MemoryType::Rw
            && !stream
            && let Some(place) = path.l2.seek(wide, touched)
            && let Some((channel, noted)) = path.l2.finds(wide, touched, place)
        {
            *self.guess(wide) = place;
            return path.follow.read(channel, wide, noted);
        }
        let (want, full) = (Want::Read, touched);
        let request = Request { want, line: wide, touched, full, memory, local, stream };
        *self.guess(wide) = path.send(request).map_or(NOWHERE, |place| place as u32);
    }

    /// Sectors of a line of the L2 that one of the vector L1 is.
    #[inline(always)]
    fn touched(&self, line: u64) -> u8 {
        let ((_, lines), (count, sectors)) = (self.shifts, self.sectors);
        if lines == 0 {
            return sectors;
        }
        let number = line & !(u64::MAX << lines);
        sectors.wrapping_shl(count.wrapping_mul(number as u32))
    }

    /// Where a line of the L2 may be.
    #[inline(always)]
    fn guess(&mut self, wide: u64) -> &mut u32 {
        let scattered = wide.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - GUESSES.ilog2());
        &mut self.guesses[scattered as usize % GUESSES]
    }

    /// The channel of the L2 that has a line where it may be, and what was noted of it.
    #[inline(always)]
    fn finds(&mut self, wide: u64, touched: u8, l2: &mut L2) -> Option<(usize, u64)> {
        let guess = *self.guess(wide);
        l2.finds(wide, touched, guess)
    }
}

/// Look-ups of loads in a page that is translated.
pub(crate) struct Run<'a, 'p, F> {
    pub(crate) lookups: &'a [Lookup],
    /// The line that look-ups count from.
    pub(crate) base: u64,
    pub(crate) page: u64,
    /// Lines of a page, as a power of two.
    pub(crate) pages: u32,
    /// Bits of a line that choose its set.
    pub(crate) sets: u64,
    pub(crate) stream: bool,
    pub(crate) guess: &'a mut usize,
    pub(crate) merged: &'a mut Option<u64>,
    pub(crate) asks: &'a mut Asks,
    pub(crate) path: &'a mut Path<'p, F>,
}

/// How far look-ups of a page came.
pub(crate) struct Ran {
    /// Entries of the list that were done, and the look-ups they stand for.
    pub(crate) done: usize,
    pub(crate) lookups: u64,
    /// The next one is held up; otherwise it is in another page, or there is none.
    pub(crate) held_up: bool,
}

impl<F: Follow> With<()> for Run<'_, '_, F> {
    type Out = Ran;

    #[inline]
    fn sets(self, sets: &mut impl Ways) -> Ran {
        let Run { lookups, base, page, pages, sets: bits, stream, guess, merged, asks, path } = self;
        let (bytes, wider) = asks.shifts;
        // What is true of all of the page.
        let start = page << (pages + bytes);
        let own = path.places.all_own(start, start | !(u64::MAX << (pages + bytes)));
        let (short, merges) = (own && !stream, path.shape.merges_reads);
        let (mut again, mut short_reads) = (0, 0);
        let mut held_up = false;
        let mut done = 0;
        for lookup in lookups {
            let line = base.wrapping_add_signed(lookup.line());
            if line >> pages != page {
                break;
            }
            let set = (line & bits) as usize;
            match sets.find_or_oldest(set, line, guess) {
                Ok(place) => path.follow.found(place),
                Err(victim) if path.follow.room(victim) => {
                    sets.put_at(victim, line, stream);
                    path.follow.missed(Some(victim));
                    let wide = line >> wider;
                    if short
                        && !(merges && *merged == Some(wide))
                        && let Some((channel, noted)) = asks.finds(wide, asks.touched(line), path.l2)
                    {
                        *merged = Some(wide);
                        short_reads += 1;
                        path.follow.read(channel, wide, noted);
                    } else {
                        asks.read(line, stream, merged, path);
                    }
                }
                Err(_) => {
                    held_up = true;
                    break;
                }
            }
            path.follow.next();
            done += 1;
            let more = lookup.more();
            if more > 0 {
                // A line that was to go first is used again.
                if stream {
                    let _ = sets.find_or_oldest(set, line, guess);
                }
                again += more;
                path.follow.again(more);
            }
        }
        path.before.add(by_type(Want::Read, MemoryType::Rw), short_reads);
        Ran { done, lookups: done as u64 + again, held_up }
    }
}
