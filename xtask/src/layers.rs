//! Checks the invariants that ARCHITECTURE.md states as absences.
//!
//! A check returns lines with location and problem; the task prints all of them and fails if there is any.

mod allowed;
mod functions;
mod manifests;
mod modules;
mod optional;
mod sources;

use anyhow::{Result, bail};

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    if let Some(argument) = arguments.first() {
        bail!("`layers` takes no argument, found `{argument}`");
    }
    let workspace = manifests::Workspace::read()?;
    let mut faults = workspace.arrows();
    faults.extend(workspace.lints());
    faults.extend(workspace.map());
    let mut allowed = allowed::Allowed::read()?;
    faults.extend(sources::check(&workspace, &mut allowed)?);
    faults.extend(allowed.unused());
    if !faults.is_empty() {
        bail!("{} broken invariants\n  {}", faults.len(), faults.join("\n  "));
    }
    println!("layers: {} crates keep the invariants", workspace.crates.len());
    println!("layers: allowed so far: {}", allowed.counts());
    Ok(())
}
