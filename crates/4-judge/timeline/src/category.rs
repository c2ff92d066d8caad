//! Category of a kernel, derived from its name.

use std::sync::OnceLock;

/// Kernels that are communication, in `data/categories.tsv`.
pub const COMMUNICATION: &str = "communication";
/// Copies and fills by a kernel.
pub const COPY: &str = "copy";
/// Matrix products.
pub const GEMM: &str = "gemm";
/// Kernels of no known category.
pub const OTHER: &str = "other";

fn rows() -> &'static [(&'static str, Vec<&'static str>)] {
    static ROWS: OnceLock<Vec<(&'static str, Vec<&'static str>)>> = OnceLock::new();
    ROWS.get_or_init(|| {
        include_str!("../data/categories.tsv")
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.split_once('\t'))
            .map(|(category, words)| (category, words.split(',').collect()))
            .collect()
    })
}

/// Category of a kernel: `gemm`, `attention`, `convolution`, `norm`, `element-wise`, …; the operator that
/// launched it tells convolutions whose kernels are matrix products.
pub fn category(kernel: &str, operator: Option<&str>) -> &'static str {
    let lower = kernel.to_ascii_lowercase();
    let found = rows().iter().find(|(_, words)| words.iter().any(|word| lower.contains(word)));
    let found = found.map_or(OTHER, |(category, _)| *category);
    let by_operator = |op: &str| op.contains("convolution") && !op.contains("overrideable");
    if matches!(found, GEMM | OTHER) && operator.is_some_and(by_operator) { "convolution" } else { found }
}

/// Whether Triton compiled it, as far as the name says: Inductor's kernels.
pub fn is_triton(kernel: &str) -> bool {
    kernel.starts_with("triton_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_by_name() {
        for (name, expected) in [
            ("ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", "communication"),
            ("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x32x256", "gemm"),
            ("attn_fwd", "attention"),
            ("__amd_rocclr_copyBuffer", "copy"),
            ("void at::native::vectorized_elementwise_kernel<8, at::native::rsqrt_kernel>", "element-wise"),
            ("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16>", "norm"),
            ("void at::native::(anonymous namespace)::cunn_SoftMaxForwardReg<float>", "softmax"),
            ("triton_red_fused_add_mean_mul_pow_rsqrt_0", "norm"),
            ("triton_poi_fused_add_0", "element-wise"),
            ("batched_transpose_16x64_pack_1x4_ediv_1x2_half", "layout"),
            ("igemm_fwd_gtcx3_nhwc_bf16_bx0_ex0_bt256x64x32", "convolution"),
            ("void at::native::reduce_kernel<128, 4>", "reduction"),
            ("something", "other"),
        ] {
            assert_eq!(category(name, None), expected, "{name}");
        }
        assert_eq!(category("Cijk_Ailk", Some("aten::miopen_convolution")), "convolution");
    }
}
