//! The Python package, put together from this build as the wheel has it: functions give the command's documents.

use crate::run::{folder, rockhound as run, root};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package beside the command of this build.
fn package() -> Option<PathBuf> {
    let command = Path::new(env!("CARGO_BIN_EXE_rockhound"));
    let module = command.with_file_name("lib_rockhound.so");
    if !module.exists() {
        // A test of this crate alone builds no module.
        testkit::absent(&module.display().to_string(), "`cargo build --package rockhound-python`");
        return None;
    }
    let to = folder("python_package");
    std::fs::create_dir(to.join("rockhound")).unwrap();
    for entry in std::fs::read_dir(root().join("crates/6-enter/python/rockhound")).unwrap().flatten() {
        if entry.path().is_file() {
            std::fs::copy(entry.path(), to.join("rockhound").join(entry.file_name())).unwrap();
        }
    }
    symlink(module, to.join("rockhound/_rockhound.abi3.so")).unwrap();
    std::fs::create_dir(to.join("bin")).unwrap();
    symlink(command, to.join("bin/rockhound")).unwrap();
    Some(to)
}

#[test]
fn functions_are_those_of_the_commands() {
    let file = root().join("crates/6-enter/python/rockhound/_commands.py");
    testkit::golden_file(file, &run(&["completions", "--python"]).stdout);
}

#[test]
fn the_package_gives_the_documents_of_the_command() {
    let Some(package) = package() else { return };
    let mut python = Command::new("python3");
    let tests = ["test_wheel.Module", "test_commands", "test_documents", "test_docs"];
    python.args(["-m", "unittest", "--quiet"]).args(tests);
    python.current_dir(root().join("crates/6-enter/python/tests")).env("PYTHONPATH", &package);
    python.env("PYTHONDONTWRITEBYTECODE", "1").env("ROCKHOUND_EXAMPLES", root().join("examples"));
    if let Some(triton) = testkit::python_with_torch() {
        python.env("ROCKHOUND_TRITON_PYTHON", triton);
    }
    let done = python.output().expect("python3 is installed");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
}
