//! Scalar and instruction cache, which some compute units share.
//!
//! The one idea to keep in mind: a line under way keeps as many requests waiting as there is room for; what comes later
//! comes after the line.

use crate::access::Kind;
use crate::cache::Cache;
use crate::count::Count;
use crate::l2::{Request, Want};
use crate::shape::Shape;
use crate::vector::{Follow, Path};
use std::ops::Range;

/// The caches that some compute units share.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    data: Cache,
    code: Cache,
    /// Lines that are under way, and requests that can still wait for them.
    coming: Vec<u64>,
    room: u32,
    /// A wave of its compute units ran in this dispatch.
    pub(crate) used: bool,
}

impl Shared {
    pub(crate) fn new(shape: &Shape) -> Shared {
        Shared {
            data: Cache::new(shape.scalar.0, shape.scalar.1),
            code: Cache::new(shape.code.0, shape.code.1),
            coming: Vec::new(),
            room: 0,
            used: false,
        }
    }

    /// What happens at the start of a dispatch.
    pub(crate) fn restart(&mut self, keep_data: bool, keep_code: bool) {
        if !keep_data {
            self.data.clear();
        }
        if !keep_code {
            self.code.clear();
        }
        self.coming.clear();
        self.room = 0;
        self.used = false;
    }

    /// Whether an instruction is in the instruction cache.
    pub(crate) fn has_code(&self, address: u64, shape: &Shape) -> bool {
        let line = address / shape.code_line;
        self.code.peek((line % shape.code.0 as u64) as usize, line).is_some()
    }

    /// A scalar access of `dwords` from a dword address on.
    pub(crate) fn access<F: Follow>(&mut self, kind: Kind, dword: u64, dwords: u64, path: &mut Path<'_, F>) {
        let line_bytes = path.shape.scalar_line;
        let first = dword.wrapping_mul(4) / line_bytes;
        let last = dword.wrapping_add(dwords.max(1) - 1).wrapping_mul(4) / line_bytes;
        for line in first..=last.clamp(first, first.saturating_add(16)) {
            match kind {
                Kind::Load => self.load(line, path),
                Kind::Store => self.pass(line, Count::ScalarWrite, Want::Write, path),
                Kind::Atomic | Kind::AtomicReturn => self.pass(line, Count::ScalarAtomic, Want::Atomic, path),
            }
        }
    }

    fn load<F: Follow>(&mut self, line: u64, path: &mut Path<'_, F>) {
        let sets = path.shape.scalar.0 as u64;
        let set = (line & (sets - 1)) as usize;
        let waits = self.room > 0;
        self.room = self.room.saturating_sub(1);
        if let Some(place) = self.data.find(set, line) {
            path.follow.scalar(Some(place), true);
            let duplicate = waits && self.coming.contains(&line);
            path.before.add(if duplicate { Count::ScalarDuplicate } else { Count::ScalarHit }, 1);
            return;
        }
        if !waits {
            self.coming.clear();
        }
        let place = self.data.fill(set, line, false).place;
        path.follow.scalar(Some(place), false);
        self.coming.push(line);
        self.room = path.shape.scalar_waiting;
        path.before.add(Count::ScalarMiss, 1);
        send(line, Want::Read, path);
    }

    /// A store or atomic: done in the L2.
    fn pass<F: Follow>(&mut self, line: u64, count: Count, want: Want, path: &mut Path<'_, F>) {
        path.before.add(count, 1);
        path.follow.scalar(None, false);
        send(line, want, path);
    }

    /// Fetches the code a kernel ran through, given as ranges of addresses in order.
    pub(crate) fn fetch<F: Follow>(&mut self, code: &[Range<u64>], path: &mut Path<'_, F>) {
        let shape = path.shape;
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
                path.before.add(Count::CodeRequest, 1);
                let address = line.wrapping_mul(shape.code_line).wrapping_add(number * shape.code_request);
                send_part(address, shape.code_request, Want::Read, path);
            }
        }
        path.before.add(Count::CodeMiss, u64::from(fetched > 0));
        path.before.add(Count::CodeOverflow, u64::from(lines > sets * ways));
    }
}

/// Lines of the ranges and of some bytes behind each, each line once.
fn lines_of(code: &[Range<u64>], line: u64, ahead: u64) -> impl Iterator<Item = u64> {
    let mut next = 0;
    code.iter().filter(|range| !range.is_empty()).flat_map(move |range| {
        let first = (range.start / line).max(next);
        let end = range.end.saturating_add(ahead).div_ceil(line).max(first);
        next = end;
        first..end
    })
}

fn send<F: Follow>(line: u64, want: Want, path: &mut Path<'_, F>) {
    send_part(line.wrapping_mul(path.shape.scalar_line), path.shape.scalar_line, want, path);
}

fn send_part<F: Follow>(address: u64, bytes: u64, want: Want, path: &mut Path<'_, F>) {
    let shape = path.shape;
    let (memory, local) = path.places.of(address);
    let sectors = ((1u32 << (bytes / shape.sector)) - 1) as u8;
    let touched = sectors << (address % shape.l2_line / shape.sector);
    let line = address / shape.l2_line;
    path.send(Request { want, line, touched, full: touched, memory, local, stream: false });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_once_and_in_order() {
        let ranges = [0..10, 10..70, 300..301, 310..311, 256..256];
        assert_eq!(lines_of(&ranges, 64, 0).collect::<Vec<_>>(), [0, 1, 4]);
        assert_eq!(lines_of(&ranges, 64, 64).collect::<Vec<_>>(), [0, 1, 2, 4, 5]);
    }
}
