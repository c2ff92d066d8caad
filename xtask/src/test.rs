//! Everything that has to hold, in one command.
//!
//! The one idea to keep in mind: the cheap checks come first, the archive last.

use crate::{codegen, dist, layers, run, setup};
use anyhow::{Result, bail};

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    if let Some(argument) = arguments.first() {
        bail!("`test` takes no argument, found `{argument}`; for one crate there is `cargo test -p CRATE`");
    }
    if let Err(error) = setup::ensure() {
        // Under CI=true the tests that miss a tool fail and say so; elsewhere they say that they skip.
        eprintln!("warning: {error:#}");
    }
    run::run("cargo", &["fmt", "--all", "--check"])?;
    layers::run(&[])?;
    codegen::run(&["--check".to_owned()])?;
    run::run("cargo", &["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    // Builds the HIP library too, which no test links, with the features that all crates together ask for.
    run::run("cargo", &["build", "--workspace", "--all-targets"])?;
    run::run("cargo", &["test", "--workspace"])?;
    // What was built for the tests is packed, unpacked elsewhere, and used.
    dist::dist(&["--profile", "dev"].map(str::to_owned))
}
