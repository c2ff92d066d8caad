//! Texts that a test compares with files which somebody has read.
//!
//! `UPDATE_GOLDEN=1` writes the files instead; `UPDATE_GOLDEN=new` also drops the sections of [`golden`] that
//! no test of the program writes any more.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Files that this process wrote from an empty one. Tests of a program run at the same time and share a file.
static BEGUN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn update() -> Option<std::ffi::OsString> {
    std::env::var_os("UPDATE_GOLDEN")
}

/// Compares text with a file.
///
/// # Panics
/// Where they differ, or the file cannot be written.
#[track_caller]
pub fn golden_file(path: impl AsRef<Path>, text: &str) {
    let path = path.as_ref();
    if update().is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder of golden files");
        std::fs::write(path, text).expect("the golden file is written");
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    let path = path.display();
    for (found, expected) in text.lines().zip(expected.lines()) {
        assert_eq!(found, expected, "{path}: read the difference after UPDATE_GOLDEN=1");
    }
    assert!(text == expected, "{path}: lines came or went; read the difference after UPDATE_GOLDEN=1");
}

/// Compares text with a section of a golden file: `refused.golden` for `tests/NAME/refused.rs`, and one
/// `src/said.golden` for the unit tests of a crate, with the module before the name of the section. Paths of
/// the repository and of scratch folders and the version are the same everywhere there.
///
/// # Panics
/// Where they differ, or the file cannot be written.
#[track_caller]
pub fn golden(section: &str, text: &str) {
    let source = Location::caller().file();
    let (path, section) = match source.split_once("/src/") {
        Some((folder, module)) => (format!("{folder}/src/said.golden"), format!("{module}: {section}")),
        None => (source.replace(".rs", ".golden"), section.to_owned()),
    };
    let path = crate::root().join(path);
    let (section, text) = (neutral(&section).replace('\n', " "), neutral(text));
    assert!(!format!("\n{text}").contains("\n=== "), "a line of {text} begins a section");
    let mut begun = BEGUN.lock().unwrap_or_else(PoisonError::into_inner);
    let anew = update().is_some_and(|it| it == "new") && begun.insert(path.clone());
    let file = if anew { String::new() } else { std::fs::read_to_string(&path).unwrap_or_default() };
    let file = format!("\n{}", file.trim_end());
    let parts = file.split("\n=== ").skip(1).map(|it| it.split_once('\n').unwrap_or((it, "")));
    let mut sections: BTreeMap<&str, &str> = parts.collect();
    let expected = sections.insert(&section, &text);
    if update().is_some() && expected != Some(&text) {
        let whole: String = sections.iter().map(|(name, text)| format!("=== {name}\n{text}\n")).collect();
        std::fs::write(&path, whole).expect("the golden file is written");
    } else {
        drop(begun);
        assert_eq!(Some(text.as_str()), expected, "`{section}` of {}", path.display());
    }
}

/// Text without what differs between machines and runs, lines without spaces at their ends.
fn neutral(text: &str) -> String {
    let mut text = text.to_owned();
    let scratch = std::env::temp_dir().join("rockhound-").display().to_string();
    while let Some(at) = text.find(&scratch) {
        let rest = &text[at + scratch.len()..];
        let end = rest.find(|it: char| !it.is_ascii_alphanumeric() && it != '-').unwrap_or(rest.len());
        text.replace_range(at..at + scratch.len() + end, "SCRATCH");
    }
    let text = text.replace(&crate::root().display().to_string(), "REPOSITORY");
    let text = text.replace(concat!("rockhound ", env!("CARGO_PKG_VERSION")), "rockhound VERSION");
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_this_machine_are_left_out() {
        let scratch = crate::Scratch::new("a-b");
        let text = format!("{}: \n{}/c\n\n", scratch.path("x").display(), crate::root().display());
        assert_eq!(neutral(&text), "SCRATCH/x:\nREPOSITORY/c");
    }

    #[test]
    fn another_text_fails() {
        golden("as it is", "two\nlines");
        assert!(update().is_some() || std::panic::catch_unwind(|| golden("as it is", "two")).is_err());
        assert!(update().is_some() || std::panic::catch_unwind(|| golden("not there", "two")).is_err());
    }
}
