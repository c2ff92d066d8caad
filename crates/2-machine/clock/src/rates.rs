//! How fast the parts of a GPU are, in cycles of its engine clock.
//!
//! The one idea to keep in mind: every number is one physical quantity of `arch`, brought to one unit; nothing is
//! adjusted here.

use crate::lift::Free;
use arch::Model;
use mem::Sums;
use std::sync::Arc;

/// Steps of a cycle in which busy times of memory are kept.
pub(crate) const STEPS: u64 = 64;

/// Cycles between two instructions of a wave.
pub(crate) const ISSUE: u64 = 4;

/// Bytes of an entry of a page table.
const PAGE_ENTRY: u32 = 8;

/// Cycles and rates.
#[derive(Clone, PartialEq, Debug)]
pub struct Rates {
    /// Cycles a second.
    pub engine: f64,
    /// Between two waves of a workgroup that a shader engine starts.
    pub wave_start: u64,
    /// Besides, from one workgroup to the next.
    pub group_start: u64,
    /// Reads and writes that a channel of the L2 can have under way to memory.
    pub under_way: [usize; 2],
    /// Between two instructions of a wave.
    pub issue: u64,
    /// Code that is not where the wave was.
    pub fetch: u64,
    /// Code that is not in the instruction cache.
    pub fetch_cold: u64,
    /// Load from the vector L1, from issue to use.
    pub l1: u64,
    /// Load from the L2.
    pub l2: u64,
    /// Load from the memory-side cache.
    pub memory_side: u64,
    /// Load from memory.
    pub hbm: u64,
    /// Scalar load from its cache.
    pub scalar: u64,
    /// Scalar load from memory.
    pub scalar_cold: u64,
    /// Translation that the XCD has.
    pub translation: u64,
    /// Translation that nobody has.
    pub walk: u64,
    /// Pages whose translations are read together: those of a line of the L2.
    pub walked: u64,
    /// LDS, besides the cycles of the access.
    pub lds: u64,
    /// Places for accesses before a vector L1.
    pub waiting: u32,
    /// Lines, read and written, of accesses that a vector L1 has.
    pub lines: [u32; 2],
    /// Cycles of a vector L1 for each that a flat access takes of the LDS.
    pub flat: u32,
    /// Requests of a vector L1 that can be under way.
    pub pending: usize,
    /// Bytes a vector L1 takes in a cycle.
    pub fill: u64,
    /// Steps of a channel of the L2 per request.
    pub l2_request: u64,
    /// Steps of a channel of memory per byte read, and per byte written.
    pub memory_byte: [f64; 2],
    /// Steps of a channel of the memory-side cache per byte.
    pub side_byte: f64,
    /// Channels of memory.
    pub channels: usize,
    /// Lines of the memory-side cache, and ways.
    pub side: Option<(usize, usize)>,
    /// Translations of a vector L1 that can be under way; none where any number can.
    pub translating: Option<usize>,
    /// How addresses are spread over memory, where that is known.
    pub(crate) map: Option<Map>,
    /// What takes no time, where a limit is lifted.
    pub(crate) free: Free,
}

/// How addresses are spread over memory: bits of a line's number, added without carry, are the bits of its channel's number and
/// of its bank's.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Map {
    /// The bank's number and, above that, the channel's.
    numbers: Arc<Sums>,
    /// Bits of a bank's number.
    bank_bits: u32,
    /// Lowest bit of a line's number that chooses the row of a bank.
    row_bit: u32,
    /// Steps between the openings of two rows of a bank.
    pub(crate) row: u64,
    /// Cycles that a read takes longer that opens a row.
    pub(crate) opening: u64,
    /// Requests that a channel has and did not begin, at most.
    pub(crate) queue: usize,
}

impl Map {
    fn of(model: &Model, engine: f64) -> Option<Map> {
        let target = model.target();
        let map = &target.memory_map;
        let line = target.l2.line_bytes.value.trailing_zeros();
        let (bank, channel) = (map.bank.get().ok()?, map.channel.get().ok()?);
        // By bit of both numbers: the bits of a line's number it is the sum of.
        let masks: Vec<u64> = bank
            .iter()
            .chain(channel)
            .map(|bits| bits.iter().fold(0, |mask, bit| mask | 1 << (bit - line)))
            .collect();
        let number = |line: u64| {
            let bit = |(place, mask): (usize, &u64)| ((line & mask).count_ones() & 1) << place;
            masks.iter().enumerate().map(bit).sum()
        };
        // Memory keeps its times in whole cycles of its own.
        let row = f64::from(map.row_ns.value) * 1e-9;
        let row = match model.memory_mhz.value() {
            Some(mhz) => (row * f64::from(mhz) * 1e6).ceil() / (f64::from(mhz) * 1e6),
            None => row,
        };
        // The rates of memory are measured and have this in them.
        let [refresh, every] = map.refresh_ns.value.map(f64::from);
        let row = row * every / (every - refresh);
        Some(Map {
            numbers: Arc::new(Sums::new(number)),
            bank_bits: bank.len() as u32,
            row_bit: map.row_bit.value()? - line,
            row: (row * engine * STEPS as f64) as u64,
            opening: (f64::from(map.opening_ns.value) * 1e-9 * engine) as u64,
            queue: map.queue.value as usize,
        })
    }

    /// The channel of a line, of as many bits.
    #[inline]
    pub(crate) fn channel(&self, line: u64, bits: u32) -> usize {
        (self.numbers.get(line) >> self.bank_bits & ((1 << bits) - 1)) as usize
    }

    /// Bank of a channel, and row of it.
    #[inline]
    pub(crate) fn bank(&self, line: u64) -> (usize, u64) {
        ((self.numbers.get(line) & ((1 << self.bank_bits) - 1)) as usize, line >> self.row_bit)
    }

    /// Banks of a channel.
    pub(crate) fn banks(&self) -> usize {
        1 << self.bank_bits
    }
}

impl Rates {
    /// Those of a GPU. Where nobody has measured its memory the peak stands for it.
    pub fn of(model: &Model) -> Rates {
        let target = model.target();
        let latency = &target.latency;
        let engine = f64::from(model.running_mhz()) * 1e6;
        let cycles = |nanoseconds: u32| (f64::from(nanoseconds) * 1e-9 * engine) as u64;
        let read = model.hbm.read_gb_per_s.value().unwrap_or(model.hbm.gb_per_s.value) * 1e9;
        let write = model.hbm.write_gb_per_s.value().map_or(read, |rate| rate * 1e9);
        let channels = model.hbm.channels.value.max(1);
        let memory_byte = [read, write].map(|rate| STEPS as f64 * engine * f64::from(channels) / rate);
        let l2_rate = target.l2.sustained_bytes_per_channel_cycle.value;
        // What lies behind the L2 keeps its own clock.
        let behind = |cycles: u32| {
            let (cycles, near) = (u64::from(cycles), u64::from(latency.l2.value));
            near + (cycles.saturating_sub(near) as f64 * model.engine_share()).round() as u64
        };
        let hbm = behind(model.hbm.latency.as_ref().unwrap_or(&latency.hbm).value);
        let line = target.l2.line_bytes.value;
        let side = model.memory_side_cache.bytes.value().map(|bytes| {
            let ways = target.memory_side_cache.ways.value().unwrap_or(16).max(1);
            ((bytes / line) as usize, ways as usize)
        });
        Rates {
            engine,
            wave_start: u64::from(target.wave_start_cycles.value),
            group_start: u64::from(target.workgroup_start_cycles.value),
            under_way: [&target.l2.pending_reads_per_channel, &target.l2.pending_writes_per_channel]
                .map(|it| it.value as usize),
            issue: ISSUE,
            fetch: u64::from(latency.fetch.value),
            fetch_cold: cycles(latency.scalar_cold_ns.value),
            l1: u64::from(latency.l1.value),
            l2: u64::from(latency.l2.value),
            memory_side: latency.memory_side.value().map_or(hbm, behind),
            hbm,
            scalar: u64::from(latency.l1.value),
            scalar_cold: cycles(latency.scalar_cold_ns.value),
            translation: u64::from(latency.l2.value - latency.l1.value),
            walk: cycles(latency.vector_cold_ns.value).saturating_sub(hbm),
            walked: u64::from(line / PAGE_ENTRY),
            lds: u64::from(latency.lds.value),
            waiting: target.vector_l1.waiting.value,
            lines: [&target.vector_l1.reading, &target.vector_l1.writing].map(|it| it.value),
            flat: target.lds.bytes_per_cycle.value().unwrap_or(128)
                / target.vector_l1.fill_bytes_per_cycle.value.max(1),
            pending: target.vector_l1.pending.value as usize,
            fill: u64::from(target.vector_l1.fill_bytes_per_cycle.value),
            l2_request: (STEPS as f64 * f64::from(line) / f64::from(l2_rate)) as u64,
            memory_byte,
            side_byte: target
                .memory_side_cache
                .bytes_per_channel_cycle
                .value()
                .map_or(0.0, |bytes| STEPS as f64 / f64::from(bytes)),
            channels: channels as usize,
            side,
            translating: target.translation.l1_entries.value().map(|entries| entries as usize),
            map: Map::of(model, engine),
            free: Free::default(),
        }
    }

    /// The same with memory of this peak bandwidth, bytes a second: what is reached of it grows alike.
    pub fn with_bandwidth(mut self, model: &Model, bytes_per_s: f64) -> Rates {
        let less = model.hbm.gb_per_s.value * 1e9 / bytes_per_s;
        self.memory_byte = self.memory_byte.map(|steps| steps * less);
        self
    }

    /// Nanoseconds of cycles.
    pub fn nanoseconds(&self, cycles: u64) -> f64 {
        cycles as f64 / self.engine * 1e9
    }
}
