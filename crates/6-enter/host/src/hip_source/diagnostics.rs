//! Errors that clang prints.

use std::path::{Path, PathBuf};

/// A place in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Spot {
    pub(super) file: PathBuf,
    /// From 1.
    pub(super) line: usize,
    /// Bytes from 1.
    pub(super) column: usize,
}

/// An error, and the places that led to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Fault {
    pub(super) message: String,
    /// Its place first, then the places of its notes.
    pub(super) spots: Vec<Spot>,
}

impl Fault {
    /// The header that was not found.
    pub(super) fn missing_header(&self) -> Option<&str> {
        // Of a header beside its file clang says that quotes would find it.
        let (name, more) = self.message.split_once(" file not found")?;
        if more.is_empty() || more.starts_with(" with <angled> include") { quoted(name) } else { None }
    }

    /// The name that nothing declares, and whether it is a type.
    pub(super) fn undeclared(&self) -> Option<(&str, bool)> {
        let message = &self.message[..];
        if let Some(rest) = message.strip_prefix("unknown type name ") {
            return quoted(rest).map(|it| (it, true));
        }
        let name = quoted(message.strip_prefix("use of undeclared identifier ")?)?;
        Some((name, name.ends_with("_t")))
    }

    /// The name of the standard library that no included header declares.
    pub(super) fn missing_in_std(&self) -> Option<&str> {
        let (before, after) = self.message.split_once(" in namespace 'std'")?;
        let is_missing = before.starts_with("no ") && !after.starts_with("::");
        quoted(before.split_once(" named ")?.1).filter(|_| is_missing)
    }

    /// Place and message as clang prints them, with the file as it is called here.
    pub(super) fn line(&self, named: impl Fn(&Path) -> String) -> String {
        match self.spots.first() {
            Some(spot) => {
                format!("{}:{}:{}: error: {}", named(&spot.file), spot.line, spot.column, self.message)
            }
            None => format!("error: {}", self.message),
        }
    }
}

/// Errors in the order printed.
pub(super) fn faults(text: &str) -> Vec<Fault> {
    let mut all: Vec<Fault> = Vec::new();
    for line in text.lines() {
        if let Some((spot, message)) = split(line, &[": error: ", ": fatal error: "]) {
            all.push(Fault { message: message.to_owned(), spots: spot.into_iter().collect() });
        } else if let (Some((Some(spot), _)), Some(last)) = (split(line, &[": note: "]), all.last_mut()) {
            last.spots.push(spot);
        } else if let Some(message) = line.strip_prefix("error: ") {
            all.push(Fault { message: message.to_owned(), spots: Vec::new() });
        }
    }
    all
}

/// The place before a mark and the message behind it.
fn split<'a>(line: &'a str, marks: &[&str]) -> Option<(Option<Spot>, &'a str)> {
    let (mark, at) = marks.iter().filter_map(|mark| Some((*mark, line.find(mark)?))).min_by_key(|it| it.1)?;
    let mut parts = line[..at].rsplitn(3, ':');
    let (column, line_number, file) = (parts.next(), parts.next(), parts.next());
    let number = |it: Option<&str>| it?.parse().ok().filter(|it| *it > 0);
    let spot = match (file, number(line_number), number(column)) {
        (Some(file), Some(line), Some(column)) => Some(Spot { file: file.into(), line, column }),
        _ => None,
    };
    Some((spot, &line[at + mark.len()..]))
}

/// The text between the first quotes; a name without them is taken to its end.
fn quoted(text: &str) -> Option<&str> {
    let Some(rest) = text.trim_start().strip_prefix('\'') else {
        let end = text.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(text.len());
        return (end > 0).then(|| &text[..end]);
    };
    rest.split_once('\'').map(|it| it.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_standard_library() {
        for (message, expected) in [
            ("no template named 'unordered_map' in namespace 'std'", Some("unordered_map")),
            ("no member named 'sort' in namespace 'std'; did you mean 'qsort'?", Some("sort")),
            ("no type named 'string' in namespace 'std'", Some("string")),
            ("no type named 'string' in namespace 'ours'", None),
            ("expected namespace name", None),
        ] {
            let fault = &faults(&format!("a:1:1: error: {message}"))[0];
            assert_eq!(fault.missing_in_std(), expected, "{message}");
        }
    }

    #[test]
    fn errors_are_read() {
        let text = "In file included from /a/main.cu:3:\n\
            /a/x y.h:10:5: fatal error: 'mpi.h' file not found\n\
            /usr/include/c++/15/vector:7:1: error: no member\n\
            /a/main.cu:12:3: note: in instantiation of function template specialization 'f<int>' requested here\n\
            /a/main.cu:26:10: error: use of undeclared identifier 'hipMalloc'; did you mean 'malloc'?\n\
            /a/main.cu:27:10: error: unknown type name 'MPI_Comm'\n\
            /a/main.cu:28:10: error: use of undeclared identifier __hipPushCallConfiguration\n\
            error: cannot find ROCm device library\n3 errors generated.\n";
        let all = faults(text);
        assert_eq!(all.len(), 6);
        assert_eq!(all[0].missing_header(), Some("mpi.h"));
        assert_eq!(all[0].spots, [Spot { file: "/a/x y.h".into(), line: 10, column: 5 }]);
        assert_eq!(all[1].spots[1].line, 12);
        assert_eq!(all[2].undeclared(), Some(("hipMalloc", false)));
        assert_eq!(all[3].undeclared(), Some(("MPI_Comm", true)));
        assert_eq!(all[4].undeclared(), Some(("__hipPushCallConfiguration", false)));
        assert!(all[5].spots.is_empty() && all[5].undeclared().is_none());
        let beside = "a:1:1: error: 'b.hpp' file not found with <angled> include; use \"quotes\" instead";
        assert_eq!(faults(beside)[0].missing_header(), Some("b.hpp"));
        for (name, is_type) in [("hipStream_t", true), ("hipSuccess", false)] {
            let fault = &faults(&format!("a:1:1: error: use of undeclared identifier '{name}'"))[0];
            assert_eq!(fault.undeclared(), Some((name, is_type)));
        }
    }
}
