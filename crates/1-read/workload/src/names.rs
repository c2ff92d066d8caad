//! Names of profilers' files.
//!
//! A name tells which step of a profiler wrote a file, never the form of the file.

/// The name without its folders.
pub(crate) fn last(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// True for the file of a pass, `pmc_perf_3.csv`, which the profiler joins with others in the end.
pub(crate) fn is_unjoined(name: &str) -> bool {
    let number = last(name).strip_prefix("pmc_perf_").and_then(|it| it.strip_suffix(".csv"));
    number.is_some_and(|it| !it.is_empty() && it.bytes().all(|b| b.is_ascii_digit()))
}

/// True for names of the files that rocprof-compute writes once per pass.
pub(crate) fn is_results(name: &str) -> bool {
    last(name).starts_with("results") && last(name).ends_with(".csv")
}

/// Level counters that need a separate run, and the metrics that need them.
pub(crate) const LEVELS: &[(&str, &str)] = &[
    ("SQ_IFETCH_LEVEL", "instruction fetch latency"),
    ("SQ_INST_LEVEL_LDS", "LDS latency"),
    ("SQ_INST_LEVEL_SMEM", "scalar memory latency"),
    ("SQ_INST_LEVEL_VMEM", "vector memory latency"),
    ("SQ_LEVEL_WAVES", "wavefront occupancy"),
];

/// Whether a file of a recording is the companion with the run of a level counter: `SQ_LEVEL_WAVES.csv`.
pub fn is_level_file(name: &str) -> bool {
    name.strip_suffix(".csv").is_some_and(|stem| LEVELS.iter().any(|level| level.0 == stem))
}

/// Kinds of files, by the start of their names: `counters_PASS_PROCESS.csv`.
pub(crate) const KINDS: [&str; 3] = ["counters", "dispatch", "kernel_symbols"];

/// Kind, pass and process of a file; `None` if the name has another form.
pub(crate) fn native_file(name: &str) -> Option<(usize, &str, u64)> {
    let last = name.rsplit('/').next().unwrap_or(name);
    let stem = last.strip_suffix(".csv")?;
    let (kind, rest) = KINDS.iter().enumerate().find_map(|(at, kind)| {
        let rest = stem.strip_prefix(kind)?.strip_prefix('_')?;
        Some((at, rest))
    })?;
    let (pass, process) = rest.rsplit_once('_')?;
    let process = process.parse().ok().filter(|_| process.bytes().all(|b| b.is_ascii_digit()))?;
    (!pass.is_empty()).then_some((kind, pass, process))
}

/// Whether a file is one of the three.
pub(crate) fn is_native_file(name: &str) -> bool {
    native_file(name).is_some()
}
