//! Crates that a feature turns on, named by code that is there without it.
//!
//! CI compiles everything with all features. Code that is behind no feature and calls such a crate compiles there, and not in
//! the build that the README's first command makes.

use crate::rust_source::{RustSource, has_word};
use std::collections::{BTreeMap, BTreeSet};

/// Path of a module below the crate's root.
type Path = Vec<String>;

/// Module, line from 1 and crate of each such name.
pub(crate) fn ungated(
    sources: &BTreeMap<Path, &RustSource>,
    optional: &BTreeSet<String>,
) -> Vec<(Path, usize, String)> {
    if optional.is_empty() {
        return Vec::new();
    }
    let read: Vec<(&Path, Gates<'_>)> = sources.iter().map(|(path, it)| (path, Gates::of(it))).collect();
    let gated: BTreeSet<Path> = read
        .iter()
        .flat_map(|(path, it)| it.modules.iter().map(|name| [&path[..], std::slice::from_ref(name)].concat()))
        .collect();
    let mut found = Vec::new();
    for (path, it) in &read {
        if (1..=path.len()).any(|length| gated.contains(&path[..length])) {
            continue;
        }
        for (line, text) in &it.ungated {
            let named = optional.iter().filter(|name| {
                let name = name.replace('-', "_");
                has_word(text, &name) && text.contains(&format!("{name}::"))
            });
            found.extend(named.map(|name| ((*path).clone(), *line, name.clone())));
        }
    }
    found
}

/// The parts of a file that need a feature, and the others.
#[derive(Default)]
struct Gates<'a> {
    modules: Vec<String>,
    /// Lines from 1.
    ungated: Vec<(usize, &'a str)>,
}

impl<'a> Gates<'a> {
    fn of(source: &'a RustSource) -> Self {
        let mut gates = Gates::default();
        // Inside of an item with a gate: open brackets.
        let (mut gate, mut depth) = (false, 0usize);
        for (at, line) in source.code.iter().enumerate() {
            let text = line.trim();
            if depth == 0 && text.starts_with("#[cfg(") && text.contains("feature") && !text.contains("not(")
            {
                gate = true;
                continue;
            }
            if text.starts_with("#[cfg_attr(") && text.contains("feature") {
                continue;
            }
            if !gate {
                gates.ungated.push((at + 1, text));
                continue;
            }
            if depth == 0 && (text.is_empty() || text.starts_with("#[")) {
                continue;
            }
            if depth == 0
                && let Some(name) = text.split("mod ").nth(1).and_then(|it| it.strip_suffix(';'))
            {
                gates.modules.push(name.to_owned());
            }
            for c in text.chars() {
                match c {
                    '(' | '[' | '{' => depth += 1,
                    ')' | ']' | '}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
            gate = depth > 0 || !text.ends_with(['}', ';', ',']);
        }
        gates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_behind_no_feature_are_found() {
        let root = "#[cfg(feature = \"server\")]\nmod view;\nmod store;\n#[cfg(feature = \"server\")]\nfn a() {\n  axum::b();\n}\nfn c() {}\n";
        let [view, inner, store] =
            ["axum::d();", "use axum::e;", "fn f() {\n  axum::g();\n  my_axum::h();\n}"];
        let parsed = [root, view, inner, store].map(RustSource::parse);
        let paths: [&[&str]; 4] = [&[], &["view"], &["view", "inner"], &["store"]];
        let path = |it: &[&str]| it.iter().map(|it| (*it).to_owned()).collect::<Path>();
        let sources = paths.iter().map(|it| path(it)).zip(&parsed).collect();
        let optional = BTreeSet::from(["axum".to_owned()]);
        assert_eq!(ungated(&sources, &optional), [(path(&["store"]), 2, "axum".to_owned())]);
    }
}
