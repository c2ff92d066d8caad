//! Scalar and instruction cache, shared by some compute units.
//!
//! A line in flight holds a limited number of waiting requests; a later request finds the line.

use crate::access::AccessKind;
use crate::backend::Backend;
use crate::cache::Cache;
use crate::count::Count;
use crate::l2::{L2Request, RequestType};
use crate::shape::Shape;
use crate::timing::Timing;
use std::ops::Range;

/// Scalar and instruction cache.
#[derive(Clone, Debug)]
pub(crate) struct ScalarCaches {
    data: Cache,
    code: Cache,
    /// Lines in flight, and requests that can still wait for them.
    in_flight: Vec<u64>,
    waiting_left: u32,
    /// A wave of its compute units ran in this dispatch.
    pub(crate) used: bool,
}

impl ScalarCaches {
    pub(crate) fn new(shape: &Shape) -> ScalarCaches {
        ScalarCaches {
            data: Cache::new(shape.scalar.0, shape.scalar.1),
            code: Cache::new(shape.code.0, shape.code.1),
            in_flight: Vec::new(),
            waiting_left: 0,
            used: false,
        }
    }

    /// Begins a dispatch.
    pub(crate) fn restart(&mut self, keep_data: bool, keep_code: bool) {
        // Only waves of its compute units use it.
        if !std::mem::take(&mut self.used) {
            return;
        }
        if !keep_data {
            self.data.clear();
        }
        if !keep_code {
            self.code.clear();
        }
        self.in_flight.clear();
        self.waiting_left = 0;
    }

    /// True if the instruction cache has the line of an address.
    pub(crate) fn has_code(&self, address: u64, shape: &Shape) -> bool {
        let line = address / shape.code_line;
        self.code.peek((line % shape.code.0 as u64) as usize, line).is_some()
    }

    /// Does a scalar access of `dwords` from a dword address on.
    pub(crate) fn access<F: Timing>(
        &mut self,
        kind: AccessKind,
        dword: u64,
        dwords: u64,
        backend: &mut Backend<'_, F>,
    ) {
        let line_bytes = backend.shape.scalar_line;
        let first = dword.wrapping_mul(4) / line_bytes;
        let last = dword.wrapping_add(dwords.max(1) - 1).wrapping_mul(4) / line_bytes;
        for line in first..=last.clamp(first, first.saturating_add(16)) {
            match kind {
                AccessKind::Load => self.load(line, backend),
                AccessKind::Store => self.pass(line, Count::ScalarWrite, RequestType::Write, backend),
                AccessKind::Atomic | AccessKind::AtomicReturn => {
                    self.pass(line, Count::ScalarAtomic, RequestType::Atomic, backend)
                }
            }
        }
    }

    fn load<F: Timing>(&mut self, line: u64, backend: &mut Backend<'_, F>) {
        let sets = backend.shape.scalar.0 as u64;
        let set = (line & (sets - 1)) as usize;
        let waits = self.waiting_left > 0;
        self.waiting_left = self.waiting_left.saturating_sub(1);
        if let Some(place) = self.data.find(set, line) {
            backend.timing.scalar_lookup(Some(place), true);
            let duplicate = waits && self.in_flight.contains(&line);
            backend.front_counts.add(if duplicate { Count::ScalarDuplicate } else { Count::ScalarHit }, 1);
            return;
        }
        if !waits {
            self.in_flight.clear();
        }
        let place = self.data.fill(set, line, false).place;
        backend.timing.scalar_lookup(Some(place), false);
        self.in_flight.push(line);
        self.waiting_left = backend.shape.scalar_waiting;
        backend.front_counts.add(Count::ScalarMiss, 1);
        send(line, RequestType::Read, backend);
    }

    /// Sends a store or atomic to the L2.
    fn pass<F: Timing>(
        &mut self,
        line: u64,
        count: Count,
        request_type: RequestType,
        backend: &mut Backend<'_, F>,
    ) {
        backend.front_counts.add(count, 1);
        backend.timing.scalar_lookup(None, false);
        send(line, request_type, backend);
    }

    /// Fetches the executed code, given as ordered address ranges.
    pub(crate) fn fetch<F: Timing>(&mut self, code: &[Range<u64>], backend: &mut Backend<'_, F>) {
        let shape = backend.shape;
        let (sets, ways) = (shape.code.0 as u64, shape.code.1 as u64);
        let mut fetched = 0;
        let mut lines = 0;
        for line in lines_of(code, shape.code_line, shape.code_ahead) {
            lines += 1;
            let set = (line % sets) as usize;
            if self.code.find(set, line).is_some() {
                continue;
            }
            self.code.fill(set, line, false);
            fetched += 1;
            let requests = (shape.code_line / shape.code_request).max(1);
            for number in 0..requests {
                backend.front_counts.add(Count::CodeRequest, 1);
                let address = line.wrapping_mul(shape.code_line).wrapping_add(number * shape.code_request);
                send_part(address, shape.code_request, RequestType::Read, backend);
            }
        }
        backend.front_counts.add(Count::CodeMiss, u64::from(fetched > 0));
        backend.front_counts.add(Count::CodeOverflow, u64::from(lines > sets * ways));
    }
}

/// Distinct lines of the ranges and of `ahead` bytes behind each.
fn lines_of(code: &[Range<u64>], line: u64, ahead: u64) -> impl Iterator<Item = u64> {
    let mut next = 0;
    code.iter().filter(|range| !range.is_empty()).flat_map(move |range| {
        let first = (range.start / line).max(next);
        let end = range.end.saturating_add(ahead).div_ceil(line).max(first);
        next = end;
        first..end
    })
}

fn send<F: Timing>(line: u64, request_type: RequestType, backend: &mut Backend<'_, F>) {
    send_part(line.wrapping_mul(backend.shape.scalar_line), backend.shape.scalar_line, request_type, backend);
}

fn send_part<F: Timing>(address: u64, bytes: u64, request_type: RequestType, backend: &mut Backend<'_, F>) {
    let shape = backend.shape;
    let (memory, local) = backend.memory_owner.of(address);
    let sectors = ((1u32 << (bytes / shape.sector)) - 1) as u8;
    let touched = sectors << (address % shape.l2_line / shape.sector);
    let line = address / shape.l2_line;
    let (full, stream, repeats) = (touched, false, 0);
    backend.send(L2Request { request_type, line, touched, full, memory, local, stream, repeats });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_requested_once_in_order() {
        let ranges = [0..10, 10..70, 300..301, 310..311, 256..256];
        assert_eq!(lines_of(&ranges, 64, 0).collect::<Vec<_>>(), [0, 1, 4]);
        assert_eq!(lines_of(&ranges, 64, 64).collect::<Vec<_>>(), [0, 1, 2, 4, 5]);
    }
}
