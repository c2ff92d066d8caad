//! Names of an agent's facts: in the profiler's libraries, and in `sysinfo.csv`.

/// Facts that are numbers: their name, ours.
pub(crate) const NUMBERS: [(&str, &str); 6] = [
    ("cu_count", "cu_per_gpu"),
    ("simd_per_cu", "simd_per_cu"),
    ("wave_front_size", "wave_size"),
    ("num_xcc", "num_xcd"),
    ("num_shader_banks", "se_per_gpu"),
    ("max_engine_clk_fcompute", "max_sclk"),
];

/// Facts that are text: their name, ours.
const TEXTS: [(&str, &str); 2] = [("name", "gpu_arch"), ("product_name", "gpu_model")];

/// All of them.
pub(crate) fn facts() -> impl Iterator<Item = (&'static str, &'static str)> {
    TEXTS.into_iter().chain(NUMBERS)
}
