//! Miss path of the vector L1: reads that its misses send to the L2.

use crate::backend::{Backend, by_memory_type};
use crate::l2::{L2Location, L2Request, ReadHit, RequestType};
use crate::shape::Shape;
use crate::timing::Timing;
use arch::MemoryType;

/// Line sizes of the vector L1, as its miss path needs them.
#[derive(Clone, Debug)]
pub(crate) struct L1MissPath {
    /// Bytes of an L1 line, as a power of two.
    pub(crate) line_bits: u32,
    /// L1 lines in an L2 line, as a power of two.
    pub(crate) l2_shift: u32,
    pub(crate) parts: LineParts,
}

/// Sectors of an L2 line that its L1 lines cover.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineParts {
    /// Mask of the bits of an L1 line that number it in its L2 line.
    numbers: u64,
    /// Sectors of an L1 line.
    sectors: u32,
    /// Sectors of the first L1 line.
    first: u8,
}

impl LineParts {
    /// Sectors of an L1 line.
    #[inline(always)]
    pub(crate) fn of(self, line: u64) -> u8 {
        self.first.wrapping_shl(self.sectors.wrapping_mul((line & self.numbers) as u32))
    }
}

impl L1MissPath {
    pub(crate) fn new(shape: &Shape) -> L1MissPath {
        let sectors = (shape.l1_line / shape.sector) as u32;
        let lines = (shape.l2_line / shape.l1_line).max(1);
        L1MissPath {
            line_bits: shape.l1_line.trailing_zeros(),
            l2_shift: lines.trailing_zeros(),
            parts: LineParts { numbers: lines - 1, sectors, first: ((1u32 << sectors) - 1) as u8 },
        }
    }

    /// True if this L1 line is in the L2 line requested last, so both merge into one request.
    #[inline]
    pub(crate) fn merges(&self, line: u64, last_l2_line: Option<u64>, shape: &Shape) -> bool {
        shape.merges_reads && last_l2_line == Some(line >> self.l2_shift)
    }

    /// Reads an L1 line from the L2, for look-up `number` of those that count from `base`. `at` is the
    /// location of the L2 line if known. Returns whether the L2 has the line.
    #[inline(never)]
    pub(crate) fn read<F: Timing>(
        &self,
        (line, base, number): (u64, u64, usize),
        at: Option<L2Location>,
        stream: bool,
        last_l2_line: &mut Option<u64>,
        backend: &mut Backend<'_, F>,
    ) -> bool {
        let address = line << self.line_bits;
        let (memory, local) = backend.memory_owner.of(address);
        backend.front_counts.add(by_memory_type(RequestType::Read, memory), 1);
        let l2_line = address >> (self.line_bits + self.l2_shift);
        if self.merges(line, *last_l2_line, backend.shape) && backend.timing.merges() {
            backend.merge(l2_line, self.parts.of(line), local);
            return true;
        }
        *last_l2_line = Some(l2_line);
        let touched = self.parts.of(line);
        let at = at.unwrap_or_else(|| backend.l2.locate(l2_line));
        if memory == MemoryType::Rw
            && !stream
            && let Some(place) = at.place
            && let Some(ReadHit { channel, noted }) = backend.l2.fast_read().read_hit(l2_line, place, touched)
        {
            backend.predictor.record(base, number, place);
            backend.timing.l2_hit(channel, l2_line, noted.max(0) as u64);
            return true;
        }
        let (request_type, full) = (RequestType::Read, touched);
        let request =
            L2Request { request_type, line: l2_line, touched, full, memory, local, stream, repeats: 0 };
        if let Some(place) = backend.send_to(request, &at) {
            backend.predictor.record(base, number, place);
        }
        at.place.is_some()
    }
}
