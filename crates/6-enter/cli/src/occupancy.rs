//! `rockhound occupancy`: the calculator.

use crate::args::{Look, Occupancy};
use crate::exit::{Outcome, usage};
use crate::{output, terminal};
use anyhow::Result;
use arch::{Limiter, Model, Resources, Target};
use render::{json, text};
use view::{
    BoundaryRow, BoundaryTable, Format, OCCUPANCY_SCHEMA, OccupancyCard, OccupancyInputs, OccupancyReport,
    OccupancyStep, ResourceLimit,
};

/// Answers for the resources given.
pub(crate) fn run(args: &Occupancy, look: &Look) -> Result<Outcome> {
    let target = target(&args.arch)?;
    let inputs = OccupancyInputs {
        vgprs: args.vgpr,
        agprs: args.agpr,
        sgprs: args.sgpr,
        lds_bytes: args.lds,
        waves_per_workgroup: args.waves,
    };
    let report = report(target, inputs);
    output::print(&match args.format {
        Format::Json => json::occupancy(&report),
        _ => text::occupancy(&report, &terminal::style(look, false)),
    })?;
    Ok(Outcome::Fine)
}

/// A target by its own name or by a GPU's.
fn target(name: &str) -> Result<&'static Target> {
    let lower = name.to_ascii_lowercase();
    let processor = lower.split(':').next().unwrap_or_default();
    if let Some(target) = Target::by_name(processor) {
        return Ok(target);
    }
    Model::by_name(&lower).map(Model::target).ok_or_else(|| {
        let names: Vec<&str> = Target::names().chain(Model::names()).collect();
        usage(format!("there are no facts about `{name}`"), format!("known are {}", names.join(", ")))
    })
}

fn report(target: &'static Target, inputs: OccupancyInputs) -> OccupancyReport {
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
    OccupancyReport {
        schema: OCCUPANCY_SCHEMA,
        target: target.name.to_owned(),
        inputs,
        result: OccupancyCard {
            waves_per_simd: occupancy.waves_per_simd,
            waves_per_cu: occupancy.waves_per_cu,
            max_waves_per_simd: occupancy.max_waves_per_simd,
            limiter: occupancy.limiter.name().to_owned(),
            assumptions: Vec::new(),
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
    }
}

fn step(step: &arch::Step) -> OccupancyStep {
    OccupancyStep {
        resource: step.resource.name().to_owned(),
        shed: step.shed,
        unit: step.resource.unit().to_owned(),
        waves_per_simd: step.waves_per_simd,
    }
}
