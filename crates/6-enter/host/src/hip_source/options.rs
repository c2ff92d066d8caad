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

/// Beginnings of options that are taken from makefiles.
const FROM_MAKEFILES: [&str; 4] = ["-I", "-isystem", "-D", "-std="];
/// Makefiles, in the order in which `make` looks for them.
const MAKEFILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

/// Options of a project for a source.
#[derive(Default)]
pub(super) struct Options {
    pub(super) options: Vec<OsString>,
    /// The options that a file says, and which file.
    pub(super) note: Option<String>,
}

/// Options for a source: of its own command, else of the makefile beside it, and what the user appends.
pub(super) fn of(source: &Path) -> Options {
    let found = recorded(source).or_else(|| written(source)).filter(|it| !it.0.is_empty());
    let (mut options, note) = match found {
        None => (Vec::new(), None),
        Some((options, path)) => {
            let listed: Vec<_> = options.iter().map(|it| it.to_string_lossy()).collect();
            let note = format!("options from `{}`: `{}`", path.display(), listed.join(" "));
            (options, Some(note))
        }
    };
    let appended = std::env::var(APPENDED).ok().and_then(|it| view::shell_words(&it)).unwrap_or_default();
    options.extend(appended.into_iter().map(OsString::from));
    Options { options, note }
}

/// Options that the makefile beside a source has in plain words. Nothing is run: variables and conditional parts are passed over.
fn written(source: &Path) -> Option<(Vec<OsString>, PathBuf)> {
    let folder = source.parent()?;
    let name = source.file_name()?.to_string_lossy();
    let path = MAKEFILES.iter().map(|it| folder.join(it)).find(|it| it.is_file())?;
    let text = std::fs::metadata(&path)
        .ok()
        .filter(|it| it.len() <= MOST)
        .and_then(|_| std::fs::read_to_string(&path).ok())?;
    Some((taken(&plain_words(&text, &name), folder), path))
}

/// Folders, macros and language versions of a makefile that hold for a source whatever is built; the first word is not an option.
///
/// Left out are variables, parts under `ifeq` and its like, settings of one target, recipes that do not name the source, and macros and
/// versions that occur with several values.
fn plain_words(text: &str, source: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut conditions = 0usize;
    for line in text.replace("\r\n", "\n").replace("\\\n", " ").lines() {
        let line = line.split_once('#').map_or(line, |it| it.0);
        let first = line.split_whitespace().next().unwrap_or_default();
        let is_recipe = line.starts_with('\t');
        let assigns = line.find('=').unwrap_or(usize::MAX);
        let is_of_target =
            !is_recipe && line.find(':').is_some_and(|at| at + 1 < assigns && !line[at..].starts_with("::="));
        if first.starts_with("if") {
            conditions += 1;
        } else if first == "endif" {
            conditions = conditions.saturating_sub(1);
        } else if conditions == 0
            && !is_of_target
            && (!is_recipe || line.contains(source) || line.contains("$<"))
        {
            let is_taken =
                |it: &&str| FROM_MAKEFILES.iter().any(|name| it.len() > name.len() && it.starts_with(name));
            let plain = line.split_whitespace().filter(|it| !it.contains('$')).filter(is_taken);
            words.extend(plain.map(|it| it.replace(['"', '\''], "")));
        }
    }
    let subject = |it: &str| match it.starts_with("-I") {
        true => it.to_owned(),
        false => it.split('=').next().unwrap_or(it).to_owned(),
    };
    let is_clear = |it: &&String| words.iter().all(|other| subject(other) != subject(it) || other == *it);
    let clear = words.iter().filter(is_clear).cloned();
    std::iter::once(String::new()).chain(clear).collect()
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
        let is_it = |name: &&&str| word.starts_with(**name) && (**name != "-include" || word == **name);
        if let Some(name) = WITH_VALUE.iter().find(is_it) {
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
        for (text, expected) in [
            (
                "CFLAGS := $(X) -Ddfloat=double -std=c++17 \\\n  -Wall -I../adv -I$(R)/include\n",
                "-Ddfloat=double -std=c++17 -I../adv",
            ),
            ("CFLAGS = -DA \\\r\n -DB\r\n", "-DA -DB"),
            (
                "# -DNO\nifeq ($(D),yes)\nCFLAGS += -DNO\nendif\n-include x.d\nX = $(shell touch x -DNO=$(Y))\n",
                "",
            ),
            ("debug: CFLAGS += -DDEBUG\nCFLAGS ::= -DA\n", "-DA"),
            ("all:\n\thipcc -DN=1 main.hip\nrun:\n\t./main -DX -I10\n", "-DN=1"),
            ("a:\n\thipcc -DN=1 -I. main.hip\nb:\n\thipcc -DN=2 -I. main.hip\n", "-I. -I."),
            ("%.o: %.hip\n\thipcc -DN -c $< -o $@\nclean:\n\trm -rf -I main\n", "-DN"),
            ("CFLAGS = -O0 -fplugin=bad.so -I\n", ""),
        ] {
            assert_eq!(plain_words(text, "main.hip")[1..].join(" "), expected, "{text}");
        }
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
