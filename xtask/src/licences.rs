//! Licences of everything compiled into the distributed files, and a bill of its materials.
//!
//! Texts come from the packages themselves; a text that several share is written once.

use crate::run::{FULL, output, root};
use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Beginnings of the names of licence files.
const NAMES: [&str; 6] = ["license", "licence", "copying", "copyright", "notice", "unlicense"];

/// Depth below a package's folder at which bundled C code has its licence.
const DEPTH: usize = 2;

/// Longest text; a longer one is not a licence.
const LONGEST: u64 = 256 << 10;

/// One package.
struct Package {
    name: String,
    version: String,
    licence: String,
    folder: PathBuf,
}

impl Package {
    fn title(&self) -> String {
        format!("{} {}", self.name, self.version)
    }
}

/// The packages that these packages of the workspace are compiled of.
fn compiled_in(packages: &[&str]) -> Result<Vec<Package>> {
    let target = ["--filter-platform", "x86_64-unknown-linux-gnu"];
    let arguments = [&["metadata", "--format-version", "1", "--locked"][..], &target, &FULL].concat();
    let metadata = output("cargo", &arguments).context("`cargo metadata` fails")?;
    needed(&serde_json::from_str(&metadata)?, packages)
}

/// A bill of materials (CycloneDX 1.5) of what these packages of the workspace are compiled of.
pub(crate) fn bill(packages: &[&str]) -> Result<String> {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).context("cannot read Cargo.lock")?;
    let checksum = |it: &Package| {
        let head = format!("name = \"{}\"\nversion = \"{}\"\n", it.name, it.version);
        let entry = lock.split("[[package]]\n").find(|entry| entry.starts_with(&head))?;
        let line = entry.lines().find_map(|line| line.strip_prefix("checksum = "))?;
        Some(line.trim_matches('"').to_owned())
    };
    let component = |it: &Package| {
        let mut component = json!({
            "type": "library",
            "name": it.name,
            "version": it.version,
            "purl": format!("pkg:cargo/{}@{}", it.name, it.version),
        });
        if let Some(checksum) = checksum(it) {
            component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
        }
        if !it.licence.is_empty() && !it.licence.starts_with("see ") {
            // An old spelling of OR.
            component["licenses"] = json!([{ "expression": it.licence.replace('/', " OR ") }]);
        }
        component
    };
    let components: Vec<Value> = compiled_in(packages)?.iter().map(component).collect();
    let version = env!("CARGO_PKG_VERSION");
    let own = json!({ "type": "application", "name": "rockhound", "version": version, "purl": format!("pkg:cargo/rockhound@{version}") });
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": own },
        "components": components,
    });
    Ok(format!("{bill:#}\n"))
}

/// The texts for what these packages of the workspace are compiled of.
pub(crate) fn texts(packages: &[&str]) -> Result<String> {
    let mut by_text: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut out = String::from(
        "Rockhound is licensed under MIT or Apache-2.0, at your choice. The programs in this archive also contain the packages\n\
         below, and the Rust standard library (MIT or Apache-2.0).\n\n",
    );
    for package in compiled_in(packages)? {
        let files = files(&package.folder, DEPTH);
        if files.is_empty() && package.licence.is_empty() {
            bail!("`{}` names no licence and has no text of one", package.title());
        }
        let note = if files.is_empty() { "; the package has no text of it" } else { "" };
        out += &format!("  {}: {}{note}\n", package.title(), package.licence);
        for file in files {
            let text = std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
            let text = String::from_utf8_lossy(&text).replace('\r', "");
            by_text.entry(text.trim_end().to_owned()).or_default().push(package.title());
        }
    }
    let mut texts: Vec<(Vec<String>, String)> =
        by_text.into_iter().map(|(text, names)| (names, text)).collect();
    texts.sort();
    for (mut names, text) in texts {
        names.dedup();
        out += &format!("\n{}\n{}\n\n{text}\n", "=".repeat(80), names.join(", "));
    }
    Ok(out)
}

/// Packages from registries that are reached from some of the workspace, sorted.
fn needed(metadata: &Value, roots: &[&str]) -> Result<Vec<Package>> {
    let list = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
    let word = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let packages: BTreeMap<String, Value> =
        list(metadata, "packages").into_iter().map(|it| (word(&it, "id"), it)).collect();
    let nodes: BTreeMap<String, Value> =
        list(&metadata["resolve"], "nodes").into_iter().map(|it| (word(&it, "id"), it)).collect();
    let mut waiting: Vec<String> = packages
        .iter()
        .filter(|(_, it)| it["source"].is_null() && roots.contains(&word(it, "name").as_str()))
        .map(|(id, _)| id.clone())
        .collect();
    if waiting.len() != roots.len() {
        return Err(anyhow!("not all of {} are in the workspace", roots.join(", ")));
    }
    let mut seen: BTreeSet<String> = waiting.iter().cloned().collect();
    while let Some(id) = waiting.pop() {
        let Some(node) = nodes.get(&id) else { continue };
        for dependency in list(node, "deps") {
            // Dependencies of tests and build scripts only are not in the programs.
            let compiled_in = list(&dependency, "dep_kinds").iter().any(|kind| kind["kind"].is_null());
            let id = word(&dependency, "pkg");
            if compiled_in && seen.insert(id.clone()) {
                waiting.push(id);
            }
        }
    }
    let mut needed = Vec::new();
    for package in seen.iter().filter_map(|id| packages.get(id)).filter(|it| !it["source"].is_null()) {
        let manifest = word(package, "manifest_path");
        let folder = Path::new(&manifest).parent().unwrap_or(root()).to_owned();
        let file = word(package, "license_file");
        let licence = if file.is_empty() { word(package, "license") } else { format!("see {file}") };
        needed.push(Package {
            name: word(package, "name"),
            version: word(package, "version"),
            licence,
            folder,
        });
    }
    needed.sort_by_key(Package::title);
    Ok(needed)
}

/// Licence files of a folder and those below it.
fn files(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if path.is_dir() {
            if depth > 0 && !["tests", "benches", "examples", "target"].contains(&name.as_str()) {
                found.extend(files(&path, depth - 1));
            }
        } else if NAMES.iter().any(|it| name.starts_with(it))
            && !name.ends_with(".rs")
            && path.metadata().is_ok_and(|it| it.len() < LONGEST)
        {
            found.push(path);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bill_of_materials_has_every_package_with_its_checksum() {
        let bill: Value = serde_json::from_str(&bill(&["rockhound-hip"]).unwrap()).unwrap();
        let components = bill["components"].as_array().unwrap();
        let named = |name: &str| components.iter().find(|it| it["name"] == name);
        let sqlite = named("libsqlite3-sys").unwrap();
        assert_eq!(sqlite["hashes"][0]["content"].as_str().unwrap().len(), 64, "{sqlite}");
        assert_eq!(sqlite["licenses"][0]["expression"], "MIT");
        assert!(named("proptest").is_none());
        assert_eq!(components.len(), compiled_in(&["rockhound-hip"]).unwrap().len());
    }

    #[test]
    fn what_is_compiled_in_is_named_with_its_text() {
        let texts = texts(&["rockhound-hip"]).unwrap();
        for (part, is_there) in [
            ("  regex-automata ", true),
            ("  libsqlite3-sys ", true),
            ("Permission is hereby granted", true),
            // Used by tests and by build scripts.
            ("  proptest ", false),
            ("  cc ", false),
            // Used by the command alone.
            ("  clap ", false),
        ] {
            assert_eq!(texts.contains(part), is_there, "{part}");
        }
    }
}
