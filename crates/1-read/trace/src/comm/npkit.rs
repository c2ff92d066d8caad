//! Dumps of NPKit: events of 16 bytes, little endian, a file per rank and buffer or channel.

use crate::error::Error;
use std::collections::BTreeMap;

/// Types of events that matter here: clocks of CPU and GPU at one moment.
const SYNC_GPU: &str = "NPKIT_EVENT_TIME_SYNC_GPU";
const SYNC_CPU: &str = "NPKIT_EVENT_TIME_SYNC_CPU";

/// One event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NpkitEvent {
    /// Type.
    pub kind: u8,
    /// Bytes, modulo 4 GiB.
    pub bytes: u32,
    /// Slot on the CPU.
    pub slot: u32,
    /// Ticks of the clock of its side.
    pub time: u64,
}

/// A pair of entry and exit.
#[derive(Clone, PartialEq, Debug)]
pub struct NpkitSpan {
    /// Rank.
    pub rank: u32,
    /// Buffer of the GPU or channel of the CPU.
    pub lane: u32,
    /// Whether the CPU recorded it.
    pub cpu: bool,
    /// Type without `_ENTRY`.
    pub kind: String,
    /// Bytes as the exit has them; 4 GiB wrap.
    pub bytes: u32,
    /// us.
    pub start_us: f64,
    /// us.
    pub end_us: f64,
}

/// A folder's dump.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct NpkitDump {
    /// Spans by rank and lane.
    pub spans: Vec<NpkitSpan>,
    /// Entries without exit and exits without entry.
    pub unpaired: u64,
    /// Files read.
    pub files: u64,
}

/// The events of a file.
fn events(bytes: &[u8]) -> Vec<NpkitEvent> {
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |all, b| all << 8 | u64::from(*b));
    let event = |b: &[u8]| {
        let bits = number(&b[..8]);
        NpkitEvent {
            kind: bits as u8,
            bytes: (bits >> 8) as u32,
            slot: (bits >> 40) as u32,
            time: number(&b[8..16]),
        }
    };
    bytes.chunks_exact(16).map(event).collect()
}

/// Name, rank and lane of `gpu_events_rank_1_buf_2`.
fn place(name: &str) -> Option<(bool, u32, u32)> {
    let file = name.rsplit('/').next().unwrap_or(name);
    let (cpu, rest) = match (file.strip_prefix("gpu_events_rank_"), file.strip_prefix("cpu_events_rank_")) {
        (Some(rest), _) => (false, rest),
        (_, Some(rest)) => (true, rest),
        _ => return None,
    };
    let (rank, rest) = rest.split_once('_')?;
    Some((cpu, rank.parse().ok()?, rest.rsplit('_').next()?.parse().ok()?))
}

impl NpkitDump {
    /// Whether a file of a folder is one of a dump.
    pub fn is_file(name: &str) -> bool {
        place(name).is_some()
    }

    /// Reads the files of a folder; `kinds` gives the names of the types by their number.
    pub fn read(
        files: &BTreeMap<String, Vec<u8>>,
        kinds: &dyn Fn(u8) -> Option<&'static str>,
    ) -> Result<Self, Error> {
        let mut out = NpkitDump::default();
        let value = |name: String| -> Option<f64> {
            let bytes = files.iter().find(|(key, _)| key.rsplit('/').next() == Some(&name))?.1;
            std::str::from_utf8(bytes).ok()?.trim().parse().ok().filter(|v: &f64| *v > 0.0)
        };
        for (name, bytes) in files {
            let Some((cpu, rank, lane)) = place(name) else { continue };
            out.files += 1;
            let gpu_khz = value(format!("gpu_clock_rate_rank_{rank}"));
            let period = value(format!("cpu_clock_period_num_rank_{rank}"))
                .zip(value(format!("cpu_clock_period_den_rank_{rank}")));
            let (Some(gpu_khz), Some((num, den))) = (gpu_khz, period) else {
                let what = format!("`{name}` has no clock rate beside it");
                return Err(Error::Broken { kind: "NPKit dump", offset: 0, what });
            };
            // Microseconds of a tick.
            let cpu_us = num / den * 1e6;
            out.lane(&events(bytes), (cpu, rank, lane), (cpu_us, 1e3 / gpu_khz), kinds);
        }
        Ok(out)
    }

    fn lane(
        &mut self,
        events: &[NpkitEvent],
        (cpu, rank, lane): (bool, u32, u32),
        (cpu_us, gpu_us): (f64, f64),
        kinds: &dyn Fn(u8) -> Option<&'static str>,
    ) {
        let (mut base_cpu, mut base_gpu) = (None, None);
        let mut open: BTreeMap<(String, u32), (f64, u32)> = BTreeMap::new();
        for event in events {
            let Some(name) = kinds(event.kind) else { continue };
            if name == SYNC_CPU {
                // The first of a lane ties the clocks.
                base_cpu.get_or_insert(event.time as f64 * cpu_us);
                continue;
            }
            if name == SYNC_GPU {
                base_gpu.get_or_insert(event.time as f64);
                continue;
            }
            let time = if cpu {
                event.time as f64 * cpu_us
            } else {
                base_cpu.unwrap_or(0.0) + (event.time as f64 - base_gpu.unwrap_or(0.0)) * gpu_us
            };
            // On the CPU several slots of a channel can be in flight at the same time.
            let slot = if cpu { event.slot } else { 0 };
            if let Some(kind) = name.strip_suffix("_ENTRY") {
                self.unpaired +=
                    u64::from(open.insert((kind.to_owned(), slot), (time, event.bytes)).is_some());
            } else if let Some(kind) = name.strip_suffix("_EXIT") {
                match open.remove(&(kind.to_owned(), slot)) {
                    Some((start_us, bytes)) => self.spans.push(NpkitSpan {
                        rank,
                        lane,
                        cpu,
                        kind: kind.to_owned(),
                        bytes: if event.bytes > 0 { event.bytes } else { bytes },
                        start_us,
                        end_us: time,
                    }),
                    None => self.unpaired += 1,
                }
            }
        }
        self.unpaired += open.len() as u64;
    }
}
