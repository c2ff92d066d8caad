//! Headers that CMake or autoconf make of a template when a project is built.
//!
//! Their contents are not known. They are read with two fillings that differ in every value: code that both give
//! depends on nothing in them.

use super::headers::folders_with;
use std::path::{Path, PathBuf};

/// Values that are used instead of the build's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Filling {
    /// Options are off, values are 0.
    Off,
    /// Options are on, values are large.
    On,
}

/// The template of a header in the project of a source; `None` if there is none or more than one.
pub(super) fn template(name: &str, source: &Path) -> Option<PathBuf> {
    let file = Path::new(name).file_name()?.to_str()?;
    let inner = file.rsplit_once('.').map(|(stem, ending)| format!("{stem}.in.{ending}"));
    let names = ["in", "cmake", "cmake.in"].map(|it| format!("{file}.{it}"));
    let found: Vec<PathBuf> = names
        .into_iter()
        .chain(inner)
        .flat_map(|name| folders_with(&name, source).into_iter().map(move |it| it.join(&name)))
        .collect();
    if let [one] = &found[..] { Some(one.clone()) } else { None }
}

/// The text of a template with a filling; every line keeps its number.
pub(super) fn filled(text: &str, filling: Filling) -> String {
    text.split_inclusive('\n').map(|line| values(&option(line, filling), filling)).collect()
}

/// A line that sets an option, as the build would write it; other lines as they are.
fn option(line: &str, filling: Filling) -> String {
    let end = if line.ends_with('\n') { "\n" } else { "" };
    let is_on = filling == Filling::On;
    let Some((word, rest)) = directive(line) else { return line.to_owned() };
    match word {
        "cmakedefine01" => format!("#define {} {}{end}", rest.trim(), u8::from(is_on)),
        "cmakedefine" if is_on => format!("#define {}{end}", rest.trim()),
        "undef" if is_on => format!("#define {} 1{end}", rest.trim()),
        "cmakedefine" | "undef" => end.to_owned(),
        _ => line.to_owned(),
    }
}

/// Word and rest of a line of the preprocessor.
fn directive(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start().strip_prefix('#')?.trim_start();
    line.split_once(|it: char| it.is_ascii_whitespace())
}

/// A line with a number for each `@NAME@` and `${NAME}`.
fn values(line: &str, filling: Filling) -> String {
    let number = if filling == Filling::On { "1000000" } else { "0" };
    let is_name = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '.');
    let (mut out, mut rest) = (String::with_capacity(line.len()), line);
    while let Some(at) = rest.find(['@', '$']) {
        out += &rest[..at];
        let (open, close) = if rest[at..].starts_with('@') { ("@", '@') } else { ("${", '}') };
        let name = rest[at..].strip_prefix(open).and_then(|it| it.split_once(close));
        match name.filter(|(name, _)| !name.is_empty() && name.chars().all(is_name)) {
            Some((_, behind)) => {
                out += number;
                rest = behind;
            }
            None => {
                out += &rest[at..=at];
                rest = &rest[at + 1..];
            }
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled_in_two_ways() {
        for (text, off, on) in [
            ("#define V @A_B@.@c@\n", "#define V 0.0\n", "#define V 1000000.1000000\n"),
            (
                "int v = ${V}; // a@b.c $x ${ } @\n",
                "int v = 0; // a@b.c $x ${ } @\n",
                "int v = 1000000; // a@b.c $x ${ } @\n",
            ),
            ("# cmakedefine USE_X\n", "\n", "#define USE_X\n"),
            ("#cmakedefine N @N@\n", "\n", "#define N 1000000\n"),
            ("#cmakedefine01 ON", "#define ON 0", "#define ON 1"),
            ("#undef HAVE_X\n", "\n", "#define HAVE_X 1\n"),
            ("#if defined(X)\n@", "#if defined(X)\n@", "#if defined(X)\n@"),
        ] {
            assert_eq!((filled(text, Filling::Off).as_str(), filled(text, Filling::On).as_str()), (off, on));
        }
    }

    #[test]
    fn templates_are_found_beside_the_source_if_there_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("src/main.hip");
        let write = |name: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        };
        std::fs::create_dir_all(folder.path().join(".git")).unwrap();
        write("src/main.hip");
        assert_eq!(template("p/config.h", &source), None);
        write("cmake/config.h.in");
        assert_eq!(template("p/config.h", &source), Some(folder.path().join("cmake/config.h.in")));
        write("include/config.in.h");
        assert_eq!(template("p/config.h", &source), None, "two");
    }
}
