//! Everything that has to hold, in one command.
//!
//! The one idea to keep in mind: the cheap checks come first, the archive last; tools are installed while the compiler works.

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
    let everything = [&all[..], &["--all-targets"]].concat();
    run::run("cargo", &[&["clippy", "--quiet"], &everything[..], &["--", "-D", "warnings"]].concat())?;
    // The command as the README's first line builds it, without its optional parts.
    run::run("cargo", &["clippy", "--quiet", "--workspace", "--", "-D", "warnings"])?;
    // Builds the HIP library too, which no test links, with the features that all crates together ask for.
    run::run("cargo", &[&["build"], &everything[..]].concat())?;
    let built = run::target().join("debug/xtask");
    run::run(&built.to_string_lossy(), &["codegen", "--check"])?;
    if let Err(error) = tools.join().unwrap_or_else(|_| bail!("the set-up ended early")) {
        // Under CI=true the tests that miss a tool fail and say so; elsewhere they say that they skip.
        eprintln!("warning: {error:#}");
    }
    run::run("cargo", &[&["test"], &all[..]].concat())?;
    // What was built for the tests is packed, unpacked elsewhere, and used.
    dist::dist(&["--profile", "dev"].map(str::to_owned))
}
