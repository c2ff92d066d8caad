//! `rockhound occupancy`: the calculator.

use crate::args::{Look, Occupancy};
use crate::exit::Outcome;
use crate::{output, terminal};
use anyhow::Result;
use render::{json, text};
use view::{Format, OccupancyInputs};

/// Answers for the resources given.
pub(crate) fn run(args: &Occupancy, look: &Look) -> Result<Outcome> {
    let inputs = OccupancyInputs {
        vgprs: args.vgpr,
        agprs: args.agpr,
        sgprs: args.sgpr,
        lds_bytes: args.lds,
        waves_per_workgroup: args.waves,
    };
    let report = study::occupancy(&args.arch, inputs)?;
    output::print(&match args.format {
        Format::Json => json::occupancy(&report),
        _ => text::occupancy(&report, &terminal::style(look, false)),
    })?;
    Ok(Outcome::Fine)
}
