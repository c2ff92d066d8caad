//! Lower bound of a dispatch's time, from counts alone.
//!
//! Each part of the GPU needs time for its share of the work. The slowest part sets the time, after the
//! latency of the first load.

use arch::Model;
use mem::{Count, Tally};

/// Work of a dispatch for the compute units.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Work {
    /// Waves.
    pub waves: u64,
    /// Waves of this kernel that fit on a compute unit.
    pub waves_per_unit: u32,
    /// Workgroups.
    pub groups: u64,
    /// SIMD cycles of vector and matrix instructions, over all waves.
    pub vector_cycles: u64,
    /// LDS cycles, over all waves.
    pub lds_cycles: u64,
    /// Tag look-ups of the vector L1.
    pub lookups: u64,
    /// Vector and scalar loads.
    pub loads: u64,
    /// Scalar loads.
    pub scalar_loads: u64,
    /// Waits for memory, over all waves.
    pub waits: u64,
}

/// A part of the GPU that can limit a dispatch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Limit {
    /// Wave starts of the shader engines.
    Dispatch,
    /// Vector and matrix instructions of the busiest SIMDs.
    Vector,
    /// LDS.
    Lds,
    /// Look-ups of the vector L1.
    L1,
    /// The busiest channel of the L2.
    L2,
    /// Device memory.
    Memory,
    /// Latency of loads, with as many waves as fit on the GPU.
    Latency,
}

impl Limit {
    /// All, in the order that breaks ties.
    pub const ALL: [Limit; 7] =
        [Limit::Dispatch, Limit::Vector, Limit::Lds, Limit::L1, Limit::L2, Limit::Memory, Limit::Latency];

    /// Name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Limit::Dispatch => "starting waves",
            Limit::Vector => "vector and matrix instructions",
            Limit::Lds => "LDS",
            Limit::L1 => "vector L1",
            Limit::L2 => "L2",
            Limit::Memory => "device memory",
            Limit::Latency => "waiting for data",
        }
    }
}

/// Estimated time of a dispatch.
#[derive(Clone, PartialEq, Debug)]
pub struct Estimate {
    /// Cycles of each part, in the order of [`Limit::ALL`].
    pub limits: [f64; 7],
    /// Cycles before the first data arrives.
    pub start: f64,
    /// Cycles of the dispatch.
    pub cycles: f64,
    /// Nanoseconds of the dispatch, at the highest engine clock.
    pub nanoseconds: f64,
    /// Compute units with waves.
    pub units: u64,
    /// Resident waves of a full GPU.
    pub resident: u64,
}

impl Estimate {
    /// The slowest part.
    pub fn limit(&self) -> Limit {
        let most = self.limits.iter().copied().fold(0.0, f64::max);
        let at = self.limits.iter().position(|&cycles| cycles == most).unwrap_or(0);
        Limit::ALL[at]
    }
}

/// Estimates the time of a dispatch; `None` for a GPU without measured memory bandwidth.
pub fn estimate(model: &Model, work: &Work, tally: &Tally) -> Option<Estimate> {
    let target = model.target();
    let latency = &target.latency;
    let bandwidth = model.hbm.read_gb_per_s.value()?;
    let engine = f64::from(model.running_mhz()) * 1e6;
    let all = u64::from(model.compute_units.value);
    // Workgroups are dispatched round robin, so the busiest unit has at most one more than the average.
    let units = work.groups.clamp(1, all);
    let busiest = work.groups.max(1).div_ceil(units) as f64 / work.groups.max(1) as f64;
    let waves_per_group = work.waves.max(1).div_ceil(work.groups.max(1));
    let simds = waves_per_group.clamp(1, u64::from(target.simds_per_cu.value));
    // One-wave workgroups of a compute unit run on different SIMDs.
    let on_unit = work.waves.max(1).div_ceil(units).min(u64::from(target.simds_per_cu.value)).max(simds);
    let vector = work.vector_cycles as f64 * busiest / on_unit as f64;
    let lds = work.lds_cycles as f64 * busiest;
    let l1 = work.lookups as f64 * busiest;
    let channel = |number| {
        [Count::L2Read, Count::L2Write, Count::L2Atomic]
            .map(|count| tally.of_channel(count, number))
            .iter()
            .sum::<u64>()
    };
    let l2 = (0..tally.channels()).map(channel).max().unwrap_or(0) as f64;
    let bytes = [
        (Count::FabricRead32, 32),
        (Count::FabricRead64, 64),
        (Count::FabricRead128, 128),
        (Count::FabricWrite32, 32),
        (Count::FabricWrite64, 64),
    ]
    .map(|(count, bytes)| tally.get(count) * bytes)
    .iter()
    .sum::<u64>();
    let memory = bytes as f64 / (bandwidth * 1e9) * engine;

    // Average latency of a load, weighted by where loads hit.
    let share = |part: u64, whole: u64| if whole == 0 { 0.0 } else { (part as f64 / whole as f64).min(1.0) };
    let beyond_l1 = share(tally.get(Count::L1Read), work.lookups);
    let requests = tally.get(Count::L2Hit) + tally.get(Count::L2Miss);
    let beyond_l2 = share(tally.get(Count::L2Miss), requests);
    let [near, middle, far] = [&latency.l1, &latency.l2, &latency.hbm].map(|fact| f64::from(fact.value));
    let far = middle + (far - middle) * model.engine_share();
    let vector_wait = near + beyond_l1 * ((middle - near) + beyond_l2 * (far - middle));
    let scalar_wait = near;
    let scalar = share(work.scalar_loads, work.loads + work.scalar_loads);
    let wait = scalar * scalar_wait + (1.0 - scalar) * vector_wait;
    let resident = (u64::from(work.waves_per_unit.max(1)) * units).min(work.waves.max(1));
    let waiting = work.waits as f64 * wait / resident as f64;

    let engines = f64::from(model.shader_engines.value.max(1));
    let started = work.waves as f64 * f64::from(target.wave_start_cycles.value)
        + work.groups as f64 * f64::from(target.workgroup_start_cycles.value);
    let dispatch = started / engines;
    let limits = [dispatch, vector, lds, l1, l2, memory, waiting];
    let cold = |scalar: bool| {
        let fact = if scalar { &latency.scalar_cold_ns } else { &latency.vector_cold_ns };
        f64::from(fact.value) * 1e-9 * engine
    };
    let start =
        if work.scalar_loads > 0 { cold(true) } else { 0.0 } + if work.loads > 0 { cold(false) } else { 0.0 };
    let cycles = start + limits.iter().copied().fold(0.0, f64::max);
    Some(Estimate { limits, start, cycles, nanoseconds: cycles / engine * 1e9, units, resident })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> &'static Model {
        Model::by_name("mi210").unwrap()
    }

    #[test]
    fn the_slowest_part_sets_the_time() {
        let work = Work { waves: 6656, groups: 1664, waves_per_unit: 32, ..Work::default() };
        let most = |work: Work| estimate(model(), &work, &Tally::default()).unwrap();
        // 1000 instructions of 4 cycles per wave, on 416 SIMDs.
        let vector = most(Work { vector_cycles: 6656 * 4000, ..work });
        assert_eq!((vector.limit(), vector.cycles), (Limit::Vector, 6656.0 * 4000.0 / 416.0));
        assert_eq!(most(work).limit(), Limit::Dispatch);
        assert_eq!(most(Work { lds_cycles: 10_000_000, ..work }).limit(), Limit::Lds);
        assert_eq!(most(Work { lookups: 10_000_000, ..work }).limit(), Limit::L1);
        let waits = most(Work { waits: 6_656_000, loads: 65_536, ..work });
        assert_eq!((waits.limit(), waits.resident), (Limit::Latency, 3328));
        assert!(waits.start > 0.0);
    }

    #[test]
    fn few_waves_use_few_units() {
        let work = Work { waves: 4, groups: 4, waves_per_unit: 32, vector_cycles: 4000, ..Work::default() };
        let found = estimate(model(), &work, &Tally::default()).unwrap();
        assert_eq!((found.units, found.resident, found.cycles), (4, 4, 1000.0));
        let none = estimate(model(), &Work::default(), &Tally::default()).unwrap();
        assert_eq!(none.cycles, 0.0);
    }
}
