//! The log of a vLLM server: the chosen attention backend, and warnings.

/// Lines that prove a backend, and its name. Source: vLLM `vllm/platforms/rocm.py` and its guide for AMD
/// GPUs.
const BACKENDS: [(&str, &str); 6] = [
    ("Using Aiter Flash Attention backend on V1 engine", "AITER MHA"),
    ("Using AITER MLA backend", "AITER MLA"),
    ("Using Triton MLA", "Triton MLA"),
    ("Using Triton Attention", "Triton unified or split"),
    ("Using Aiter Unified Attention", "AITER unified"),
    ("Using Rocm Attention", "ROCm split attention"),
];

/// Facts from a server's log.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ServerLog {
    /// File.
    pub file: String,
    /// Version.
    pub version: Option<String>,
    /// Attention backend, with its line.
    pub backend: Option<(&'static str, u32)>,
    /// Tuned configurations of expert layers that were not found: the file's name, with its line.
    pub missing_moe: Vec<(String, u32)>,
}

/// Whether a text is such a log.
pub(crate) fn is(text: &str) -> bool {
    text.contains("vLLM API server version") || BACKENDS.iter().any(|(line, _)| text.contains(line))
}

/// Reads a log.
pub(crate) fn read(text: &str, file: &str) -> ServerLog {
    let mut log = ServerLog { file: file.to_owned(), ..ServerLog::default() };
    for (number, line) in (1u32..).zip(text.lines()) {
        if let Some((_, version)) = line.split_once("vLLM API server version") {
            log.version = Some(version.trim().to_owned());
        }
        if let Some((_, backend)) = BACKENDS.iter().find(|(words, _)| line.contains(words)) {
            log.backend = Some((backend, number));
        }
        if let Some((_, config)) = line.split_once("Config file not found at ") {
            log.missing_moe.push((config.trim().to_owned(), number));
        }
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backend_and_missing_configurations() {
        let log = read("x\nINFO Using Triton MLA backend\nWARN Config file not found at E=8,N=1.json\n", "f");
        assert_eq!(log.backend, Some(("Triton MLA", 2)));
        assert_eq!(log.missing_moe, [("E=8,N=1.json".to_owned(), 3)]);
    }
}
