//! `rockhound profile LAUNCH.toml`: a kernel runs on an emulated GPU without a host program and leaves a
//! recording.
//!
//! The report is what `rockhound analyze` says about the recording just written.

use crate::analyze;
use crate::args::{Analyze, Look, Profile};
use crate::device_code::DeviceCode;
use crate::earlier::{make_folder, remove_earlier};
use crate::emulation::{self, predictions};
use crate::exit::{Outcome, usage};
use crate::output::Output;
use crate::recording_folder::recording_folder;
use crate::{progress, terminal};
use anyhow::{Context, Result, anyhow, bail};
use arch::{Model, Target};
use codeobj::{Argument, Kernel, LineTable};
use emu::{Hidden, Host, Hostcall, Launch, Memory, Services, Stream};
use host::launch_file::{Contents, LaunchFile, difference};
use probe::{Checked, Checks, LaunchSize};
use record::{Job, Provenance, Recorder};
use render::text;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Profiles a launch file.
pub(crate) fn run(path: &Path, args: &Profile, look: &Look) -> Result<Outcome> {
    let file = LaunchFile::read(path)?;
    let wanted = args.emulate.gpu.as_deref().or(file.gpu.as_deref());
    let named = wanted.map(model).transpose()?;
    let code = DeviceCode::find(&file.code, named.map(|model| model.target().name))?;
    let model = match named {
        Some(model) => model,
        None => of_target(&code.object.target.processor)?,
    };
    let kernel = code.kernel(file.kernel.as_deref())?;
    let (short, title) = (model.short(), emulation::title(model));
    let settings = args.settings();
    predictions(&settings, model)?;
    let mut prepared = Prepared::new(&file, &code, kernel)?;
    if !args.emulate.check.is_empty() {
        eprintln!("emulating {title} ({}): checking {}", model.target().name, args.emulate.check.join(", "));
        return prepared.look_for_mistakes(&file, args, &code, look);
    }
    let more = if args.counters_only { "" } else { ", modelled caches and times" };
    eprintln!("emulating {title} ({}): counters of execution{more}", model.target().name);
    let mut recorder = settings
        .recorder(model, Some(host::spill::store()))
        .map_err(|error| usage(error.message, error.hint))?;
    let (name, folder) = name_and_folder(path, args, short)?;
    make_folder(&folder, args.replaces())?;
    let ran = (0..file.repeat).try_for_each(|_| prepared.launch(&file, args, &code, &mut recorder));
    // Dispatches before a fault are kept.
    if recorder.dispatches().is_empty() {
        let _ = std::fs::remove_dir(&folder);
        if prepared.stop.load(Ordering::Relaxed) {
            eprintln!("interrupted: no dispatch was finished");
            return Ok(INTERRUPTED);
        }
        return ran.map(|()| Outcome::Fine);
    }
    recorder.notes().into_iter().chain(recorder.misfits()).for_each(|text| eprintln!("{text}"));
    keep(path, args, &mut recorder, name, &folder)?;
    if prepared.stop.load(Ordering::Relaxed) {
        eprintln!("interrupted: {} of {} dispatches were finished", recorder.dispatches().len(), file.repeat);
        return Ok(INTERRUPTED);
    }
    ran?;
    let differs = !args.no_results && prepared.check(&file)?;
    let outcome = report(&folder, args, look)?;
    Ok(if differs { Outcome::ThresholdMet } else { outcome })
}

/// Shortest name of a kernel in a line on standard error.
const MIN_NAME: usize = 16;

/// Exit code of a shell after Ctrl-C.
const INTERRUPTED: Outcome = Outcome::Program(130);

/// Name of the recording and its folder.
fn name_and_folder(path: &Path, args: &Profile, gpu: &str) -> Result<(String, PathBuf)> {
    let folder = path.canonicalize().ok().and_then(|path| Some(path.parent()?.to_owned()));
    let by_folder = folder.as_ref().and_then(|folder| folder.file_name()?.to_str());
    let name = args.name.as_deref().or(by_folder).unwrap_or("launch").to_owned();
    let folder = recording_folder(args, &name, gpu)?;
    Ok((name, folder))
}

/// Writes the recording.
fn keep(path: &Path, args: &Profile, recorder: &mut Recorder, name: String, folder: &Path) -> Result<()> {
    let provenance = Provenance {
        name,
        command: format!(
            "rockhound profile {}{}",
            args.emulate.gpu.as_ref().map_or_else(String::new, |name| format!("--gpu {name} ")),
            path.display()
        ),
        emulator: concat!("rockhound ", env!("CARGO_PKG_VERSION")).to_owned(),
    };
    write(folder, recorder, &provenance)?;
    eprintln!("recording: {}", folder.display());
    let typed = view::shell_word(&folder.to_string_lossy()).into_owned();
    eprintln!("everything in it: rockhound analyze -p {typed} -b all");
    Ok(())
}

fn model(name: &str) -> Result<&'static Model> {
    Model::by_name(name).ok_or_else(|| {
        let names: Vec<&str> = Model::names().collect();
        usage(format!("there is no GPU `{name}`"), format!("known are {}", names.join(", ")))
    })
}

/// The model used for a target: the one with the most compute units.
fn of_target(processor: &str) -> Result<&'static Model> {
    let target =
        Target::by_name(processor).ok_or_else(|| anyhow!("there are no facts about `{processor}`"))?;
    let model = Model::of_target(target).reduce(|most, model| {
        if model.compute_units.value > most.compute_units.value { model } else { most }
    });
    model.ok_or_else(|| anyhow!("there is no GPU with target `{processor}`"))
}

/// Writes the recording, in place of an earlier one.
fn write(folder: &Path, recorder: &mut Recorder, provenance: &Provenance) -> Result<()> {
    let events = recorder.take_events();
    let files = recorder.files(provenance);
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
    let files = files.iter().map(|(name, bytes)| (name.clone(), bytes.as_slice()));
    remove_earlier(folder)?;
    for (dispatch, _) in events.iter().filter(|(_, bytes)| bytes.is_none()) {
        eprintln!("what the waves of dispatch {dispatch} did is too much to keep");
    }
    let events = events
        .iter()
        .filter_map(|(dispatch, bytes)| Some((workload::events_file(*dispatch), bytes.as_deref()?)));
    for (name, bytes) in files.chain(recorder.code_objects()).chain(events) {
        let path = folder.join(name);
        std::fs::write(&path, bytes).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    Ok(())
}

/// Report of `analyze` on a recording, short unless the arguments request more.
fn report(folder: &Path, args: &Profile, look: &Look) -> Result<Outcome> {
    host::run::keep_set(args.set.as_deref(), folder)?;
    analyze::run(&Analyze::of_recording(folder, &args.shown())?, look)
}

/// A kernel with everything it needs in memory.
struct Prepared {
    job: Job,
    /// Arguments at the start.
    contents: Vec<Contents>,
    /// Address of each argument that is a buffer.
    addresses: Vec<Option<u64>>,
    /// Set by Ctrl-C.
    stop: Arc<AtomicBool>,
}

impl Prepared {
    fn new(file: &LaunchFile, code: &DeviceCode, kernel: &Kernel) -> Result<Prepared> {
        let mut job = Job::new(&code.data, &code.object, kernel, Memory::new())?;
        let contents: Vec<Contents> =
            file.argument.iter().map(|argument| argument.contents()).collect::<Result<_>>()?;
        let mut addresses = Vec::new();
        let mut values = Vec::new();
        let places: Vec<&Argument> = kernel.metadata.given().collect();
        if places.len() != contents.len() {
            let of_kernel: Vec<String> = places.iter().map(|place| described(place)).collect();
            bail!(
                "`{}` takes {} arguments ({}), the launch file gives {}",
                kernel.demangled,
                places.len(),
                of_kernel.join(", "),
                contents.len()
            );
        }
        for ((argument, contents), place) in file.argument.iter().zip(&contents).zip(places) {
            let (value, address) = match contents {
                Contents::Scalar(bytes) => (bytes.clone(), None),
                Contents::Buffer(bytes) => {
                    let address = job.memory.allocate_with(&argument.name, bytes);
                    (address.to_le_bytes().to_vec(), Some(address))
                }
            };
            if value.len() != place.size as usize {
                bail!(
                    "argument `{}` has {} bytes, the kernel takes {}",
                    argument.name,
                    value.len(),
                    described(place)
                );
            }
            values.push(value);
            addresses.push(address);
        }
        job.give(values);
        let stop = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(signal_hook::consts::SIGINT, stop.clone())?;
        Ok(Prepared { job, contents, addresses, stop })
    }

    fn launch(
        &mut self,
        file: &LaunchFile,
        args: &Profile,
        code: &DeviceCode,
        recorder: &mut Recorder,
    ) -> Result<()> {
        // Its arguments come from the host.
        let released = recorder.dispatches().is_empty();
        self.launch_with(file, args, code, |it, launch| {
            let launch = Launch { released, ..*launch };
            recorder.run(&it.name, &it.program, &it.table, &it.memory, &launch)
        })
    }

    /// Runs the kernel checked and reports mistakes; nothing is counted.
    fn look_for_mistakes(
        &mut self,
        file: &LaunchFile,
        args: &Profile,
        code: &DeviceCode,
        look: &Look,
    ) -> Result<Outcome> {
        let checks = Checks::parse(&args.emulate.check.join(",")).unwrap_or(Checks::NONE);
        let mut checked = Checked::default();
        let ran = self.launch_with(file, args, code, |it, launch| {
            let (result, found) = probe::check(checks, &it.program, &it.memory, launch);
            checked = found;
            // That is one of the findings.
            result.map(|summary| emu::Summary { outside_lds: None, ..summary })
        });
        // Findings before a fault may be its reason.
        let lines = LineTable::read(&code.data).ok();
        let Job { program, memory, .. } = &self.job;
        let evidence = rules::ExecutionEvidence { program, checked: &checked, memory, lines: lines.as_ref() };
        let findings = rules::check_execution(&evidence);
        let style = terminal::style(look, false);
        let mut output = Output::open(None)?;
        match findings.is_empty() {
            true if ran.is_ok() => {
                output.write(&format!("{}\n  nothing found\n", self.job.name))?;
            }
            true => {}
            false => output.write(&text::findings(&self.job.name, &findings, &style))?,
        }
        output.finish()?;
        if checked.unwatched > 0 {
            let most = Checks::LIMIT >> 20;
            eprintln!(
                "note: the {most} MiB of shadow memory were used up: {} accesses of lanes were not checked",
                checked.unwatched
            );
        }
        ran?;
        let differs = self.check(file)?;
        Ok(if differs || !findings.is_empty() { Outcome::ThresholdMet } else { Outcome::Fine })
    }

    fn launch_with(
        &mut self,
        file: &LaunchFile,
        args: &Profile,
        code: &DeviceCode,
        run: impl FnOnce(&Job, &Launch<'_>) -> Result<emu::Summary, Box<emu::Fault>>,
    ) -> Result<()> {
        let mut launch = Launch::new([1; 3], file.workgroup()?, 0);
        launch.grid = file.grid()?;
        launch.dynamic_lds = file.dynamic_lds;
        launch.threads = args.emulate.threads;
        launch.max_instructions = args.emulate.max_instructions;
        let target =
            Target::by_name(self.job.program.isa.processor()).context("facts of the kernel's target")?;
        let size =
            LaunchSize { grid: launch.grid, workgroup: launch.workgroup, dynamic_lds: launch.dynamic_lds };
        size.check(&self.job.program, target).map_err(|error| anyhow!("`{}` {error}", self.job.name))?;
        let waves = launch.workgroup.iter().product::<u32>().div_ceil(64);
        let packets = Hostcall::packets(waves);
        let mut hidden = Hidden::default();
        if self.job.program.calls_host() {
            hidden.hostcall_buffer = self.job.memory.allocate("calls", Hostcall::bytes(packets) as usize);
        }
        launch = self.job.launch(launch, &hidden);
        let packet = launch.dispatch_packet(&self.job.program);
        launch.packet = self.job.memory.allocate_with("dispatch packet", &packet);
        let host = Hostcall::new(&self.job.memory, hidden.hostcall_buffer, packets, &Printed);
        launch.host = host.as_ref().map(|it| it as &dyn Host);
        let stop = self.stop.clone();
        launch.stop = Some(&stop);
        let progress = emu::Progress::default();
        launch.progress = Some(&progress);
        let start = Instant::now();
        let run = || run(&self.job, &launch);
        let ran = progress::watch(&self.job.name, launch.wave_count(), &progress, run);
        let summary = ran.map_err(|mut fault| {
            fault.kernel.clone_from(&self.job.name);
            let hint = fault.cause.hint().map_or_else(String::new, |hint| format!("\nhint: {hint}"));
            // As programs report it, which `triage` reads.
            anyhow!("kernel stopped: {fault}{}{hint}", source_line(code, fault.address))
        })?;
        if let Some(outside) = summary.outside_lds {
            let program = &self.job.program;
            let source = source_line(code, program.address(outside.index));
            eprintln!("warning: `{}`: {}{source}", self.job.name, outside.text(program));
        }
        let seconds = start.elapsed().as_secs_f64().max(1e-9);
        let numbers = format!(
            "{} waves, {} instructions in {seconds:.2} s ({:.1} million/s)",
            summary.waves,
            summary.instructions,
            summary.instructions as f64 / seconds / 1e6
        );
        let room = terminal::message_columns().saturating_sub(numbers.len() + 2).max(MIN_NAME);
        eprintln!("{}: {numbers}", text::shorten(&self.job.name, room));
        Ok(())
    }

    /// Compares results with the file's expected values; returns whether one differs.
    fn check(&self, file: &LaunchFile) -> Result<bool> {
        let start = file.numbers(&self.contents);
        let mut differs = false;
        for ((argument, contents), address) in file.argument.iter().zip(&self.contents).zip(&self.addresses) {
            let (Contents::Buffer(before), Some(address)) = (contents, address) else { continue };
            let count = before.len() / argument.element.size();
            let Some(expected) = argument.expected(count, &start)? else { continue };
            let bytes = self.job.memory.read(*address, before.len()).unwrap_or_default();
            let found = argument.element.numbers(&bytes);
            match difference(&found, &expected, argument.tolerance) {
                None => eprintln!("`{}`: all {count} elements as expected", argument.name),
                Some((at, found, expected)) => {
                    differs = true;
                    eprintln!(
                        "failed: `{}`: element {at} is {found}, expected {expected} (tolerance {})",
                        argument.name, argument.tolerance
                    );
                }
            }
        }
        Ok(differs)
    }
}

/// Text that kernels print goes where a program's would.
struct Printed;

impl Services for Printed {
    fn print(&self, stream: Stream, text: &[u8]) {
        use std::io::Write as _;
        // A closed output does not stop the run.
        let _ = match stream {
            Stream::Out => std::io::stdout().write_all(text),
            Stream::Error => std::io::stderr().write_all(text),
        };
    }

    fn allocate(&self, _bytes: u64) -> Option<u64> {
        None
    }

    fn free(&self, _address: u64) {}
}

/// Source location of an instruction, as a line of a message.
fn source_line(code: &DeviceCode, address: u64) -> String {
    let frames = LineTable::read(&code.data).map(|table| table.frames(address)).unwrap_or_default();
    let frame = frames.into_iter().find(|frame| !frame.file.is_empty());
    frame.map_or_else(String::new, |frame| format!("\n  {}:{}", frame.file, frame.line))
}

fn described(argument: &Argument) -> String {
    let name = if argument.name.is_empty() { &argument.kind } else { &argument.name };
    format!("{name}: {} bytes", argument.size)
}
