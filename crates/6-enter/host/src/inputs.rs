//! Files to read: the named files, and all files in the named folders.
//!
//! A named file must hold GPU code or it is an error; a file found in a folder may be anything.

use sorting::Sort;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use view::FileError;

/// One file to read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input {
    /// Path; `-` is standard input.
    pub path: PathBuf,
    /// It was named on the command line.
    pub named: bool,
    /// The JSON file of that name that Triton wrote beside it, if it exists.
    pub companion: Option<PathBuf>,
    /// The IR Triton wrote beside its code: TTGIR before TTIR.
    pub ir: Vec<PathBuf>,
}

impl Input {
    /// Whether it is standard input.
    pub fn is_standard_input(&self) -> bool {
        self.path.as_os_str() == "-"
    }

    /// Name for people.
    pub fn name(&self) -> String {
        if self.is_standard_input() { "<stdin>".to_owned() } else { self.path.display().to_string() }
    }
}

/// The error of one file.
pub fn file_error(path: &Path, error: impl std::fmt::Display, hint: &str) -> FileError {
    FileError {
        file: path.display().to_string(),
        error: error.to_string(),
        hint: (!hint.is_empty()).then(|| hint.to_owned()),
    }
}

/// Lists the files to read, folders opened, in the order given and by name within folders.
pub fn expand(paths: &[PathBuf]) -> (Vec<Input>, Vec<FileError>) {
    let mut inputs = Vec::new();
    let mut errors = Vec::new();
    for path in paths {
        if path.as_os_str() != "-" && path.is_dir() {
            let mut files = Vec::new();
            walk(path, &mut files, &mut errors);
            inputs.extend(pair(files));
        } else {
            inputs.push(named(path));
        }
    }
    (inputs, errors)
}

/// A file named on the command line. Triton's JSON is replaced by its code object.
fn named(path: &Path) -> Input {
    let has = |extension: &str| path.extension().is_some_and(|found| found == extension);
    if has("json") {
        for extension in SET_EXTENSIONS {
            let code = path.with_extension(extension);
            if code.is_file() {
                return Input {
                    ir: ir_beside(&code, Path::is_file),
                    path: code,
                    named: true,
                    companion: Some(path.to_owned()),
                };
            }
        }
    }
    let companion = SET_EXTENSIONS
        .iter()
        .any(|extension| has(extension))
        .then(|| path.with_extension("json"))
        .filter(|json| json.is_file());
    Input { path: path.to_owned(), named: true, companion, ir: ir_beside(path, Path::is_file) }
}

/// Files that Triton writes for one kernel: the code object first, since it holds more than its assembly, and
/// both more than the IR.
const SET_EXTENSIONS: [&str; 4] = ["hsaco", "amdgcn", "ttgir", "ttir"];
/// Further files that Triton writes, which are ignored.
const OTHER_EXTENSIONS: [&str; 2] = ["source", "llir"];

/// The IR beside Triton's code.
fn ir_beside(path: &Path, exists: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let code = path.extension().is_some_and(|found| found == "hsaco" || found == "amdgcn");
    let beside = ["ttgir", "ttir"].iter().map(|extension| path.with_extension(extension));
    if code { beside.filter(|it| exists(it)).collect() } else { Vec::new() }
}

/// All regular files below a folder, sorted. Links to folders are not followed, so no cycle is possible.
fn walk(folder: &Path, files: &mut Vec<PathBuf>, errors: &mut Vec<FileError>) {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            errors.push(file_error(folder, error, ""));
            return;
        }
    };
    let mut entries: Vec<_> = entries.filter_map(Result::ok).collect();
    entries.in_order_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => walk(&path, files, errors),
            Ok(kind) if kind.is_file() || (kind.is_symlink() && path.is_file()) => files.push(path),
            _ => {}
        }
    }
}

/// Reduces Triton's sets: the first of [`SET_EXTENSIONS`] that exists represents all files of the name.
fn pair(files: Vec<PathBuf>) -> Vec<Input> {
    let all: BTreeSet<&Path> = files.iter().map(PathBuf::as_path).collect();
    let has = |path: &Path| all.contains(path);
    let mut inputs = Vec::new();
    for path in &files {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let before = match SET_EXTENSIONS.iter().position(|it| *it == extension) {
            Some(rank) => &SET_EXTENSIONS[..rank],
            None if extension == "json" || OTHER_EXTENSIONS.contains(&extension) => &SET_EXTENSIONS[..],
            None => &[],
        };
        if before.iter().any(|first| has(&path.with_extension(first))) {
            continue;
        }
        let companion =
            SET_EXTENSIONS.contains(&extension).then(|| path.with_extension("json")).filter(|json| has(json));
        inputs.push(Input { path: path.clone(), named: false, companion, ir: ir_beside(path, has) });
    }
    inputs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triton_sets_are_read_once() {
        let files = [
            "a/k.amdgcn",
            "a/k.hsaco",
            "a/k.json",
            "a/k.source",
            "a/k.ttgir",
            "a/k.ttir",
            "b/t.amdgcn",
            "b/t.json",
            "c/other.json",
            "c/lib.so",
            "d/i.json",
            "d/i.ttgir",
            "d/i.ttir",
        ];
        let found: Vec<(String, Option<String>)> = pair(files.iter().map(PathBuf::from).collect())
            .into_iter()
            .map(|input| (input.name(), input.companion.map(|json| json.display().to_string())))
            .collect();
        let expected = [
            ("a/k.hsaco", Some("a/k.json")),
            ("b/t.amdgcn", Some("b/t.json")),
            ("c/other.json", None),
            ("c/lib.so", None),
            ("d/i.ttgir", Some("d/i.json")),
        ];
        let expected: Vec<_> =
            expected.map(|(name, json)| (name.to_owned(), json.map(str::to_owned))).to_vec();
        assert_eq!(found, expected);
    }
}
