//! Perfetto packets: a track per stream and thread, a slice per span, names interned.

use crate::names::Name;
use crate::timeline::{GpuKind, HostKind, Timeline};
use std::collections::HashSet;

/// Bytes after which a piece is handed out.
const PIECE: usize = 1 << 20;
/// Names of annotations by their interned number.
const KEYS: [&str; 6] = ["begin_ns", "delta_ns", "kernel_id", "corr_id", "workgroup_size", "grid_size"];
/// Names of categories by their interned number.
const CATEGORIES: [&str; 7] =
    ["kernel_dispatch", "memory_copy", "hip_api", "cpu_op", "python", "marker", "rccl_api"];

#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(&mut self, field: u64, value: u64) {
        self.varint(field << 3);
        self.varint(value);
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn message(&mut self, field: u64, message: &Message) {
        self.bytes(field, &message.0);
    }
}

struct Writer {
    out: Message,
    known: HashSet<Name>,
}

/// One slice.
struct Slice {
    track: u64,
    start: i64,
    end: i64,
    name: Name,
    category: u64,
    notes: Vec<(u64, u64)>,
}

/// Writes a timeline, a piece at a time.
pub fn perfetto<E>(timeline: &Timeline, take: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
    let mut writer = Writer { out: Message::default(), known: HashSet::new() };
    writer.head(timeline);
    let mut slices: Vec<(i64, i64, bool, usize)> = Vec::new();
    slices.extend((0..timeline.gpu.len()).map(|at| (timeline.gpu.start[at], timeline.gpu.end[at], true, at)));
    slices.extend(
        (0..timeline.host.len()).map(|at| (timeline.host.start[at], timeline.host.end[at], false, at)),
    );
    // Outer slices begin before inner ones of the same start.
    slices.sort_by_key(|(start, end, _, _)| (*start, std::cmp::Reverse(*end)));
    for (start, end, gpu, at) in slices {
        let slice = if gpu { gpu_slice(timeline, at) } else { host_slice(timeline, at) };
        writer.slice(timeline, &Slice { start, end, ..slice });
        if writer.out.0.len() >= PIECE {
            take(&writer.out.0)?;
            writer.out.0.clear();
        }
    }
    take(&writer.out.0)
}

/// First track id of streams; tracks of threads begin at 1.
const STREAMS: u64 = 1 << 32;

fn gpu_slice(timeline: &Timeline, at: usize) -> Slice {
    let span = timeline.gpu.get(at);
    let product = |axes: [u32; 3]| axes.iter().map(|n| u64::from((*n).max(1))).product::<u64>();
    let mut notes =
        vec![(1, unsigned(span.start)), (2, unsigned(span.end - span.start)), (4, span.correlation)];
    if span.kind == GpuKind::Kernel {
        notes.push((3, u64::from(span.name.0)));
        if span.block != [0; 3] {
            notes.push((5, product(span.block)));
            notes.push((6, product(span.block) * product(span.grid)));
        }
    }
    let category = if span.kind == GpuKind::Kernel { 1 } else { 2 };
    Slice { track: STREAMS + u64::from(span.queue), start: 0, end: 0, name: span.name, category, notes }
}

fn host_slice(timeline: &Timeline, at: usize) -> Slice {
    let span = timeline.host.get(at);
    let category = match span.kind {
        HostKind::Runtime | HostKind::Other | HostKind::Overhead => 3,
        HostKind::Operator => 4,
        HostKind::Python => 5,
        HostKind::Annotation | HostKind::GpuAnnotation => 6,
        HostKind::Collective => 7,
    };
    let notes = if span.correlation == 0 { Vec::new() } else { vec![(4, span.correlation)] };
    Slice { track: 1 + u64::from(span.thread), start: 0, end: 0, name: span.name, category, notes }
}

fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

impl Writer {
    fn packet(&mut self, packet: Message) {
        let mut packet = packet;
        packet.number(10, 1);
        self.out.message(1, &packet);
    }

    fn head(&mut self, timeline: &Timeline) {
        let mut interned = Message::default();
        for (field, list) in [(1, &CATEGORIES[..]), (3, &KEYS[..])] {
            for (at, text) in list.iter().enumerate() {
                let mut entry = Message::default();
                entry.number(1, at as u64 + 1);
                entry.bytes(2, text.as_bytes());
                interned.message(field, &entry);
            }
        }
        let mut packet = Message::default();
        packet.number(13, 1);
        packet.message(12, &interned);
        self.packet(packet);
        for (at, thread) in timeline.threads.iter().enumerate() {
            let name = timeline.names.get(thread.name);
            let number = timeline.names.get(thread.thread);
            self.track(1 + at as u64, &format!("thread {number} {name}"));
        }
        for (at, queue) in timeline.queues.iter().enumerate() {
            self.track(STREAMS + at as u64, &format!("GPU {} stream {}", queue.device, queue.stream));
        }
    }

    fn track(&mut self, id: u64, name: &str) {
        let mut track = Message::default();
        track.number(1, id);
        track.bytes(2, name.trim_end().as_bytes());
        let mut packet = Message::default();
        packet.message(60, &track);
        self.packet(packet);
    }

    fn slice(&mut self, timeline: &Timeline, slice: &Slice) {
        let mut packet = Message::default();
        packet.number(8, unsigned(slice.start));
        packet.number(13, 2);
        // Number 0 is the null name, used for the empty string.
        if self.known.insert(slice.name) {
            let mut entry = Message::default();
            entry.number(1, u64::from(slice.name.0) + 1);
            entry.bytes(2, timeline.names.get(slice.name).as_bytes());
            let mut interned = Message::default();
            interned.message(2, &entry);
            packet.message(12, &interned);
        }
        let mut event = Message::default();
        event.number(3, slice.category);
        for (key, value) in &slice.notes {
            let mut note = Message::default();
            note.number(1, *key);
            note.number(3, *value);
            event.message(4, &note);
        }
        event.number(9, 1);
        event.number(10, u64::from(slice.name.0) + 1);
        event.number(11, slice.track);
        packet.message(11, &event);
        self.packet(packet);
        let mut event = Message::default();
        event.number(9, 2);
        event.number(11, slice.track);
        let mut packet = Message::default();
        packet.number(8, unsigned(slice.end));
        packet.number(13, 2);
        packet.message(11, &event);
        self.packet(packet);
    }
}
