//! Running a program with Rockhound's HIP runtime in place of the vendor's.
//!
//! The program is a child process that finds the library by its usual names in a private folder; the library
//! records each dispatch as it happens, so the recording survives any end of the program.

mod dynamic;
pub mod library;
mod observed;
mod program;
mod python;

pub(crate) use observed::{Observed, capture, observed};

use super::earlier::{hold, make_folder, remove_earlier};
use super::folder::recording_folder;
use super::report::{Ended, Ran, Reporter, Runner};
use super::request::{Emulate, OnGpu, Recording, Request, Selection};
use super::{GPU_DEVICE, title};
use crate::process::signal_name;
use crate::session::{self, Capture, Record, Reliance, Session, Watched};
use crate::stand_ins::{self, Places};
use crate::usage;
use analysis::guide::Recorded;
use analysis::workload::{dispatch_ranges, iteration_ranges, kernel_pattern};
use anyhow::{Context, Result, anyhow};
use arch::Model;
use record::{Prediction, Settings};
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use view::{Approximated, FIDELITY_SCHEMA, Fidelity, NotSupported};

/// Names under which programs ask for the runtime, and for compilation at run time, which is in the same
/// library.
const NAMES: [&str; 8] = [
    "libamdhip64.so",
    "libamdhip64.so.5",
    "libamdhip64.so.6",
    "libamdhip64.so.7",
    "libhiprtc.so",
    "libhiprtc.so.5",
    "libhiprtc.so.6",
    "libhiprtc.so.7",
];

/// Most different messages of stopped kernels that are repeated.
const MOST_FAULTS: usize = 8;

/// Most functions of libraries that a line names.
const MOST_FUNCTIONS: usize = 12;

/// GPUs in the order in which they are chosen for the code a program has.
const PREFERRED: [&str; 4] = ["mi300x", "mi355x", "mi210", "mi100"];

/// The GPU of programs whose code names none.
pub(crate) const FIRST_GPU: &str = PREFERRED[0];

/// Programs with Rockhound's HIP runtime in place of the vendor's.
pub(super) struct EmulatedProgram;

/// Runs a program unrecorded, and gives a report of what it relied on.
///
/// # Errors
/// If it cannot be started.
pub fn run_and_report(request: &Request, reporter: &dyn Reporter) -> Result<(Ran, Fidelity)> {
    let emulation = Emulation::prepare(request, reporter)?;
    let finished = emulation.run(request, None, reporter)?;
    let report = finished.fidelity(&emulation, request)?;
    Ok((finished.ran(request)?, report))
}

/// Runs a program unrecorded with more variables in its environment. What it prints goes to standard error.
pub(crate) fn with_variables(
    request: &Request,
    variables: &[(OsString, OsString)],
    reporter: &dyn Reporter,
) -> Result<Ended> {
    let mut emulation = Emulation::prepare(request, reporter)?;
    emulation.variables = variables.to_vec();
    Ok(emulation.run(request, None, reporter)?.ended())
}

/// Writes the Python files for a program on a GPU; returns its `PYTHONPATH`.
pub(crate) fn write_python(folder: &Path) -> Result<OsString> {
    python::write(folder)
}

impl Runner for EmulatedProgram {
    fn run(&self, request: &Request, reporter: &dyn Reporter) -> Result<Ran> {
        let Some(recording) = &request.record else {
            let emulation = Emulation::prepare(request, reporter)?;
            let finished = emulation.run(request, None, reporter)?;
            return finished.ran(request);
        };
        refuse_what_needs_a_gpu(&request.on_gpu)?;
        if !request.emulate.check.is_empty() {
            return Err(usage(
                "`--check` takes the place of counting, so there would be nothing to record",
                format!(
                    "`rockhound run --check {} -- PROGRAM` checks a program",
                    request.emulate.check.join(",")
                ),
            ));
        }
        // Mistakes in the request are reported before anything is built or run.
        let selected = selection(recording)?;
        let emulation = Emulation::prepare(request, reporter)?;
        predictions(&selected.settings, emulation.model)?;
        let name = request.program_name(recording.name.as_deref());
        let output = recording_folder(recording.output.as_deref(), &name, emulation.model.short())?;
        // The program may change its working folder.
        let output = std::path::absolute(output)?;
        let held = hold(&output)?;
        make_folder(&output, recording.replaces(), reporter)?;
        remove_earlier(&output)?;
        let words: Vec<_> = request.program().iter().map(|word| word.to_string_lossy()).collect();
        let select = recording.select.clone();
        let recorded = Recorded {
            kernels: select.kernels,
            dispatches: select.dispatches,
            iterations: select.iterations,
            limit: select.limit,
        };
        let record =
            Record { output: output.clone(), name, command: recorded.command(&words.join(" ")), ..selected };
        let finished = emulation.run(request, Some(record), reporter);
        drop(held);
        // A folder into which nothing was recorded goes; one with something in it does not.
        let _ = std::fs::remove_dir(&output);
        let finished = finished?;
        let ended = match finished.ended() {
            Ended::Program(0) if finished.folder.0.join(session::INCOMPLETE).exists() => {
                reporter.say("failed: the recording lacks dispatches that could not be written");
                Ended::InPart
            }
            ended => ended,
        };
        Ok(Ran { folders: finished.recordings()?, ended, findings: None })
    }
}

/// Options without meaning for an emulated GPU.
fn refuse_what_needs_a_gpu(on_gpu: &OnGpu) -> Result<()> {
    let given = [
        ("--pc-sampling", on_gpu.pc_sampling.is_some()),
        ("--thread-trace", on_gpu.thread_trace),
        ("--rank", on_gpu.rank.is_some()),
        ("--attach", on_gpu.attach.is_some()),
        ("--repeat", on_gpu.repeat > 1),
        ("--iteration-multiplexing", on_gpu.iteration_multiplexing.is_some()),
        ("--collection-period", on_gpu.collection_period.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(usage(
            format!("`{option}` needs a GPU, and this emulates one"),
            "an emulated recording says what each instruction did without it; `--on gpu` takes the GPU of this machine",
        )),
        None => Ok(()),
    }
}

/// Filter and settings of recorded launches.
fn selection(recording: &Recording) -> Result<Record> {
    let Selection { kernels, dispatches, iterations, limit } = &recording.select;
    for text in kernels {
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
                    "`.*` matches anything",
                ));
            }
        }
    }
    Ok(Record {
        kernels: kernels.clone(),
        dispatches: dispatch_ranges(dispatches)?,
        iterations: iteration_ranges(iterations)?,
        limit: *limit,
        no_results: recording.no_results,
        settings: (&recording.detail).into(),
        ..Record::default()
    })
}

/// A program about to run.
struct Emulation {
    model: &'static Model,
    model_name: String,
    library: PathBuf,
    /// Folders that the program searches before the folders of the environment.
    rpath: Option<String>,
    /// Where it finds libraries without Rockhound.
    places: Places,
    /// More variables of its environment.
    variables: Vec<(OsString, OsString)>,
    /// Launch to capture.
    capture: Option<Capture>,
}

/// Results of a run.
struct Finished {
    status: ExitStatus,
    /// Private folder; gone when this is.
    folder: Scratch,
}

impl Emulation {
    /// Looks at everything that can be wrong before the program starts, and says which GPU it gets.
    fn prepare(request: &Request, reporter: &dyn Reporter) -> Result<Emulation> {
        let (emulate, program) = (&request.emulate, request.program());
        let path = program::find(&program[0])?;
        let program::Program { targets, rpath, folders } = program::read(&path)?;
        let places = Places::new(&path, &folders.iter().map(String::as_str).collect::<Vec<_>>());
        let name = match &emulate.gpu {
            Some(name) => name.to_ascii_lowercase(),
            None => choose(&targets).to_owned(),
        };
        let model = Model::by_name(&name).ok_or_else(|| anyhow!("no facts of the GPU `{name}`"))?;
        let target = model.target().name;
        let fits = |it: &String| it.split(':').next() == Some(target);
        if !targets.is_empty() && !targets.iter().any(fits) {
            let (program, gpu) = (path.display(), model.short());
            return Err(usage(
                format!("`{program}` has code for {}, and none for {gpu} ({target})", targets.join(", ")),
                format!("compile with `--offload-arch={target}`, or choose another `--gpu`"),
            ));
        }
        let library = library::find(reporter)?;
        let why = match (emulate.gpu.is_some(), Path::new(GPU_DEVICE).exists()) {
            (true, _) => "",
            (false, false) => "no AMD GPU found: ",
            (false, true) => "not using the AMD GPU: ",
        };
        reporter.say(&format!("{why}emulating {} ({target})", title(model)));
        Ok(Emulation {
            model,
            model_name: name,
            library,
            rpath,
            places,
            variables: Vec::new(),
            capture: None,
        })
    }

    /// Makes the private folder, and the variables by which the program finds it.
    fn session(
        &self,
        emulate: &Emulate,
        record: Option<Record>,
        watched: Option<Watched>,
        capture: Option<Capture>,
    ) -> Result<(Scratch, Vec<(OsString, OsString)>)> {
        let folder = Scratch::new()?;
        let session = Session {
            gpu: self.model_name.clone(),
            devices: emulate.devices,
            threads: emulate.threads,
            max_instructions: emulate.max_instructions,
            repeats: emulate.repeats,
            virtual_time: emulate.virtual_time.unwrap_or(record.is_some()),
            autotune_limit: emulate.autotune_limit,
            progress: emulate.progress,
            check: emulate.check.clone(),
            stderr: session::stderr_file(),
            record,
            watched,
            capture,
        };
        session.write(&folder.0)?;
        for name in NAMES {
            let link = folder.0.join(name);
            std::os::unix::fs::symlink(&self.library, &link)
                .with_context(|| format!("cannot make {}", link.display()))?;
        }
        let stand_ins = folder.0.join(session::LIBRARIES);
        stand_ins::write(&stand_ins, |name| self.places.have(name))?;
        let mut paths = folder.0.clone().into_os_string();
        if let Some(others) = std::env::var_os("LD_LIBRARY_PATH").filter(|it| !it.is_empty()) {
            paths.push(":");
            paths.push(others);
        }
        // Any other library of the same name comes first.
        paths.push(":");
        paths.push(stand_ins);
        let python = python::write(&folder.0)?;
        let library = folder.0.join(NAMES[0]).into_os_string();
        let mut variables: Vec<(OsString, OsString)> = vec![
            ("LD_LIBRARY_PATH".into(), paths),
            ("TRITON_LIBHIP_PATH".into(), library.clone()),
            ("PYTHONPATH".into(), python),
            (session::VARIABLE.into(), folder.0.clone().into_os_string()),
        ];
        if let Some(mut programs) = std::env::var_os("PATH") {
            let tools = folder.0.join("bin");
            stand_ins::write_tools(&tools, self.model, emulate.devices)?;
            programs.push(":");
            programs.push(tools);
            variables.push(("PATH".into(), programs));
        }
        stand_ins::write_topology(&folder.0.join("topology"), self.model, emulate.devices)?;
        if watched.is_some() {
            variables.push((session::WATCHED.into(), "1".into()));
        }
        variables.extend(self.variables.iter().cloned());
        if self.rpath.is_some() {
            // Symbols of a library that is loaded first count, whichever file the program names.
            let mut first = library;
            if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|it| !it.is_empty()) {
                first.push(":");
                first.push(others);
            }
            variables.push(("LD_PRELOAD".into(), first));
        }
        Ok((folder, variables))
    }

    /// Runs the program to its end.
    fn run(&self, request: &Request, record: Option<Record>, reporter: &dyn Reporter) -> Result<Finished> {
        let program = request.program();
        let (folder, variables) = self.session(&request.emulate, record, None, self.capture.clone())?;
        // The program hears Ctrl-C itself; this process stays to write down what it finished.
        reporter.interrupts()?;
        let mut command = Command::new(&program[0]);
        command.args(&program[1..]).envs(variables);
        if !self.variables.is_empty() {
            command.stdout(std::io::stderr());
        }
        let status = command.status().with_context(|| format!("cannot start {}", program[0].display()))?;
        let finished = Finished { status, folder };
        if let Some(signal) = status.signal() {
            reporter.say(&format!("rockhound: the program was ended by {}", signal_name(signal)));
        }
        finished.repeat_faults(reporter)?;
        finished.say_reliances(reporter)?;
        if !finished.folder.0.join(session::CALLED).exists() {
            let is_python = finished.folder.0.join(session::PYTHON).exists();
            let what = if is_python { "launched no kernel" } else { "never called Rockhound's HIP runtime" };
            reporter.say(&format!("rockhound: `{}` {what}; nothing was emulated", program[0].display()));
            if status.success() && !is_python {
                reporter.say(
                    "hint: a library with a path of its own (`DT_RPATH`, `dlopen` of a full path) may have loaded another runtime; \
                     `LD_DEBUG=libs` shows what is loaded",
                );
            }
        }
        Ok(finished)
    }
}

impl Finished {
    /// The program's own exit code, or 128 and the signal.
    fn ended(&self) -> Ended {
        Ended::Program(self.code())
    }

    fn code(&self) -> u8 {
        let code = self.status.code().or_else(|| self.status.signal().map(|signal| 128 + signal));
        code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
    }

    /// Says again why kernels stopped, where the program may have hidden it or gone on.
    fn repeat_faults(&self, reporter: &dyn Reporter) -> Result<()> {
        let faults = session::faults(&self.folder.0)?;
        for (message, times) in faults.iter().take(MOST_FAULTS) {
            let times = if *times > 1 {
                format!("\n  {times} launches were stopped for this")
            } else {
                String::new()
            };
            reporter.say(&format!("rockhound: {message}{times}"));
        }
        if faults.len() > MOST_FAULTS {
            reporter.say(&format!("rockhound: {} more kernels were stopped", faults.len() - MOST_FAULTS));
        }
        Ok(())
    }

    /// The end of a run that recorded nothing.
    fn ran(&self, request: &Request) -> Result<Ran> {
        let checks = !request.emulate.check.is_empty();
        let findings = checks.then(|| self.findings()).transpose()?;
        Ok(Ran { folders: Vec::new(), ended: self.ended(), findings })
    }

    /// Report of the functions, times and accesses that the run relied on.
    fn fidelity(&self, emulation: &Emulation, request: &Request) -> Result<Fidelity> {
        let exists = |name: &str| self.folder.0.join(name).exists();
        let mut report = Fidelity {
            schema: FIDELITY_SCHEMA,
            rockhound: env!("CARGO_PKG_VERSION").to_owned(),
            gpu: title(emulation.model),
            program: request.program().iter().map(|it| it.to_string_lossy().into_owned()).collect(),
            exit_code: self.code(),
            emulated: exists(session::CALLED) || exists(session::PYTHON),
            stood_in: Vec::new(),
            not_supported: Vec::new(),
            times: Vec::new(),
            approximated: Vec::new(),
            dropped_accesses: Vec::new(),
            mistakes: session::found(&self.folder.0)?,
            stopped: session::faults(&self.folder.0)?.into_iter().map(|(message, _)| message).collect(),
        };
        for reliance in session::reliances(&self.folder.0)? {
            match reliance {
                Reliance::StoodIn { function } => report.stood_in.push(function),
                Reliance::NotSupported { function, why } => {
                    report.not_supported.push(NotSupported { function, why });
                }
                Reliance::Times { what } => report.times.push(what),
                Reliance::Approximated { kernel, opcode, instructions } => {
                    let known = emu::approximation(&opcode);
                    let [bound, emulated] =
                        known.map_or_else(Default::default, |it| [it.bound, it.emulated].map(str::to_owned));
                    report.approximated.push(Approximated { kernel, opcode, instructions, bound, emulated });
                }
                Reliance::Dropped { what } => report.dropped_accesses.push(what),
            }
        }
        Ok(report)
    }

    /// Says which functions of libraries were ours, and which returned that they are not supported.
    fn say_reliances(&self, reporter: &dyn Reporter) -> Result<()> {
        let (mut stood_in, mut refused) = (Vec::new(), Vec::new());
        for reliance in session::reliances(&self.folder.0)? {
            match reliance {
                Reliance::StoodIn { function } => stood_in.push(function),
                Reliance::NotSupported { function, why } => refused.push(format!("`{function}` ({why})")),
                // Said when they were seen.
                Reliance::Times { .. } | Reliance::Approximated { .. } | Reliance::Dropped { .. } => {}
            }
        }
        let listed = |all: &[String]| match all.split_at_checked(MOST_FUNCTIONS) {
            Some((first, rest)) if !rest.is_empty() => {
                format!("{} and {} more", first.join(", "), rest.len())
            }
            _ => all.join(", "),
        };
        if !stood_in.is_empty() {
            let functions = listed(&stood_in);
            reporter.say(&format!("rockhound: kernels of Rockhound ran for library functions: {functions}"));
        }
        if !refused.is_empty() {
            let functions = listed(&refused);
            reporter.say(&format!("rockhound: functions returned that they are not supported: {functions}"));
        }
        Ok(())
    }

    /// Findings of checks in all processes of the program.
    fn findings(&self) -> Result<usize> {
        session::findings(&self.folder.0)
    }

    /// Folders that processes of the program recorded into, in the order they began.
    fn recordings(&self) -> Result<Vec<PathBuf>> {
        session::claims(&self.folder.0)
    }
}

/// Predictions to make for each dispatch.
pub(crate) fn predictions(settings: &Settings, model: &'static Model) -> Result<Vec<Prediction>> {
    settings.predictions(model).map_err(|error| usage(error.message, error.hint))
}

/// The GPU for code of some targets.
fn choose(targets: &[String]) -> &'static str {
    let fits = |name: &&&str| {
        let model = Model::by_name(name);
        model.is_some_and(|it| targets.iter().any(|t| t.split(':').next() == Some(it.target().name)))
    };
    PREFERRED.iter().find(fits).unwrap_or(&PREFERRED[0])
}

/// A folder that is removed in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Scratch> {
        use std::os::unix::fs::DirBuilderExt;
        let base = std::env::temp_dir();
        for attempt in 0..100 {
            let path = base.join(format!("rockhound-{}-{attempt}", std::process::id()));
            match std::fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Scratch(path)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error).with_context(|| format!("cannot make {}", path.display())),
            }
        }
        Err(anyhow!("cannot make a folder in {}", base.display()))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A failure leaves files only in the folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Whether a path is an executable file.
pub(crate) fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gpu_follows_the_code() {
        for (targets, expected) in [
            (vec![], "mi300x"),
            (vec!["gfx90a:xnack-"], "mi210"),
            (vec!["gfx90a", "gfx942"], "mi300x"),
            (vec!["gfx950"], "mi355x"),
            (vec!["gfx1100"], "mi300x"),
        ] {
            let targets: Vec<String> = targets.into_iter().map(str::to_owned).collect();
            assert_eq!(choose(&targets), expected, "{targets:?}");
        }
    }
}
