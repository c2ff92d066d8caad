//! The vendor's profilers: rocprofv3, and its predecessors where ROCm is older than 6.2.

use super::version::{self, Version};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// A profiler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tool {
    /// rocprofv3 of a version.
    Rocprofv3(Version),
    /// rocprofv2.
    Rocprofv2,
    /// rocprof, the first one.
    Rocprof,
}

/// Names in `PATH`, the newest first.
pub const NAMES: [&str; 3] = ["rocprofv3", "rocprofv2", "rocprof"];

impl Tool {
    /// The predecessor that a file is by its name; `None` for rocprofv3 and other names.
    pub fn predecessor(file: &Path) -> Option<Tool> {
        match file.file_name()?.to_str()? {
            "rocprofv2" => Some(Tool::Rocprofv2),
            "rocprof" => Some(Tool::Rocprof),
            _ => None,
        }
    }

    /// Whether it is older than rocprofv3.
    pub const fn is_predecessor(self) -> bool {
        !matches!(self, Tool::Rocprofv3(_))
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Tool::Rocprofv3(_) => NAMES[0],
            Tool::Rocprofv2 => NAMES[1],
            Tool::Rocprof => NAMES[2],
        }
    }

    /// Arguments of a feature with their values; an error says what has it.
    pub fn arguments(self, feature: &str, values: &[(&str, Vec<OsString>)]) -> Result<Vec<OsString>, String> {
        match self {
            Tool::Rocprofv3(version) => version::arguments(feature, version, values),
            Tool::Rocprofv2 | Tool::Rocprof => Err(format!(
                "{} cannot do this (`{feature}`): rocprofv3 can, which came with ROCm 6.2",
                self.name()
            )),
        }
    }

    /// True if it changes a word of the program: rocprof's script splits words at blanks and puts them
    /// between double quotes before a shell.
    pub fn changes(self, word: &OsStr) -> bool {
        let Some(text) = word.to_str() else { return self == Tool::Rocprof };
        let blanks = text.contains("  ") || text.starts_with(' ') || text.ends_with(' ');
        self == Tool::Rocprof && (blanks || text.contains(['"', '$', '`', '\\', '\n', '\t', '*', '?', '[']))
    }

    /// The command that shows the counters it knows.
    pub const fn shows_counters(self) -> &'static str {
        match self {
            Tool::Rocprofv3(_) => "rocprofv3-avail list --pmc",
            Tool::Rocprofv2 => "rocprofv2 --list-counters",
            Tool::Rocprof => "rocprof --list-basic",
        }
    }

    /// Arguments that list the counters it knows.
    pub fn listing(self) -> Vec<Vec<OsString>> {
        match self {
            Tool::Rocprofv3(version) => version::arguments("list", version, &[]).into_iter().collect(),
            Tool::Rocprofv2 => vec![vec!["--list-counters".into()]],
            Tool::Rocprof => vec![vec!["--list-basic".into()], vec!["--list-derived".into()]],
        }
    }

    /// Counters that its answer names for a target; empty if it has no such list.
    pub fn listed<'a>(self, text: &'a str, target: &str) -> Vec<&'a str> {
        match self {
            Tool::Rocprofv3(_) => version::listed_counters(text, target),
            Tool::Rocprofv2 | Tool::Rocprof => {
                // `  gpu-agent0 : TCC_HIT[0-31] : Number of cache hits.`
                let name = |line: &'a str| line.split(" : ").nth(1).map(str::trim);
                text.lines().filter_map(name).map(|it| it.split('[').next().unwrap_or(it)).collect()
            }
        }
    }
}

/// The newest profiler that `PATH` leads to.
pub fn in_path(path: &OsStr) -> Option<PathBuf> {
    let find = |name: &str| std::env::split_paths(path).map(|it| it.join(name)).find(|it| it.is_file());
    NAMES.iter().find_map(|name| find(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_profiler_of_a_path_is_taken() {
        let scratch = testkit::Scratch::new("profilers");
        let (first, second) = (scratch.path("first"), scratch.path("second"));
        for (folder, name) in [(&first, "rocprof"), (&second, "rocprofv2")] {
            std::fs::create_dir_all(folder).unwrap();
            std::fs::write(folder.join(name), "").unwrap();
        }
        let path = std::env::join_paths([&first, &second]).unwrap();
        assert_eq!(in_path(&path), Some(second.join("rocprofv2")));
        assert_eq!(in_path(first.as_os_str()), Some(first.join("rocprof")));
        assert_eq!(in_path("".as_ref()), None);
    }

    #[test]
    fn a_file_is_told_by_its_name() {
        for (file, expected) in [
            ("/opt/rocm/bin/rocprof", Some(Tool::Rocprof)),
            ("rocprofv2", Some(Tool::Rocprofv2)),
            ("/opt/rocm/bin/rocprofv3", None),
            ("my-profiler", None),
        ] {
            assert_eq!(Tool::predecessor(Path::new(file)), expected, "{file}");
        }
    }

    #[test]
    fn words_that_a_shell_changes_are_known() {
        for (word, changes) in
            [("-n", false), ("a b", false), ("a  b", true), ("$HOME", true), ("a\"b", true), ("*.txt", true)]
        {
            assert_eq!(Tool::Rocprof.changes(word.as_ref()), changes, "{word}");
            assert!(!Tool::Rocprofv2.changes(word.as_ref()), "{word}");
        }
    }

    #[test]
    fn what_predecessors_list_are_names_of_counters() {
        let text = "Basic HW counters:\n\n  gpu-agent0 : GRBM_COUNT : Tie High - Count Number of Clocks\n      block GRBM has 2 counters\n  \
             gpu-agent0 : TCC_HIT[0-31] : Number of cache hits.\n\n  gpu-agent0 : TCC_HIT_sum : Number of cache hits. Sum over TCC instances.\n      TCC_HIT_sum = sum(TCC_HIT,32)\n";
        for tool in [Tool::Rocprof, Tool::Rocprofv2] {
            assert_eq!(tool.listed(text, "gfx90a"), ["GRBM_COUNT", "TCC_HIT", "TCC_HIT_sum"]);
            assert!(tool.listed("rocprof: Error: no GPU", "gfx90a").is_empty());
        }
    }
}
