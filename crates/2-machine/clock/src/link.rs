//! Link of an XCD to the memory-side cache and to memory.
//!
//! Reads and writes share it. Its rate depends on the mix: measured are streams of reads, of writes, and of
//! both.

use crate::dram::serve;
use crate::rates::LinkByte;

/// Requests over which the share of writes is averaged, as a power of two.
const RECENT: u32 = 6;

/// Share of writes in fixed point.
const ONE: u32 = 1 << 16;

/// Share of writes among recent requests.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WriteShare(u32);

impl WriteShare {
    /// Counts a request; returns the share, 0 to 1.
    #[inline]
    pub(crate) fn add(&mut self, write: bool) -> f64 {
        self.0 -= self.0 >> RECENT;
        if write {
            self.0 += ONE >> RECENT;
        }
        f64::from(self.0) / f64::from(ONE)
    }
}

/// A link.
#[derive(Clone, Debug, Default)]
pub(crate) struct Link {
    /// Tick at which it is free.
    free: u64,
    writes: WriteShare,
}

impl Link {
    /// Passes a request's bytes; returns the tick at which they begin to pass.
    #[inline]
    pub(crate) fn serve(&mut self, byte: &LinkByte, ticks: u64, bytes: u32, write: bool) -> u64 {
        serve(&mut self.free, ticks, byte.at(self.writes.add(write)), bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_of_a_link_follows_the_mix() {
        let byte = LinkByte { read: 10.0, write: 14.0, mixed: 20.0 };
        let each = |write: fn(u64) -> bool| {
            let mut link = Link::default();
            for it in 0..1000 {
                link.serve(&byte, 0, 1, write(it));
            }
            let before = link.free;
            for it in 0..1000 {
                link.serve(&byte, 0, 1, write(it));
            }
            (link.free - before) as f64 / 1000.0
        };
        let found = [each(|_| false), each(|_| true), each(|it| it % 2 == 0), each(|it| it % 4 == 0)];
        for (found, expected) in found.into_iter().zip([10.0, 14.0, 20.0, 20.0]) {
            assert!((found - expected).abs() < 1.0, "{found} {expected}");
        }
        let mut link = Link::default();
        assert_eq!([link.serve(&byte, 7, 1, false), link.serve(&byte, 7, 1, false)], [7, 17]);
        assert_eq!(link.serve(&byte, 500, 1, false), 500);
    }
}
