//! Development tasks: `cargo xtask TASK`.
//!
//! The one idea to keep in mind: what a person calls and what CI calls is the same task; a task is one row of
//! [`TASKS`] and one module.

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
mod codegen;
mod dist;
mod elf;
#[cfg(feature = "workspace")]
mod example_recording;
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

use anyhow::{Result, bail};
use std::process::ExitCode;

struct Task {
    name: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Result<()>,
}

const TASKS: &[Task] = &[
    Task {
        name: "setup",
        about: "install the LLVM tools the tests compare with; `--print` shows the command, `--real` adds big inputs",
        run: setup::run,
    },
    Task {
        name: "test",
        about: "setup where possible, then format, lints, layers, generated files and all tests",
        run: test::run,
    },
    Task { name: "layers", about: "check the invariants of ARCHITECTURE.md", run: layers::run },
    Task {
        name: "codegen",
        about: "write the generated files; `--check` fails when one is not as it would be written",
        run: codegen::run,
    },
    Task {
        name: "dist",
        about: "make the release archive, unpack it elsewhere and use it; `--profile dev` tries that quickly",
        run: dist::dist,
    },
    Task {
        name: "wheel",
        about: "make the Python wheel: module, command, HIP library; `--test` installs and uses it, `--profile dev` is quick",
        run: wheel::wheel,
    },
    Task { name: "picture", about: "draw the README's picture from real output", run: picture::run },
    #[cfg(feature = "workspace")]
    Task {
        name: "example-recording",
        about: "write examples/heat3d, a synthetic recording, from its description",
        run: example_recording::run,
    },
    #[cfg(feature = "workspace")]
    Task {
        name: "isa-diff",
        about: "compare decoder and text with llvm-objdump: the code objects named, or random encodings",
        run: isa_diff::run,
    },
    #[cfg(feature = "workspace")]
    Task {
        name: "isa-coverage",
        about: "which opcodes the emulator executes, per target and microcode format",
        run: isa_coverage::run,
    },
    Task {
        name: "semantics",
        about: "compare emulated functions with the same functions on the host, bit by bit; the math library in ulp",
        run: |_| {
            run::run("cargo", &["test", "-p", "rockhound-emu", "--test", "semantics", "--", "--nocapture"])?;
            run::run("cargo", &["test", "-p", "rockhound-hip", "--test", "math", "--", "--nocapture"])
        },
    },
    Task {
        name: "triton",
        about: "compile the Triton kernels of examples/triton, with the results NumPy computes: `triton [PYTHON]`",
        run: triton::run,
    },
    #[cfg(feature = "workspace")]
    Task {
        name: "accuracy",
        about: "compare modelled counters with recorded ones in docs/accuracy.md; `--wide` runs kernels in full size",
        run: accuracy::run,
    },
    #[cfg(feature = "workspace")]
    Task {
        name: "survey",
        about: "how often rules fire on the kernels of FILE, their cost, and `--sample N` findings to judge",
        run: survey::run,
    },
    #[cfg(feature = "workspace")]
    Task { name: "bench", about: "run benchmarks: all, or those named; prints ratios", run: bench::run },
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
    match TASKS.iter().find(|task| task.name == name) {
        Some(task) => (task.run)(rest),
        None => bail!("no task `{name}`\n{}", usage()),
    }
}

fn usage() -> String {
    let mut text = String::from("cargo xtask TASK [OPTION…]\n\n");
    for task in TASKS {
        text += &format!("  {:<8} {}\n", task.name, task.about);
    }
    text
}
