//! `rockhound tile`: the cost of a tile size for a matrix product.

use crate::answer::{self, DECIMALS, Target};
use crate::args::{Look, Tile};
use crate::exit::{Outcome, usage};
use crate::fail_on;
use anyhow::Result;
use arch::{ElementType, Model};
use gemm::{Operands, Problem};
use study::TileQuestion;

/// Largest M of a sweep without a list, as a power of two.
const SWEEP_TO: u32 = 13;

/// Answers.
pub(crate) fn run(args: &Tile, look: &Look) -> Result<Outcome> {
    let mut conditions = fail_on::parse(&args.fail_on)?;
    let target = Target { format: args.format, output: args.output.as_deref(), decimals: DECIMALS, look };
    answer::finish(&study::tile(&question(args)?), &target, &mut conditions)
}

fn question(args: &Tile) -> Result<TileQuestion> {
    let model = Model::by_name(&args.gpu).ok_or_else(|| usage(format!("no GPU `{}`", args.gpu), ""))?;
    let element = ElementType::by_name(&args.dtype).filter(|it| ElementType::FACTORS.contains(it));
    let Some(element) = element else {
        let known: Vec<&str> = ElementType::FACTORS.iter().map(|it| it.name()).collect();
        return Err(usage(format!("no type `{}`", args.dtype), format!("known are {}", known.join(", "))));
    };
    let Some(operands) = Operands::by_name(&args.layout) else {
        return Err(usage(format!("no layout `{}`", args.layout), "write `tn`, `tt`, `nn` or `nt`"));
    };
    let problem = |[m, n, k]: [u64; 3]| Problem {
        m,
        n,
        k,
        element,
        operands,
        left_stride: args.lda,
        right_stride: args.ldb,
    };
    let problems = match &args.sweep {
        None => args.mnk.iter().copied().map(problem).collect(),
        Some(list) => {
            let list =
                if list.is_empty() { (0..=SWEEP_TO).map(|it| 1 << it).collect() } else { list.clone() };
            if list.contains(&0) {
                return Err(usage("an M of 0 in `--sweep`", "write whole numbers of at least 1"));
            }
            let of = |[_, n, k]: &[u64; 3]| list.iter().map(|m| problem([*m, *n, *k])).collect::<Vec<_>>();
            args.mnk.iter().flat_map(of).collect()
        }
    };
    let tile = args.tile.map(|[m, n, k]| gemm::Tile {
        m,
        n,
        k,
        split_k: args.split_k.unwrap_or(1).max(1),
        waves: args.num_warps,
        stages: args.stages,
    });
    Ok(TileQuestion {
        model,
        problems,
        tile,
        stages: args.stages,
        split_k: args.split_k.is_some(),
        top: args.top,
        workgroup_mapping: args.wgm,
        remaps_xcds: args.xcd_remap.then_some(true),
    })
}
