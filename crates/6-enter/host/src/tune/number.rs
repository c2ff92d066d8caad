//! The number that a program printed or wrote.

use regex::Regex;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Bytes of a file with a number.
const MOST_BYTES: u64 = 16 << 20;

/// A number that is not part of a word, as programs print them.
const NUMBER: &str = r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?(?i:nan|inf(?:inity)?)";

/// Why a program's output has no usable number.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum NoNumber {
    /// Nothing matches.
    #[error("it printed no number{0}")]
    None(String),
    /// Several numbers that differ.
    #[error(
        "it printed {count} numbers{wanted}, `{first}` and `{second}` among them: name the one that counts"
    )]
    Several {
        /// How many.
        count: usize,
        /// For which pattern.
        wanted: String,
        /// The first.
        first: String,
        /// One that differs from it.
        second: String,
    },
    /// Text where a number is expected.
    #[error("it printed `{0}`, which is no number")]
    Text(String),
    /// Not a number, infinite, negative or 0.
    #[error("it printed {0}, which no time can be")]
    Impossible(String),
    /// A file that the program did not write.
    #[error("`{0}` is as it was before the run: the program did not write it")]
    Stale(String),
    /// A file that cannot be read.
    #[error("cannot read `{0}`: {1}")]
    Unreadable(String, String),
}

/// How the number is found.
#[derive(Clone, Debug)]
pub struct Pattern {
    regex: Regex,
    /// For messages: where the number is looked for.
    wanted: String,
}

impl Pattern {
    /// A regular expression with one group, or a name that `:` or `=` and the number follow; without either the output's
    /// only number.
    ///
    /// # Errors
    /// If the expression is none, or has two groups or more.
    pub fn parse(text: Option<&str>) -> Result<Pattern, String> {
        let Some(text) = text else {
            return Ok(Pattern { regex: ANY.clone(), wanted: String::new() });
        };
        let regex = Regex::new(text).map_err(|error| format!("`{text}`: {error}"))?;
        let wanted = format!(" for `{text}`");
        match regex.captures_len() - 1 {
            1 => Ok(Pattern { regex, wanted }),
            0 => {
                let named = format!(
                    r"(?m)(?:^|[\s,;{{\x22']){}[\x22']?\s*[:=]\s*({NUMBER}|\S+)",
                    regex::escape(text)
                );
                let regex = Regex::new(&named).map_err(|error| format!("`{text}`: {error}"))?;
                Ok(Pattern { regex, wanted })
            }
            count => Err(format!("`{text}` has {count} groups: make all but the number's `(?:…)`")),
        }
    }

    /// The number in an output. The same number twice is one.
    ///
    /// # Errors
    /// If there is none, there are several, or no time can be it.
    pub fn find(&self, output: &str) -> Result<f64, NoNumber> {
        let words = self.regex.captures_iter(output).filter_map(|it| it.get(1)).map(|it| it.as_str());
        let words: Vec<&str> = words.collect();
        let first = *words.first().ok_or_else(|| NoNumber::None(self.wanted.clone()))?;
        if let Some(second) = words.iter().find(|it| **it != first) {
            let (first, second) = (first.to_owned(), (*second).to_owned());
            return Err(NoNumber::Several { count: words.len(), wanted: self.wanted.clone(), first, second });
        }
        let value: f64 = first.parse().map_err(|_| NoNumber::Text(first.to_owned()))?;
        match value.is_finite() && value > 0.0 {
            true => Ok(value),
            false => Err(NoNumber::Impossible(first.to_owned())),
        }
    }
}

static ANY: LazyLock<Regex> = LazyLock::new(|| {
    let text = format!(r"(?:^|[^\w.+-])({NUMBER})(?:\b|[^\w.]|$)");
    Regex::new(&text).unwrap_or_else(|error| unreachable!("{error}"))
});

/// The number in an output: see [`Pattern::parse`].
///
/// # Errors
/// The fault of the pattern or the output, in words.
pub fn number(output: &str, pattern: Option<&str>) -> Result<f64, String> {
    Pattern::parse(pattern)?.find(output).map_err(|error| error.to_string())
}

/// A file that a program is to write, as it was before the run.
#[derive(Debug)]
pub struct ResultFile {
    path: PathBuf,
    /// Device, file, length, and times of the last change of content and of the file.
    before: Option<[i128; 5]>,
}

impl ResultFile {
    /// Looks at a file before the run.
    pub fn before(path: &Path) -> ResultFile {
        ResultFile { path: path.to_owned(), before: state(path) }
    }

    /// The file's text after the run.
    ///
    /// # Errors
    /// If the run did not write it, or it cannot be read.
    pub fn text(&self) -> Result<String, NoNumber> {
        let name = self.path.display().to_string();
        if self.before.is_some() && self.before == state(&self.path) {
            return Err(NoNumber::Stale(name));
        }
        let mut text = Vec::new();
        let read =
            std::fs::File::open(&self.path).and_then(|it| it.take(MOST_BYTES + 1).read_to_end(&mut text));
        match read {
            Ok(_) if text.len() as u64 > MOST_BYTES => {
                Err(NoNumber::Unreadable(name, "it has over 16 MiB".to_owned()))
            }
            Ok(_) => Ok(String::from_utf8_lossy(&text).into_owned()),
            Err(error) => Err(NoNumber::Unreadable(name, error.to_string())),
        }
    }
}

fn state(path: &Path) -> Option<[i128; 5]> {
    let it = std::fs::metadata(path).ok()?;
    let time = |seconds: i64, ns: i64| i128::from(seconds) * 1_000_000_000 + i128::from(ns);
    let changed = time(it.mtime(), it.mtime_nsec());
    Some([it.dev().into(), it.ino().into(), it.len().into(), changed, time(it.ctime(), it.ctime_nsec())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_or_named() {
        for (output, pattern, expected) in [
            ("12.5\n", None, "12.5"),
            ("time: 12.5 ms on MI300X with v1.2\n", None, "12.5"),
            ("time=1e-3s", Some(r"time=(\S+)s"), "0.001"),
            ("elapsed_us: 42\nother_elapsed_us: 43\n", Some("elapsed_us"), "42"),
            ("{\"elapsed_us\": 42.5, \"runs\": 3}", Some("elapsed_us"), "42.5"),
            ("t 5\nt 5\n", Some(r"t (\d+)"), "5"),
        ] {
            assert_eq!(
                number(output, pattern).map(|it| it.to_string()).as_deref(),
                Ok(expected),
                "{output:?}"
            );
        }
        for (output, pattern) in [
            ("", None),
            ("MI300X fp16\n", None),
            ("a: 1\n", Some("b")),
            ("1 2\n", None),
            ("t 5\nt 6\n", Some(r"t (\d+)")),
            ("nan\n", None),
            ("time: -nan us\n", None),
            ("inf", None),
            ("-3.5", None),
            ("0.0", None),
            ("time: fast", Some("time")),
            ("1", Some("(a)(b)")),
        ] {
            testkit::golden(&format!("{output:?} by {pattern:?}"), &number(output, pattern).unwrap_err());
        }
        assert!(number("1", Some("(")).unwrap_err().starts_with("`(`: "));
    }

    #[test]
    fn a_file_of_the_run_before_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("time.txt");
        let new = ResultFile::before(&path);
        assert!(matches!(new.text(), Err(NoNumber::Unreadable(..))));
        std::fs::write(&path, "12").unwrap();
        assert_eq!(new.text().unwrap(), "12");
        let again = ResultFile::before(&path);
        assert!(matches!(again.text(), Err(NoNumber::Stale(_))));
        // The same number, written again.
        std::thread::sleep(std::time::Duration::from_millis(20));
        std::fs::write(&path, "12").unwrap();
        assert_eq!(again.text().unwrap(), "12");
    }
}
