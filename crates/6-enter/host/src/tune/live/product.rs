//! The matrix product of an autotuned kernel, by the names of its arguments and parameters.

use super::super::spec::TilePrior;
use super::message::Begin;
use tune::Space;

/// Parameters with the size of a tile: the names that kernels use.
const TILES: [[&str; 3]; 3] =
    [["BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K"], ["BLOCK_M", "BLOCK_N", "BLOCK_K"], ["BM", "BN", "BK"]];
/// Parameters with parts of the depth.
const SPLITS: [&str; 2] = ["SPLIT_K", "NUM_SPLITS_K"];

/// The product; `None` if the kernel has no `tl.dot`, lacks arguments `M`, `N`, `K`, or the space the sizes of a tile.
pub(super) fn product_of(begin: &Begin, space: &Space) -> Option<TilePrior> {
    let has = |name: &str| space.parameters().iter().any(|it| it.name == name);
    let named = |name: &str| has(name).then(|| name.to_owned());
    let [m, n, k] = TILES.into_iter().find(|names| names.iter().all(|it| has(it)))?;
    let size = |name: &str| -> Option<u64> {
        let argument = begin.arguments.iter().find(|it| it.0 == name)?;
        argument.1.parse().ok().filter(|it| *it > 0)
    };
    let dtype = &begin.types.first().filter(|_| begin.dot)?.1;
    Some(TilePrior {
        mnk: [size("M")?, size("N")?, size("K")?],
        dtype: dtype.clone(),
        layout: TilePrior::layout(),
        m: m.to_owned(),
        n: n.to_owned(),
        k: k.to_owned(),
        waves: named("num_warps"),
        stages: named("num_stages"),
        split_k: SPLITS.into_iter().find_map(named),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tune::{Limits, Parameter, Value};

    #[test]
    fn products_are_known_by_their_names() {
        let begin = |arguments: &[(&str, &str)], dot| Begin {
            arguments: arguments.iter().map(|(name, it)| ((*name).to_owned(), (*it).to_owned())).collect(),
            types: vec![("a".to_owned(), "torch.float16".to_owned())],
            dot,
            ..Begin::default()
        };
        let sizes = [("M", "512"), ("N", "64"), ("K", "32")];
        for (names, arguments, dot, expected) in [
            (["BLOCK_M", "BLOCK_N", "BLOCK_K", "num_warps"], &sizes[..], true, Some([512, 64, 32])),
            (["BLOCK_M", "BLOCK_N", "BLOCK_K", "num_warps"], &sizes[..], false, None),
            (["BLOCK_M", "BLOCK_N", "BLOCK_K", "num_warps"], &sizes[..2], true, None),
            (["BLOCK_M", "BLOCK_N", "BK", "num_warps"], &sizes[..], true, None),
        ] {
            let parameters =
                names.map(|name| Parameter { name: name.to_owned(), values: vec![Value::Int(16)] });
            let space = Space::new(parameters.to_vec(), &[], Limits::default()).unwrap();
            let found = product_of(&begin(arguments, dot), &space);
            assert_eq!(found.as_ref().map(|it| it.mnk), expected, "{names:?}");
            assert!(found.is_none_or(|it| it.waves.as_deref() == Some("num_warps") && it.stages.is_none()));
        }
    }
}
