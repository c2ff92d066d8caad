//! Development tasks: `cargo xtask TASK`.
//!
//! People and CI call the same tasks; a task is one row of [`TASKS`] and one module. `cargo xtask` builds
//! this program without our own crates, so that a task which builds the workspace starts at once and builds
//! it once; a task that calls our crates starts the program again with them.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tasks read the workspace, start programs and print"
)]

#[cfg(feature = "workspace")]
mod accuracy;
#[cfg(all(test, feature = "workspace"))]
mod agreement;
#[cfg(feature = "workspace")]
mod bench;
mod clients;
mod codegen;
mod dist;
mod elf;
#[cfg(feature = "workspace")]
mod example_recording;
mod hip_coverage;
#[cfg(feature = "workspace")]
mod isa_coverage;
#[cfg(feature = "workspace")]
mod isa_diff;
mod layers;
mod licences;
mod picture;
mod portable;
mod run;
mod rust_source;
mod setup;
#[cfg(feature = "workspace")]
mod survey;
mod test;
mod tools;
mod triton;
mod wheel;
mod words;

use anyhow::{Context, Result, bail};
use std::process::ExitCode;

/// Function of a task, from its arguments.
type Run = fn(&[String]) -> Result<()>;

struct Task {
    name: &'static str,
    about: &'static str,
    /// `None` if it calls our own crates and this program is built without them.
    run: Option<Run>,
}

/// A function that calls our own crates.
#[cfg(feature = "workspace")]
macro_rules! of_workspace {
    ($run:expr) => {
        Some($run)
    };
}
#[cfg(not(feature = "workspace"))]
macro_rules! of_workspace {
    ($run:expr) => {
        None
    };
}

const TASKS: &[Task] = &[
    Task {
        name: "setup",
        about: "install the LLVM tools the tests compare with; `--print` shows the command, `--real` adds big inputs",
        run: Some(setup::run),
    },
    Task {
        name: "test",
        about: "setup where possible, then format, lints, layers, generated files and all tests",
        run: Some(test::run),
    },
    Task { name: "layers", about: "check the invariants of ARCHITECTURE.md", run: Some(layers::run) },
    Task {
        name: "words",
        about: "count expressions that hide subject or verb, per crate; with a crate's name list them",
        run: Some(words::run),
    },
    Task {
        name: "codegen",
        about: "write the generated files; `--check` fails when one is not as it would be written",
        run: Some(codegen::run),
    },
    Task {
        name: "dist",
        about: "make the release archive, unpack it elsewhere and use it; `--profile dev` tries that quickly",
        run: Some(dist::dist),
    },
    Task {
        name: "wheel",
        about: "make the Python wheel: module, command, HIP library; `--test` installs and uses it, `--profile dev` is quick",
        run: Some(wheel::wheel),
    },
    Task { name: "picture", about: "draw the README's picture from real output", run: Some(picture::run) },
    Task {
        name: "example-recording",
        about: "write examples/heat3d, a synthetic recording, from its description",
        run: of_workspace!(example_recording::run),
    },
    Task {
        name: "isa-diff",
        about: "compare decoder and text with llvm-objdump: the code objects named, or random encodings",
        run: of_workspace!(isa_diff::run),
    },
    Task {
        name: "isa-coverage",
        about: "which opcodes the emulator executes, per target and microcode format",
        run: of_workspace!(isa_coverage::run),
    },
    Task {
        name: "hip-coverage",
        about: "which functions of the HIP runtime are implemented, and why others are not",
        run: Some(hip_coverage::run),
    },
    Task {
        name: "semantics",
        about: "compare emulated functions with the same functions on the host, bit by bit; the math library in ulp",
        run: Some(|_| {
            run::run(
                "cargo",
                &["test", "-p", "rockhound-emu", "--test", "emu", "semantics::", "--", "--nocapture"],
            )?;
            run::run(
                "cargo",
                &["test", "-p", "rockhound-hip", "--test", "hip", "math::", "--", "--nocapture"],
            )
        }),
    },
    Task {
        name: "triton",
        about: "compile the Triton kernels of examples/triton, with the results NumPy computes: `triton [PYTHON]`",
        run: Some(triton::run),
    },
    Task {
        name: "accuracy",
        about: "compare modelled counters with recorded ones in docs/accuracy.md; `--wide` runs kernels in full size",
        run: of_workspace!(accuracy::run),
    },
    Task {
        name: "clients",
        about: "run programs of others (cupy, ggml, OpenMM, onnxruntime, jax; `hecbench FOLDER`) and write docs/clients.md",
        run: Some(clients::run),
    },
    Task {
        name: "survey",
        about: "how often rules fire on the kernels of FILE, their cost, and `--sample N` findings to judge",
        run: of_workspace!(survey::run),
    },
    Task {
        name: "bench",
        about: "run benchmarks: all, or those named; prints ratios",
        run: of_workspace!(bench::run),
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<()> {
    let Some((name, rest)) = arguments.split_first() else {
        print!("{}", usage());
        return Ok(());
    };
    if ["help", "--help", "-h"].contains(&name.as_str()) {
        print!("{}", usage());
        return Ok(());
    }
    match TASKS.iter().find(|task| task.name == name).map(|task| task.run) {
        Some(Some(run)) => run(rest),
        Some(None) => with_workspace(arguments),
        None => bail!("no task `{name}`\n{}", usage()),
    }
}

/// Starts this program again, built with our own crates. Exits with its exit code if it fails, because it has
/// printed the reason.
fn with_workspace(arguments: &[String]) -> Result<()> {
    let status = std::process::Command::new("cargo")
        .args(["run", "--quiet", "--package", "xtask", "--"])
        .args(arguments)
        .current_dir(run::root())
        .status()
        .context("cannot start `cargo`")?;
    if !status.success() {
        std::process::exit(status.code().unwrap_or(1));
    }
    Ok(())
}

fn usage() -> String {
    let mut text = String::from("cargo xtask TASK [OPTION…]\n\n");
    for task in TASKS {
        text += &format!("  {:<8} {}\n", task.name, task.about);
    }
    text
}
