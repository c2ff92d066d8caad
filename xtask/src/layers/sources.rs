//! Forbidden content of sources: IO below the edge, GPU names outside their places, too many lines, and
//! unused dependencies.
//!
//! Tests may do all of this, so only code outside tests is looked at.

use super::allowed::Allowed;
use super::functions::functions;
use super::manifests::{AUDITED, Crate, Workspace, foreign_dependencies, manifest_of};
use super::modules::{circles, module_of};
use super::optional::ungated;
use crate::run::{below_root, files, root};
use crate::rust_source::{RustSource, has_word};
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Names that layers 0 to 5 must not use.
const IO: &[&str] = &[
    "std::fs",
    "std::env",
    "std::process",
    "std::net",
    "stdin",
    "stdout",
    "stderr",
    "print!",
    "println!",
    "eprint!",
    "eprintln!",
    "unsafe",
];

/// Files that may contain names of GPU targets outside tests: facts, and the choice of instruction tables.
const GPU_NAMES_ALLOWED: &[&str] = &["crates/0-facts/arch/", "crates/1-read/isa/src/isa.rs"];

/// Most lines of a source file that is not generated.
const MOST_LINES: usize = 600;

pub(crate) fn check(workspace: &Workspace, allowed: &mut Allowed) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    let mut used = BTreeSet::new();
    for it in &workspace.crates {
        let mut sources = Vec::new();
        let mut modules = BTreeMap::new();
        for path in files(&it.folder, is_rust)? {
            let name = below_root(&path);
            let text = std::fs::read_to_string(&path)?;
            faults.extend(too_long(&name, &text));
            faults.extend(vanishing(&name, &text));
            faults.extend(unnamed(&path, &name));
            let is_test = is_test(&path);
            let source = RustSource::parse(&text);
            if !is_test {
                if it.layer < 6 {
                    faults.extend(io(&name, &source));
                }
                faults.extend(gpu_names(&name, &source));
                faults.extend(allowed.gpu_variants(&name, gpu_variants(&name, &source)));
                faults.extend(functions_of(&name, &source, allowed));
                let depth =
                    path.strip_prefix(&it.folder).map_or(0, |it| it.components().count().saturating_sub(1));
                faults.extend(leaving(&name, depth, &source));
            }
            let below = path.strip_prefix(it.folder.join("src")).ok().map(|it| it.to_string_lossy());
            let module = below.filter(|_| !is_test).and_then(|below| module_of(&below.replace('\\', "/")));
            if let Some(module) = module {
                // The root of a crate with a program is its library.
                modules.entry(module).or_insert(sources.len());
            }
            sources.push((is_test, text, source));
        }
        let modules = modules.into_iter().map(|(module, number)| (module, &sources[number].2)).collect();
        let folder = below_root(&it.folder.join("src"));
        faults.extend(ungated(&modules, &it.optional).into_iter().map(|(module, line, name)| {
            format!(
                "{folder}: module `{}`, line {line}: `{name}` is there with a feature only",
                module.join("::")
            )
        }));
        faults.extend(circles(&modules).iter().filter_map(|circle| allowed.circle(&folder, circle)));
        faults.extend(unused(it, &sources));
        used.extend(it.dependencies.iter().chain(&it.dev_dependencies).cloned());
    }
    for path in [files(&root().join("xtask"), is_rust)?, files(&root().join("testkit"), is_rust)?].concat() {
        let (name, text) = (below_root(&path), std::fs::read_to_string(&path)?);
        faults.extend(too_long(&name, &text));
        if !is_test(&path) {
            faults.extend(functions_of(&name, &RustSource::parse(&text), allowed));
        }
    }
    let manifests = [std::fs::read_to_string(root().join("xtask/Cargo.toml"))?];
    for name in foreign_dependencies(&std::fs::read_to_string(root().join("Cargo.toml"))?)? {
        let elsewhere = manifests.iter().any(|text| text.lines().any(|line| has_word(line, &name)));
        if !used.contains(&name) && !elsewhere {
            faults.push(format!("Cargo.toml: no crate uses `{name}`"));
        }
    }
    Ok(faults)
}

fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
}

fn is_test(path: &Path) -> bool {
    let name = below_root(path);
    name.contains("/tests/")
        || name.contains("/benches/")
        || name.contains("/examples/")
        || name.ends_with("/tests.rs")
        || name.ends_with("_tests.rs")
}

/// Tests that decide for themselves how to treat an absent oracle.
fn vanishing(name: &str, text: &str) -> Option<String> {
    let word = ["\"CI\"", "\"skipped: "].into_iter().find(|word| text.contains(word))?;
    Some(format!("{name}: has {word}; only `testkit` skips tests, or fails them under CI"))
}

/// A file beside the `main.rs` of a test program that does not name it, so that its tests never run.
fn unnamed(path: &Path, name: &str) -> Option<String> {
    let (folder, stem) = (path.parent()?, path.file_stem()?.to_string_lossy());
    let is_beside = folder.parent()?.ends_with("tests") && stem != "main" && stem != "mod";
    let main = std::fs::read_to_string(folder.join("main.rs")).ok().filter(|_| is_beside)?;
    let named = main.lines().any(|line| line == format!("mod {stem};"));
    (!named).then(|| format!("{name}: no `mod {stem};` in main.rs beside it, so its tests never run"))
}

fn too_long(name: &str, text: &str) -> Option<String> {
    let lines = text.lines().count();
    (lines > MOST_LINES && !name.contains("/generated/"))
        .then(|| format!("{name}: {lines} lines, over {MOST_LINES}; split it along its subject"))
}

fn io(name: &str, source: &RustSource) -> Vec<String> {
    let lines = source.code.iter().enumerate();
    lines
        .flat_map(|(line, text)| {
            IO.iter()
                .filter(|word| **word != "unsafe" || !AUDITED.contains(&name))
                .filter(|word| has_word(text, word.trim_end_matches('!')) && text.contains(*word))
                .map(move |word| format!("{name}:{}: `{word}` below 6-enter", line + 1))
        })
        .collect()
}

fn gpu_names(name: &str, source: &RustSource) -> Vec<String> {
    if GPU_NAMES_ALLOWED.iter().any(|allowed| name.starts_with(allowed)) || name.contains("/generated/") {
        return Vec::new();
    }
    let literals = source.literals.iter().filter(|(_, text)| is_gpu_name(text));
    literals.map(|(line, text)| format!("{name}:{line}: names the GPU target `{text}`")).collect()
}

/// Enum variants named after GPU targets, such as `Isa::Gfx942`.
fn gpu_variants(name: &str, source: &RustSource) -> Vec<String> {
    if GPU_NAMES_ALLOWED.iter().any(|allowed| name.starts_with(allowed)) || name.contains("/generated/") {
        return Vec::new();
    }
    let variant = |line: &String| {
        let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        let is_gpu = |word: &&str| {
            word.strip_prefix("Gfx").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        words.into_iter().find(is_gpu).map(str::to_owned)
    };
    let lines = source.code.iter().enumerate().filter_map(|(line, text)| Some((line + 1, variant(text)?)));
    lines.map(|(line, word)| format!("{name}:{line}: names the GPU target `{word}`")).collect()
}

fn functions_of(name: &str, source: &RustSource, allowed: &mut Allowed) -> Vec<String> {
    if name.contains("/generated/") {
        return Vec::new();
    }
    functions(source).iter().flat_map(|function| allowed.function(name, function)).collect()
}

/// Files outside of the crate's folder that are compiled in: its package would lack them. The source is
/// `depth` folders deep.
fn leaving(name: &str, depth: usize, source: &RustSource) -> Vec<String> {
    let climbs = |text: &str| text.split('/').take_while(|part| *part == "..").count() > depth;
    let includes =
        |line: usize| source.code.get(line.saturating_sub(1)).is_some_and(|code| code.contains("include"));
    let literals = source.literals.iter().filter(|(line, text)| climbs(text) && includes(*line));
    literals.map(|(line, text)| format!("{name}:{line}: `{text}` lies outside of the crate")).collect()
}

/// A literal that is a target's name or the beginning of one; prose that mentions one is none.
fn is_gpu_name(text: &str) -> bool {
    text.strip_prefix("gfx").is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_digit())
            && rest.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | ':' | '+' | '_'))
    })
}

/// Dependencies that no source of the crate uses.
fn unused(it: &Crate, sources: &[(bool, String, RustSource)]) -> Vec<String> {
    let mut faults = Vec::new();
    for name in &it.dependencies {
        let identifier = name.replace('-', "_");
        if !sources.iter().any(|(is_test, _, source)| !is_test && source.mentions(&identifier)) {
            faults.push(format!("{}: `{name}` is not used", manifest_of(it)));
        }
    }
    for name in &it.dev_dependencies {
        let identifier = name.replace('-', "_");
        // Unit tests are part of the text, not of the source without tests.
        if !sources.iter().any(|(_, text, _)| text.lines().any(|line| has_word(line, &identifier))) {
            faults.push(format!("{}: `{name}` is not used in tests", manifest_of(it)));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_package_would_lack_is_found() {
        for (text, depth, faults) in [
            ("const A: &str = include_str!(\"../data/a.toml\");", 1, 0),
            ("const A: &str = include_str!(\"../../data/a.toml\");", 1, 1),
            ("const A: &str = include_str!(\"../../data/a.toml\");", 2, 0),
            ("include!(\"../hip/build.rs\");", 0, 1),
            ("let folder = \"../../examples\";", 1, 0),
        ] {
            assert_eq!(leaving("a.rs", depth, &RustSource::parse(text)).len(), faults, "{text}");
        }
    }

    #[test]
    fn io_is_found_outside_tests_and_comments() {
        for (text, faults) in [
            ("use std::fs;", 1),
            ("// std::fs", 0),
            ("let a = \"std::fs\";", 0),
            ("#[cfg(test)]\nmod tests {\n use std::fs;\n}", 0),
            ("println!(\"a\");", 1),
            ("let print = 1;", 0),
            ("let stdouts = 1;", 0),
        ] {
            let found = io("a.rs", &RustSource::parse(text));
            assert_eq!(found.len(), faults, "{text}: {found:?}");
        }
    }

    #[test]
    fn gpu_names_are_found() {
        for (name, text, faults) in [
            ("crates/4-judge/rules/src/a.rs", "x == \"gfx942\"", 1),
            ("crates/4-judge/rules/src/a.rs", "starts_with(\"gfx9\")", 1),
            ("crates/4-judge/rules/src/a.rs", "\"as on gfx942\"", 0),
            ("crates/4-judge/rules/src/a.rs", "// \"gfx942\"", 0),
            ("crates/0-facts/arch/src/a.rs", "\"gfx942\"", 0),
        ] {
            assert_eq!(gpu_names(name, &RustSource::parse(text)).len(), faults, "{name} {text}");
        }
    }

    #[test]
    fn gpu_variants_are_found() {
        for (name, text, faults) in [
            ("crates/2-machine/emu/src/a.rs", "isa == Isa::Gfx942 || x", 1),
            ("crates/2-machine/emu/src/a.rs", "// Gfx942\nlet gfx942 = MyGfx;", 0),
            ("crates/1-read/isa/src/isa.rs", "Isa::Gfx942", 0),
        ] {
            assert_eq!(gpu_variants(name, &RustSource::parse(text)).len(), faults, "{name} {text}");
        }
    }

    #[test]
    fn length_counts_outside_generated_folders() {
        let text = "x\n".repeat(601);
        assert!(too_long("crates/a/src/a.rs", &text).is_some());
        assert!(too_long("crates/a/src/generated/a.rs", &text).is_none());
        assert!(too_long("crates/a/src/a.rs", &text[2..]).is_none());
    }
}
