//! Circles of modules inside a crate, found in the paths that code writes.
//!
//! Siblings are compared: each module represents its file and its folder, and an arrow goes from one sibling
//! to another when code of the first names an item of the second. Names that a module re-exports lead on to
//! the module that defines them. Parents and children may use each other. Method calls write no path and are
//! not seen.

use crate::rust_source::RustSource;
use std::collections::{BTreeMap, BTreeSet};

/// Path of a module below the crate's root.
type Path = Vec<String>;

/// Most re-exports followed from one name, so that a circle of re-exports ends.
const MOST_REEXPORTS: usize = 8;

/// Siblings that each use every other, directly or indirectly.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Circle {
    /// Path of the parent module; empty for the crate's root.
    pub(crate) parent: Path,
    pub(crate) modules: BTreeSet<String>,
    /// Arrows between them.
    pub(crate) arrows: BTreeSet<(String, String)>,
}

/// Paths written in one module, counted from the crate's root.
#[derive(Debug, Default)]
struct Module {
    /// Path by the name it is imported or re-exported as.
    imports: BTreeMap<String, Path>,
    paths: Vec<Path>,
}

/// Path of the module that a source file below `src` holds, `None` for files of other targets.
pub(crate) fn module_of(file: &str) -> Option<Path> {
    let mut path: Path = file.strip_suffix(".rs")?.split('/').map(str::to_owned).collect();
    if matches!(path.last().map(String::as_str), Some("mod")) || matches!(file, "lib.rs" | "main.rs") {
        path.pop();
    }
    Some(path)
}

/// The circles of a crate, given the source of each of its modules.
pub(crate) fn circles(sources: &BTreeMap<Path, &RustSource>) -> Vec<Circle> {
    let modules: BTreeMap<&Path, Module> =
        sources.iter().map(|(path, source)| (path, read(path, source, sources))).collect();
    let mut arrows: BTreeMap<Path, BTreeSet<(String, String)>> = BTreeMap::new();
    for (&from, module) in &modules {
        for path in &module.paths {
            let to = resolve(path, &modules);
            let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            if let (Some(a), Some(b)) = (from.get(shared), to.get(shared)) {
                arrows.entry(from[..shared].to_vec()).or_default().insert((a.clone(), b.clone()));
            }
        }
    }
    arrows.into_iter().flat_map(|(parent, arrows)| circles_of(&parent, &arrows)).collect()
}

/// Groups of names that reach each other.
fn circles_of(parent: &Path, arrows: &BTreeSet<(String, String)>) -> Vec<Circle> {
    let reach = |from: &String| {
        let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(name) = open.pop() {
            for (_, to) in arrows.iter().filter(|(from, _)| from == name) {
                if reached.insert(to.clone()) {
                    open.push(to);
                }
            }
        }
        reached
    };
    let reached: BTreeMap<&String, BTreeSet<String>> =
        arrows.iter().map(|(from, _)| (from, reach(from))).collect();
    let mut found: Vec<Circle> = Vec::new();
    for (&name, others) in &reached {
        if !others.contains(name) || found.iter().any(|circle| circle.modules.contains(name)) {
            continue;
        }
        let back = |other: &&String| reached.get(other).is_some_and(|it| it.contains(name));
        let modules: BTreeSet<String> = others.iter().filter(back).cloned().collect();
        let inside = |(from, to): &&(String, String)| modules.contains(from) && modules.contains(to);
        let arrows = arrows.iter().filter(inside).cloned().collect();
        found.push(Circle { parent: parent.clone(), modules, arrows });
    }
    found
}

/// The module that defines the item of a path, if imports show it.
fn resolve(path: &Path, modules: &BTreeMap<&Path, Module>) -> Path {
    let mut path = path.clone();
    for _ in 0..MOST_REEXPORTS {
        let length = (0..=path.len()).rev().find(|&length| modules.contains_key(&path[..length].to_vec()));
        let length = length.unwrap_or(0);
        let module = path[..length].to_vec();
        let import = path.get(length).and_then(|name| modules.get(&module)?.imports.get(name));
        match import {
            Some(target) if target[..] != path[..=length] => {
                path = target.iter().chain(&path[length + 1..]).cloned().collect();
            }
            _ => return module,
        }
    }
    path
}

fn read(module: &Path, source: &RustSource, modules: &BTreeMap<Path, &RustSource>) -> Module {
    let code = source.code.join("\n");
    let tokens = tokens(&code);
    let mut found = Module::default();
    let absolute = |path: &[&str]| absolute(module, path, modules);
    let mut at = 0;
    while at < tokens.len() {
        let token = tokens[at];
        at += 1;
        if token == "use" {
            let end = tokens[at..].iter().position(|it| *it == ";").map_or(tokens.len(), |it| at + it);
            let mut trees = Vec::new();
            use_tree(&tokens[at..end], &mut Vec::new(), &mut trees);
            for (path, name) in trees {
                if let Some(path) = absolute(&path) {
                    found.imports.insert(name.to_owned(), path.clone());
                    found.paths.push(path);
                }
            }
            at = end;
        } else if is_name(token) && tokens.get(at) == Some(&"::") {
            let mut path = vec![token];
            while tokens.get(at) == Some(&"::") && tokens.get(at + 1).is_some_and(|it| is_name(it)) {
                path.push(tokens[at + 1]);
                at += 2;
            }
            found.paths.extend(absolute(&path));
        }
    }
    found
}

/// A path from the crate's root; `None` for paths out of the crate or to names in scope.
fn absolute(module: &Path, path: &[&str], modules: &BTreeMap<Path, &RustSource>) -> Option<Path> {
    let supers = path.iter().take_while(|it| **it == "super").count();
    let (mut start, rest) = match path.first()? {
        &"crate" => (Path::new(), &path[1..]),
        &"self" => (module.clone(), &path[1..]),
        &"super" => (module[..module.len().checked_sub(supers)?].to_vec(), &path[supers..]),
        child => {
            let child = module.iter().map(String::as_str).chain([*child]).map(str::to_owned).collect();
            modules.contains_key::<Path>(&child).then(|| (module.clone(), path))?
        }
    };
    start.extend(rest.iter().filter(|it| !matches!(**it, "*" | "self")).map(|it| (*it).to_owned()));
    Some(start)
}

/// Paths of a `use` and the name each is known by.
fn use_tree<'a>(tokens: &[&'a str], prefix: &mut Vec<&'a str>, out: &mut Vec<(Vec<&'a str>, &'a str)>) {
    let depth = prefix.len();
    let mut at = 0;
    while let Some(&token) = tokens.get(at) {
        match token {
            "{" => {
                let end = at + closing(&tokens[at..]);
                for tree in split(&tokens[at + 1..end]) {
                    use_tree(tree, prefix, out);
                }
                prefix.truncate(depth);
                return;
            }
            "as" => break,
            "::" => {}
            name => prefix.push(name),
        }
        at += 1;
    }
    let named = prefix.iter().rev().find(|it| **it != "self").copied();
    let name = if tokens.get(at) == Some(&"as") { tokens.get(at + 1).copied() } else { named };
    if let Some(name) = name {
        out.push((prefix.clone(), name));
    }
    prefix.truncate(depth);
}

/// Index of the brace that closes the one that opens `tokens`.
fn closing(tokens: &[&str]) -> usize {
    let mut depth = 0;
    tokens
        .iter()
        .position(|token| {
            depth += i32::from(*token == "{") - i32::from(*token == "}");
            depth == 0
        })
        .unwrap_or(tokens.len())
}

/// The parts between commas outside of braces.
fn split<'a, 'b>(tokens: &'b [&'a str]) -> Vec<&'b [&'a str]> {
    let mut depth = 0;
    let is_comma = |token: &&str| {
        depth += i32::from(*token == "{") - i32::from(*token == "}");
        *token == "," && depth == 0
    };
    tokens.split(is_comma).filter(|part| !part.is_empty()).collect()
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Names, `::` and single characters.
fn tokens(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let length = if is_part(first) {
            rest.find(|c| !is_part(c)).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        found.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The circles of a crate of these files, as text.
    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<_> =
            files.iter().map(|(file, text)| (module_of(file).unwrap(), RustSource::parse(text))).collect();
        let sources = sources.iter().map(|(path, source)| (path.clone(), source)).collect();
        let name = |it: &Circle| {
            format!("{}:{}", it.parent.join("::"), it.modules.iter().cloned().collect::<Vec<_>>().join(" "))
        };
        circles(&sources).iter().map(name).collect()
    }

    #[test]
    fn circles_among_siblings_are_found() {
        for (files, expected) in [
            (&[("a.rs", "use crate::b::B;"), ("b.rs", "fn f() { crate::a::g() }")][..], &[":a b"][..]),
            (&[("a.rs", "use crate::b::B;"), ("b.rs", "use std::fmt;")], &[]),
            (
                &[
                    ("a.rs", "use super::b;"),
                    ("b.rs", "use super::c::{self, C};"),
                    ("c.rs", "use crate::a::{x, y as z};"),
                ],
                &[":a b c"],
            ),
            // Tests and comments do not count.
            (
                &[
                    ("a.rs", "use crate::b::B;"),
                    ("b.rs", "// crate::a::g\n#[cfg(test)]\nmod tests { use crate::a; }"),
                ],
                &[],
            ),
            // A name leads on to where it is defined.
            (
                &[("lib.rs", "pub use a::A;"), ("a.rs", "use crate::b::B;"), ("b.rs", "use crate::A;")],
                &[":a b"],
            ),
            // A folder represents all its contents; parents and children may use each other.
            (
                &[
                    ("a/mod.rs", "mod x; use x::X;"),
                    ("a/x.rs", "use super::A; use crate::b::B;"),
                    ("b.rs", "use crate::a::A;"),
                ],
                &[":a b"],
            ),
            (
                &[
                    ("a.rs", "mod x; mod y; use x::X;"),
                    ("a/x.rs", "use super::y::Y;"),
                    ("a/y.rs", "super::x::f()"),
                ],
                &["a:x y"],
            ),
        ] {
            assert_eq!(found(files), expected, "{files:?}");
        }
    }
}
