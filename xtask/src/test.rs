//! Everything that has to hold, in one command.
//!
//! The one idea to keep in mind: the cheap checks come first, the archive last; tools are installed while the compiler works, and
//! Clippy works while tests run, most of which use one core.

use crate::{codegen, dist, layers, run, setup};
use anyhow::{Result, bail};

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    if let Some(argument) = arguments.first() {
        bail!("`test` takes no argument, found `{argument}`; for one crate there is `cargo test -p CRATE`");
    }
    let tools = std::thread::spawn(setup::ensure);
    run::run("cargo", &["fmt", "--all", "--check"])?;
    layers::run(&[])?;
    codegen::generate(true)?;
    let all = [&["--workspace"][..], &run::FULL].concat();
    // Builds the HIP library too, which no test links, with the features that all crates together ask for.
    run::run("cargo", &[&["build"], &all[..], &["--all-targets"]].concat())?;
    let built = run::target().join("debug/xtask");
    run::run(&built.to_string_lossy(), &["codegen", "--check"])?;
    if let Err(error) = tools.join().unwrap_or_else(|_| bail!("the set-up ended early")) {
        // Under CI=true the tests that miss a tool fail and say so; elsewhere they say that they skip.
        eprintln!("warning: {error:#}");
    }
    let lints = std::thread::spawn(lints);
    let tested = run::run("cargo", &[&["test"], &all[..]].concat());
    lints.join().unwrap_or_else(|_| bail!("the lints ended early"))?;
    tested?;
    // What was built for the tests is packed, unpacked elsewhere, and used.
    dist::dist(&["--profile", "dev"].map(str::to_owned))
}

/// What Clippy says of everything, and of the command as the README's first line builds it, without its optional parts.
fn lints() -> Result<()> {
    let all = [&["--workspace"][..], &run::FULL, &["--all-targets"]].concat();
    for what in [&all[..], &["--workspace"]] {
        run::run("cargo", &[&["clippy", "--quiet"], what, &["--", "-D", "warnings"]].concat())?;
    }
    Ok(())
}
