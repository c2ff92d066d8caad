//! An AMD GPU of this machine, read by the vendor's profiler.

mod asked;

use super::GPU_DEVICE;
use super::earlier::make_folder;
use super::folder::recording_folder;
use super::report::{Ended, Ran, Reporter, Runner};
use super::request::{Recording, Request as Wish};
use crate::hardware::launcher::Processes;
use crate::hardware::sensors;
use crate::hardware::tool::{NAMES, Tool, in_path};
use crate::hardware::{DIFFERENT, Recorded, Request, Step, Stopped, record};
use crate::machine::read_tree;
use crate::usage;
use anyhow::{Context, Result, anyhow};
use arch::{Model, Target};
use asked::{Asked, asked};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use system::{Gpu as SystemGpu, Machine};

/// An AMD GPU with one of the vendor's profilers.
pub(super) struct Vendor;

/// The newest of the vendor's profilers that `PATH` leads to.
pub(super) fn profiler() -> Option<PathBuf> {
    in_path(&std::env::var_os("PATH").unwrap_or_default())
}

/// The profiler that was named, or else the newest in `PATH`.
///
/// # Errors
/// If there is none.
pub(crate) fn wanted_profiler(named: Option<&Path>) -> Result<PathBuf> {
    named.map(Path::to_owned).or_else(profiler).ok_or_else(|| {
        usage(no_profiler(), "they come with ROCm: add `/opt/rocm/bin` to PATH, or name it with `--profiler`")
    })
}

/// Error for a missing profiler.
pub(super) fn no_profiler() -> String {
    format!("none of {} is in PATH", NAMES.map(|it| format!("`{it}`")).join(", "))
}

/// Error for a GPU device that cannot be opened, with the remedy.
pub fn denied(error: &std::io::Error) -> String {
    let hint = match error.kind() {
        std::io::ErrorKind::PermissionDenied => {
            "add the user to the groups `render` and `video`, and log in again; in a container add `--device=/dev/kfd --device=/dev/dri --group-add render`"
        }
        _ => "`rockhound doctor` says what is missing",
    };
    format!("`{GPU_DEVICE}` cannot be opened: {error}\nhint: {hint}")
}

/// Refuses a device that exists and may not be opened: the program would fail on it later, with the
/// profiler's message.
fn refuse_denied(opened: std::io::Result<std::fs::File>) -> Result<()> {
    match opened {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            Err(anyhow!("{}", denied(&error)))
        }
        // Where it is not there, a remote or containerised one may still be.
        Ok(_) | Err(_) => Ok(()),
    }
}

impl Runner for Vendor {
    fn run(&self, wish: &Wish, reporter: &dyn Reporter) -> Result<Ran> {
        let recording = wish.record.as_ref().context("a profiler records")?;
        refuse_what_emulates(wish, recording)?;
        refuse_denied(std::fs::File::open(GPU_DEVICE))?;
        let profiler = wanted_profiler(wish.on_gpu.profiler.as_deref())?;
        let gpu = Gpu::of_machine(wish.emulate.gpu.as_deref())?;
        let output = output(wish, recording, &gpu)?;
        let Asked { request, notes } = asked(wish, recording, profiler, &gpu, output)?;
        if !wish.on_gpu.resume {
            make_folder(&request.output, recording.overwrite, reporter)?;
        }
        reporter.say(&beginning(&request, &gpu));
        notes.iter().for_each(|note| reporter.say(note));
        let stop = reporter.interrupts()?;
        let mut sensed = Sensed::default();
        let recorded = record(&request, &mut Processes, &|| stop.load(Ordering::Relaxed), &mut |step| {
            say(&step, reporter);
            sensed.step(&step, reporter);
        });
        let recorded = recorded?;
        sensed.write(&request.output, reporter);
        let ended = report(&request, &recorded, reporter)?;
        let folders = if recorded.passes > 0 { vec![request.output] } else { Vec::new() };
        Ok(Ran { folders, ended, findings: None })
    }
}

/// First line of a recording: where, with what, and how often the program runs.
fn beginning(request: &Request, gpu: &Gpu) -> String {
    let passes = if request.multiplexing.is_some() { 1 } else { request.plan.passes.len() };
    let runs = request.runs().len() + passes * request.repeat.saturating_sub(1);
    format!(
        "profiling on {} ({}) with {}{}: {} of the program",
        gpu.title(),
        gpu.target.name,
        request.profiler.display(),
        match request.tool {
            Tool::Rocprofv3(version) => format!(" {version}"),
            Tool::Rocprofv2 | Tool::Rocprof => String::new(),
        },
        view::counted(runs, "run")
    )
}

/// Folder of the recording; each rank has a numbered subfolder.
fn output(wish: &Wish, recording: &Recording, gpu: &Gpu) -> Result<PathBuf> {
    let name = wish.program_name(recording.name.as_deref());
    let folder = recording_folder(recording.output.as_deref(), &name, gpu.short())?;
    let folder = std::path::absolute(folder)?;
    Ok(match &wish.on_gpu.rank {
        Some(rank) => folder.join(asked::rank_number(rank)?),
        None => folder,
    })
}

/// Reports kept passes, and the remedy for missing ones.
fn report(request: &Request, recorded: &Recorded, reporter: &dyn Reporter) -> Result<Ended> {
    let all = request.runs().len();
    let folder = request.output.display();
    let kept = match recorded.passes {
        1 => "1 pass is kept".to_owned(),
        n => format!("{n} passes are kept"),
    };
    let resume = format!("hint: `--resume` with the same command goes on from here ({folder})");
    match &recorded.stopped {
        None => Ok(Ended::Well),
        Some(Stopped::Interrupted) => {
            let passes = recorded.passes;
            reporter.say(&format!("interrupted: {passes} of {all} passes are there\n{resume}"));
            Ok(Ended::Interrupted)
        }
        Some(Stopped::Failed(pass, why)) if recorded.passes == 0 => {
            let _ = std::fs::remove_dir_all(&request.output);
            Err(anyhow!("pass {pass}: {why}"))
        }
        Some(Stopped::Failed(pass, why)) => {
            reporter.say(&format!("error: pass {pass} of {all}: {why}\n{kept}\n{resume}"));
            if why.contains(DIFFERENT) {
                let names: Vec<&str> = metrics::sets().iter().map(|set| set.name).collect();
                reporter.say(&format!("sets that one run reads: {}", names.join(", ")));
            }
            Ok(Ended::InPart)
        }
    }
}

/// Clocks and temperatures before and after each pass.
#[derive(Default)]
struct Sensed {
    lines: String,
    after_first: Option<sensors::Readings>,
    said: bool,
}

impl Sensed {
    fn step(&mut self, step: &Step<'_>, reporter: &dyn Reporter) {
        match step {
            Step::Begins(pass, ..) => {
                self.lines += &sensors::lines(*pass, "before", &sensors::read(Path::new("/")))
            }
            Step::Done(pass) => {
                let now = sensors::read(Path::new("/"));
                self.lines += &sensors::lines(*pass, "after", &now);
                let first = self.after_first.get_or_insert_with(|| now.clone());
                let drift = sensors::drift(first, &now).filter(|_| !self.said);
                if let Some(drift) = drift {
                    self.said = true;
                    reporter.say(&format!(
                        "warning: {drift}: times of passes differ by more than the program does; `{}` has all readings",
                        sensors::FILE
                    ));
                }
            }
            Step::Kept(_) | Step::Again(..) | Step::Repeats(..) | Step::Note(_) => {}
        }
    }

    fn write(&self, folder: &Path, reporter: &dyn Reporter) {
        if !self.lines.is_empty() && folder.is_dir() {
            let text = format!("{}{}", sensors::HEADER, self.lines);
            if let Err(error) = std::fs::write(folder.join(sensors::FILE), text) {
                reporter.say(&format!("warning: {}: {error}", folder.join(sensors::FILE).display()));
            }
        }
    }
}

/// Options that only an emulated GPU knows.
fn refuse_what_emulates(wish: &Wish, recording: &Recording) -> Result<()> {
    let detail = &recording.detail;
    let emulated = [
        ("--check", !wish.emulate.check.is_empty()),
        ("--breakdown", detail.lifts_limits),
        ("--what-if", !detail.what_if.is_empty()),
        ("--keep-events", detail.keeps_events),
        ("--counters-only", detail.counters_only),
        ("--sample-workgroups", detail.most_workgroups.is_some()),
        ("--no-results", recording.no_results),
    ];
    if let Some((option, _)) = emulated.iter().find(|(_, given)| *given) {
        return Err(usage(
            format!("`{option}` is for an emulated GPU, and this profiles on a real one"),
            "add `--on emulator`, or leave it out",
        ));
    }
    if !recording.select.dispatches.is_empty() || recording.select.limit.is_some() {
        return Err(usage(
            "the profiler records all dispatches of the kernels selected, so `-d` and `--dispatch-limit` select nothing",
            "select with `-k`, and with `-d` of `rockhound analyze` afterwards",
        ));
    }
    Ok(())
}

/// Known facts of a GPU.
struct Gpu {
    target: &'static Target,
    /// Model, if product or number of compute units identify it.
    model: Option<&'static Model>,
    /// Partition modes: `CPX`, `NPS4`.
    partition: [Option<String>; 2],
    /// Targets of other GPUs of this machine.
    others: Vec<String>,
}

impl Gpu {
    /// The one that is named, or the first of this machine.
    fn of_machine(named: Option<&str>) -> Result<Gpu> {
        if let Some(name) = named {
            let model = Model::by_name(&name.to_ascii_lowercase())
                .with_context(|| format!("no facts of the GPU `{name}`"))?;
            return Ok(Gpu {
                target: model.target(),
                model: Some(model),
                partition: [None, None],
                others: Vec::new(),
            });
        }
        let machine = Machine::read(&read_tree(Path::new("/")), &[]);
        let known = machine.known_gpus();
        let targets: Vec<String> = known.iter().filter_map(|gpu| gpu.target.get().cloned()).collect();
        let Some(name) = targets.first().cloned() else {
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
        let partition = known.first().map_or([None, None], partition);
        Ok(Gpu { target, model, partition, others: targets.into_iter().filter(|it| *it != name).collect() })
    }

    fn short(&self) -> &str {
        self.model.map_or(self.target.name, Model::short)
    }

    fn title(&self) -> String {
        let name = self.model.map_or("the GPU of this machine", Model::short);
        self.partition.iter().flatten().fold(name.to_owned(), |mut name, mode| {
            let _ = write!(name, ", {mode}");
            name
        })
    }

    /// Facts of the recording's origin.
    fn facts(&self, name: &str, wish: &Wish) -> BTreeMap<String, String> {
        let words: Vec<_> = wish.program().iter().map(|word| word.to_string_lossy()).collect();
        let mut facts = BTreeMap::from([
            ("workload_name".to_owned(), name.to_owned()),
            ("command".to_owned(), words.join(" ")),
            ("gpu_arch".to_owned(), self.target.name.to_owned()),
            ("version".to_owned(), "2".to_owned()),
        ]);
        if let Some(model) = self.model {
            facts.insert("gpu_model".to_owned(), model.short().to_owned());
        }
        for (name, mode) in ["compute_partition", "memory_partition"].into_iter().zip(&self.partition) {
            if let Some(mode) = mode {
                facts.insert(name.to_owned(), mode.clone());
            }
        }
        facts
    }
}

/// The GPU that is named or of this machine, where product or number of compute units single it out.
pub fn model_of_machine(named: Option<&str>) -> Result<Option<&'static Model>> {
    Ok(Gpu::of_machine(named)?.model)
}

fn presence() -> &'static str {
    if Path::new(GPU_DEVICE).exists() { "is there" } else { "is not there" }
}

fn say(step: &Step<'_>, reporter: &dyn Reporter) {
    let say = |line: String| reporter.say(&line);
    match step {
        Step::Begins(pass, all, rest, purpose) => {
            let of = purpose.map_or_else(String::new, |it| format!(" ({it})"));
            let rest =
                rest.map_or_else(String::new, |it| format!(", about {:.0} s left", it.as_secs_f64().ceil()));
            say(format!("pass {pass} of {all}{of}{rest}"));
        }
        Step::Kept(pass) => say(format!("pass {pass} is there already")),
        Step::Again(pass, why) => say(format!("pass {pass} again: {why}")),
        Step::Repeats(pass, run, of) => say(format!("pass {pass}, run {run} of {of}")),
        Step::Note(text) => say(format!("warning: {text}")),
        Step::Done(_) => {}
    }
}

/// Partition modes of a GPU, from the driver.
fn partition(gpu: &SystemGpu) -> [Option<String>; 2] {
    [gpu.compute_partition.get().cloned(), gpu.memory_partition.get().cloned()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Error, ErrorKind};

    #[test]
    fn a_device_that_may_not_be_opened_is_refused_before_the_program_runs() {
        let scratch = testkit::Scratch::new("kfd");
        let fake = scratch.path("kfd");
        std::fs::write(&fake, "").unwrap();
        assert!(refuse_denied(std::fs::File::open(&fake)).is_ok());
        assert!(refuse_denied(std::fs::File::open(scratch.path("nothing"))).is_ok());
        let said = refuse_denied(Err(Error::from(ErrorKind::PermissionDenied))).unwrap_err().to_string();
        testkit::golden("permission denied", &said);
        testkit::golden("not found", &denied(&Error::from(ErrorKind::NotFound)));
    }
}
