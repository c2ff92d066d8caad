//! A timeline as an index: its columns as bytes, for a second look without reading the trace again.
//!
//! An index is only a copy; its reader verifies a checksum over all of it, and falls back to the trace if
//! anything differs.

use crate::timeline::Timeline;

/// Magic bytes of an index; the number grows with every change of a column.
const MAGIC: &[u8; 16] = b"rockhound-trace5";

/// The index of a timeline.
impl Timeline {
    /// Serializes the columns; `None` if they cannot be written.
    pub fn to_index(&self) -> Option<Vec<u8>> {
        let columns = postcard::to_stdvec(self).ok()?;
        let mut out = Vec::with_capacity(columns.len() + 24);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&sum(&columns).to_le_bytes());
        out.extend_from_slice(&columns);
        Some(out)
    }

    /// Reads an index; `None` if it is damaged or of another version.
    pub fn from_index(bytes: &[u8]) -> Option<Timeline> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let (written, columns) = rest.split_first_chunk::<8>()?;
        if u64::from_le_bytes(*written) != sum(columns) {
            return None;
        }
        let mut timeline: Timeline = postcard::from_bytes(columns).ok()?;
        timeline.find_rows();
        timeline.is_consistent().then_some(timeline)
    }

    /// Finds rows of queues and threads again after the columns were read from an index.
    fn find_rows(&mut self) {
        self.queue_rows = self.queues.iter().enumerate().map(|(row, queue)| (*queue, number(row))).collect();
        // Of threads that a trace has twice the first is found, as while it was read.
        for (row, it) in self.threads.iter().enumerate() {
            self.thread_rows.entry((it.process, it.thread)).or_insert(number(row));
        }
    }

    /// Whether all columns are equally long and point into their tables.
    fn is_consistent(&self) -> bool {
        let (g, h) = (&self.gpu, &self.host);
        let gpu = [
            g.end.len(),
            g.name.len(),
            g.kind.len(),
            g.queue.len(),
            g.correlation.len(),
            g.external.len(),
            g.grid.len(),
            g.block.len(),
            g.detail.len(),
        ];
        let host = [
            h.end.len(),
            h.name.len(),
            h.kind.len(),
            h.thread.len(),
            h.correlation.len(),
            h.external.len(),
            h.shapes.len(),
        ];
        let within = |column: &[u32], length: usize| column.iter().all(|it| (*it as usize) < length);
        gpu.iter().all(|it| *it == g.start.len())
            && host.iter().all(|it| *it == h.start.len())
            && within(&g.queue, self.queues.len())
            && within(&g.detail, self.details.len() + 1)
            && within(&h.thread, self.threads.len())
            && within(&h.shapes, self.shapes.len() + 1)
            && self.scopes.iter().enumerate().all(|(row, it)| it.parent.is_none_or(|up| (up as usize) < row))
    }
}

fn number(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(0)
}

/// A sum that any changed or missing byte changes: FNV-1a over words of eight bytes, in four lanes for speed.
fn sum(bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let mut lanes = [0xcbf2_9ce4_8422_2325u64, 1, 2, 3];
    let (blocks, tail) = bytes.as_chunks::<32>();
    for block in blocks {
        for (lane, word) in lanes.iter_mut().zip(block.as_chunks::<8>().0) {
            *lane = (*lane ^ u64::from_le_bytes(*word)).wrapping_mul(PRIME).rotate_left(23);
        }
    }
    let mut all = bytes.len() as u64;
    for word in lanes.into_iter().chain(tail.iter().map(|byte| u64::from(*byte))) {
        all = (all ^ word).wrapping_mul(PRIME).rotate_left(23);
    }
    all
}

#[cfg(test)]
mod tests {
    use crate::{GpuKind, Queue, Timeline};

    const TEXT: &[u8] = br#"{"traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10.5, "dur": 20, "args": {"External id": 5, "Input Dims": [[2, 3], [3, 4]]}},
        {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 2, "tid": 0, "ts": 20.001, "dur": 5.5, "args": {"device": 0, "stream": 3, "correlation": 7}},
        {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoD", "pid": 2, "tid": 0, "ts": 30, "dur": 5, "args": {"device": 0, "stream": 4, "bytes": 64}}]}"#;

    #[test]
    fn a_timeline_comes_back() {
        let own = crate::read("a.json", &mut &TEXT[..]).unwrap();
        let index = own.to_index().unwrap();
        let mut back = Timeline::from_index(&index).unwrap();
        assert_eq!(format!("{:?}", own.gpu), format!("{:?}", back.gpu));
        assert_eq!(format!("{:?}", own.host), format!("{:?}", back.host));
        assert_eq!(
            (own.format, own.names.len(), &own.problems, &own.counts),
            (back.format, back.names.len(), &back.problems, &back.counts)
        );
        assert_eq!(back.names.find("gemm").map(|it| back.names.get(it).to_owned()), Some("gemm".to_owned()));
        // Rows are found as before.
        let queues = back.queues.len();
        assert_eq!(
            (back.queue(Queue { device: 0, stream: 3 }), back.queues.len()),
            (own.gpu.queue[0], queues)
        );
        assert_eq!(back.gpu.kind, [GpuKind::Kernel, GpuKind::Copy]);
    }

    #[test]
    fn damaged_indices_are_none() {
        let index = crate::read("a.json", &mut &TEXT[..]).unwrap().to_index().unwrap();
        for end in 0..index.len() {
            assert!(Timeline::from_index(&index[..end]).is_none(), "{end}");
        }
        for at in 0..index.len() {
            let mut changed = index.clone();
            changed[at] ^= 0x10;
            assert!(Timeline::from_index(&changed).is_none(), "{at}");
        }
    }
}
