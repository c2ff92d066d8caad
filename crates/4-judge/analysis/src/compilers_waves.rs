//! Occupancy beside the compiler's calculation of it.

use crate::built::Built;
use crate::{KernelEvidence, resources};
use arch::{Occupancy, Resources, Target};

/// Waves of usual workgroups, largest first: compilers assume the largest workgroup that is allowed.
const USUAL_WAVES: [u32; 5] = [16, 8, 4, 2, 1];

impl<'a> KernelEvidence<'a> {
    /// Takes a compiler's messages as evidence. The kernel has no code, and that is expected.
    ///
    /// The messages name no workgroup size. With LDS the occupancy depends on it, so it is the one with which
    /// the compiler's calculation gives the compiler's result.
    pub fn add_built(&mut self, built: &'a Built) {
        self.built = Some(built);
        self.warnings.clear();
        self.assumptions.splice(0..0, built.assumptions.iter().cloned());
        let (Some(target), Some(printed)) = (self.target, built.said.waves_per_simd) else { return };
        let Some(mut asked) = resources::asked(self.kernel, &self.resources) else { return };
        if self.resources.waves_per_workgroup.is_some() || asked.lds_bytes == 0 {
            return;
        }
        let like_compiler = |waves: &u32| {
            let asked = Resources { waves_per_workgroup: *waves, ..asked };
            compilers_waves(target, &asked) == printed
        };
        let Some(waves) = USUAL_WAVES.into_iter().find(like_compiler) else { return };
        asked.waves_per_workgroup = waves;
        self.resources.waves_per_workgroup = Some(waves);
        self.occupancy = Some(arch::occupancy(target, &asked));
        self.assumptions.retain(|it| it != resources::ONE_WAVE);
        self.assumptions.push(format!(
            "workgroups of {} work-items, the size that gives the compiler's {printed} waves",
            waves * target.lanes_per_wave.value
        ));
    }

    /// Reasons for an occupancy that other tools print differently.
    pub fn occupancy_reasons(&self) -> Vec<String> {
        let asked = resources::asked(self.kernel, &self.resources);
        let (Some(target), Some(asked), Some(occupancy)) = (self.target, asked, &self.occupancy) else {
            return Vec::new();
        };
        let mut reasons = occupancy_reasons(target, &asked, occupancy);
        let printed = self.built.and_then(|built| built.said.waves_per_simd);
        // The compiler rounds up.
        if let Some(printed) = printed.filter(|it| f64::from(*it) != occupancy.waves_per_simd.ceil())
            && reasons.is_empty()
        {
            reasons.push(if self.resources.waves_per_workgroup.is_none() {
                format!("the compiler printed {printed}, for a workgroup size that the log does not name")
            } else {
                format!(
                    "the compiler printed {printed}: it counts registers by waves, not by whole workgroups"
                )
            });
        }
        reasons
    }
}

/// Reasons for an occupancy that other tools print differently: the rounding of LDS.
pub fn occupancy_reasons(target: &Target, asked: &Resources, occupancy: &Occupancy) -> Vec<String> {
    let Some(it) = arch::lds_rounding(target, asked, occupancy) else { return Vec::new() };
    vec![format!(
        "LDS is allocated in steps of {} B: {} B take {} B, so {} workgroups fit a compute unit and not {}; \
         LLVM before version 23 does not round and prints {} waves per SIMD",
        it.granule,
        it.used,
        it.allocated,
        it.workgroups,
        it.unrounded,
        it.unrounded_waves_per_simd.ceil()
    )]
}

/// Waves per SIMD as LLVM calculates them: LDS without its granule, registers by waves, results rounded up.
fn compilers_waves(target: &Target, asked: &Resources) -> u32 {
    let simds = target.simds_per_cu.value;
    let workgroups = target.lds.bytes_per_cu.value.checked_div(asked.lds_bytes).unwrap_or(u32::MAX);
    let by_lds = workgroups.saturating_mul(asked.waves_per_workgroup).div_ceil(simds);
    let registers = Resources { lds_bytes: 0, waves_per_workgroup: 1, ..*asked };
    let by_registers = arch::occupancy(target, &registers).waves_per_simd.ceil();
    by_lds.min(by_registers as u32).max(1)
}
