//! The occupancy calculator.

use analysis::workload::unknown_gpu;
use arch::{Limiter, Model, Resources, Target};
use view::{
    Answer, BoundaryRow, BoundaryTable, OCCUPANCY_SCHEMA, OccupancyCard, OccupancyInputs, OccupancyReport,
    OccupancyStep, ResourceLimit, UsageError,
};

/// A target by its own name or by a GPU's.
fn target(name: &str) -> Result<&'static Target, UsageError> {
    let lower = name.to_ascii_lowercase();
    let processor = lower.split(':').next().unwrap_or_default();
    let by_target = Target::by_name(processor);
    by_target.or_else(|| Model::by_name(&lower).map(Model::target)).ok_or_else(|| unknown_gpu(name))
}

/// Waves that fit with these resources, on a target or GPU by its name.
pub fn occupancy(gpu: &str, inputs: OccupancyInputs) -> Result<Answer<OccupancyReport>, UsageError> {
    let target = target(gpu)?;
    let resources = Resources {
        vgprs: inputs.vgprs,
        agprs: inputs.agprs,
        sgprs: inputs.sgprs,
        lds_bytes: inputs.lds_bytes,
        waves_per_workgroup: inputs.waves_per_workgroup,
    };
    let occupancy = arch::occupancy(target, &resources);
    let waves = f64::from(inputs.waves_per_workgroup);
    let waves_of = |workgroups: u32| f64::from(workgroups) * waves / f64::from(target.simds_per_cu.value);
    let most = f64::from(occupancy.max_waves_per_simd);
    let boundaries = [Limiter::Vgpr, Limiter::Agpr, Limiter::Sgpr, Limiter::Lds]
        .into_iter()
        .filter_map(|resource| {
            let used = occupancy.limits.iter().find(|limit| limit.resource == resource)?.used;
            let steps = arch::boundaries(target, &resources, resource);
            // Most waves come first, so the first step that holds what is used is the kernel's.
            let current = steps.iter().position(|step| used <= step.at_most);
            let rows: Vec<BoundaryRow> = steps
                .iter()
                .enumerate()
                .map(|(index, step)| BoundaryRow {
                    waves_per_simd: step.waves_per_simd,
                    at_most: step.at_most,
                    here: current == Some(index),
                })
                .collect();
            (!rows.is_empty()).then(|| BoundaryTable {
                resource: resource.name().to_owned(),
                unit: resource.unit().to_owned(),
                rows,
            })
        })
        .collect();
    let report = OccupancyReport {
        target: target.name.to_owned(),
        resources: inputs,
        result: OccupancyCard {
            waves_per_simd: occupancy.waves_per_simd,
            waves_per_cu: occupancy.waves_per_cu,
            max_waves_per_simd: occupancy.max_waves_per_simd,
            limiter: occupancy.limiter.name().to_owned(),
            assumptions: Vec::new(),
            reasons: analysis::occupancy_reasons(target, &resources, &occupancy),
            next: occupancy
                .next
                .iter()
                .filter(|step| step.waves_per_simd > occupancy.waves_per_simd)
                .map(step)
                .collect(),
            together: occupancy.together.iter().map(step).collect(),
        },
        limits: occupancy
            .limits
            .iter()
            .map(|limit| ResourceLimit {
                resource: limit.resource.name().to_owned(),
                waves_per_simd: waves_of(limit.workgroups).min(most),
            })
            .collect(),
        boundaries,
    };
    Ok(Answer::new(OCCUPANCY_SCHEMA, report))
}

fn step(step: &arch::Step) -> OccupancyStep {
    OccupancyStep {
        resource: step.resource.name().to_owned(),
        shed: step.shed,
        unit: step.resource.unit().to_owned(),
        waves_per_simd: step.waves_per_simd,
    }
}
