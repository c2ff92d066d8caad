//! What limits how many waves are resident: the facts of a target behind its occupancy.
//!
//! Targets with data files have them among their other facts. For more targets only these are known; they are
//! rows of `data/residency.tsv`.

use crate::Target;

/// Limits of a compute unit, or of a work-group processor where two compute units share their LDS.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Residency {
    /// SIMDs.
    pub simds_per_cu: u32,
    /// Wave slots per SIMD.
    pub waves_per_simd: u32,
    /// Most waves one workgroup may have.
    pub waves_per_workgroup: u32,
    /// Workgroups of more than one wave that can be resident.
    pub barrier_slots: u32,
    /// Lanes per wave.
    pub lanes_per_wave: u32,
    /// VGPRs and AGPRs share one file.
    pub unified: bool,
    /// Vector registers per lane and SIMD.
    pub vgprs_per_lane: u32,
    /// Step in which vector registers are allocated.
    pub vgpr_granule: u32,
    /// VGPRs one wave can address.
    pub vgprs_addressable: u32,
    /// AGPRs one wave can address; 0 if there are none.
    pub agprs_addressable: u32,
    /// Step at which AGPRs may begin in a unified file.
    pub accum_offset_granule: u32,
    /// Scalar registers per SIMD; `None` if each wave always has all it can address.
    pub sgprs_per_simd: Option<u32>,
    /// Step in which scalar registers are allocated.
    pub sgpr_granule: u32,
    /// Scalar registers a wave can have, reserved ones included.
    pub sgprs_addressable: u32,
    /// LDS, bytes.
    pub lds_bytes: u32,
    /// Most LDS one workgroup may use.
    pub lds_bytes_per_workgroup: u32,
    /// Step in which LDS is allocated.
    pub lds_granule: u32,
}

/// Largest workgroup, work-items.
const LARGEST_WORKGROUP: u32 = 1024;

impl From<&Target> for Residency {
    fn from(target: &Target) -> Self {
        let registers = &target.registers;
        Residency {
            simds_per_cu: target.simds_per_cu.value,
            waves_per_simd: target.waves_per_simd.value,
            waves_per_workgroup: target.waves_per_workgroup.value,
            barrier_slots: target.barrier_slots_per_cu.value,
            lanes_per_wave: target.lanes_per_wave.value,
            unified: registers.unified.value,
            vgprs_per_lane: registers.vgprs_per_lane.value,
            vgpr_granule: registers.vgpr_granule.value,
            vgprs_addressable: registers.vgprs_addressable.value,
            agprs_addressable: registers.agprs_addressable.value,
            accum_offset_granule: registers.accum_offset_granule.value().unwrap_or(1),
            sgprs_per_simd: Some(registers.sgprs_per_simd.value),
            sgpr_granule: registers.sgpr_granule.value,
            sgprs_addressable: registers.sgprs_addressable.value + registers.sgprs_reserved.value,
            lds_bytes: target.lds.bytes_per_cu.value,
            lds_bytes_per_workgroup: target.lds.bytes_per_workgroup.value,
            lds_granule: target.lds.granule.value,
        }
    }
}

impl Residency {
    /// The limits for code of a processor, features aside, in waves of `lanes` if the processor has several
    /// kinds of waves.
    pub fn of_code(processor: &str, lanes: Option<u32>) -> Option<Residency> {
        let processor = processor.split(':').next().unwrap_or(processor);
        if let Some(target) = Target::of_code(processor) {
            return Some(target.into());
        }
        let cells = rows().find(|cells| cells.first() == Some(&processor))?;
        let number = |at: usize| cells.get(at)?.parse::<u32>().ok();
        let own = number(3)?;
        let lanes = lanes.filter(|it| own == 32 && *it == 64).unwrap_or(own);
        // A register of a wave of 64 takes two of a wave of 32.
        let scale = lanes / own;
        Some(Residency {
            simds_per_cu: number(1)?,
            waves_per_simd: number(2)?,
            waves_per_workgroup: LARGEST_WORKGROUP / lanes,
            barrier_slots: number(11)?,
            lanes_per_wave: lanes,
            unified: false,
            vgprs_per_lane: number(4)? / scale,
            vgpr_granule: number(5)? / scale,
            vgprs_addressable: number(6)?,
            agprs_addressable: 0,
            accum_offset_granule: 1,
            sgprs_per_simd: number(7).filter(|it| *it > 0),
            sgpr_granule: 16,
            // Those a program can name, and VCC, flat-scratch base and XNACK mask.
            sgprs_addressable: 108,
            lds_bytes: number(8)?,
            lds_bytes_per_workgroup: number(9)?,
            lds_granule: number(10)?,
        })
    }

    /// True if the limits are of a work-group processor: two compute units.
    pub fn is_of_two_compute_units(&self) -> bool {
        self.lds_bytes > self.lds_bytes_per_workgroup
    }
}

/// Targets of which only the residency is known.
pub fn residency_targets() -> impl Iterator<Item = &'static str> {
    rows().filter_map(|cells| cells.first().copied())
}

fn rows() -> impl Iterator<Item = Vec<&'static str>> {
    let lines = include_str!("../data/residency.tsv").lines().filter(|line| !line.starts_with('#')).skip(1);
    lines.map(|line| line.split('\t').collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Resources, occupancy};

    #[test]
    fn every_row_is_whole_and_no_target_is_listed_twice() {
        let mut names: Vec<&str> = residency_targets().collect();
        assert!(names.iter().all(|name| Residency::of_code(name, None).is_some()));
        assert!(names.iter().all(|name| Target::by_name(name).is_none()));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn waves_as_llvm_counts_them() {
        // Target, lanes, VGPRs, LDS of a workgroup of four waves, waves per SIMD that LLVM 22 prints.
        for (target, lanes, vgprs, lds_bytes, expected) in [
            ("gfx906", 64, 48, 0, 5.0),
            ("gfx906", 64, 8, 32768, 2.0),
            ("gfx1030", 32, 97, 0, 9.0),
            ("gfx1030", 64, 97, 0, 4.0),
            ("gfx1100", 32, 97, 0, 12.0),
            ("gfx1100", 32, 8, 32768, 4.0),
            ("gfx1102", 32, 97, 0, 9.0),
            ("gfx1250:xnack-", 32, 129, 0, 7.0),
            ("gfx1250", 32, 8, 65536, 5.0),
        ] {
            let residency = Residency::of_code(target, Some(lanes)).unwrap();
            let asked = Resources { vgprs, agprs: 0, sgprs: 16, lds_bytes, waves_per_workgroup: 4 };
            let found = occupancy(residency, &asked);
            assert_eq!(found.waves_per_simd, expected, "{target} {lanes} {vgprs} {lds_bytes}");
        }
        assert_eq!(Residency::of_code("gfx700", None), None);
    }
}
