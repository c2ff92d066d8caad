//! `rockhound profile`: a program's kernels as a workload, and its report.
//!
//! A [`Profiler`] makes a folder that `analyze` reads; later steps know its maker only to name it.

mod hardware;

use crate::args::{Analyze, Look, On, Profile, Ranks};
use crate::earlier::{make_folder, remove_earlier};
use crate::emulation::{Emulation, GPU_DEVICE, predictions};
use crate::exit::{Outcome, usage};
use crate::recording_folder::recording_folder;
use crate::{analyze, launch, output};
use analysis::guide::Recorded;
use analysis::workload::{dispatch_ranges, iteration_ranges, kernel_pattern};
use anyhow::Result;
use hardware::Hardware;
pub(crate) use hardware::{denied, model_of_machine};
use host::session::Record;
use std::path::{Path, PathBuf};

/// Output of a profiler.
struct Profiled {
    /// Workload folders.
    folders: Vec<PathBuf>,
    /// Exit state of the program.
    outcome: Outcome,
}

/// Someone who runs a program and records its kernels.
trait Profiler {
    /// Runs the program to its end.
    fn profile(&self, args: &Profile) -> Result<Profiled>;
}

/// The emulator.
struct Emulator;

impl Profiler for Emulator {
    fn profile(&self, args: &Profile) -> Result<Profiled> {
        args.on_gpu.refuse_emulated()?;
        if !args.emulate.check.is_empty() {
            return Err(usage(
                "`--check` takes the place of counting, so there would be nothing to record",
                format!(
                    "`rockhound run --check {} -- PROGRAM` checks a program",
                    args.emulate.check.join(",")
                ),
            ));
        }
        // Mistakes in the request are reported before anything is built or run.
        let selected = selection(args)?;
        let emulation = Emulation::prepare(&args.emulate, &args.program)?;
        predictions(&args.settings(), emulation.model)?;
        let name = program_name(args);
        let output = recording_folder(args, &name, emulation.model.short())?;
        // The program may change its working folder.
        let output = std::path::absolute(output)?;
        make_folder(&output, args.replaces())?;
        remove_earlier(&output)?;
        let words: Vec<_> = args.program.iter().map(|word| word.to_string_lossy()).collect();
        let recorded = Recorded {
            kernels: args.kernel.clone(),
            dispatches: args.dispatch.clone(),
            iterations: args.kernel_iteration_range.clone(),
            limit: args.dispatch_limit,
        };
        let record =
            Record { output: output.clone(), name, command: recorded.command(&words.join(" ")), ..selected };
        let finished = emulation.run(&args.emulate, &args.program, Some(record));
        // A folder into which nothing was recorded goes; one with something in it does not.
        let _ = std::fs::remove_dir(&output);
        let finished = finished?;
        Ok(Profiled { folders: finished.recordings()?, outcome: finished.outcome() })
    }
}

/// Name of the workload.
fn program_name(args: &Profile) -> String {
    args.name.clone().unwrap_or_else(|| {
        if let Some(pid) = args.on_gpu.attach {
            return format!("process-{pid}");
        }
        let words = hardware::ranks(&args.program).map_or(&args.program[..], |(_, program)| program);
        let is_python = |word: &std::ffi::OsString| Path::new(word).file_name().is_some_and(is_python);
        // A script is called by its own name.
        let script = words.iter().skip(1).find(|it| it.to_string_lossy().ends_with(".py"));
        let program = script.filter(|_| words.first().is_some_and(is_python)).or(words.first());
        let file = program.and_then(|it| Path::new(it).file_stem());
        file.map_or_else(|| "program".to_owned(), |it| it.to_string_lossy().into_owned())
    })
}

/// True if a file name is Python's: `python`, `python3.12`.
fn is_python(name: &std::ffi::OsStr) -> bool {
    let name = name.to_string_lossy();
    name.strip_prefix("python").is_some_and(|rest| rest.bytes().all(|it| it.is_ascii_digit() || it == b'.'))
}

/// Filter and settings of recorded launches.
fn selection(args: &Profile) -> Result<Record> {
    for text in &args.kernel {
        if text.trim().parse::<u64>().is_ok() {
            return Err(usage(
                format!(
                    "`-k {text}` is a place in the list of kernels by time, and there is no recording yet"
                ),
                "give a name or a regular expression",
            ));
        }
        if let Err(error) = kernel_pattern(text) {
            // A name such as `f(int [4])` need not be an expression.
            if !text.contains('(') || text.contains('\n') {
                return Err(usage(
                    format!("`{text}` is no regular expression: {error}"),
                    "`.*` stands for anything",
                ));
            }
        }
    }
    let ranges = dispatch_ranges(&args.dispatch)?;
    let iterations = iteration_ranges(&args.kernel_iteration_range)?;
    Ok(Record {
        kernels: args.kernel.clone(),
        dispatches: ranges,
        iterations,
        limit: args.dispatch_limit,
        no_results: args.no_results,
        settings: args.settings(),
        ..Record::default()
    })
}

/// Chooses the profiler: the requested one, else the hardware if a GPU and a tool that profiles it exist,
/// unless a GPU to emulate is named.
fn choose(on: On, named: bool, gpu: bool, tool: bool) -> &'static dyn Profiler {
    match on {
        On::Gpu => &Hardware,
        On::Auto if !named && gpu && tool => &Hardware,
        On::Auto | On::Emulator => &Emulator,
    }
}

/// Profiles, and reports the recording.
pub(crate) fn run(args: &Profile, look: &Look) -> Result<Outcome> {
    if args.list_sets {
        let definitions = host::definitions::read(&[])?;
        let sets = study::sets(&study::compile(&definitions, &study::targets(None)?)?);
        output::print(&render::text::sets(&sets))?;
        return Ok(Outcome::Fine);
    }
    args.set.as_deref().map(study::known_set).transpose()?;
    if args.sample_workgroups.is_some() && !args.no_results {
        return Err(usage(
            "with `--sample-workgroups` most workgroups do not run: results are not computed",
            "add `--no-results` where only counters matter",
        ));
    }
    if let Some(file) = &args.file {
        return launch::run(file, args, look);
    }
    let device = std::fs::File::open(GPU_DEVICE);
    let tool = hardware::profiler().is_some();
    if let (On::Auto, None) = (args.on, &args.emulate.gpu) {
        match &device {
            Ok(_) if !tool => eprintln!("the AMD GPU cannot be read: {}", hardware::no_profiler()),
            Err(error) if error.kind() != std::io::ErrorKind::NotFound && tool => {
                eprintln!("emulating: {}", hardware::denied(error));
            }
            Ok(_) | Err(_) => {}
        }
    }
    let profiler = choose(args.on, args.emulate.gpu.is_some(), device.is_ok(), tool);
    let profiled = profiler.profile(args)?;
    for folder in &profiled.folders {
        let extra = ["pc_sampling", "thread_trace"].iter().any(|name| folder.join(name).exists());
        if !extra && host::recording::recordings_in(folder).is_empty() {
            eprintln!("rockhound: no dispatch was recorded in {}", folder.display());
            continue;
        }
        host::run::keep_set(args.set.as_deref(), folder)?;
        eprintln!("wrote {}", folder.display());
        let mut shown = Analyze::of_recording(folder, &args.shown())?;
        if host::recording::recordings_in(folder).len() > 1 {
            shown.pick.ranks = Some(Ranks::Merged);
        }
        analyze::run(&shown, look)?;
    }
    Ok(profiled.outcome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;

    #[test]
    fn the_hardware_is_used_where_it_is_and_nothing_is_pretended() {
        let Ok(Cli { command: Command::Profile(args), .. }) = Cli::try_parse_from([
            "rockhound",
            "profile",
            "--profiler",
            "/nowhere/rocprofv3",
            "--",
            "/nowhere/app",
        ]) else {
            panic!("a command line of `profile`");
        };
        let hardware = "what GPU this machine has cannot be read";
        let emulator = "/nowhere/app";
        // Request, whether a GPU is named, whether one exists, whether the vendor's profiler does; error of
        // the chosen profiler.
        for ((on, named, gpu, tool), expected) in [
            ((On::Auto, false, true, true), hardware),
            ((On::Auto, true, true, true), emulator),
            ((On::Auto, false, true, false), emulator),
            ((On::Auto, false, false, true), emulator),
            ((On::Gpu, false, false, false), hardware),
            ((On::Emulator, false, true, true), emulator),
        ] {
            let profiler = choose(on, named, gpu, tool);
            let error = profiler.profile(&args).err().map(|it| it.to_string()).unwrap_or_default();
            assert!(error.contains(expected), "{on:?} {named} {gpu} {tool}: {error}");
        }
    }
}
