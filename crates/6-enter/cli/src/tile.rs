//! `rockhound tile`: the cost of a tile size for a matrix product.

use crate::answer::{self, DECIMALS, Target};
use crate::args::{Look, Tile};
use crate::exit::Outcome;
use crate::gate;
use anyhow::Result;
use study::Judges;
use study::TileQuestion;

/// Answers.
pub(crate) fn run(args: &Tile, look: &Look) -> Result<Outcome> {
    let mut gated = gate::open("tile", Judges::Launches, &args.fail_on, &args.memory)?;
    let target = Target { format: args.format, output: args.output.as_deref(), decimals: DECIMALS, look };
    let question = TileQuestion {
        gpu: &args.gpu,
        dtype: &args.dtype,
        scales: args.scales.as_deref(),
        layout: &args.layout,
        mnk: &args.mnk,
        sweep: args.sweep.as_deref(),
        left_stride: args.lda,
        right_stride: args.ldb,
        tile: args.tile,
        stages: args.stages,
        waves: args.num_warps,
        split_k: args.split_k,
        top: args.top,
        workgroup_mapping: args.wgm,
        remaps_xcds: args.xcd_remap.then_some(true),
    };
    answer::finish(&mut study::tile(&question)?, &target, &mut gated)
}
