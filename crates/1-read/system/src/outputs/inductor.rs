//! Settings of Inductor as the code it wrote has them: `output_code.py`, `fx_graph_runnable.py`, kernels of
//! its cache.
//!
//! The environment shows the requested settings, the code the ones in force when it was written; settings
//! made in Python or by options of `torch.compile` appear only here. Source: PyTorch,
//! `torch/_inductor/codegen/triton.py` (`inductor_meta`), `torch/_dynamo/debug_utils.py`
//! (`torch._inductor.config`).

use std::collections::BTreeMap;

/// Begin of the settings of one kernel.
const META: &str = "inductor_meta={";
/// Begin of a setting of a program that runs a graph again.
const CONFIG: &str = "torch._inductor.config.";

/// Facts from Inductor's code.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct InductorCode {
    /// File.
    pub file: String,
    /// Kernels in Triton.
    pub kernels: u64,
    /// Calls of library kernels: `extern_kernels.mm`.
    pub library_calls: u64,
    /// Files of code, where a folder was read.
    pub files: u64,
    /// Compiled graphs in the cache of a folder.
    pub graphs: u64,
    /// Winners of autotuning in the cache: files `*.best_config`.
    pub winners: u64,
    /// Winners that coordinate descent found.
    pub by_descent: u64,
    /// Milliseconds that the search for the winners took.
    pub search_ms: u64,
    /// Files that could not be read as what their name says.
    pub unread: Vec<String>,
    /// Values of each setting, with the kernels that have them; settings of the whole program count once.
    pub settings: BTreeMap<String, BTreeMap<String, u64>>,
}

impl InductorCode {
    /// The value that a setting has everywhere; `None` if it is missing or differs.
    pub fn setting(&self, name: &str) -> Option<&str> {
        let values = self.settings.get(name)?;
        let (first, _) = values.first_key_value()?;
        (values.len() == 1).then_some(first.as_str())
    }

    /// Whether a setting is `True` everywhere.
    pub fn is_on(&self, name: &str) -> bool {
        self.setting(name) == Some("True")
    }

    /// The variables that would set the code's settings, if a setting has one: `max_autotune` is
    /// `TORCHINDUCTOR_MAX_AUTOTUNE`.
    pub fn as_environment(&self) -> crate::Environment {
        let mut environment = crate::Environment::default();
        for name in self.settings.keys() {
            let Some(value) = self.setting(name) else { continue };
            let variable = format!("TORCHINDUCTOR_{}", name.to_ascii_uppercase());
            let value = match value {
                "True" => "1",
                "False" => "0",
                other => other.trim_matches(['\'', '"']),
            };
            if crate::variables::by_name(&variable).is_some() && value != "None" {
                environment.set(&variable, value);
            }
        }
        environment
    }

    /// Adds what another file of the same program says.
    pub(crate) fn add(&mut self, other: &InductorCode) {
        self.file = format!("{}, {}", self.file, other.file);
        self.count(other);
    }
}

/// Files of code and of winners of a folder that are read; a cache of a year may have more.
pub const MOST_FILES: usize = 20_000;
/// Most unreadable files listed by name.
const MOST_NAMED: usize = 5;

/// Content of a path in a folder of Inductor: code, a winner of autotuning, a compiled graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InductorFile {
    /// Code in Python.
    Code,
    /// Winner of autotuning, JSON.
    Winner,
    /// Compiled graph, which is only counted.
    Graph,
}

/// Kind of a file by its path below the folder, with `/` between folders; `None` if it is of no use here.
pub fn inductor_file(path: &str) -> Option<InductorFile> {
    let parts: Vec<&str> = path.split('/').collect();
    let name = parts.last().copied().unwrap_or_default();
    match () {
        () if name.ends_with(".best_config") => Some(InductorFile::Winner),
        // fxgraph/ab/HASH/ENTRY
        () if parts.first() == Some(&"fxgraph") && parts.len() == 4 => Some(InductorFile::Graph),
        () if name.ends_with(".py") => Some(InductorFile::Code),
        () => None,
    }
}

/// True if the paths below a folder belong to a cache of Inductor, or to `torch_compile_debug`.
pub fn is_inductor_folder<'p>(mut paths: impl Iterator<Item = &'p str>) -> bool {
    paths.any(|path| {
        let name = path.rsplit('/').next().unwrap_or(path);
        path.starts_with("fxgraph/")
            || path.starts_with("aotautograd/")
            || name.ends_with(".best_config")
            || matches!(name, "output_code.py" | "fx_graph_runnable.py")
    })
}

impl InductorCode {
    /// Combined facts of the files of a folder; paths are relative to the folder, graphs need no bytes.
    pub fn of_folder<'b>(name: &str, files: impl Iterator<Item = (&'b str, &'b [u8])>) -> InductorCode {
        let mut all = InductorCode { file: name.to_owned(), ..InductorCode::default() };
        for (path, bytes) in files {
            match inductor_file(path) {
                Some(InductorFile::Graph) => all.graphs += 1,
                Some(InductorFile::Winner) => all.winner(path, bytes),
                Some(InductorFile::Code) => {
                    let text = String::from_utf8_lossy(bytes);
                    // Helpers and benchmarks of the user are in the same folder.
                    if is(&text) {
                        let own = read(&text, path);
                        all.files += 1;
                        all.count(&own);
                    }
                }
                None => {}
            }
        }
        all
    }

    fn winner(&mut self, path: &str, bytes: &[u8]) {
        let Ok(winner) = serde_json::from_slice::<serde_json::Value>(bytes) else {
            if self.unread.len() < MOST_NAMED {
                self.unread.push(path.to_owned());
            }
            return;
        };
        self.winners += 1;
        self.by_descent +=
            u64::from(winner.get("found_by_coordesc").and_then(|it| it.as_bool()) == Some(true));
        let ms = winner.get("time_taken_ms").and_then(|it| it.as_f64()).filter(|it| (0.0..1e12).contains(it));
        self.search_ms = self.search_ms.saturating_add(ms.map_or(0, |it| it as u64));
    }

    /// Adds counts and settings.
    fn count(&mut self, other: &InductorCode) {
        self.kernels += other.kernels;
        self.library_calls += other.library_calls;
        self.files += other.files;
        self.graphs += other.graphs;
        self.winners += other.winners;
        self.by_descent += other.by_descent;
        self.search_ms = self.search_ms.saturating_add(other.search_ms);
        self.unread.extend(other.unread.iter().take(MOST_NAMED).cloned());
        self.unread.truncate(MOST_NAMED);
        for (name, values) in &other.settings {
            for (value, count) in values {
                *self.settings.entry(name.clone()).or_default().entry(value.clone()).or_default() += count;
            }
        }
    }

    /// Content of a folder, as words: `12 files of code, 5 graphs, 9 winners of autotuning`.
    pub fn folder_words(&self) -> Option<String> {
        if self.files + self.graphs + self.winners == 0 {
            return None;
        }
        let mut words = vec![format!("{} of code", some(self.files, "file"))];
        if self.graphs > 0 {
            words.push(some(self.graphs, "compiled graph"));
        }
        if self.winners > 0 {
            words.push(format!(
                "{} of autotuning ({} by coordinate descent, {:.1} s of search)",
                some(self.winners, "winner"),
                self.by_descent,
                self.search_ms as f64 / 1e3
            ));
        }
        Some(words.join(", "))
    }
}

/// Whether a text is code of Inductor.
pub(crate) fn is(text: &str) -> bool {
    text.contains(META) || text.contains("from torch._inductor") || text.contains(CONFIG)
}

/// Reads code.
pub(crate) fn read(text: &str, file: &str) -> InductorCode {
    let mut code = InductorCode { file: file.to_owned(), ..InductorCode::default() };
    let mut see = |name: &str, value: &str| {
        if !name.is_empty() && name.len() < 100 && value.len() < 200 {
            *code.settings.entry(name.to_owned()).or_default().entry(value.to_owned()).or_default() += 1;
        }
    };
    for (at, _) in text.match_indices(META) {
        code.kernels += 1;
        for (name, value) in members(&text[at + META.len()..]) {
            see(name, value);
        }
    }
    for line in text.lines() {
        let Some((name, value)) = line.trim().strip_prefix(CONFIG).and_then(|it| it.split_once('=')) else {
            continue;
        };
        let name = name.trim();
        if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')) {
            see(name, value.trim());
        }
    }
    code.library_calls = text.matches("extern_kernels.").count() as u64;
    // Of each kernel its own; of a program these say nothing.
    code.settings.retain(|name, _| !matches!(name.as_str(), "kernel_name" | "backend_hash"));
    code
}

/// Names and values of a dictionary of Python that has been opened, those that are plain.
fn members(text: &str) -> Vec<(&str, &str)> {
    let mut out = Vec::new();
    let (mut depth, mut quote, mut from) = (0u32, None, 0);
    for (at, byte) in text.bytes().enumerate().take(16_384) {
        match (quote, byte) {
            (Some(open), _) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'{' | b'[' | b'(') => depth += 1,
            (None, b'}' | b',') if depth == 0 => {
                if let Some((name, value)) = text[from..at].split_once(':') {
                    let name = name.trim().trim_matches(['\'', '"']);
                    let value = value.trim();
                    if !value.contains(['{', '[', '(']) {
                        out.push((name, value));
                    }
                }
                if byte == b'}' {
                    break;
                }
                from = at + 1;
            }
            (None, b'}' | b']' | b')') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    out
}

/// `1 file`, `2 files`.
fn some(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "from torch._inductor.runtime import triton_heuristics\n\
        @triton_heuristics.pointwise(\n    size_hints={'x': 4096},\n    triton_meta={'device': 0},\n    \
        inductor_meta={'autotune_hints': set(), 'kernel_name': 'triton_poi, {x', 'mutated_arg_names': ['a', 'b'], 'max_autotune': False, \
        'tiling_scores': {'x': 3, 'y': 4}, 'force_disable_caches': True, 'spill_threshold': 16, 'is_hip': True},\n)\n\
        @triton_heuristics.reduction(inductor_meta={'max_autotune': True, 'is_hip': True})\n\
        extern_kernels.mm(a, b, out=c)\ntorch._inductor.config.freezing = True\ntorch._inductor.config.max_autotune_gemm_backends = 'TRITON'\n";

    #[test]
    fn settings_of_kernels_and_programs() {
        let code = read(CODE, "output_code.py");
        assert_eq!((code.kernels, code.library_calls), (2, 1));
        assert!(code.is_on("force_disable_caches") && code.is_on("is_hip"));
        assert_eq!((code.setting("spill_threshold"), code.setting("max_autotune")), (Some("16"), None));
        assert!(!code.settings.contains_key("kernel_name") && !code.settings.contains_key("y"));
        let environment = code.as_environment();
        assert_eq!(environment.get("TORCHINDUCTOR_FREEZING"), Some("1"));
        assert_eq!(environment.get("TORCHINDUCTOR_MAX_AUTOTUNE_GEMM_BACKENDS"), Some("TRITON"));
        assert_eq!(environment.get("TORCHINDUCTOR_MAX_AUTOTUNE"), None, "kernels differ");
    }

    #[test]
    fn folders_of_the_cache() {
        let winner = br#"{"XBLOCK": 512, "num_warps": 8, "found_by_coordesc": true, "time_taken_ms": 1500}"#;
        let files: [(&str, &[u8]); 8] = [
            ("fxgraph/ab/fabc/entry", b""),
            ("ab/cab123.py", CODE.as_bytes()),
            ("cd/ccd.py", CODE.as_bytes()),
            ("cd/ccd.best_config", winner),
            ("cd/cut.best_config", &winner[..20]),
            ("mine.py", b"print(1)"),
            ("triton/0/X/kernel.hsaco", b"\x7fELF"),
            ("aotautograd/x/y", b""),
        ];
        assert!(is_inductor_folder(files.iter().map(|it| it.0)));
        assert!(!is_inductor_folder(["proc/cpuinfo", "a.py"].into_iter()));
        let code = InductorCode::of_folder("/tmp/torchinductor_me", files.into_iter());
        assert_eq!((code.files, code.kernels, code.graphs), (2, 4, 1));
        assert_eq!((code.winners, code.by_descent, code.search_ms), (1, 1, 1500));
        assert_eq!(code.unread, ["cd/cut.best_config"]);
        assert_eq!(code.setting("spill_threshold"), Some("16"));
        testkit::golden("a folder", &code.folder_words().unwrap());
    }

    #[test]
    fn text_that_breaks_off() {
        for end in (0..CODE.len()).filter(|end| CODE.is_char_boundary(*end)) {
            let code = read(&CODE[..end], "f");
            assert!(code.kernels <= 2 && code.settings.len() <= 8, "{end}");
        }
    }
}
