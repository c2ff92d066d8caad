//! What tests need from outside: external programs, scratch folders, real binaries.

#![allow(dead_code, reason = "each test file uses a part")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// Whether all programs are there. Says what is missing and how to get it; under CI that is a failure.
pub(crate) fn have(programs: &[&str]) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    for program in programs {
        if !folders.iter().any(|folder| folder.join(program).is_file()) {
            let package = match program.rsplit_once('-') {
                Some((name, version)) if name.starts_with("clang") => format!("clang-{version}"),
                Some(("ld.lld", version)) => format!("lld-{version}"),
                Some((_, version)) => format!("llvm-{version}"),
                None => (*program).to_owned(),
            };
            return skip(program, &format!("apt-get install {package}"));
        }
    }
    true
}

/// Says that a test is skipped; always false.
pub(crate) fn skip(needs: &str, install: &str) -> bool {
    assert!(std::env::var("CI").as_deref() != Ok("true"), "needs {needs}, install with {install}");
    println!("skipped: needs {needs}, install with {install}");
    false
}

/// Runs a program and returns what it prints.
pub(crate) fn run(program: &str, arguments: &[&str]) -> String {
    let output =
        Command::new(program).args(arguments).output().unwrap_or_else(|error| panic!("{program}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A folder of one test that goes when the test ends.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Scratch {
        let unique = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
        let folder =
            std::env::temp_dir().join(format!("rockhound-codeobj-{name}-{}-{unique}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Scratch(folder)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: &str, contents: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, contents).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Committed inputs of this crate.
pub(crate) fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/containers").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
