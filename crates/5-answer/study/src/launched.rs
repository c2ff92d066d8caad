//! Rules on launches, for launches of a recording that the program described: grid, shapes, strides, tiles.
//!
//! Names of arguments are conventions of Triton's tutorials; a kernel is judged as a matrix product only
//! where its grid has exactly the tiles that its shapes and blocks give.

use analysis::WorkloadEvidence;
use arch::ElementType;
use arch::Model;
use gemm::{Estimate, Operands, Problem, Scales, Tile, alternatives};
use rules::{LaunchEvidence, check_launch};
use view::Finding;
use workload::{LaunchArgument, LaunchNote, plain_kernel_name};

/// Names of extents and of blocks, per dimension M, N, K.
const EXTENTS: [[&str; 2]; 3] = [["M", "m"], ["N", "n"], ["K", "k"]];
const BLOCKS: [[&str; 4]; 3] = [
    ["BLOCK_SIZE_M", "BLOCK_M", "BLOCKSIZE_M", "BM"],
    ["BLOCK_SIZE_N", "BLOCK_N", "BLOCKSIZE_N", "BN"],
    ["BLOCK_SIZE_K", "BLOCK_K", "BLOCKSIZE_K", "BK"],
];
/// Names of the number of workgroups that share a tile.
const SPLITS: [&str; 2] = ["SPLIT_K", "SPLITK"];

/// Findings of the rules on a kernel's longest launch; launches of an autotuner count only if no other
/// exists.
pub(crate) fn findings(kernel: &WorkloadEvidence<'_>) -> Vec<Finding> {
    let w = kernel.workload;
    let model = w.machine.text("gpu_model").and_then(|name| Model::by_name(name.trim()));
    let Some(model) = model else { return Vec::new() };
    let time =
        |note: &&LaunchNote| note.row.and_then(|row| w.dispatches.duration(row as usize)).unwrap_or(0.0);
    let own = w.launches.iter().filter(|note| {
        note.row.is_some_and(|row| plain_kernel_name(w.kernel_of(row as usize)) == kernel.kernel)
    });
    let longest = own.max_by(|a, b| {
        let order = b.tuning.is_some().cmp(&a.tuning.is_some());
        order.then_with(|| time(a).total_cmp(&time(b)))
    });
    longest.map(|note| of_launch(model, note)).unwrap_or_default()
}

fn of_launch(model: &'static Model, note: &LaunchNote) -> Vec<Finding> {
    let workgroups = note.programs.iter().product();
    let product = product(note).map(|(problem, tile)| Estimate::of(model, problem, tile));
    let others = product
        .as_ref()
        .map(|it| alternatives(model, it.problem, it.tile.stages, it.tile.split_k > 1))
        .unwrap_or_default();
    let evidence = LaunchEvidence {
        model,
        workgroups,
        gemm: product.as_ref(),
        alternatives: &others,
        workgroup_mapping: None,
        remaps_xcds: None,
    };
    let (mut findings, _) = check_launch(&evidence);
    let configured = note.configured();
    for finding in &mut findings {
        *finding = finding.clone().with_evidence("launch", &configured);
    }
    findings
}

/// The matrix product that a launch computes, and its tile; `None` unless both are certain.
fn product(note: &LaunchNote) -> Option<(Problem, Tile)> {
    let extent = |names: &[&str; 2]| {
        let argument = note.arguments.iter().find(|it| names.contains(&it.name.as_str()));
        argument
            .and_then(LaunchArgument::whole)
            .or_else(|| names.iter().find_map(|name| note.constant(name)?.try_into().ok()))
    };
    let positive = |value: Option<i64>| u64::try_from(value?).ok().filter(|it| *it > 0);
    let [m, n, k] = EXTENTS.each_ref().map(|names| positive(extent(names)));
    let [block_m, block_n, block_k] =
        BLOCKS.each_ref().map(|names| names.iter().find_map(|name| note.constant(name)).filter(|it| *it > 0));
    let (m, n, k) = (m?, n?, k?);
    let split_k = SPLITS.iter().find_map(|name| note.constant(name)).unwrap_or(1).max(1);
    let tile = Tile {
        m: block_m?,
        n: block_n?,
        k: block_k?,
        split_k,
        waves: u32::try_from(note.constant("num_warps")?).ok()?,
        stages: u32::try_from(note.constant("num_stages").unwrap_or(2)).ok()?,
    };
    let tiles = m.div_ceil(tile.m).checked_mul(n.div_ceil(tile.n))?.checked_mul(split_k)?;
    if note.programs.iter().product::<u64>() != tiles {
        return None;
    }
    let of_shape = |shape: [u64; 2]| {
        let matrices = note.arguments.iter().filter(|it| it.kind.starts_with('*') && it.strides.len() == 2);
        matrices.clone().find(|it| it.shape == shape)
    };
    let left = of_shape([m, k])?;
    let right = of_shape([k, n]).or_else(|| of_shape([n, k]))?;
    let (left_along_k, left_stride) = lies(left, 1)?;
    let (right_along_k, right_stride) = lies(right, usize::from(right.shape != [k, n]))?;
    let operands = [Operands::Nn, Operands::Nt, Operands::Tn, Operands::Tt]
        .into_iter()
        .find(|it| it.left_along_k() == left_along_k && it.right_along_k() == right_along_k)?;
    let element = match left.kind.trim_start_matches('*') {
        "u8" => ElementType::I8,
        kind => ElementType::by_name(kind).filter(|it| ElementType::FACTORS.contains(it))?,
    };
    let problem = Problem {
        m,
        n,
        k,
        element,
        scales: Scales::of_type(&left.kind, element),
        operands,
        left_stride: Some(left_stride),
        right_stride: Some(right_stride),
    };
    Some((problem, tile))
}

/// True if a matrix is contiguous along its dimension `depth`, and its row stride in elements.
fn lies(matrix: &LaunchArgument, depth: usize) -> Option<(bool, u64)> {
    let (along, other) = (matrix.strides.get(depth)?, matrix.strides.get(1 - depth)?);
    match (along, other) {
        (1, stride) => Some((true, u64::try_from(*stride).ok()?)),
        (stride, 1) => Some((false, u64::try_from(*stride).ok()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A launch of a product of `m` by `n` by 4096 with a tile of 256 by 256.
    fn launch(m: u64, n: u64, programs: u64, depth_stride: i64, block: &str) -> LaunchNote {
        let matrix = |name: &str, shape: [u64; 2], strides: [i64; 2]| LaunchArgument {
            name: name.to_string(),
            kind: "*bf16".to_string(),
            shape: shape.to_vec(),
            strides: strides.to_vec(),
            value: None,
        };
        let number = |name: &str, value: u64| LaunchArgument {
            name: name.to_string(),
            value: Some(value.into()),
            ..LaunchArgument::default()
        };
        let pairs =
            [(block, "256"), ("BLOCK_N", "256"), ("BLOCK_K", "64"), ("num_warps", "8"), ("num_stages", "2")];
        LaunchNote {
            row: Some(0),
            kernel: "matmul".to_string(),
            file: String::new(),
            line: 0,
            compiled: String::new(),
            configuration: pairs.map(|(name, value)| (name.to_string(), value.to_string())).to_vec(),
            programs: [programs, 1, 1],
            arguments: vec![
                matrix("a", [m, 4096], [depth_stride, 1]),
                matrix("b", [4096, n], [1, depth_stride]),
                number("M", m),
                number("N", n),
                number("K", 4096),
            ],
            tuning: None,
            failed: None,
        }
    }

    #[test]
    fn launches_are_judged_by_what_the_program_said() {
        let model = Model::by_name("mi300x").unwrap();
        for (note, expected) in [
            (launch(5120, 4096, 320, 4096 + 64, "BLOCK_M"), &["LCH003", "TIL001", "TIL009"][..]),
            (launch(4096, 4096, 256, 4096 + 64, "BLOCK_M"), &["TIL009"][..]),
            (launch(4096, 4096, 256, 4096, "BLOCK_M"), &["TIL005", "TIL009"]),
            // Not the grid of these tiles, or no tile: only the number of workgroups counts.
            (launch(4096, 4096, 255, 4096, "BLOCK_M"), &[]),
            (launch(4096, 4096, 310, 4096, "BLOCK_M"), &["LCH003"]),
            (launch(4096, 4096, 256, 4096, "ROWS"), &[]),
            (launch(0, 4096, 256, 4096, "BLOCK_M"), &[]),
        ] {
            let mut found: Vec<&str> = of_launch(model, &note).iter().map(|it| it.rule).collect();
            found.sort_unstable();
            assert_eq!(found, expected, "{} {:?}", note.configured(), note.programs);
        }
    }
}
