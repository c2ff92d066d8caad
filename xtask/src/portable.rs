//! Distributed files, built so that they run on old systems, and installed.
//!
//! A program needs the C library it was linked with or a newer one, so the linker is told of an old one (zig
//! knows the symbols of all). Without zig the programs need this machine's version, which is reported.

use crate::run::{FULL, output, root, run, target};
use crate::{elf, licences, tools};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Packages whose programs and libraries are given away.
pub(crate) const PACKAGES: [&str; 4] =
    ["rockhound", "rockhound-hip", "rockhound-capture", "rockhound-python"];

/// Shared libraries that the command looks for.
pub(crate) const LIBRARIES: [&str; 2] = ["libamdhip64.so", "librockhound_capture.so"];

/// Shells, with the place of their completions.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/rockhound"),
    ("zsh", "share/zsh/site-functions/_rockhound"),
    ("fish", "share/fish/vendor_completions.d/rockhound.fish"),
];

/// The page for agents.
const SKILL: &str = "share/rockhound/skills/rockhound/SKILL.md";

/// A build of command and library.
pub(crate) struct Built {
    /// Folder that cargo put them in.
    folder: PathBuf,
    /// They were linked for [`elf::OLDEST_GLIBC`].
    pub(crate) portable: bool,
    /// A build for tests, with debug information that users do not need.
    for_tests: bool,
}

/// Folders of the parts of an installation, relative to one folder.
pub(crate) struct Layout {
    /// Folder of the command.
    pub(crate) command: &'static str,
    /// Folder of the libraries.
    pub(crate) library: &'static str,
    /// Path before `share/`.
    pub(crate) shared: &'static str,
    /// Folder of the licences.
    pub(crate) licences: &'static str,
}

/// True if a build with this profile is for old systems; builds for local tests are not.
pub(crate) fn is_portable(profile: &str) -> bool {
    if profile == "dev" {
        return false;
    }
    let there = tools::folder(&tools::PORTABLE);
    if let Err(error) = &there {
        eprintln!("warning: linking with the C library of this machine: {error:#}");
    }
    there.is_ok()
}

/// Builds command and library.
pub(crate) fn build(profile: &str, portable: bool) -> Result<Built> {
    let packages = ["--package", "rockhound", "--package", "rockhound-hip", "--package", "rockhound-capture"];
    let options = [&["--locked", "--profile", profile][..], &packages, &FULL].concat();
    let target = target();
    let profile_folder = if profile == "dev" { "debug" } else { profile };
    if !portable {
        // The tested packages are the ones that `xtask test` has built: building the two packages alone would
        // compile them again, with fewer features.
        let tried = [&["--locked", "--workspace", "--all-targets"][..], &FULL].concat();
        let options = if profile == "dev" { tried } else { options };
        run("cargo", &[&["build"], &options[..]].concat())?;
        return Ok(Built { folder: target.join(profile_folder), portable, for_tests: profile == "dev" });
    }
    let bin = tools::folder(&tools::PORTABLE)?;
    let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let (major, minor) = elf::OLDEST_GLIBC;
    let linked_for = format!("{triple}.{major}.{minor}");
    let mut cargo = Command::new(bin.join("cargo-zigbuild"));
    tools::first_in_path(&mut cargo, &bin);
    cargo.arg("zigbuild").args(&options).args(["--target", &linked_for]).current_dir(root());
    if let Some(commit) = commit() {
        cargo.env("ROCKHOUND_COMMIT", commit);
    }
    eprintln!("$ cargo zigbuild {} --target {linked_for}", options.join(" "));
    if !cargo.status().context("cannot start cargo-zigbuild")?.success() {
        bail!("`cargo zigbuild` failed");
    }
    Ok(Built { folder: target.join(triple).join(profile_folder), portable, for_tests: false })
}

/// The commit that is built, with a sign where files differ from it.
pub(crate) fn commit() -> Option<String> {
    Some(output("git", &["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"])?.trim().to_owned())
}

impl Built {
    /// Puts command, library, licences, manual pages and completions into a folder.
    pub(crate) fn place(&self, stage: &Path, layout: &Layout) -> Result<()> {
        let command = stage.join(layout.command).join("rockhound");
        let mut files = vec![command.clone()];
        files.extend(LIBRARIES.map(|it| stage.join(layout.library).join(it)));
        for file in &files {
            copy(&self.folder.join(file.file_name().unwrap_or_default()), file)?;
            if self.for_tests {
                // A matter of size alone, so nobody needs to have it.
                let _ = Command::new("strip").arg("--strip-debug").arg(file).status();
            }
        }
        if self.portable {
            elf::check(&files.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
        }
        for file in ["LICENSE-APACHE", "LICENSE-MIT"] {
            copy(&root().join(file), &stage.join(layout.licences).join(file))?;
        }
        write(
            &stage.join(layout.licences).join("THIRD-PARTY-LICENSES.txt"),
            licences::texts(&PACKAGES)?.as_bytes(),
        )?;
        write(&stage.join(layout.licences).join("sbom.cdx.json"), licences::bill(&PACKAGES)?.as_bytes())?;
        let shared = stage.join(layout.shared);
        let pages = shared.join("share/man/man1");
        std::fs::create_dir_all(&pages)?;
        succeed(Command::new(&command).arg("man").arg("--output").arg(&pages))?;
        let skill = succeed(Command::new(&command).args(["mcp", "--skill"]))?;
        write(&shared.join(SKILL), &skill)?;
        for (shell, place) in COMPLETIONS {
            write(&shared.join(place), &succeed(Command::new(&command).args(["completions", shell]))?)?;
        }
        Ok(())
    }

    /// The glibc that command and library need.
    pub(crate) fn glibc(&self) -> Result<String> {
        let mut newest = (0, 0);
        for file in LIBRARIES.iter().chain(&["rockhound"]) {
            newest = newest.max(elf::needs(&self.folder.join(file))?.glibc().unwrap_or_default());
        }
        Ok(format!("{}.{}", newest.0, newest.1))
    }
}

/// Copies a file, its folder made.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to.parent().unwrap_or(to))?;
    std::fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
    Ok(())
}

/// Writes a file, its folder made.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::create_dir_all(path.parent().unwrap_or(path))?;
    std::fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

/// Runs a program and returns its output.
pub(crate) fn succeed(command: &mut Command) -> Result<Vec<u8>> {
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    if !output.status.success() {
        bail!(
            "{command:?}: {}{}",
            String::from_utf8_lossy(&output.stdout).trim(),
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(output.stdout)
}

/// Size of a file in MiB.
pub(crate) fn mebibytes(path: &Path) -> Result<f64> {
    Ok(std::fs::metadata(path)?.len() as f64 / 1048576.0)
}
