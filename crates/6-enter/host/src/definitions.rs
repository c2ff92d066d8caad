//! Definitions of metrics: built in, from files, and for a GPU by name.

use crate::usage;
use analysis::workload::Blocks;
use anyhow::{Context, Result, anyhow};
use arch::{Model, Target, target_of_product};
use metrics::{Compiled, DefinitionError, Definitions};
use std::path::PathBuf;

/// The built-in definitions with the definitions of `files`; `None` without files.
pub fn read(files: &[PathBuf]) -> Result<Option<Definitions>> {
    if files.is_empty() {
        return Ok(None);
    }
    let mut texts = Vec::new();
    for path in files {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{name}`"))?;
        texts.push((name, text));
    }
    let files: Vec<(&str, &str)> = texts.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
    Definitions::built_in().clone().with(&files).map(Some).map_err(|e| wrong(&e))
}

/// The definitions for a target.
pub fn compile(definitions: &Definitions, target: &str) -> Result<Compiled> {
    definitions.compile(target).map_err(|e| wrong(&e))
}

fn wrong(errors: &[DefinitionError]) -> anyhow::Error {
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    anyhow!("the definitions of metrics are wrong\n{}", lines.join("\n"))
}

/// Target and model of a GPU by either's name.
pub fn gpu(name: &str) -> Result<(String, Option<String>)> {
    let lower = name.to_ascii_lowercase();
    if let Some(target) = Target::by_name(lower.split(':').next().unwrap_or_default()) {
        return Ok((target.name.to_owned(), None));
    }
    target_of_product(&lower)
        .map(|target| (target.name.to_owned(), Some(lower.to_ascii_uppercase())))
        .ok_or_else(|| {
            let names: Vec<&str> = Target::names().chain(Model::names()).collect();
            usage(format!("there are no facts about `{name}`"), format!("known are {}", names.join(", ")))
        })
}

/// Fails if a condition refers to an unknown row or metric.
pub fn check_row(definitions: &Definitions, row: &str, target: &str) -> Result<()> {
    // Rows of the top kernels are as many as there are kernels.
    if row.starts_with("0.1.") {
        return Ok(());
    }
    Blocks::parse(&[row.to_owned()], definitions, target).map(drop).map_err(Into::into)
}
