//! A GPU model: its unit counts, rates and partition modes.
//!
//! A model is one device as the runtime counts devices; a board of two dies is two of them.

use crate::element::ElementType;
use crate::fact::{Fact, Known};
use crate::overlay;
use crate::rate::Unit;
use crate::target::Target;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// One GPU model.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Name as sold: `Instinct MI300X`.
    pub name: String,
    /// Its gfx target.
    target: String,
    /// Devices of this kind on one board.
    pub devices_per_board: Fact<u32>,
    /// Active compute units.
    pub compute_units: Fact<u32>,
    /// Accelerator dies.
    pub xcds: Fact<u32>,
    /// Shader engines.
    pub shader_engines: Fact<u32>,
    /// Highest engine clock.
    pub engine_mhz: Fact<u32>,
    /// Engine clock sustained by long kernels on all compute units.
    pub sustained_mhz: Known<u32>,
    /// Engine clock sustained while the matrix units of all compute units work without a pause.
    pub matrix_mhz: Known<u32>,
    /// Engine clock sustained while the vector ALUs of all compute units do f64 work without a pause.
    pub f64_mhz: Known<u32>,
    /// The requested clock, see [`Model::at_engine_mhz`].
    #[serde(skip)]
    asked_mhz: Option<u32>,
    /// Highest memory clock.
    pub memory_mhz: Known<u32>,
    /// Peak bandwidth of the link to the host in one direction, 10^9 bytes per second.
    pub host_gb_per_s: Known<f64>,
    /// Device memory.
    pub hbm: Hbm,
    /// Cache on the memory side of the fabric.
    pub memory_side_cache: MemorySide,
    /// How the GPU can be divided.
    pub partitions: Partitions,
}

/// Device memory.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hbm {
    /// Size.
    pub gib: Fact<u32>,
    /// Peak bandwidth, 10^9 bytes per second.
    pub gb_per_s: Fact<f64>,
    /// Bandwidth that a stream of reads reaches, 10^9 bytes per second.
    pub read_gb_per_s: Known<f64>,
    /// Bandwidth of writes concurrent with reads, 10^9 bytes per second.
    pub write_gb_per_s: Known<f64>,
    /// Bandwidth that a stream of writes alone reaches, 10^9 bytes per second; absent where it was not measured.
    #[serde(default)]
    pub write_alone_gb_per_s: Option<Fact<f64>>,
    /// Channels.
    pub channels: Fact<u32>,
    /// Load-to-use latency in cycles, if it differs from the target's.
    pub latency: Option<Fact<u32>>,
}

/// Memory-side cache of the model.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemorySide {
    /// Size.
    pub bytes: Known<u32>,
    /// Bandwidth between all L2s and this cache, 10^9 bytes per second: reads, writes, and streams of both.
    #[serde(default)]
    pub gb_per_s: Option<Fact<[f64; 3]>>,
    /// Lines are spread over its sets as if by chance, not evenly; absent where they are even or nothing is known.
    #[serde(default)]
    pub scattered: Option<Fact<bool>>,
}

/// Partition modes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Partitions {
    /// Compute partition modes.
    pub compute: Known<Vec<ComputePartition>>,
    /// Memory partition modes: `NPS1` is one NUMA domain per socket.
    pub memory: Known<Vec<String>>,
}

/// One way to divide the compute units.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComputePartition {
    /// Mode: `SPX` is the whole GPU, `CPX` one logical GPU per XCD.
    pub mode: String,
    /// XCDs of one logical GPU.
    pub xcds: u32,
}

struct Entry {
    key: &'static str,
    file: &'static str,
    parsed: OnceLock<Model>,
}

macro_rules! models {
    ($($key:literal),* $(,)?) => {
        static MODELS: [Entry; [$($key),*].len()] = [$(Entry {
            key: $key,
            file: include_str!(concat!("../data/models/", $key, ".toml")),
            parsed: OnceLock::new(),
        }),*];
    };
}

models!("mi100", "mi210", "mi250", "mi250x", "mi300a", "mi300x", "mi325x", "mi350p", "mi350x", "mi355x");

/// GPUs without a model here, with their targets.
const PRODUCTS: &str = include_str!("../data/products.tsv");

fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_ascii_alphanumeric())
}

/// The target of a GPU by its name, even if the target is all that is known of the GPU.
pub fn target_of_product(name: &str) -> Option<&'static Target> {
    let of_word = |word: &str| {
        let rows = PRODUCTS.lines().filter(|line| !line.starts_with('#'));
        let mut rows = rows.filter_map(|line| line.split_once('\t'));
        let (_, target) = rows.find(|(product, _)| product.eq_ignore_ascii_case(word))?;
        Target::by_name(target)
    };
    Model::by_name(name).map(Model::target).or_else(|| words(name).find_map(of_word))
}

/// The lowest engine clock that can be requested, megahertz.
pub const LOWEST_MHZ: u32 = 100;

impl Model {
    /// A model by its short name in any case: `mi300x`, `MI300X`; `mi300x@1600` is one whose engine always
    /// runs at 1600 MHz, see [`Model::at_engine_mhz`].
    pub fn by_name(name: &str) -> Option<&'static Model> {
        let (name, clock) = name.split_once('@').map_or((name, None), |(name, clock)| (name, Some(clock)));
        let entry = |word: &str| MODELS.iter().find(|entry| entry.key.eq_ignore_ascii_case(word));
        // Recorded names have a stepping behind them, or the maker before: `MI300A_A1`, `AMD Instinct MI325X
        // OAM`.
        let mut words = words(name);
        let model = entry(name).or_else(|| words.find_map(entry)).map(Entry::get)?;
        match clock {
            None => Some(model),
            Some(clock) => model.at_engine_mhz(clock.parse().ok()?),
        }
    }

    /// Bytes of the cache before device memory: the memory-side cache, or the L2s of all XCDs. Buffers of this size
    /// that a benchmark rotates through find no lines.
    pub fn last_cache_bytes(&self) -> u64 {
        let l2 = u64::from(self.target().l2.bytes_per_xcd.value) * u64::from(self.xcds.value);
        self.memory_side_cache.bytes.get().map_or(l2, |it| u64::from(*it))
    }

    /// The same GPU with its engine always at one clock, in megahertz: from [`LOWEST_MHZ`] to the highest.
    /// Its memory keeps its own.
    pub fn at_engine_mhz(&'static self, mhz: u32) -> Option<&'static Model> {
        static CLOCKED: Mutex<BTreeMap<(&'static str, u32), &'static Model>> = Mutex::new(BTreeMap::new());
        if !(LOWEST_MHZ..=self.engine_mhz.value).contains(&mhz) {
            return None;
        }
        let mut clocked = CLOCKED.lock().unwrap_or_else(PoisonError::into_inner);
        Some(
            clocked
                .entry((&self.name, mhz))
                .or_insert_with(|| Box::leak(Box::new(Model { asked_mhz: Some(mhz), ..self.clone() }))),
        )
    }

    /// The same GPU at low load: at the highest clock, unless one was requested.
    pub fn lightly_used(&'static self) -> &'static Model {
        if self.asked_mhz.is_some() {
            self
        } else {
            self.at_engine_mhz(self.engine_mhz.value).unwrap_or(self)
        }
    }

    /// The engine clock, megahertz: the requested clock; otherwise the clock sustained in long kernels, or
    /// the highest if that is unknown.
    pub fn running_mhz(&self) -> u32 {
        self.asked_mhz.or(self.sustained_mhz.value()).unwrap_or(self.engine_mhz.value)
    }

    /// The engine clock sustained while all matrix units work, megahertz; `None` if it is unknown or a clock was
    /// requested.
    pub fn held_matrix_mhz(&self) -> Option<u32> {
        self.matrix_mhz.value().filter(|_| self.asked_mhz.is_none())
    }

    /// The engine clock sustained while all vector ALUs do f64 work, megahertz; `None` if it is unknown or a clock was
    /// requested.
    pub fn held_f64_mhz(&self) -> Option<u32> {
        self.f64_mhz.value().filter(|_| self.asked_mhz.is_none())
    }

    /// The running clock by the highest, at which latencies in cycles were measured.
    pub fn engine_share(&self) -> f64 {
        f64::from(self.running_mhz()) / f64::from(self.engine_mhz.value)
    }

    /// The name without the make: `MI300X`.
    pub fn short(&self) -> &str {
        self.name.rsplit(' ').next().unwrap_or(&self.name)
    }

    /// Name by which [`Model::by_name`] finds it: `mi300x`, `mi300x@1600`.
    pub fn key(&self) -> String {
        let name = self.short().to_ascii_lowercase();
        match self.asked_mhz {
            None => name,
            Some(mhz) => format!("{name}@{mhz}"),
        }
    }

    /// Short names of all models.
    pub fn names() -> impl Iterator<Item = &'static str> {
        MODELS.iter().map(|entry| entry.key)
    }

    /// Models of a target.
    pub fn of_target(target: &Target) -> impl Iterator<Item = &'static Model> {
        MODELS.iter().map(Entry::get).filter(|model| model.target == target.name)
    }

    /// The gfx target.
    pub fn target(&self) -> &'static Target {
        Target::by_name(&self.target).expect("validated by a test")
    }

    /// Compute units of one XCD.
    pub fn compute_units_per_xcd(&self) -> u32 {
        self.compute_units.value / self.xcds.value
    }

    /// Peak arithmetic rate at the highest engine clock, 10^12 operations per second.
    pub fn peak_tera_ops(&self, unit: Unit, element: ElementType) -> Option<f64> {
        let rate = self.target().peak(unit, element)?.value;
        Some(f64::from(self.compute_units.value) * f64::from(self.engine_mhz.value) * f64::from(rate) / 1e6)
    }
}

impl Entry {
    fn get(&self) -> &Model {
        self.parsed.get_or_init(|| overlay::parse(&[self.file]).expect("validated by a test"))
    }
}
