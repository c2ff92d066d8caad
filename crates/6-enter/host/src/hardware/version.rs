//! Arguments that an installed rocprofv3 accepts: its version, and the arguments of each feature from a
//! table.
//!
//! A profiler that does not report its version is older than the option that asks for it; a version newer
//! than the table is treated as the newest known one.

use std::ffi::OsString;
use std::fmt;

const FEATURES: &str = include_str!("../../data/rocprofv3.tsv");
const TARGETS: &str = include_str!("../../data/sampling-targets.tsv");

/// A version of rocprofv3, equal to the version of ROCprofiler-SDK.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Version(pub [u32; 3]);

impl Version {
    /// The last one that does not say its version, with ROCm 6.4.
    pub const SILENT: Version = Version([0, 6, 0]);

    /// The first version in a text: `version: 1.1.0`.
    pub fn find(text: &str) -> Option<Version> {
        let is_word = |c: char| c.is_ascii_digit() || c == '.';
        text.split(|c| !is_word(c)).find_map(Version::parse)
    }

    fn parse(word: &str) -> Option<Version> {
        let numbers: Vec<u32> = word.split('.').map(str::parse).collect::<Result<_, _>>().ok()?;
        let [major, minor, patch, ..] = numbers[..] else { return None };
        Some(Version([major, minor, patch]))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// The newest one that the table was compared with.
pub const NEWEST: Version = Version([1, 3, 5]);

/// Rows of a table, as fields.
fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    table.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect())
}

/// Arguments of a feature with their values; an error names the first version that has it.
pub fn arguments(
    feature: &str,
    version: Version,
    values: &[(&str, Vec<OsString>)],
) -> Result<Vec<OsString>, String> {
    let row = rows(FEATURES).find(|row| row[0] == feature);
    let [_, since, rocm, words] = row.as_deref().unwrap_or(&[]) else {
        return Err(format!("rocprofv3 is not known to have `{feature}`"));
    };
    if Version::parse(since).is_some_and(|since| version < since) {
        return Err(format!(
            "rocprofv3 {version} cannot do this (`{}`): it came with {since}, ROCm {rocm}",
            words.split(' ').next().unwrap_or_default()
        ));
    }
    let mut out = Vec::new();
    for word in words.split(' ') {
        let name = word.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
        match name.and_then(|name| values.iter().find(|(given, _)| *given == name)) {
            Some((_, values)) => out.extend(values.iter().cloned()),
            None => out.push(word.into()),
        }
    }
    Ok(out)
}

/// Ways to sample the program counter on a target, the best first.
pub fn sampling_methods(target: &str) -> Vec<&'static str> {
    rows(TARGETS).find(|row| row[0] == target).map_or_else(Vec::new, |row| row[1].split(' ').collect())
}

/// Whether a target has thread traces.
pub fn has_thread_trace(target: &str) -> bool {
    rows(TARGETS).any(|row| row[0] == target && row[2] == "yes")
}

/// Counters that `rocprofv3 --list-avail` names for a target; empty where the text has no such list.
pub fn listed_counters<'a>(text: &'a str, target: &str) -> Vec<&'a str> {
    let mut of_target = false;
    let mut out = Vec::new();
    for line in text.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        match key.trim().to_ascii_lowercase().as_str() {
            "name" => of_target = value.trim() == target,
            "counter_name" if of_target => out.push(value.trim()),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_a_profiler_says() {
        for (text, expected) in [
            ("             version: 1.1.0\n        git_revision: 0a1\n", Some([1, 1, 0])),
            ("rocprofv3 0.6.0", Some([0, 6, 0])),
            ("rocprofv3 1.3.5.7-beta", Some([1, 3, 5])),
            ("usage: rocprofv3 [options]", None),
            ("1.2", None),
        ] {
            assert_eq!(Version::find(text).map(|it| it.0), expected, "{text}");
        }
    }

    #[test]
    fn the_tables_are_whole() {
        for row in rows(FEATURES) {
            assert!(row.len() == 4 && Version::parse(row[1]).is_some(), "{row:?}");
        }
        for row in rows(TARGETS) {
            assert!(row.len() == 3 && arch::Target::by_name(row[0]).is_some(), "{row:?}");
            for method in row[1].split(' ') {
                assert!(arguments(method, Version([9, 0, 0]), &[]).is_ok(), "{row:?}");
            }
        }
    }

    #[test]
    fn arguments_have_values_and_a_first_version() {
        let values = [("interval", vec!["1024".into()])];
        let words = |feature: &str, version| {
            arguments(feature, Version(version), &values).map(|words| {
                words.iter().map(|it| it.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
            })
        };
        let expected = "--pc-sampling-beta-enabled --pc-sampling-method host_trap --pc-sampling-unit time --pc-sampling-interval 1024";
        assert_eq!(words("host-trap", [0, 6, 0]).as_deref(), Ok(expected));
        testkit::golden("stochastic with 0.6.0", &words("stochastic", [0, 6, 0]).unwrap_err().to_string());
        assert!(words("teleport", [1, 0, 0]).is_err());
    }

    #[test]
    fn counters_are_listed_by_target() {
        let text = "GPU:0\nName:gfx90a\nCounter_Name        :\tSQ_WAVES\nDescription : x: y\n\nGPU:1\nName:gfx942\nCounter_Name : TCC_HIT\n";
        assert_eq!(listed_counters(text, "gfx90a"), ["SQ_WAVES"]);
        assert_eq!(listed_counters(text, "gfx942"), ["TCC_HIT"]);
        assert!(listed_counters("error", "gfx942").is_empty());
        let Some(path) = testkit::shared("recordings/rocprofv3/list-avail.txt") else { return };
        let text = std::fs::read_to_string(path).unwrap();
        assert!(listed_counters(&text, "gfx90a").contains(&"SQ_WAVES"));
    }
}
