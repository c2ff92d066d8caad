//! Packets, track events, interned strings and clocks. Field numbers are from Perfetto's
//! `trace_packet.proto`, `track_event.proto` and related files.

use super::wire::{Field, fields};
use crate::names::{Name, Names};
use std::collections::HashMap;

/// Fields read from a packet.
#[derive(Default)]
pub(super) struct Packet<'a> {
    pub(super) sequence: u64,
    pub(super) time: u64,
    pub(super) clock: Option<u64>,
    /// Interning state is cleared.
    pub(super) cleared: bool,
    pub(super) event: Option<&'a [u8]>,
    pub(super) track: Option<&'a [u8]>,
    pub(super) interned: Option<&'a [u8]>,
    pub(super) defaults: Option<&'a [u8]>,
    pub(super) snapshots: Vec<&'a [u8]>,
}

impl<'a> Packet<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Packet<'a> {
        let mut packet = Packet::default();
        for field in fields(bytes) {
            match field.number {
                6 => packet.snapshots.push(field.bytes()),
                8 => packet.time = field.number_value(),
                10 => packet.sequence = field.number_value(),
                11 => packet.event = Some(field.bytes()),
                12 => packet.interned = Some(field.bytes()),
                13 => packet.cleared |= field.number_value() & 1 != 0,
                41 => packet.cleared |= field.number_value() != 0,
                58 => packet.clock = Some(field.number_value()),
                59 => packet.defaults = Some(field.bytes()),
                60 => packet.track = Some(field.bytes()),
                _ => {}
            }
        }
        packet
    }
}

/// Clock and track of packets that name none.
pub(super) fn defaults(bytes: &[u8]) -> (Option<u64>, Option<u64>) {
    let (mut clock, mut track) = (None, None);
    for field in fields(bytes) {
        match field.number {
            58 => clock = Some(field.number_value()),
            11 => {
                let event = fields(field.bytes()).find(|f| f.number == 11);
                track = event.map(|f| f.number_value());
            }
            _ => {}
        }
    }
    (clock, track)
}

/// The clock of traces; others are translated to it at their snapshot.
const BOOT: u64 = 6;

#[derive(Clone, Copy)]
struct Clock {
    /// Value at the snapshot, in its unit.
    at: i64,
    /// The boot clock then, ns.
    boot: i64,
    unit_ns: i64,
    incremental: bool,
    /// Value of the last packet, for a clock whose times are differences.
    last: i64,
}

/// Clocks of one sequence.
#[derive(Default)]
pub(super) struct Clocks {
    by_id: HashMap<u64, Clock>,
}

impl Clocks {
    pub(super) fn snapshot(&mut self, bytes: &[u8]) {
        let mut read = Vec::new();
        for field in fields(bytes).filter(|f| f.number == 1) {
            let (mut id, mut clock) = (0, Clock { at: 0, boot: 0, unit_ns: 1, incremental: false, last: 0 });
            for f in fields(field.bytes()) {
                let value = f.number_value();
                match f.number {
                    1 => id = value,
                    2 => clock.at = signed(value),
                    3 => clock.incremental = value != 0,
                    4 => clock.unit_ns = signed(value).max(1),
                    _ => {}
                }
            }
            clock.last = clock.at;
            read.push((id, clock));
        }
        let boot = read.iter().find(|(id, _)| *id == BOOT).or(read.first()).map_or(0, |(_, c)| c.at);
        for (id, clock) in read {
            self.by_id.insert(id, Clock { boot, ..clock });
        }
    }

    /// A packet's time on the boot clock, ns.
    pub(super) fn time(&mut self, clock: Option<u64>, value: u64) -> i64 {
        let value = signed(value);
        let Some(clock) = clock.and_then(|id| self.by_id.get_mut(&id)) else { return value };
        if clock.incremental {
            clock.last = clock.last.saturating_add(value);
        } else {
            clock.last = value;
        }
        let since = clock.last.saturating_sub(clock.at).saturating_mul(clock.unit_ns);
        clock.boot.saturating_add(since)
    }
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Strings by number.
#[derive(Default)]
pub(super) struct Interned {
    categories: HashMap<u64, Name>,
    names: HashMap<u64, Name>,
    keys: HashMap<u64, Name>,
}

impl Interned {
    pub(super) fn add(&mut self, bytes: &[u8], names: &mut Names) {
        for field in fields(bytes) {
            let map = match field.number {
                1 => &mut self.categories,
                2 => &mut self.names,
                3 => &mut self.keys,
                _ => continue,
            };
            let (mut id, mut name) = (0, Name::NONE);
            for f in fields(field.bytes()) {
                match f.number {
                    1 => id = f.number_value(),
                    2 => name = names.add_bytes(f.bytes()),
                    _ => {}
                }
            }
            map.insert(id, name);
        }
    }
}

/// A track.
#[derive(Default)]
pub(super) struct Descriptor {
    pub(super) uuid: u64,
    pub(super) name: String,
    pub(super) process: Option<u64>,
    pub(super) thread: Option<u64>,
}

impl Descriptor {
    pub(super) fn read(bytes: &[u8]) -> Descriptor {
        let mut track = Descriptor::default();
        for field in fields(bytes) {
            let inner = |number: u64| -> Option<u64> {
                fields(field.bytes()).find(|f| f.number == number).map(|f| f.number_value())
            };
            match field.number {
                1 => track.uuid = field.number_value(),
                2 | 10 => track.name = String::from_utf8_lossy(field.bytes()).into_owned(),
                3 => track.process = inner(1),
                4 => (track.process, track.thread) = (inner(1), inner(2)),
                _ => {}
            }
        }
        track
    }
}

/// A track event.
#[derive(Default)]
pub(super) struct Event {
    pub(super) kind: u64,
    pub(super) track: Option<u64>,
    pub(super) name: Name,
    pub(super) category: Name,
    pub(super) flows: u64,
    pub(super) value: f64,
    /// Begin and end as annotations name them, ns.
    pub(super) begin: Option<i64>,
    end: Option<i64>,
    delta: Option<i64>,
    pub(super) correlation: u64,
    pub(super) agent: Option<u64>,
    pub(super) queue: Option<u64>,
    pub(super) bytes: Option<u64>,
    pub(super) grid: u32,
    pub(super) block: u32,
    pub(super) kernel: bool,
}

impl Event {
    pub(super) fn read(bytes: &[u8], interned: &Interned, names: &mut Names) -> Event {
        let mut event = Event::default();
        for field in fields(bytes) {
            let value = field.number_value();
            match field.number {
                3 => event.category = interned.categories.get(&value).copied().unwrap_or_default(),
                4 => event.annotation(&field, interned, names),
                9 => event.kind = value,
                10 => event.name = interned.names.get(&value).copied().unwrap_or_default(),
                11 => event.track = Some(value),
                22 => event.category = names.add_bytes(field.bytes()),
                23 => event.name = names.add_bytes(field.bytes()),
                30 => event.value = value as i64 as f64,
                36 | 47 => event.flows += 1,
                44 => event.value = f64::from_bits(value),
                _ => {}
            }
        }
        event
    }

    fn annotation(&mut self, field: &Field<'_>, interned: &Interned, names: &Names) {
        let (mut key, mut number, mut text): (&[u8], Option<u64>, &[u8]) = (b"", None, b"");
        for f in fields(field.bytes()) {
            match f.number {
                1 => {
                    let name = interned.keys.get(&f.number_value()).copied().unwrap_or_default();
                    key = names.get(name).as_bytes();
                }
                10 => key = f.bytes(),
                2 | 3 | 4 | 7 => number = Some(f.number_value()),
                6 => text = f.bytes(),
                _ => {}
            }
        }
        let number = number.or_else(|| rocprof::json::whole(text));
        let size = number.and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
        match key {
            b"begin_ns" => self.begin = number.map(signed),
            b"end_ns" => self.end = number.map(signed),
            b"delta_ns" => self.delta = number.map(signed),
            b"corr_id" => self.correlation = number.unwrap_or(0),
            b"agent" | b"dst_agent" => self.agent = number,
            b"queue" => self.queue = number,
            b"bytes" | b"copy_bytes" => self.bytes = number,
            b"kernel_id" => self.kernel = true,
            b"grid_size" => self.grid = size,
            b"workgroup_size" => self.block = size,
            _ => {}
        }
    }

    /// The end that the slice's own annotations give, ns.
    pub(super) fn own_end(&self, time: i64) -> Option<i64> {
        match (self.delta, self.end) {
            (Some(delta), _) => Some(self.begin.unwrap_or(time).saturating_add(delta)),
            (None, end) => end,
        }
    }
}
