//! Modelled times of grouped products: the tile model on the workgroups of all experts.

use arch::{ElementType, Model};
use gemm::{Estimate, Operands, Problem, Scales, Tile};

/// Types of a tuned file, from the word in its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Types {
    /// Type that is multiplied.
    pub(super) element: ElementType,
    /// Bits of a weight in memory.
    pub(super) weight_bits: u32,
    /// Scales of the factors.
    pub(super) scales: Scales,
}

impl Types {
    /// Types for the word in a name, `fp8_w8a8`; names without a word mean 16 bits. `None` if the word is unknown.
    pub(super) fn of(dtype: Option<&str>, in_blocks: bool) -> Option<Types> {
        let scales = if in_blocks { Scales::Blocks } else { Scales::End };
        let (element, weight_bits) = match dtype {
            None | Some("auto" | "bf16" | "bfloat16") => (ElementType::Bf16, 16),
            Some("f16" | "fp16" | "float16" | "half") => (ElementType::F16, 16),
            Some("fp8_w8a8") => (ElementType::F8, 8),
            Some("int8_w8a8") => (ElementType::I8, 8),
            Some("int8_w8a16" | "fp8_w8a16") => (ElementType::Bf16, 8),
            Some("int4_w4a16") => (ElementType::Bf16, 4),
            Some(_) => return None,
        };
        Some(Types { element, weight_bits, scales })
    }
}

/// A product of one or of many experts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Grouped {
    /// Rows of all experts together.
    pub(super) rows: u64,
    /// Rows read from memory: for the first product the tokens, since experts share them.
    pub(super) read_rows: u64,
    /// Experts with rows, which the rows spread over evenly.
    pub(super) experts: u64,
    /// Columns of the result.
    pub(super) n: u64,
    /// Length of the sums.
    pub(super) k: u64,
}

/// A modelled time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Modelled {
    /// Microseconds.
    pub(super) us: f64,
    /// Part of `us` in which compute units work; memory may hide it.
    pub(super) compute_us: f64,
    /// Main wait reason.
    pub(super) bound: &'static str,
}

/// Expected number of experts with a token, if each token goes to `top_k` random experts.
pub(super) fn experts_with_rows(tokens: u64, experts: u64, top_k: u64) -> u64 {
    let missed = (1.0 - top_k as f64 / experts as f64).max(0.0).powf(tokens as f64);
    ((experts as f64 * (1.0 - missed)).round() as u64).clamp(top_k.min(experts), experts.max(1))
}

/// The time of one launch with a tile; `None` where no workgroup fits or the GPU lacks the instructions.
pub(super) fn time(model: &'static Model, types: &Types, product: &Grouped, tile: Tile) -> Option<Modelled> {
    let experts = product.experts.max(1);
    // Each expert's rows begin with a tile.
    let blocks = experts * product.rows.div_ceil(experts).div_ceil(tile.m.max(1));
    let problem = Problem {
        m: blocks * tile.m,
        n: product.n,
        k: product.k,
        element: types.element,
        scales: types.scales,
        operands: Operands::Tn,
        left_stride: None,
        right_stride: None,
    };
    let estimate = Estimate::of(model, problem, tile);
    let time = estimate.time?;
    let factor = f64::from(types.element.bits()) / 8.0;
    let weights = experts as f64 * product.n as f64 * product.k as f64 * f64::from(types.weight_bits) / 8.0;
    let rows = product.read_rows as f64 * product.k as f64 * factor;
    let result = product.rows as f64 * product.n as f64 * 2.0;
    let memory_us = time.memory_us * (weights + rows + result) / estimate.bytes.memory;
    let busy = time.compute_us.max(memory_us);
    let bound = if memory_us > time.compute_us { gemm::Bound::Memory } else { time.bound };
    Some(Modelled { us: time.launch_us + busy, compute_us: time.compute_us, bound: bound.name() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn experts_fill_up_with_tokens() {
        for (tokens, experts, top_k, expected) in
            [(1, 256, 8, 8), (16, 256, 8, 102), (4096, 256, 8, 256), (1, 8, 2, 2), (64, 1, 1, 1)]
        {
            assert_eq!(experts_with_rows(tokens, experts, top_k), expected, "{tokens} tokens");
        }
    }

    #[test]
    fn a_product_of_one_expert_has_the_tile_models_time() {
        let model = Model::by_name("mi300x").unwrap();
        let types = Types::of(Some("fp8_w8a8"), true).unwrap();
        let tile = Tile { m: 128, n: 128, k: 128, split_k: 1, waves: 4, stages: 2 };
        let product = Grouped { rows: 4096, read_rows: 4096, experts: 1, n: 4096, k: 7168 };
        let problem = Problem {
            m: 4096,
            n: 4096,
            k: 7168,
            element: ElementType::F8,
            scales: Scales::Blocks,
            operands: Operands::Tn,
            left_stride: None,
            right_stride: None,
        };
        let expected = Estimate::of(model, problem, tile).time.unwrap();
        let found = time(model, &types, &product, tile).unwrap();
        assert!((found.us - expected.total_us).abs() < 1e-9, "{found:?}");
        // Few tokens for many experts read all weights: at least the time of the bandwidth.
        let few = Grouped { rows: 128, read_rows: 16, experts: 102, n: 4096, k: 7168 };
        let least = 102.0 * 4096.0 * 7168.0 / (model.hbm.gb_per_s.value * 1e3);
        let found = time(model, &types, &few, Tile { m: 16, ..tile }).unwrap();
        assert!(found.us > least && found.us < 3.0 * least && found.bound == "memory", "{found:?} {least}");
        assert_eq!(time(model, &types, &few, Tile { k: 4096, ..tile }), None, "no LDS for it");
    }
}
