//! An AMD GPU of this machine, read by rocprofv3.

use super::{Profiled, Profiler, program_name};
use crate::args::Profile;
use crate::earlier::make_folder;
use crate::emulation::GPU_DEVICE;
use crate::exit::{Outcome, usage};
use crate::sets;
use analysis::workload::Blocks;
use anyhow::{Context, Result, anyhow};
use arch::{Model, Target};
use counters::{Plan, catalogue, plan};
use host::hardware::rocprofv3::CommandLine;
use host::hardware::{Ended, Launcher, Request, Step, Stopped, record};
use host::machine::read_tree;
use metrics::Definitions;
use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use system::Machine;

/// The profiler's name in `PATH`.
const NAME: &str = "rocprofv3";

/// What a shell makes of Ctrl-C.
const INTERRUPTED: Outcome = Outcome::Program(130);

/// An AMD GPU with rocprofv3.
pub(super) struct Hardware;

/// Processes of this machine. They hear Ctrl-C themselves.
struct Processes;

impl Launcher for Processes {
    fn run(&mut self, command: &CommandLine) -> std::io::Result<Ended> {
        let status = Command::new(&command.program).args(&command.arguments).status()?;
        Ok(match (status.code(), status.signal()) {
            (Some(code), _) => Ended::Code(code),
            (None, signal) => Ended::Signal(signal.unwrap_or(0)),
        })
    }
}

/// The profiler that `PATH` leads to.
pub(super) fn profiler() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).map(|folder| folder.join(NAME)).find(|path| path.is_file())
}

impl Profiler for Hardware {
    fn profile(&self, args: &Profile) -> Result<Profiled> {
        refuse_what_emulates(args)?;
        let profiler = match &args.profiler {
            Some(path) => path.clone(),
            None => profiler().ok_or_else(|| {
                usage(
                    format!("no `{NAME}` in PATH"),
                    "it comes with ROCm: add `/opt/rocm/bin` to PATH, or name it with `--profiler`",
                )
            })?,
        };
        let gpu = Gpu::of_machine(args)?;
        let plan = passes(args, gpu.target)?;
        let name = program_name(args);
        let output =
            args.output.clone().unwrap_or_else(|| Path::new("workloads").join(&name).join(gpu.short()));
        let output = std::path::absolute(output)?;
        if !args.resume {
            make_folder(&output, args.overwrite)?;
        }
        eprintln!(
            "profiling on {} ({}) with {}: {} runs of the program",
            gpu.title(),
            gpu.target.name,
            profiler.display(),
            plan.passes.len()
        );
        let request = Request {
            facts: gpu.facts(&name, args),
            profiler,
            program: args.program.clone(),
            target: gpu.target.name.to_owned(),
            plan,
            kernels: args.kernel.clone(),
            output: output.clone(),
            resume: args.resume,
        };
        let stop = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(signal_hook::consts::SIGINT, stop.clone())?;
        let recorded =
            record(&request, &mut Processes, &|| stop.load(Ordering::Relaxed), &mut |step| say(&step))?;
        let resume =
            format!("hint: `--resume` with the same command goes on from here ({})", output.display());
        let outcome = match recorded.stopped {
            None => Outcome::Fine,
            Some(Stopped::Interrupted) => {
                eprintln!(
                    "interrupted: {} of {} passes are there\n{resume}",
                    recorded.passes,
                    request.plan.passes.len()
                );
                INTERRUPTED
            }
            Some(Stopped::Failed(pass, why)) if recorded.passes == 0 => {
                let _ = std::fs::remove_dir_all(&output);
                return Err(anyhow!("pass {pass}: {why}"));
            }
            Some(Stopped::Failed(pass, why)) => {
                eprintln!(
                    "error: pass {pass} of {}: {why}\n{} passes are kept\n{resume}",
                    request.plan.passes.len(),
                    recorded.passes
                );
                Outcome::InputError
            }
        };
        let folders = if recorded.passes > 0 { vec![output] } else { Vec::new() };
        Ok(Profiled { folders, outcome })
    }
}

/// Options that only an emulated GPU knows.
fn refuse_what_emulates(args: &Profile) -> Result<()> {
    let emulated = [
        ("--check", !args.emulate.check.is_empty()),
        ("--breakdown", args.breakdown),
        ("--what-if", !args.what_if.is_empty()),
        ("--keep-events", args.keep_events),
        ("--counters-only", args.counters_only),
        ("--sample-workgroups", args.sample_workgroups.is_some()),
        ("--no-results", args.no_results),
    ];
    if let Some((option, _)) = emulated.iter().find(|(_, given)| *given) {
        return Err(usage(
            format!("`{option}` is for an emulated GPU, and this profiles on a real one"),
            "add `--on emulator`, or leave it out",
        ));
    }
    if !args.dispatch.is_empty() || args.dispatch_limit.is_some() {
        return Err(usage(
            "the profiler records all dispatches of the kernels selected, so `-d` and `--dispatch-limit` select nothing",
            "select with `-k`, and with `-d` of `rockhound analyze` afterwards",
        ));
    }
    Ok(())
}

/// The counters of what is asked for, by run of the program.
fn passes(args: &Profile, target: &Target) -> Result<Plan> {
    let definitions = Definitions::built_in();
    let compiled = host::definitions::compile(definitions, target.name)?;
    let needs = match &args.set {
        Some(name) => sets::by_name(name)?.needs(&compiled),
        None => {
            let blocks = if args.blocks.is_empty() {
                Blocks::all()
            } else {
                Blocks::parse(&args.blocks, definitions, target.name)
                    .map_err(|error| usage(error.message, error.hint))?
            };
            study::needs(definitions, &compiled, &blocks)
        }
    };
    let plan = plan(catalogue(), target.name, &needs)?;
    if plan.passes.is_empty() {
        return Err(usage("what is asked for needs no counter", "choose other blocks with `-b`"));
    }
    Ok(plan)
}

/// A GPU, as far as it is known.
struct Gpu {
    target: &'static Target,
    /// Where product or number of compute units single it out.
    model: Option<&'static Model>,
}

impl Gpu {
    /// The one that is named, or the first of this machine.
    fn of_machine(args: &Profile) -> Result<Gpu> {
        if let Some(name) = &args.emulate.gpu {
            let model = Model::by_name(&name.to_ascii_lowercase())
                .with_context(|| format!("no facts of the GPU `{name}`"))?;
            return Ok(Gpu { target: model.target(), model: Some(model) });
        }
        let machine = Machine::read(&read_tree(Path::new("/")), &[]);
        let known = machine.known_gpus();
        let target = known.iter().find_map(|gpu| gpu.target.get().cloned());
        let Some(name) = target else {
            return Err(usage(
                format!("what GPU this machine has cannot be read (`{GPU_DEVICE}` {})", presence()),
                "name it with `--gpu`, for example `--on gpu --gpu mi300x`; `rockhound doctor` says what is missing",
            ));
        };
        let target =
            Target::by_name(&name).ok_or_else(|| anyhow!("there are no facts about the target `{name}`"))?;
        let units = known.iter().find_map(|gpu| gpu.compute_units.get().copied());
        let mut models =
            Model::of_target(target).filter(|model| Some(u64::from(model.compute_units.value)) == units);
        let model = models.next().filter(|_| models.next().is_none());
        Ok(Gpu { target, model })
    }

    fn short(&self) -> &str {
        self.model.map_or(self.target.name, Model::short)
    }

    fn title(&self) -> String {
        self.model.map_or_else(|| "the GPU of this machine".to_owned(), |model| model.short().to_owned())
    }

    /// What the recording says of its origin.
    fn facts(&self, name: &str, args: &Profile) -> BTreeMap<String, String> {
        let words: Vec<_> = args.program.iter().map(|word| word.to_string_lossy()).collect();
        let mut facts = BTreeMap::from([
            ("workload_name".to_owned(), name.to_owned()),
            ("command".to_owned(), words.join(" ")),
            ("gpu_arch".to_owned(), self.target.name.to_owned()),
            ("version".to_owned(), "2".to_owned()),
        ]);
        if let Some(model) = self.model {
            facts.insert("gpu_model".to_owned(), model.short().to_owned());
        }
        facts
    }
}

fn presence() -> &'static str {
    if Path::new(GPU_DEVICE).exists() { "is there" } else { "is not there" }
}

fn say(step: &Step<'_>) {
    match step {
        Step::Begins(pass, all, None) => eprintln!("pass {pass} of {all}"),
        Step::Begins(pass, all, Some(rest)) => {
            eprintln!("pass {pass} of {all}, about {:.0} s left", rest.as_secs_f64().ceil());
        }
        Step::Kept(pass) => eprintln!("pass {pass} is there already"),
        Step::Again(pass, why) => eprintln!("pass {pass} again: {why}"),
    }
}
