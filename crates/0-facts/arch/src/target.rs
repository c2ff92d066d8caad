//! A gfx target: limits, sizes and rates that all GPUs of the target share.
//!
//! The fields are the data file's keys; a target is parsed at the first request, and its matrix table
//! separately at its first request.

use crate::caches::{
    Atomics, InstructionCache, L2, Latency, MemoryMap, MemorySideCache, ScalarCache, Translation, VectorL1,
};
use crate::element::ElementType;
use crate::fact::{Basis, Fact, Known};
use crate::launch::LaunchCosts;
use crate::matrix::{MatrixShape, MatrixTable};
use crate::overlay;
use crate::rate::{PeakRate, Rates, Unit};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// One gfx target.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Processor name. Filled in from the file's name.
    #[serde(skip)]
    pub name: &'static str,
    /// Architecture generation: `CDNA 3`.
    pub generation: String,
    /// Compute units on a die; the model says how many are active.
    pub compute_units_built_per_xcd: Fact<u32>,
    /// SIMDs per compute unit.
    pub simds_per_cu: Fact<u32>,
    /// Lanes per wave.
    pub lanes_per_wave: Fact<u32>,
    /// Wave slots per SIMD.
    pub waves_per_simd: Fact<u32>,
    /// Most waves one workgroup may have.
    pub waves_per_workgroup: Fact<u32>,
    /// Workgroups of more than one wave that can be resident per compute unit.
    pub barrier_slots_per_cu: Fact<u32>,
    /// Workgroups of any size per compute unit.
    pub workgroups_per_cu: Known<u32>,
    /// Register files.
    pub registers: Registers,
    /// Local data share.
    pub lds: Lds,
    /// Vector L1 cache.
    pub vector_l1: VectorL1,
    /// Scalar data cache.
    pub scalar_cache: ScalarCache,
    /// Instruction cache.
    pub instruction_cache: InstructionCache,
    /// Address translation.
    pub translation: Translation,
    /// L2 cache.
    pub l2: L2,
    /// Memory-side cache.
    pub memory_side_cache: MemorySideCache,
    /// Address mapping of device memory.
    pub memory_map: MemoryMap,
    /// How long atomics take.
    pub atomics: Atomics,
    /// How long loads take.
    pub latency: Latency,
    /// Costs of launches besides the dispatch.
    pub launch: LaunchCosts,
    /// Cycles between two waves of a workgroup that a shader engine starts.
    pub wave_start_cycles: Fact<u32>,
    /// Additional cycles between the last wave of a workgroup and the first of the next.
    pub workgroup_start_cycles: Fact<u32>,
    /// True if there are instructions that load images; without them runtimes have no arrays and textures.
    pub image_instructions: Fact<bool>,
    /// With `HSA_XNACK=1` accesses that fault are retried, so that kernels reach all memory of the process.
    pub retries_page_faults: Fact<bool>,
    /// Cycles per issue cost class.
    pub issue: IssueCosts,
    /// Cycles that an instruction of 8 bytes waits for its second half when it crosses a multiple of 8 bytes.
    pub split_fetch_cycles: Known<u32>,
    /// Packed f32 instructions and matrix instructions of a SIMD overlap.
    pub packed_f32_beside_matrix: Known<bool>,
    /// Peak rates by unit and element type.
    peak: Rates,
}

struct Entry {
    name: &'static str,
    /// Data files, each laid over the one before.
    files: &'static [&'static str],
    matrix_file: &'static str,
    parsed: OnceLock<Target>,
    matrix: OnceLock<MatrixTable>,
}

macro_rules! targets {
    ($($name:literal: $($file:literal),+; $matrix:literal),* $(,)?) => {
        static TARGETS: [Entry; [$($name),*].len()] = [$(Entry {
            name: $name,
            files: &[$(include_str!(concat!("../data/targets/", $file, ".toml"))),+],
            matrix_file: include_str!(concat!("../data/matrix/", $matrix, ".toml")),
            parsed: OnceLock::new(),
            matrix: OnceLock::new(),
        }),*];
    };
}

// Name: data files from the general to the particular; matrix table. The first two of the third generation
// differ from the one sold in no fact listed here.
targets!(
    "gfx908": "cdna", "gfx908"; "gfx908",
    "gfx90a": "cdna", "gfx90a"; "gfx90a",
    "gfx940": "cdna", "gfx942"; "gfx942",
    "gfx941": "cdna", "gfx942"; "gfx942",
    "gfx942": "cdna", "gfx942"; "gfx942",
    "gfx950": "cdna", "gfx950"; "gfx950",
);

impl Entry {
    fn target(&'static self) -> &'static Target {
        self.parsed.get_or_init(|| {
            let mut target: Target = overlay::parse(self.files).expect("validated by a test");
            target.name = self.name;
            target
        })
    }
}

impl Target {
    /// A target by its processor name; features after a colon (`gfx90a:xnack-`) are ignored.
    pub fn by_name(name: &str) -> Option<&'static Target> {
        let processor = name.split(':').next().unwrap_or(name);
        TARGETS.iter().find(|entry| entry.name == processor).map(Entry::target)
    }

    /// Names of all targets with facts here.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TARGETS.iter().map(|entry| entry.name)
    }

    /// Wave slots per compute unit.
    pub fn waves_per_cu(&self) -> u32 {
        self.waves_per_simd.value * self.simds_per_cu.value
    }

    /// Scalar caches of an XCD, unused compute units included.
    pub fn scalar_caches_per_xcd(&self) -> u32 {
        self.compute_units_built_per_xcd.value / self.scalar_cache.compute_units.value
    }

    /// Operations per compute unit and cycle.
    pub fn peak(&self, unit: Unit, element: ElementType) -> Option<&Fact<u32>> {
        self.peak.get(&unit)?.get(&element)
    }

    /// All peak rates.
    pub fn peaks(&self) -> impl Iterator<Item = PeakRate<'_>> {
        self.peak.iter().flat_map(|(unit, rates)| {
            rates.iter().map(|(element, rate)| PeakRate { unit: *unit, element: *element, rate })
        })
    }

    /// Matrix instructions with their cycles.
    pub fn matrix_shapes(&self) -> &'static [MatrixShape] {
        &self.matrix_table().shapes
    }

    /// Source of the cycles of [`Target::matrix_shapes`].
    pub fn matrix_basis(&self) -> Basis {
        self.matrix_table().basis
    }

    /// A matrix instruction by its mnemonic, without encoding suffix.
    pub fn matrix_shape(&self, mnemonic: &str) -> Option<&'static MatrixShape> {
        self.matrix_shapes().iter().find(|shape| shape.mnemonic == mnemonic)
    }

    fn matrix_table(&self) -> &'static MatrixTable {
        let entry =
            TARGETS.iter().find(|entry| entry.name == self.name).expect("a target comes from the table");
        entry.matrix.get_or_init(|| MatrixTable::parse(entry.matrix_file).expect("validated by a test"))
    }
}

/// Register files and their allocation granules.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registers {
    /// VGPRs and AGPRs share one file.
    pub unified: Fact<bool>,
    /// Registers per lane and SIMD in the file (in each file if two exist).
    pub vgprs_per_lane: Fact<u32>,
    /// VGPRs one wave can address.
    pub vgprs_addressable: Fact<u32>,
    /// AGPRs one wave can address.
    pub agprs_addressable: Fact<u32>,
    /// Step in which registers are allocated.
    pub vgpr_granule: Fact<u32>,
    /// Step at which AGPRs may begin in a unified file.
    pub accum_offset_granule: Known<u32>,
    /// Scalar registers per SIMD.
    pub sgprs_per_simd: Fact<u32>,
    /// Scalar registers a wave can address, VCC not counted.
    pub sgprs_addressable: Fact<u32>,
    /// Scalar registers above them that are allocated too.
    pub sgprs_reserved: Fact<u32>,
    /// Step in which scalar registers are allocated.
    pub sgpr_granule: Fact<u32>,
}

/// Local data share of a compute unit.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lds {
    /// Size.
    pub bytes_per_cu: Fact<u32>,
    /// Most one workgroup may use.
    pub bytes_per_workgroup: Fact<u32>,
    /// Allocation granule, bytes.
    pub granule: Fact<u32>,
    /// Banks.
    pub banks: Fact<u32>,
    /// Width of a bank.
    pub bank_bytes: Fact<u32>,
    /// Peak bandwidth of a compute unit.
    pub bytes_per_cycle: Known<u32>,
    /// Peak bandwidth of one SIMD.
    pub bytes_per_simd_cycle: Known<u32>,
}

/// Cycles a wave instruction occupies its unit, by cost class.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub struct IssueCosts(BTreeMap<String, Known<u32>>);

impl IssueCosts {
    /// Cycles of a class, by the class's name; an unknown class has no cost either.
    pub fn cycles(&self, class: &str) -> Option<u32> {
        self.0.get(class).and_then(Known::value)
    }

    /// All classes with their facts.
    pub fn classes(&self) -> impl Iterator<Item = (&str, &Known<u32>)> {
        self.0.iter().map(|(name, cost)| (name.as_str(), cost))
    }
}
