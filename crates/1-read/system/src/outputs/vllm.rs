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

/// Words of the lines that are read, other than names of backends.
const VERSION: &str = "vLLM API server version";
const CONFIGURATION: &str = "Config file not found at ";
/// Most configurations that are listed.
const MOST_MISSING: usize = 1_000;

/// Whether a text is such a log.
pub(crate) fn is(text: &str) -> bool {
    text.contains(VERSION) || BACKENDS.iter().any(|(line, _)| text.contains(line))
}

/// Reads a log.
pub(crate) fn read(text: &str, file: &str) -> ServerLog {
    let mut scan = ServerLogScan::new(file);
    scan.feed(text.as_bytes());
    scan.finish().unwrap_or_default()
}

/// Reader of a log of any size: [`feed`](ServerLogScan::feed) pieces, then [`finish`](ServerLogScan::finish).
pub struct ServerLogScan {
    search: ::logs::Search,
    log: ServerLog,
}

impl ServerLogScan {
    /// At the beginning of a log.
    pub fn new(file: &str) -> ServerLogScan {
        let words: Vec<&'static str> =
            BACKENDS.iter().map(|it| it.0).chain([VERSION, CONFIGURATION]).collect();
        let log = ServerLog { file: file.to_owned(), ..ServerLog::default() };
        ServerLogScan { search: ::logs::Search::new(&words), log }
    }

    /// Reads a piece.
    pub fn feed(&mut self, piece: &[u8]) {
        self.search.feed(piece, &mut |found| line(&mut self.log, found));
    }

    /// The facts; `None` if the log is of no vLLM server.
    pub fn finish(mut self) -> Option<ServerLog> {
        self.search.finish(&mut |found| line(&mut self.log, found));
        let log = self.log;
        (log.version.is_some() || log.backend.is_some() || !log.missing_moe.is_empty()).then_some(log)
    }
}

fn line(log: &mut ServerLog, found: &::logs::Found<'_>) {
    let Some(text) = found.text() else { return };
    if let Some((_, version)) = text.split_once(VERSION) {
        log.version = Some(version.trim().to_owned());
    }
    if let Some((_, backend)) = BACKENDS.iter().find(|(words, _)| text.contains(words)) {
        log.backend = Some((backend, found.line));
    }
    if let Some((_, config)) = text.split_once(CONFIGURATION) {
        let config = config.trim();
        // Every worker says it.
        if log.missing_moe.len() < MOST_MISSING && !log.missing_moe.iter().any(|(it, _)| it == config) {
            log.missing_moe.push((config.to_owned(), found.line));
        }
    }
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
