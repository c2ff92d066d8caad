//! Names of an agent's facts: in the profiler's libraries, and in `sysinfo.csv`.

use rocprof::agents::Agent;

/// Facts that are numbers: the profiler's name, ours.
pub(crate) const NUMBERS: [(&str, &str); 6] = [
    ("cu_count", "cu_per_gpu"),
    ("simd_per_cu", "simd_per_cu"),
    ("wave_front_size", "wave_size"),
    ("num_xcc", "num_xcd"),
    ("num_shader_banks", "se_per_gpu"),
    ("max_engine_clk_fcompute", "max_sclk"),
];

/// Facts that are text: the profiler's name, ours.
const TEXTS: [(&str, &str); 3] =
    [("name", "gpu_arch"), ("product_name", "gpu_model"), ("emulated_by", "emulated_by")];

/// The facts of a GPU under our names; one that is zero is not known.
pub(crate) fn facts(gpu: &Agent) -> impl Iterator<Item = (String, String)> {
    let all = TEXTS.into_iter().chain(NUMBERS);
    let facts = all.map(|(theirs, ours)| (ours.to_owned(), gpu.fact(theirs).to_owned()));
    facts.filter(|(_, value)| !value.is_empty() && value != "0")
}
