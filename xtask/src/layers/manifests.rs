//! Dependencies between crates, read from the manifests.
//!
//! A crate's layer is the number its folder's name begins with, and the same-layer arrows are those that
//! ARCHITECTURE.md lists.

use crate::run::root;
use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use toml::{Table, Value};

/// Crates that may see nothing but the crates named.
const SEES_ONLY: &[(&str, &[&str])] = &[
    ("render", &["view"]),
    // Machines and logs are read by pure readers and gathered by the command: `doctor` and `triage`.
    ("cli", &["host", "render", "study", "view", "system", "logs"]),
];

/// One crate of ours.
#[derive(Debug)]
pub(crate) struct Crate {
    /// Folder name, which is also the name it is used by.
    pub(crate) name: String,
    /// Folder.
    pub(crate) folder: PathBuf,
    /// Number of its layer.
    pub(crate) layer: u32,
    /// Names in `[dependencies]` and `[build-dependencies]`.
    pub(crate) dependencies: BTreeSet<String>,
    /// Of the dependencies, those that a feature turns on.
    pub(crate) optional: BTreeSet<String>,
    /// Names in `[dev-dependencies]`.
    pub(crate) dev_dependencies: BTreeSet<String>,
    /// Takes the workspace's lints.
    inherits_lints: bool,
}

/// All crates, and the same-layer arrows that are allowed.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) crates: Vec<Crate>,
    allowed: BTreeSet<(String, String)>,
    /// Layer and crate of each row of the map in ARCHITECTURE.md.
    map: BTreeSet<(String, String)>,
}

impl Workspace {
    pub(crate) fn read() -> Result<Self> {
        let mut crates = Vec::new();
        for layer in folders(&root().join("crates"))? {
            for folder in folders(&layer)? {
                let manifest = folder.join("Cargo.toml");
                let text = std::fs::read_to_string(&manifest)
                    .with_context(|| format!("cannot read {}", manifest.display()))?;
                let layer_name = layer.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
                crates.push(Crate::parse(&layer_name, name, &text, folder)?);
            }
        }
        crates.sort_by_key(|it| (it.layer, it.name.clone()));
        let architecture = std::fs::read_to_string(root().join("ARCHITECTURE.md"))?;
        Ok(Workspace { crates, allowed: allowed_arrows(&architecture), map: map_rows(&architecture) })
    }

    /// Crates that the map does not show in their layer.
    pub(crate) fn map(&self) -> Vec<String> {
        let layer =
            |it: &Crate| it.folder.parent()?.file_name().map(|name| name.to_string_lossy().into_owned());
        self.crates
            .iter()
            .filter(|it| !self.map.contains(&(layer(it).unwrap_or_default(), it.name.clone())))
            .map(|it| format!("ARCHITECTURE.md: the map has no row for `{}`", it.name))
            .collect()
    }

    /// Arrows that point up, sideways without permission, or out of a crate that sees only some.
    pub(crate) fn arrows(&self) -> Vec<String> {
        let layers: BTreeMap<&str, u32> = self.crates.iter().map(|it| (it.name.as_str(), it.layer)).collect();
        let mut faults = Vec::new();
        for from in &self.crates {
            for (kind, names) in
                [("depends on", &from.dependencies), ("depends in tests on", &from.dev_dependencies)]
            {
                for to in names {
                    let Some(&layer) = layers.get(to.as_str()) else { continue };
                    let arrow = format!("{}: `{}` {kind} `{to}`", manifest_of(from), from.name);
                    if layer > from.layer {
                        faults.push(format!("{arrow}, which is above it"));
                    } else if layer == from.layer
                        && kind == "depends on"
                        && !self.allowed.contains(&(from.name.clone(), to.clone()))
                    {
                        faults.push(format!(
                            "{arrow} in the same layer; allowed arrows stand in ARCHITECTURE.md"
                        ));
                    }
                    let only = SEES_ONLY.iter().find(|(name, _)| *name == from.name);
                    if only.is_some_and(|(_, seen)| kind == "depends on" && !seen.contains(&to.as_str())) {
                        faults.push(format!("{arrow}, but sees only {only:?}"));
                    }
                }
            }
        }
        faults
    }

    /// Crates that opt out of the workspace's lints.
    pub(crate) fn lints(&self) -> Vec<String> {
        // 6-enter may set its own: it does the IO. So may the crates with an audited module.
        self.crates
            .iter()
            .filter(|it| it.layer < 6 && !it.inherits_lints)
            .filter(|it| !AUDITED.iter().any(|module| module.contains(&format!("/{}/", it.name))))
            .map(|it| format!("{}: needs `[lints] workspace = true`", manifest_of(it)))
            .collect()
    }
}

/// The modules below 6-enter that may hold `unsafe` code, and nowhere else in their crates.
pub(crate) const AUDITED: &[&str] = &[
    "crates/2-machine/emu/src/cpu.rs",
    "crates/2-machine/emu/src/kernels.rs",
    "crates/2-machine/emu/src/raw.rs",
    "crates/2-machine/emu/src/raw/cells.rs",
    "crates/2-machine/emu/src/raw/digest.rs",
    "crates/2-machine/emu/src/raw/product.rs",
    "crates/2-machine/emu/src/raw/spread.rs",
    "crates/2-machine/emu/src/raw/wide.rs",
];

impl Crate {
    fn parse(layer: &str, name: String, manifest: &str, folder: PathBuf) -> Result<Self> {
        let table: Table = manifest.parse().with_context(|| format!("manifest of `{name}`"))?;
        let number = layer.split('-').next().and_then(|number| number.parse().ok());
        let names = |keys: &[&str]| -> BTreeSet<String> {
            keys.iter()
                .filter_map(|key| table.get(*key)?.as_table())
                .flat_map(|table| table.keys().cloned())
                .collect()
        };
        Ok(Crate {
            layer: number.with_context(|| format!("folder `{layer}` does not begin with a number"))?,
            dependencies: names(&["dependencies", "build-dependencies"]),
            optional: table
                .get("dependencies")
                .and_then(Value::as_table)
                .into_iter()
                .flatten()
                .filter(|(_, it)| it.get("optional").and_then(Value::as_bool) == Some(true))
                .map(|(name, _)| name.clone())
                .collect(),
            dev_dependencies: names(&["dev-dependencies"]),
            inherits_lints: table.get("lints").and_then(|lints| lints.get("workspace")?.as_bool())
                == Some(true),
            name,
            folder,
        })
    }
}

pub(crate) fn manifest_of(it: &Crate) -> String {
    crate::run::below_root(&it.folder.join("Cargo.toml"))
}

/// Arrows in backticks on the lines that begin with `Same-layer arrows`.
fn allowed_arrows(architecture: &str) -> BTreeSet<(String, String)> {
    architecture
        .lines()
        .filter(|line| line.starts_with("Same-layer arrows"))
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .filter_map(|arrow| arrow.split_once(" -> "))
        .map(|(from, to)| (from.to_owned(), to.to_owned()))
        .collect()
}

/// Rows that begin with a layer and a crate in backticks.
fn map_rows(architecture: &str) -> BTreeSet<(String, String)> {
    architecture
        .lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
            let layer = cells.next()?.to_owned();
            let name = cells.next()?.strip_prefix('`')?.strip_suffix('`')?.to_owned();
            Some((layer, name))
        })
        .collect()
}

/// Names of the workspace's dependencies that are not ours.
pub(crate) fn foreign_dependencies(root_manifest: &str) -> Result<BTreeSet<String>> {
    let table: Table = root_manifest.parse()?;
    let dependencies = table.get("workspace").and_then(|workspace| workspace.get("dependencies"));
    let dependencies = dependencies.and_then(Value::as_table).context("no `[workspace.dependencies]`")?;
    Ok(dependencies
        .iter()
        .filter(|(_, value)| value.get("path").is_none())
        .map(|(name, _)| name.clone())
        .collect())
}

fn folders(parent: &std::path::Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(parent).with_context(|| format!("cannot list {}", parent.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace(crates: &[(&str, &str, &str)], allowed: &str) -> Workspace {
        Workspace {
            crates: crates
                .iter()
                .map(|(layer, name, manifest)| {
                    Crate::parse(layer, (*name).to_owned(), manifest, root().join("crates").join(name))
                        .unwrap()
                })
                .collect(),
            allowed: allowed_arrows(allowed),
            map: map_rows("| 0-facts | `a` | x |\n| 1-read | `c` | x |\n"),
        }
    }

    #[test]
    fn arrows_up_and_sideways_are_found() {
        let on = |name: &str| format!("[dependencies]\n{name} = {{ workspace = true }}\n");
        let in_tests = |name: &str| format!("[dev-dependencies]\n{name} = {{ workspace = true }}\n");
        for (layer, manifest, allowed, faults) in [
            ("2-machine", on("b"), "", 0),
            ("1-read", on("b"), "", 1),
            ("1-read", on("b"), "Same-layer arrows: `a -> b`, `x -> y`.", 0),
            ("1-read", on("b"), "Same-layer arrows: `b -> a`.", 1),
            ("1-read", in_tests("b"), "", 0),
            ("0-facts", on("b"), "Same-layer arrows: `a -> b`.", 1),
            ("0-facts", in_tests("b"), "", 1),
            ("0-facts", on("serde"), "", 0),
        ] {
            let found = workspace(&[(layer, "a", &manifest), ("1-read", "b", "")], allowed).arrows();
            assert_eq!(found.len(), faults, "{layer} {manifest} {allowed}: {found:?}");
        }
    }

    #[test]
    fn render_sees_only_view() {
        let manifest = "[dependencies]\nisa = { workspace = true }\nview = { workspace = true }\n";
        let found = workspace(
            &[("5-answer", "render", manifest), ("1-read", "isa", ""), ("0-facts", "view", "")],
            "",
        )
        .arrows();
        assert_eq!(found.len(), 1, "{found:?}");
    }

    #[test]
    fn the_map_shows_every_crate() {
        let faults = |layer: &str| {
            let mut found = workspace(&[(layer, "a", "")], "");
            found.crates[0].folder = root().join("crates").join(layer).join("a");
            found.map().len()
        };
        assert_eq!((faults("0-facts"), faults("1-read")), (0, 1));
    }

    #[test]
    fn lints_are_inherited_below_the_edge() {
        let crates =
            [("0-facts", "a", ""), ("6-enter", "b", ""), ("1-read", "c", "[lints]\nworkspace = true\n")];
        assert_eq!(workspace(&crates, "").lints().len(), 1);
    }
}
