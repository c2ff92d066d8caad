//! Everything that has to hold, in one command.
//!
//! The cheap checks come first, and no core waits: tools are installed while the compiler works; the tests of
//! the command run in parallel with the tests of the crates, and Clippy in the remaining time.

use crate::{codegen, dist, layers, run, setup, words};
use anyhow::{Result, bail};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    if let Some(argument) = arguments.first() {
        bail!("`test` takes no argument, found `{argument}`; for one crate there is `cargo test -p CRATE`");
    }
    let tools = std::thread::spawn(setup::ensure);
    run::run("cargo", &["fmt", "--all", "--check"])?;
    layers::run(&[])?;
    words::check()?;
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
    // Clippy holds cargo's lock while it checks, and what else needs it comes before.
    let lints = std::thread::spawn(|| {
        let documented = run::output_at_end("cargo", &tests(&["--doc"], &BTreeSet::new()));
        // The output of the test build is packed, unpacked elsewhere, and used.
        let packed = dist::dist(&["--profile", "dev"].map(str::to_owned));
        documented.and(packed).and(lints())
    });
    let (first, others) = test_programs()?.into_iter().partition(|name| name == LONGEST);
    let beside = std::thread::spawn(move || run::output_at_end("cargo", &tests(&[], &first)));
    let tested = run::run("cargo", &words(&tests(&["--lib", "--bins"], &others)));
    let ends = [beside.join(), lints.join()].map(|it| it.unwrap_or_else(|_| bail!("a thread ended early")));
    ends.into_iter().chain([tested]).collect()
}

/// The test program that takes longer than any other: it opens reports in a browser.
const LONGEST: &str = "cli";

/// Names of the test programs of all crates, as cargo finds them.
fn test_programs() -> Result<BTreeSet<String>> {
    let mains = run::files(run::root(), |path| {
        let folder = path.parent();
        let of_program = if path.ends_with("main.rs") { folder.and_then(Path::parent) } else { folder };
        path.extension().is_some_and(|it| it == "rs") && of_program.is_some_and(|it| it.ends_with("tests"))
    })?;
    let name = |path: PathBuf| {
        let named = if path.ends_with("main.rs") { path.parent()?.to_owned() } else { path };
        Some(named.file_stem()?.to_string_lossy().into_owned())
    };
    Ok(mains.into_iter().filter_map(name).collect())
}

/// Words of a `cargo test` of the workspace for some of its targets.
fn tests(targets: &[&str], programs: &BTreeSet<String>) -> Vec<String> {
    let mut all: Vec<String> =
        ["test", "--workspace"].iter().chain(&run::FULL).chain(targets).map(|it| it.to_string()).collect();
    all.extend(programs.iter().flat_map(|it| ["--test".to_owned(), it.clone()]));
    all
}

fn words(all: &[String]) -> Vec<&str> {
    all.iter().map(String::as_str).collect()
}

/// Runs Clippy on everything, and on the command as the README's first line builds it, without its optional
/// parts. It runs in the time that tests leave, because some tests measure time.
fn lints() -> Result<()> {
    let all = [&["--workspace"][..], &run::FULL, &["--all-targets"]].concat();
    // With the crates of the optional parts and with a test, dependencies have the same features and are not
    // checked again.
    let without =
        ["--workspace", "--features", "rockhound/full-crates", "--lib", "--bins", "--test", "peaks"];
    for what in [&all[..], &without] {
        let clippy = ["-n", "19", "cargo", "clippy", "--quiet"];
        run::run("nice", &[&clippy, what, &["--", "-D", "warnings"]].concat())?;
    }
    Ok(())
}
