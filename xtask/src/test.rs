//! Everything that has to hold, in one command.
//!
//! The one idea to keep in mind: the cheap checks come first, the archive last; tools are installed while the compiler works, and
//! the compiler is the one that lints, so that nothing is compiled once for lints and once for tests.

use crate::{codegen, dist, layers, run, setup};
use anyhow::{Context, Result, bail};
use std::process::{Command, Stdio};

/// The compiler with Clippy's lints, which comes beside it.
const LINTING: &str = "clippy-driver";
/// What Clippy's own subcommand hands it arguments by, each with its end.
const LINTS: (&str, &str) = ("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");
/// A program with one warning of Clippy's.
const WARNED: &str = "fn main() { println!(\"{}\", Some(1).map(|it| it).is_some()); }";

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    if let Some(argument) = arguments.first() {
        bail!("`test` takes no argument, found `{argument}`; for one crate there is `cargo test -p CRATE`");
    }
    if std::env::var_os(LINTS.0).is_none() {
        return again_with_lints();
    }
    let tools = std::thread::spawn(setup::ensure);
    run::run("cargo", &["fmt", "--all", "--check"])?;
    layers::run(&[])?;
    codegen::generate(true)?;
    // Builds the HIP library too, which no test links, with the features that all crates together ask for.
    run::run("cargo", &["build", "--workspace", "--all-targets"])?;
    let built = run::target().join("debug/xtask");
    run::run(&built.to_string_lossy(), &["codegen", "--check"])?;
    if let Err(error) = tools.join().unwrap_or_else(|_| bail!("the set-up ended early")) {
        // Under CI=true the tests that miss a tool fail and say so; elsewhere they say that they skip.
        eprintln!("warning: {error:#}");
    }
    run::run("cargo", &["test", "--workspace"])?;
    // What was built for the tests is packed, unpacked elsewhere, and used.
    dist::dist(&["--profile", "dev"].map(str::to_owned))
}

/// Runs this command again with a compiler that lints, for cargo and all that tests start.
fn again_with_lints() -> Result<()> {
    denies_warnings()?;
    let own = std::env::current_exe().context("cannot find xtask")?;
    let status = Command::new(own)
        .arg("test")
        .env("RUSTC_WORKSPACE_WRAPPER", LINTING)
        .env(LINTS.0, LINTS.1)
        .status()
        .context("cannot start xtask")?;
    if !status.success() {
        bail!("`cargo xtask test` failed");
    }
    Ok(())
}

/// How lints are asked for is between Clippy and its subcommand: what is compiled so has to fail on a warning.
fn denies_warnings() -> Result<()> {
    let folder = run::target().join("tmp");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let file = folder.join("warned.rs");
    std::fs::write(&file, WARNED).with_context(|| format!("cannot write {}", file.display()))?;
    let compiles = |lints: &[(&str, &str)]| -> Result<bool> {
        let mut compiler = Command::new(LINTING);
        compiler.args(["rustc", "--edition=2024", "--emit=metadata", "--out-dir"]).arg(&folder).arg(&file);
        compiler.envs(lints.iter().copied()).stderr(Stdio::null());
        let status = compiler.status().with_context(|| {
            format!("cannot start `{LINTING}`\nhint: `rustup component add clippy` installs it")
        })?;
        Ok(status.success())
    };
    match (compiles(&[])?, compiles(&[LINTS])?) {
        (true, false) => Ok(()),
        _ => {
            bail!("`{LINTING}` does not fail on a warning when it is asked to: how that is done has changed")
        }
    }
}
