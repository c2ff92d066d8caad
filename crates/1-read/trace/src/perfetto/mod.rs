//! Perfetto traces, as rocprofv3 and rocprof-sys write them.
//!
//! Kernels of one queue overlap without nesting, so the end or length that a slice states takes precedence
//! over end events.

mod packet;
mod wire;

use crate::error::{Error, note_at};
use crate::names::Name;
use crate::timeline::{
    CounterSum, Detail, Format, GpuKind, GpuSpan, HostKind, HostSpan, Queue, Thread, Timeline,
};
use packet::{Clocks, Descriptor, Event, Interned};
use std::collections::HashMap;
use view::NoteKind;
use wire::fields;

/// Types of a track event.
const BEGIN: u64 = 1;
const END: u64 = 2;
const COUNTER: u64 = 4;

/// The highest number of a packet's field that is plausible.
const FIELDS: u64 = 1000;

/// Bytes of which a trace has one that is no letter.
const LETTERS: usize = 256;

/// Whether bytes begin like a trace: a packet of fields with plausible numbers.
pub(crate) fn is_trace(head: &[u8]) -> bool {
    // A line end and blanks are a packet, too.
    if head.iter().take(LETTERS).all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace()) {
        return false;
    }
    let mut packets = fields(head);
    match packets.next() {
        Some(first) if first.number == 1 => {
            let mut inner = fields(first.bytes());
            let plausible = inner.by_ref().all(|field| (1..FIELDS).contains(&field.number));
            plausible && !inner.cut && !first.bytes().is_empty()
        }
        Some(_) => false,
        // The first packet may be longer than the examined bytes.
        None => head.first() == Some(&0x0a) && head.iter().any(|b| *b >= 0x80 || *b == 0),
    }
}

/// A slice that has begun.
struct Open {
    name: Name,
    event: Event,
    start: i64,
    /// Already recorded with an explicit length.
    done: bool,
}

#[derive(Default)]
struct Sequence {
    interned: Interned,
    clocks: Clocks,
    default_clock: Option<u64>,
    default_track: Option<u64>,
}

struct Reader {
    timeline: Timeline,
    sequences: HashMap<u64, Sequence>,
    tracks: HashMap<u64, Descriptor>,
    open: HashMap<u64, Vec<Open>>,
    threads: HashMap<u64, u32>,
    counts: [u64; 4],
    counters: HashMap<Name, (u64, f64)>,
    flows: u64,
    unopened: u64,
    unnamed: u64,
    latest: i64,
}

/// Reads a whole trace.
pub(crate) fn read(bytes: &[u8]) -> Result<Timeline, Error> {
    let mut reader = Reader {
        timeline: Timeline::new(Format::Perfetto),
        sequences: HashMap::new(),
        tracks: HashMap::new(),
        open: HashMap::new(),
        threads: HashMap::new(),
        counts: [0; 4],
        counters: HashMap::new(),
        flows: 0,
        unopened: 0,
        unnamed: 0,
        latest: 0,
    };
    let mut packets = fields(bytes);
    for packet in packets.by_ref() {
        if packet.number == 1 {
            reader.packet(packet.bytes());
        }
    }
    let end = bytes.len() - packets.left();
    reader.finish(packets.cut.then_some(end as u64))
}

impl Reader {
    fn packet(&mut self, bytes: &[u8]) {
        self.counts[0] += 1;
        let packet = packet::Packet::read(bytes);
        let sequence = self.sequences.entry(packet.sequence).or_default();
        if packet.cleared {
            sequence.interned = Interned::default();
        }
        for snapshot in &packet.snapshots {
            sequence.clocks.snapshot(snapshot);
        }
        if let Some(defaults) = packet.defaults {
            (sequence.default_clock, sequence.default_track) = packet::defaults(defaults);
        }
        if let Some(interned) = packet.interned {
            sequence.interned.add(interned, &mut self.timeline.names);
        }
        if let Some(track) = packet.track {
            let descriptor = Descriptor::read(track);
            self.counts[3] += 1;
            self.tracks.insert(descriptor.uuid, descriptor);
        }
        let Some(event) = packet.event else { return };
        let clock = packet.clock.or(sequence.default_clock);
        let time = sequence.clocks.time(clock, packet.time);
        let default_track = sequence.default_track;
        let mut event = Event::read(event, &sequence.interned, &mut self.timeline.names);
        event.track = event.track.or(default_track);
        self.event(event, time);
    }

    fn event(&mut self, event: Event, time: i64) {
        self.latest = self.latest.max(time);
        let track = event.track.unwrap_or(0);
        self.flows += event.flows;
        match event.kind {
            BEGIN => {
                self.counts[1] += 1;
                self.unnamed += u64::from(event.name.is_none());
                let (name, own_end) = (event.name, event.own_end(time));
                let start = event.begin.unwrap_or(time);
                if let Some(end) = own_end {
                    self.latest = self.latest.max(end);
                    self.slice(track, &event, name, start, end);
                }
                let done = own_end.is_some();
                self.open.entry(track).or_default().push(Open { name, event, start, done });
            }
            END => match self.open.get_mut(&track).and_then(Vec::pop) {
                Some(open) if open.done => {}
                Some(open) => self.slice(track, &open.event, open.name, open.start, time),
                None => self.unopened += 1,
            },
            COUNTER => {
                self.counts[2] += 1;
                let name = self.tracks.get(&track).map_or("", |t| &t.name).to_owned();
                let name = self.timeline.names.add(&name);
                let sum = self.counters.entry(name).or_default();
                sum.0 += 1;
                sum.1 += event.value;
            }
            _ => {}
        }
    }

    fn slice(&mut self, track: u64, event: &Event, name: Name, start: i64, end: i64) {
        let category = self.timeline.names.get(event.category);
        let kind = match category {
            _ if event.kernel => Some(GpuKind::Kernel),
            "kernel_dispatch" => Some(GpuKind::Kernel),
            "memory_copy" => Some(GpuKind::Copy),
            _ => None,
        };
        let Some(kind) = kind else {
            let kind = match category {
                c if c.contains("marker") || c.contains("roctx") || c == "user" => HostKind::Annotation,
                c if c.contains("rccl") => HostKind::Collective,
                c if c.contains("hip") || c.contains("hsa") || c.contains("api") => HostKind::Runtime,
                _ => HostKind::Other,
            };
            let thread = self.thread(track);
            self.timeline.host.push(HostSpan {
                start,
                end,
                name,
                kind,
                thread,
                correlation: event.correlation,
                external: 0,
                shapes: 0,
            });
            return;
        };
        let detail = Detail { bytes: event.bytes, direction: name, collective: None };
        let queue = Queue { device: event.agent.unwrap_or(0), stream: event.queue.unwrap_or(track) };
        let span = GpuSpan {
            start,
            end,
            name,
            kind,
            queue: self.timeline.queue(queue),
            correlation: event.correlation,
            external: 0,
            // Sizes are products: the first axis has them all.
            grid: match (event.grid, event.block) {
                (grid, block) if block > 0 => [grid.div_ceil(block), 1, 1],
                _ => [0; 3],
            },
            block: if event.block > 0 { [event.block, 1, 1] } else { [0; 3] },
            detail: if kind == GpuKind::Copy { self.timeline.add_detail(detail) } else { 0 },
        };
        self.timeline.gpu.push(span);
    }

    fn thread(&mut self, track: u64) -> u32 {
        if let Some(row) = self.threads.get(&track) {
            return *row;
        }
        let descriptor = self.tracks.get(&track);
        let text = |n: Option<u64>| n.map_or_else(String::new, |n| n.to_string());
        let (process, thread, name) = match descriptor {
            Some(d) => (text(d.process), text(d.thread.or(Some(track))), d.name.clone()),
            None => (String::new(), track.to_string(), String::new()),
        };
        let names = &mut self.timeline.names;
        let row = Thread { process: names.add(&process), thread: names.add(&thread), name: names.add(&name) };
        self.timeline.threads.push(row);
        let row = u32::try_from(self.timeline.threads.len() - 1).unwrap_or(0);
        self.threads.insert(track, row);
        row
    }

    fn finish(mut self, cut: Option<u64>) -> Result<Timeline, Error> {
        let mut left = 0u64;
        let mut open: Vec<_> = std::mem::take(&mut self.open).into_iter().collect();
        open.sort_by_key(|(track, _)| *track);
        for (track, spans) in open {
            for span in spans.into_iter().filter(|it| !it.done) {
                left += 1;
                self.slice(track, &span.event, span.name, span.start, self.latest);
            }
        }
        let [packets, slices, points, tracks] = self.counts;
        if slices == 0 && points == 0 {
            return Err(match cut {
                Some(offset) => Error::Broken {
                    kind: "Perfetto trace",
                    offset,
                    what: "the file ends within its packets, and none before is a slice".to_owned(),
                },
                None => Error::Unknown("protobuf without track events".to_owned()),
            });
        }
        let t = &mut self.timeline;
        t.counts = [
            ("counter points", points),
            ("flows", self.flows),
            ("packets", packets),
            ("slices", slices),
            ("tracks", tracks),
        ]
        .map(|(name, n)| (name.to_owned(), n))
        .to_vec();
        t.counters = self
            .counters
            .into_iter()
            .map(|(name, (dispatches, sum))| CounterSum { name, dispatches, sum })
            .collect();
        t.counters.sort_by_key(|c| c.name);
        if let Some(offset) = cut {
            let text = format!(
                "the file ends within a packet that begins here; {packets} packets before it are read"
            );
            t.problems.push(note_at(NoteKind::Error, &format!("byte {offset}"), &text));
        }
        for (count, text) in [
            (left, "slices never end; they are taken to last until the trace's end"),
            (self.unopened, "ends belong to no slice on their track; they are left out"),
            (self.unnamed, "slices name themselves by a number the trace does not explain"),
        ] {
            if count > 0 {
                t.problem(NoteKind::Warning, format!("{count} {text}"));
            }
        }
        Ok(self.timeline)
    }
}
