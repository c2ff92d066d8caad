//! `rockhound profile`: a program's kernels as a workload, and its report.
//!
//! The one idea to keep in mind: who profiles is a [`Profiler`]; what comes out is a folder that `analyze` reads, and
//! nothing after that knows who wrote it, except to say so.

use crate::args::{Cli, Command, Look, Profile};
use crate::emulation::{Emulation, short};
use crate::exit::{Outcome, usage};
use crate::launch;
use anyhow::Result;
use clap::Parser;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What a profiler left.
struct Profiled {
    /// Workload folders.
    folders: Vec<PathBuf>,
    /// How the program ended.
    outcome: Outcome,
}

/// Someone who runs a program and records its kernels.
trait Profiler {
    /// Runs the program to its end.
    fn profile(&self, args: &Profile) -> Result<Profiled>;
}

/// The emulator.
struct Emulator;

/// An AMD GPU with rocprofv3.
struct Hardware;

impl Profiler for Emulator {
    fn profile(&self, args: &Profile) -> Result<Profiled> {
        let emulation = Emulation::prepare(&args.emulate, &args.program)?;
        let name = args.name.clone().unwrap_or_else(|| {
            let file = Path::new(&args.program[0]).file_stem();
            file.map_or_else(|| "program".to_owned(), |it| it.to_string_lossy().into_owned())
        });
        let output = match &args.output {
            Some(folder) => folder.clone(),
            None => Path::new("workloads").join(&name).join(short(emulation.model)),
        };
        // The program may change its working folder.
        let output = std::path::absolute(output)?;
        if output.join("pmc_perf.csv").exists() {
            eprintln!("{} is written anew", output.display());
            std::fs::remove_file(output.join("pmc_perf.csv"))?;
        }
        let words: Vec<_> = args.program.iter().map(|word| word.to_string_lossy()).collect();
        let mut more = vec![
            ("ROCKHOUND_OUTPUT", output.into_os_string()),
            ("ROCKHOUND_NAME", name.into()),
            ("ROCKHOUND_COMMAND", words.join(" ").into()),
            ("ROCKHOUND_KERNELS", args.kernel.join("\n").into()),
        ];
        if let Some(limit) = args.dispatch_limit {
            more.push(("ROCKHOUND_DISPATCH_LIMIT", OsString::from(limit.to_string())));
        }
        let finished = emulation.run(&args.emulate, &args.program, &more)?;
        Ok(Profiled { folders: finished.recordings()?, outcome: finished.outcome() })
    }
}

impl Profiler for Hardware {
    fn profile(&self, _: &Profile) -> Result<Profiled> {
        Err(usage(
            "an AMD GPU (/dev/kfd) and rocprofv3 were found, and this version cannot profile with them",
            "give a GPU to emulate, for example `--gpu mi300x`, or record with rocprofv3 and use `rockhound analyze`",
        ))
    }
}

/// The hardware where it is there, unless a GPU to emulate is named.
fn choose(args: &Profile) -> &'static dyn Profiler {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let tool = || std::env::split_paths(&folders).any(|folder| folder.join("rocprofv3").is_file());
    if args.emulate.gpu.is_none() && Path::new("/dev/kfd").exists() && tool() { &Hardware } else { &Emulator }
}

/// Profiles, and reports what was recorded.
pub(crate) fn run(args: &Profile, look: &Look) -> Result<Outcome> {
    if let Some(file) = &args.file {
        return launch::run(file, args, look);
    }
    let profiled = choose(args).profile(args)?;
    for folder in &profiled.folders {
        if !folder.join("pmc_perf.csv").exists() {
            eprintln!("rockhound: no dispatch was recorded in {}", folder.display());
            continue;
        }
        eprintln!("wrote {}", folder.display());
        let words =
            [OsString::from("rockhound"), "analyze".into(), "--path".into(), folder.clone().into_os_string()];
        if let Command::Analyze(analyze) = Cli::try_parse_from(words)?.command {
            crate::analyze::run(&analyze, look)?;
        }
    }
    Ok(profiled.outcome)
}
