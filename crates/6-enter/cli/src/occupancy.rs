//! `rockhound occupancy`: the calculator.

use crate::answer::{self, DECIMALS, Target};
use crate::args::{Look, Occupancy};
use crate::exit::Outcome;
use anyhow::Result;
use view::OccupancyInputs;

/// Answers for the resources given.
pub(crate) fn run(args: &Occupancy, look: &Look) -> Result<Outcome> {
    let inputs = OccupancyInputs {
        vgprs: args.vgpr,
        agprs: args.agpr,
        sgprs: args.sgpr,
        lds_bytes: args.lds,
        waves_per_workgroup: args.waves,
    };
    let target = Target { format: args.format, output: None, decimals: DECIMALS, look };
    answer::finish(&mut study::occupancy(&args.arch, inputs)?, &target, &mut crate::gate::Gated::none())
}
