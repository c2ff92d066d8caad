//! The `config.json` of a model: sizes of its mixture of experts and of its products.

use serde_json::Value;

/// Sizes in a model's `config.json`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ModelConfig {
    /// Width of the model.
    pub hidden: u64,
    /// Experts that tokens are routed to; `None` for dense models.
    pub experts: Option<u64>,
    /// Experts of a token.
    pub top_k: Option<u64>,
    /// Width between the two products of an expert.
    pub expert_inter: Option<u64>,
    /// Width between the two products of a dense layer.
    pub inter: Option<u64>,
    /// Heads of queries and of keys, and the size of one; `None` for latent attention.
    pub heads: Option<[u64; 3]>,
    /// Block of the scales of weights.
    pub block: Option<[u64; 2]>,
    /// The word for its types in names of tuned files: `fp8_w8a8`.
    pub dtype: Option<&'static str>,
}

impl ModelConfig {
    /// Reads a document; `None` if it is not a model's.
    pub fn read(bytes: &[u8]) -> Option<ModelConfig> {
        if bytes.len() > 1 << 20 || bytes.iter().find(|it| !it.is_ascii_whitespace()) != Some(&b'{') {
            return None;
        }
        let root: Value = serde_json::from_slice(bytes).ok()?;
        // Models of text and pictures keep the sizes of the text in a part.
        let nested = root.get("text_config").or_else(|| root.pointer("/thinker_config/text_config"));
        let root = nested.filter(|it| it.get("hidden_size").is_some()).unwrap_or(&root);
        let number = |names: &[&str]| {
            names.iter().find_map(|name| match root.get(*name)? {
                // Some list one for each layer.
                Value::Array(all) => all.first()?.as_u64(),
                it => it.as_u64(),
            })
        };
        let hidden = number(&["hidden_size"]).filter(|it| *it > 0)?;
        let experts = number(&["n_routed_experts", "num_local_experts", "num_experts"]).filter(|it| *it > 1);
        let inter = number(&["intermediate_size"]);
        let heads = number(&["num_attention_heads"]).filter(|it| *it > 0);
        let latent = root.get("kv_lora_rank").is_some_and(|it| !it.is_null());
        let heads = heads.filter(|_| !latent).map(|heads| {
            let size = number(&["head_dim"]).unwrap_or(hidden / heads);
            [heads, number(&["num_key_value_heads"]).unwrap_or(heads), size]
        });
        let quantised = root.get("quantization_config");
        let block = quantised.and_then(|it| it.get("weight_block_size")).and_then(Value::as_array);
        let block = block.and_then(|it| Some([it.first()?.as_u64()?, it.get(1)?.as_u64()?]));
        let method = quantised.and_then(|it| it.get("quant_method")).and_then(Value::as_str);
        Some(ModelConfig {
            hidden,
            experts,
            top_k: number(&["num_experts_per_tok", "top_k_experts", "moe_topk"]),
            expert_inter: number(&["moe_intermediate_size"]).or(inter).filter(|_| experts.is_some()),
            inter,
            heads,
            block,
            dtype: (method == Some("fp8")).then_some("fp8_w8a8"),
        })
    }

    /// N and K of the products of a layer on one of `tp` GPUs.
    pub(super) fn products(&self, tp: u64) -> Vec<[u64; 2]> {
        let mut all = Vec::new();
        if let Some([heads, keys, size]) = self.heads {
            let keys = (keys / tp).max(1);
            all.push([(heads / tp + 2 * keys) * size, self.hidden]);
            all.push([self.hidden, heads * size / tp]);
        }
        // Of a mixture of experts the width of a dense layer may be unused.
        if let (Some(inter), None) = (self.inter, self.experts) {
            all.push([2 * inter / tp, self.hidden]);
            all.push([self.hidden, inter / tp]);
        }
        all.retain(|[n, k]| *n > 0 && *k > 0);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_models() {
        let dense = r#"{"hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32, "num_key_value_heads": 8}"#;
        let it = ModelConfig::read(dense.as_bytes()).unwrap();
        assert_eq!(it.products(1), [[6144, 4096], [4096, 4096], [28672, 4096], [4096, 14336]]);
        assert_eq!(it.products(8), [[768, 4096], [4096, 512], [3584, 4096], [4096, 1792]]);
        let experts = r#" {"hidden_size": 7168, "n_routed_experts": 256, "num_experts_per_tok": 8, "moe_intermediate_size": 2048,
            "kv_lora_rank": 512, "num_attention_heads": 128, "intermediate_size": 18432,
            "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}}"#;
        let it = ModelConfig::read(experts.as_bytes()).unwrap();
        assert_eq!(
            (it.experts, it.top_k, it.expert_inter, it.block, it.dtype),
            (Some(256), Some(8), Some(2048), Some([128, 128]), Some("fp8_w8a8"))
        );
        assert_eq!(it.products(8), [[0; 2]; 0], "latent attention has products of other sizes");
        let nested = r#"{"text_config": {"hidden_size": 5120, "num_local_experts": 16, "num_experts_per_tok": 1, "intermediate_size": 8192}}"#;
        let it = ModelConfig::read(nested.as_bytes()).unwrap();
        assert_eq!((it.hidden, it.expert_inter), (5120, Some(8192)));
        for other in ["[1]", "{\"1\": {}}", "{\"hidden_size\": \"a\"}", "M,N,K\n1,2,3\n", "", "{"] {
            assert_eq!(ModelConfig::read(other.as_bytes()), None, "{other}");
        }
    }
}
