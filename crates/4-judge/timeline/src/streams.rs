//! Streams, copies, and short kernels.

use crate::intervals::Intervals;
use crate::kernels::Durations;
use crate::overview::communication;
use sorting::Sort;
use std::collections::{BTreeMap, HashMap};
use trace::{GpuKind, Name, Queue, Timeline};

/// One stream or queue.
#[derive(Clone, PartialEq, Debug)]
pub struct StreamTime {
    /// Stream.
    pub queue: Queue,
    /// Kernels, copies and fills.
    pub spans: u64,
    /// Communication kernels of them.
    pub communication: u64,
    /// From its first start to its last end, ns.
    pub span: i64,
    /// Something of it runs, ns.
    pub busy: i64,
    /// Time within its span in which it is idle and another stream of the GPU is busy, ns.
    pub others: i64,
}

/// Streams by GPU and number.
pub fn streams(timeline: &Timeline) -> Vec<StreamTime> {
    let communication = communication(timeline);
    let gpu = &timeline.gpu;
    let mut spans: Vec<Vec<(i64, i64)>> = vec![Vec::new(); timeline.queues.len()];
    let mut comm = vec![0u64; timeline.queues.len()];
    for (at, communicates) in communication.iter().enumerate() {
        let queue = gpu.queue[at] as usize;
        if let Some(list) = spans.get_mut(queue) {
            list.push((gpu.start[at], gpu.end[at]));
            comm[queue] += u64::from(*communicates);
        }
    }
    let mut all: BTreeMap<u64, Vec<(i64, i64)>> = BTreeMap::new();
    for (queue, list) in timeline.queues.iter().zip(&spans) {
        all.entry(queue.device).or_default().extend(list);
    }
    let all: BTreeMap<u64, Intervals> =
        all.into_iter().map(|(device, list)| (device, Intervals::union(list))).collect();
    let mut out: Vec<StreamTime> = timeline
        .queues
        .iter()
        .zip(spans)
        .zip(comm)
        .filter(|((_, list), _)| !list.is_empty())
        .map(|((queue, list), communication)| {
            let count = list.len() as u64;
            let busy = Intervals::union(list);
            let frame = match (busy.all().first(), busy.all().last()) {
                (Some(first), Some(last)) => Intervals::union([(first.0, last.1)]),
                _ => Intervals::default(),
            };
            let whole = all.get(&queue.device).map(|all| all.intersection(&frame)).unwrap_or_default();
            StreamTime {
                queue: *queue,
                spans: count,
                communication,
                span: busy.span(),
                busy: busy.total(),
                others: whole.total() - busy.total(),
            }
        })
        .collect();
    out.in_order_by_key(|s| (s.queue.device, s.queue.stream));
    out
}

/// Copies and fills of one kind.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CopySum {
    /// Name, direction included.
    pub name: Name,
    /// Kind of work.
    pub kind: GpuKind,
    /// Durations.
    pub durations: Durations,
    /// Total bytes of the spans whose size the trace has.
    pub bytes: u64,
    /// Total time of those spans, ns.
    pub timed: i64,
    /// Number of those spans.
    pub known: u64,
    /// Copies that the trace says moved 1 byte: some runtimes write this for any size.
    pub one_byte: u64,
}

impl CopySum {
    /// GB/s, or why it is not known.
    pub fn bandwidth(&self) -> Result<f64, &'static str> {
        if self.one_byte > 0 && self.one_byte == self.known {
            return Err("the trace gives 1 byte for each copy, which this runtime writes for any size");
        }
        if self.known == 0 {
            return Err("the trace does not have the bytes of copies");
        }
        if self.timed == 0 {
            return Err("the copies have no duration");
        }
        Ok(self.bytes as f64 / self.timed as f64)
    }
}

/// Copies and fills by name, most time first.
pub fn copies(timeline: &Timeline) -> Vec<CopySum> {
    let gpu = &timeline.gpu;
    let mut sums: HashMap<(Name, GpuKind), CopySum> = HashMap::new();
    for at in (0..gpu.len()).filter(|at| gpu.kind[*at] != GpuKind::Kernel) {
        let span = gpu.get(at);
        let sum = sums.entry((span.name, span.kind)).or_insert(CopySum {
            name: span.name,
            kind: span.kind,
            durations: Durations::default(),
            bytes: 0,
            timed: 0,
            known: 0,
            one_byte: 0,
        });
        sum.durations.add(gpu.duration(at));
        if let Some(bytes) = timeline.detail(&span).and_then(|detail| detail.bytes) {
            sum.bytes += bytes;
            sum.timed += gpu.duration(at);
            sum.known += 1;
            sum.one_byte += u64::from(bytes == 1);
        }
    }
    let mut out: Vec<CopySum> = sums.into_values().collect();
    out.in_order_by_key(|c| (std::cmp::Reverse(c.durations.total), c.name));
    out
}

/// Bounds of the classes of short kernels, us.
pub const SHORT_US: [i64; 5] = [2, 5, 10, 50, 100];

/// Kernels by how long they take: count and time of each class, the last one for all longer ones.
pub fn by_duration(timeline: &Timeline) -> [(u64, i64); SHORT_US.len() + 1] {
    let mut out = [(0, 0); SHORT_US.len() + 1];
    let gpu = &timeline.gpu;
    for at in (0..gpu.len()).filter(|at| gpu.kind[*at] == GpuKind::Kernel) {
        let ns = gpu.duration(at);
        let class = SHORT_US.iter().position(|us| ns < us * 1000).unwrap_or(SHORT_US.len());
        out[class].0 += 1;
        out[class].1 += ns;
    }
    out
}
