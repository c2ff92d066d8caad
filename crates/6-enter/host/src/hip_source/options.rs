//! Options that a project compiles its sources with: from `compile_commands.json` and from the variable that `hipcc` reads.

use serde::Deserialize;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Options that `hipcc` appends.
const APPENDED: &str = "HIPCC_COMPILE_FLAGS_APPEND";
/// Commands of a project, as CMake and `bear` write them.
const COMMANDS: &str = "compile_commands.json";
/// Most bytes of it that are read.
const MOST: u64 = 256 << 20;
/// Options whose value may be the next word.
const WITH_VALUE: [&str; 8] = ["-I", "-D", "-U", "-isystem", "-iquote", "-idirafter", "-include", "-mllvm"];
/// Beginnings of options that decide what code is made. No other is taken: a file in a folder may not make the compiler load code.
const TAKEN: [&str; 12] = [
    "-std=",
    "-O",
    "-ffast-math",
    "-fno-fast-math",
    "-ffp-contract=",
    "-fgpu-flush-denormals-to-zero",
    "-fgpu-default-stream=",
    "-munsafe-fp-atomics",
    "-mno-unsafe-fp-atomics",
    "-fno-unroll-loops",
    "-funroll-loops",
    "-mcumode",
];

/// One entry of the file.
#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    #[serde(default)]
    arguments: Vec<String>,
    #[serde(default)]
    command: String,
}

/// Makefiles, in the order in which `make` looks for them.
const MAKEFILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

/// Options for a source, and the file they come from.
pub(super) fn of(source: &Path) -> (Vec<OsString>, Option<PathBuf>) {
    let found = recorded(source).or_else(|| written(source)).filter(|it| !it.0.is_empty());
    let (mut options, from) = found.map_or((Vec::new(), None), |(all, path)| (all, Some(path)));
    let appended = std::env::var(APPENDED).ok().and_then(|it| view::shell_words(&it)).unwrap_or_default();
    options.extend(appended.into_iter().map(OsString::from));
    (options, from)
}

/// Options that the makefile beside a source has in plain words. Nothing is run: variables and conditional parts are passed over.
fn written(source: &Path) -> Option<(Vec<OsString>, PathBuf)> {
    let folder = source.parent()?;
    let path = MAKEFILES.iter().map(|it| folder.join(it)).find(|it| it.is_file())?;
    let text = std::fs::metadata(&path)
        .ok()
        .filter(|it| it.len() <= MOST)
        .and_then(|_| std::fs::read_to_string(&path).ok())?;
    Some((taken(&plain_words(&text), folder), path))
}

/// Words of a makefile without variables, outside `ifeq` and its like; the first is not an option.
fn plain_words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut conditions = 0usize;
    for line in text.replace("\\\n", " ").lines() {
        let first = line.split_whitespace().next().unwrap_or_default();
        match first {
            _ if first.starts_with("if") => conditions += 1,
            "endif" => conditions = conditions.saturating_sub(1),
            // A directive of `make`, which has other files read.
            "-include" => {}
            _ if conditions > 0 || first.starts_with('#') => {}
            _ => {
                let plain = line.split_whitespace().filter(|it| it.starts_with('-') && !it.contains('$'));
                // A folder may be the next word only behind `-I` itself, which few write.
                words.extend(
                    plain
                        .filter(|it| it.len() > 2 && !WITH_VALUE.contains(it))
                        .map(|it| it.replace(['"', '\''], "")),
                );
            }
        }
    }
    words
}

fn recorded(source: &Path) -> Option<(Vec<OsString>, PathBuf)> {
    for folder in source.ancestors().skip(1) {
        let mut places = vec![folder.join(COMMANDS), folder.join("build").join(COMMANDS)];
        places.retain(|it| std::fs::metadata(it).is_ok_and(|it| it.is_file() && it.len() <= MOST));
        for place in places {
            let entries: Vec<Entry> = std::fs::read(&place)
                .ok()
                .and_then(|it| serde_json::from_slice(&it).ok())
                .unwrap_or_default();
            let is_it = |it: &&Entry| same(&it.directory.join(&it.file), source);
            if let Some(entry) = entries.iter().find(is_it) {
                let words = match entry.arguments.is_empty() {
                    true => view::shell_words(&entry.command).unwrap_or_default(),
                    false => entry.arguments.clone(),
                };
                return Some((taken(&words, &entry.directory), place));
            }
        }
        if folder.join(".git").exists() {
            break;
        }
    }
    None
}

fn same(a: &Path, b: &Path) -> bool {
    a == b
        || a.file_name() == b.file_name()
            && a.canonicalize().ok().is_some_and(|it| b.canonicalize().ok() == Some(it))
}

/// The options of a command that matter for the code; folders from the root.
fn taken(words: &[String], directory: &Path) -> Vec<OsString> {
    let mut options = Vec::new();
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        if let Some(name) = WITH_VALUE.iter().find(|name| word.starts_with(**name)) {
            let joined = word[name.len()..].to_owned();
            let Some(value) = Some(joined).filter(|it| !it.is_empty()).or_else(|| words.next().cloned())
            else {
                break;
            };
            // `-mllvm` can load code.
            if *name == "-mllvm" {
                continue;
            }
            let is_path = !matches!(*name, "-D" | "-U");
            options.push(OsString::from(name));
            let in_folder = directory.join(&value);
            options.push(if is_path && in_folder.exists() { in_folder.into() } else { value.into() });
        } else if TAKEN.iter().any(|it| word.starts_with(it)) {
            options.push(word.into());
        }
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_makefile_is_not_run() {
        let text = "CC = hipcc\n# -DNO\nCFLAGS := $(X) -Ddfloat=double -std=c++17 \\\n  -Wall -I../adv -I$(R)/include\nifeq ($(D),yes)\n\
            CFLAGS += -DNO -O0\nendif\n-include x.d\nX = $(shell touch /tmp/x -DNO=$(Y))\n";
        assert_eq!(plain_words(text)[1..], ["-Ddfloat=double", "-std=c++17", "-Wall", "-I../adv"]);
    }

    #[test]
    fn only_what_makes_the_code_is_taken() {
        let words = "hipcc -I. -I /x -DN=3 -D M -isystem /usr/include -std=c++20 -O2 -Wall -fplugin=bad.so -Xclang -load \
            -mllvm -load=bad.so --offload-arch=gfx90a -o out -c main.hip";
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        let all = taken(&words, Path::new("/"));
        let text = all.iter().map(|it| it.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ");
        assert_eq!(text, "-I /. -I /x -D N=3 -D M -isystem /usr/include -std=c++20 -O2");
    }
}
