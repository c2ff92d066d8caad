//! Rates and latencies of a GPU, in cycles of its engine clock.
//!
//! Each number is one physical quantity of `arch` in another unit; none is tuned here.

use crate::outcome::Outcome;
use crate::throttle::Throttle;
use arch::{Known, Model, Target};
use mem::XorHash;
use std::sync::Arc;

/// Ticks of a cycle, the resolution of busy times in L2 and memory.
pub(crate) const TICKS: u64 = 64;

/// Cycles between two instructions of a wave, on hardware.
pub(crate) const ISSUE: u64 = 4;

/// Rates, in cycles of the engine clock unless a field says otherwise.
#[derive(Clone, PartialEq, Debug)]
pub struct Rates {
    /// Engine clock, Hz.
    pub engine: f64,
    /// Cycles between two waves of a workgroup that a shader engine starts.
    pub wave_start: u64,
    /// Further cycles from one workgroup to the next.
    pub group_start: u64,
    /// Most outstanding reads, and writes, of an L2 channel to memory.
    pub l2_outstanding: [usize; 2],
    /// Cycles between two instructions of a wave.
    pub issue: u64,
    /// Cycles of a fetch after a taken branch.
    pub fetch: u64,
    /// Cycles of a fetch that misses the instruction cache.
    pub fetch_cold: u64,
    /// Latency of a load that hits the vector L1.
    pub l1: u64,
    /// Latency of a load that hits the L2.
    pub l2: u64,
    /// Latency of a load that hits the memory-side cache.
    pub memory_side: u64,
    /// Latency of a load from memory.
    pub hbm: u64,
    /// Latency of a scalar load that hits.
    pub scalar: u64,
    /// Latency of a scalar load from memory.
    pub scalar_cold: u64,
    /// Cycles of a translation that hits in the XCD.
    pub translation: u64,
    /// Cycles of a page-table walk from the root.
    pub walk: u64,
    /// Cycles in which an XCD reads a line of page-table entries.
    pub read_entries: u64,
    /// Most lines of entries that an XCD reads at a time; `None` for no limit.
    pub walks: Option<usize>,
    /// Latency of the LDS, besides the cycles of the access.
    pub lds: u64,
    /// Cycles of a SIMD's path to the LDS for each cycle of the LDS.
    pub lds_cycles_of_simd: u64,
    /// Slots of the queue before a vector L1.
    pub l1_queue_slots: u32,
    /// Most lines of loads, and of stores, in a vector L1 from look-up to answer.
    pub l1_lines_in_flight: [u32; 2],
    /// Cycles of a vector L1 for each LDS cycle of a flat access.
    pub l1_cycles_per_flat_lds: u32,
    /// MSHRs of a vector L1: most outstanding requests.
    pub l1_outstanding: usize,
    /// Bytes a vector L1 fills in a cycle.
    pub l1_fill_bytes: u64,
    /// Ticks of an L2 channel per request.
    pub l2_request: u64,
    /// Ticks of a memory channel per byte read, and per byte written.
    pub memory_byte: [f64; 2],
    /// Ticks of a memory channel per byte written without reads.
    pub(crate) write_alone_byte: f64,
    /// Ticks of a channel of the memory-side cache per byte.
    pub memory_side_byte: f64,
    /// Shortest dispatch, nanoseconds.
    pub(crate) least: f64,
    /// Nanoseconds that a cycle of the matrix unit of one SIMD adds to a dispatch, because the clock is lower while
    /// How the clock falls while units work.
    pub(crate) throttle: Throttle,
    /// Times of atomics done behind the L2; `None` where the L2 does them.
    pub(crate) atomics: Option<AtomicTimes>,
    /// Ticks per byte of an XCD's link to memory; `None` where no limit was measured.
    pub(crate) link_byte: Option<LinkByte>,
    /// Memory channels.
    pub channels: usize,
    /// Lines and ways of the memory-side cache.
    pub memory_side_shape: Option<(usize, usize)>,
    /// Lines are spread over the sets of the memory-side cache as if by chance.
    pub(crate) memory_side_scattered: bool,
    /// Most outstanding translations of a vector L1; `None` for no limit.
    pub outstanding_translations: Option<usize>,
    /// Address map of memory, if known.
    pub(crate) dram_map: Option<DramMap>,
    /// Limits that are removed.
    pub(crate) ideal: Idealized,
}

/// Limits of the GPU that are lifted. Limits on occupancy are part of the [`crate::Grid`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Idealized {
    pub(crate) vector_l1: bool,
    pub(crate) l2: bool,
    pub(crate) conflicts: bool,
    pub(crate) barriers: bool,
    pub(crate) units: bool,
    pub(crate) wait_states: bool,
}

/// Address map of memory: XOR hashes of a line's number give channel and bank.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct DramMap {
    /// Bank in the low bits, channel above.
    hash: Arc<XorHash>,
    /// Bits of the bank.
    bank_bits: u32,
    /// Lowest bit of a line's number that selects the row.
    row_bit: u32,
    /// Ticks between two row activations of a bank.
    pub(crate) row: u64,
    /// Cycles that a row activation adds to a read.
    pub(crate) opening: u64,
    /// Slots of a channel's queue.
    pub(crate) queue: usize,
}

impl DramMap {
    fn of(model: &Model, engine: f64) -> Option<DramMap> {
        let target = model.target();
        let dram_map = &target.memory_map;
        let line = target.l2.line_bytes.value.trailing_zeros();
        let (bank, channel) = (dram_map.bank.get().ok()?, dram_map.channel.get().ok()?);
        // By hash bit: mask of the line's bits whose parity it is.
        let masks: Vec<u64> = bank
            .iter()
            .chain(channel)
            .map(|bits| bits.iter().fold(0, |mask, bit| mask | 1 << (bit - line)))
            .collect();
        let number = |line: u64| {
            let bit = |(place, mask): (usize, &u64)| ((line & mask).count_ones() & 1) << place;
            masks.iter().enumerate().map(bit).sum()
        };
        // Memory rounds its times up to cycles of its own clock.
        let row = f64::from(dram_map.row_ns.value) * 1e-9;
        let row = match model.memory_mhz.value() {
            Some(mhz) => (row * f64::from(mhz) * 1e6).ceil() / (f64::from(mhz) * 1e6),
            None => row,
        };
        // Measured rates of memory include refresh.
        let [refresh, every] = dram_map.refresh_ns.value.map(f64::from);
        let row = row * every / (every - refresh);
        Some(DramMap {
            hash: Arc::new(XorHash::new(number)),
            bank_bits: bank.len() as u32,
            row_bit: dram_map.row_bit.value()? - line,
            row: (row * engine * TICKS as f64) as u64,
            opening: (f64::from(dram_map.opening_ns.value) * 1e-9 * engine) as u64,
            queue: dram_map.queue.value as usize,
        })
    }

    /// Channel of a line, as a number of `bits` bits.
    #[inline]
    pub(crate) fn channel(&self, line: u64, bits: u32) -> usize {
        (self.hash.get(line) >> self.bank_bits & ((1 << bits) - 1)) as usize
    }

    /// Bank and row of a line in its channel.
    #[inline]
    pub(crate) fn bank(&self, line: u64) -> (usize, u64) {
        ((self.hash.get(line) & ((1 << self.bank_bits) - 1)) as usize, line >> self.row_bit)
    }

    /// Banks of a channel.
    pub(crate) fn banks(&self) -> usize {
        1 << self.bank_bits
    }
}

/// Ticks of a link per byte, for streams of reads, of writes, and of both.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct LinkByte {
    pub(crate) read: f64,
    pub(crate) write: f64,
    pub(crate) mixed: f64,
}

impl Rates {
    /// Ticks of a memory channel per byte of a request, where this share of the recent requests are writes.
    pub(crate) fn device_byte(&self, write: bool, writes: f64) -> f64 {
        let [read, mixed] = self.memory_byte;
        if write { LinkByte { read: mixed, write: self.write_alone_byte, mixed }.at(writes) } else { read }
    }
}

/// Range of the share of writes in which requests count as mixed.
const MIXED: [f64; 2] = [0.25, 0.75];

impl LinkByte {
    /// Ticks of a byte where this share of the requests are writes.
    pub(crate) fn at(&self, writes: f64) -> f64 {
        let between = |from: f64, to: f64, share: f64| from + (to - from) * share;
        if writes < MIXED[0] {
            between(self.read, self.mixed, writes / MIXED[0])
        } else {
            between(self.mixed, self.write, ((writes - MIXED[1]) / (1.0 - MIXED[1])).max(0.0))
        }
    }
}

/// Times of atomics.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct AtomicTimes {
    /// Ticks of a channel for a request.
    pub(crate) request: u64,
    /// Ticks between the starts of two updates of an address.
    pub(crate) address: u64,
    /// Cycles from issue to completion.
    pub(crate) latency: u64,
    /// Number of the requests of an instruction among which those for one block are one.
    pub(crate) joined: u32,
}

impl AtomicTimes {
    /// Times on a GPU with several XCDs; `None` where they were not measured.
    pub(crate) fn of(model: &Model, engine: f64) -> Option<AtomicTimes> {
        let times = &model.target().atomics;
        let cycles = |nanoseconds: f64| nanoseconds * 1e-9 * engine;
        let ticks = |nanoseconds: f64| (cycles(nanoseconds) * TICKS as f64) as u64;
        Some(AtomicTimes {
            request: ticks(times.channel_ns.value()?),
            address: ticks(times.address_ns.value()?),
            latency: cycles(times.latency_ns.value()?) as u64,
            joined: times.joined_requests.value()?,
        })
        .filter(|_| model.xcds.value > 1)
    }
}

/// Cycles that the path between a SIMD and the LDS is busy for each cycle of the LDS without conflicts; 1 where it was
/// not measured.
fn lds_cycles_of_simd(target: &Target) -> u64 {
    let [all, simd] = [&target.lds.bytes_per_cycle, &target.lds.bytes_per_simd_cycle].map(Known::value);
    all.zip(simd).map_or(1, |(all, simd)| u64::from(all.div_ceil(simd.max(1))).max(1))
}

impl Rates {
    /// Rates of a GPU. The peak bandwidth is used if none was measured.
    pub fn of(model: &Model) -> Rates {
        let target = model.target();
        let latency = &target.latency;
        let engine = f64::from(model.running_mhz()) * 1e6;
        let cycles = |nanoseconds: u32| (f64::from(nanoseconds) * 1e-9 * engine) as u64;
        let read = model.hbm.read_gb_per_s.value().unwrap_or(model.hbm.gb_per_s.value) * 1e9;
        let write = model.hbm.write_gb_per_s.value().map_or(read, |rate| rate * 1e9);
        let channels = model.hbm.channels.value.max(1);
        let alone = model.hbm.write_alone_gb_per_s.as_ref().map_or(write, |fact| fact.value * 1e9);
        let [read_byte, write_byte, write_alone_byte] =
            [read, write, alone].map(|rate| TICKS as f64 * engine * f64::from(channels) / rate);
        let l2_rate = target.l2.sustained_bytes_per_channel_cycle.value;
        // Latencies behind the L2 do not scale with the engine clock.
        let behind = |cycles: u32| {
            let (cycles, near) = (u64::from(cycles), u64::from(latency.l2.value));
            near + (cycles.saturating_sub(near) as f64 * model.engine_share()).round() as u64
        };
        let hbm = behind(model.hbm.latency.as_ref().unwrap_or(&latency.hbm).value);
        let line = target.l2.line_bytes.value;
        let memory_side_shape = model.memory_side_cache.bytes.value().map(|bytes| {
            let ways = target.memory_side_cache.ways.value().unwrap_or(16).max(1);
            ((bytes / line) as usize, ways as usize)
        });
        Rates {
            engine,
            wave_start: u64::from(target.wave_start_cycles.value),
            group_start: u64::from(target.workgroup_start_cycles.value),
            l2_outstanding: [&target.l2.pending_reads_per_channel, &target.l2.pending_writes_per_channel]
                .map(|it| it.value as usize),
            issue: ISSUE,
            fetch: u64::from(latency.fetch.value),
            fetch_cold: cycles(latency.scalar_cold_ns.value),
            l1: u64::from(latency.l1.value),
            l2: u64::from(latency.l2.value),
            memory_side: latency.memory_side.value().map_or(hbm, behind),
            hbm,
            scalar: u64::from(latency.scalar.value),
            scalar_cold: cycles(latency.scalar_cold_ns.value),
            translation: u64::from(latency.l2.value - latency.l1.value),
            walk: cycles(latency.vector_cold_ns.value).saturating_sub(hbm),
            read_entries: hbm.saturating_sub(u64::from(latency.l1.value)),
            walks: target.translation.walks.value().map(|walks| walks as usize),
            lds: u64::from(latency.lds.value),
            lds_cycles_of_simd: lds_cycles_of_simd(target),
            l1_queue_slots: target.vector_l1.waiting.value,
            l1_lines_in_flight: [&target.vector_l1.reading, &target.vector_l1.writing].map(|it| it.value),
            l1_cycles_per_flat_lds: target.lds.bytes_per_cycle.value().unwrap_or(128)
                / target.vector_l1.fill_bytes_per_cycle.value.max(1),
            l1_outstanding: target.vector_l1.pending.value as usize,
            l1_fill_bytes: u64::from(target.vector_l1.fill_bytes_per_cycle.value),
            l2_request: (TICKS as f64 * f64::from(line) / f64::from(l2_rate)) as u64,
            memory_byte: [read_byte, write_byte],
            write_alone_byte,
            memory_side_byte: target
                .memory_side_cache
                .bytes_per_channel_cycle
                .value()
                .map_or(0.0, |bytes| TICKS as f64 / f64::from(bytes)),
            least: f64::from(target.launch.least_ns.value().unwrap_or(0)),
            throttle: Throttle::of(model),
            atomics: AtomicTimes::of(model, engine),
            link_byte: model.memory_side_cache.gb_per_s.as_ref().map(|fact| {
                let [read, write, mixed] = fact
                    .value
                    .map(|rate| TICKS as f64 * engine * f64::from(model.xcds.value.max(1)) / (rate * 1e9));
                LinkByte { read, write, mixed }
            }),
            channels: channels as usize,
            memory_side_shape,
            memory_side_scattered: model.memory_side_cache.scattered.as_ref().is_some_and(|fact| fact.value),
            outstanding_translations: [&target.translation.l1_requests, &target.translation.l1_entries]
                .into_iter()
                .find_map(|most| most.value().map(|most| most as usize)),
            dram_map: DramMap::of(model, engine),
            ideal: Idealized::default(),
        }
    }

    /// Rates with memory of another peak bandwidth in bytes a second; the achieved bandwidth scales alike.
    pub fn with_bandwidth(mut self, model: &Model, bytes_per_s: f64) -> Rates {
        let less = model.hbm.gb_per_s.value * 1e9 / bytes_per_s;
        self.memory_byte = self.memory_byte.map(|ticks| ticks * less);
        self.write_alone_byte *= less;
        self
    }

    /// Nanoseconds of a dispatch; not less than the shortest dispatch takes.
    pub fn dispatch_nanoseconds(&self, outcome: &Outcome) -> f64 {
        let delay = self.throttle.delay(outcome);
        (self.nanoseconds(outcome.cycles) + delay).max(self.least)
    }

    /// Mean engine clock of a dispatch in megahertz, if the work of its units lowers it.
    pub fn lowered_mhz(&self, outcome: &Outcome) -> Option<f64> {
        let delay = self.throttle.delay(outcome);
        (delay > 0.0).then(|| outcome.cycles as f64 / (self.nanoseconds(outcome.cycles) + delay) * 1e3)
    }

    /// Cycles in nanoseconds.
    pub fn nanoseconds(&self, cycles: u64) -> f64 {
        cycles as f64 / self.engine * 1e9
    }
}
