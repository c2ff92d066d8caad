//! The kernel of a launch file on an emulated GPU, without a host program.

use super::earlier::{make_folder, remove_earlier};
use super::emulated::predictions;
use super::folder::recording_folder;
use super::placed::Placed;
use super::progress::watch;
use super::report::{Ended, Output, Ran, Reporter, Runner};
use super::request::{Emulate, Recording, Request, What};
use super::{model, model_of_target, title};
use crate::braces::Values;
use crate::device_code::DeviceCode;
use crate::launch_file::{Bytes, Contents, Element, LaunchFile, differences};
use crate::{launches, spill, usage};
use anyhow::{Context, Result, anyhow, bail};
use arch::Target;
use codeobj::{Kernel, LineTable};
use emu::{Cause, Hidden, Host, Hostcall, Launch, Services, Stream};
use probe::{Checked, Checks, LaunchSize};
use record::{Job, Provenance, Recorder, Settings};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use view::Finding;

/// Kernels of launch files on an emulated GPU.
pub(super) struct EmulatedLaunch;

impl Runner for EmulatedLaunch {
    fn run(&self, request: &Request, reporter: &dyn Reporter) -> Result<Ran> {
        let (What::LaunchFile(path, values), Some(recording)) = (&request.what, &request.record) else {
            bail!("a launch file is recorded");
        };
        let file = LaunchFile::filled(path, values)?;
        let wanted = request.emulate.gpu.as_deref().or(file.gpu.as_deref());
        let named = wanted.map(model).transpose()?;
        let code = DeviceCode::find(&file.code, named.map(|model| model.target().name))?;
        code.notes.iter().for_each(|it| reporter.say(&format!("note: {it}")));
        let model = match named {
            Some(model) => model,
            None => model_of_target(&code.object.target.processor)?,
        };
        let kernel = code.kernel(file.kernel.as_deref())?;
        let (short, title) = (model.short(), title(model));
        let settings = Settings::from(&recording.detail);
        predictions(&settings, model)?;
        let (emulate, target) = (&request.emulate, model.target().name);
        let mut prepared = Prepared::new(&file, &code, kernel, emulate, reporter)?;
        if !emulate.check.is_empty() {
            let checked = emulate.check.join(", ");
            reporter.say(&format!("emulating {title} ({target}): checking {checked}"));
            return prepared.look_for_mistakes();
        }
        let more = if settings.counters_only { "" } else { ", modelled caches and times" };
        reporter.say(&format!("emulating {title} ({target}): counters of execution{more}"));
        let mut recorder = settings
            .recorder(model, Some(spill::store()))
            .map_err(|error| usage(error.message, error.hint))?;
        let (name, folder) = name_and_folder(path, recording, short)?;
        make_folder(&folder, recording.replaces(), reporter)?;
        let ran = (0..file.repeat).try_for_each(|_| prepared.launch(&mut recorder));
        let stopped = |prepared: &Prepared<'_>| prepared.stop.load(Ordering::Relaxed);
        let ended = |ended, folders| Ok(Ran { folders, ended, findings: None });
        // Dispatches before a fault are kept.
        if recorder.dispatches().is_empty() {
            let _ = std::fs::remove_dir(&folder);
            if stopped(&prepared) {
                reporter.say("interrupted: no dispatch was finished");
                return ended(Ended::Interrupted, Vec::new());
            }
            ran?;
            return ended(Ended::Well, Vec::new());
        }
        recorder.notes().into_iter().chain(recorder.misfits()).for_each(|text| reporter.say(&text));
        let provenance = provenance(name, (path, values), emulate);
        keep(&folder, &mut recorder, &provenance, reporter)?;
        if stopped(&prepared) {
            let (finished, all) = (recorder.dispatches().len(), file.repeat);
            reporter.say(&format!("interrupted: {finished} of {all} dispatches were finished"));
            return ended(Ended::Interrupted, Vec::new());
        }
        ran?;
        let differs = !recording.no_results && prepared.differs()?;
        if differs {
            explain(&file, &code, kernel, emulate, reporter)?;
        }
        ended(if differs { Ended::Differs } else { Ended::Well }, vec![folder])
    }
}

/// Results of a launch.
pub struct Results {
    /// Buffers in the order of the arguments.
    pub buffers: Vec<LeftBuffer>,
    /// Mistakes that were looked for and found.
    pub findings: Vec<Finding>,
    /// The first result that differs from what the launch file expects.
    pub unexpected: Option<String>,
    /// Why the kernel did not end.
    pub stopped: Option<Stopped>,
    /// Instructions that its waves issued.
    pub instructions: u64,
}

/// A buffer before and after a launch.
pub struct LeftBuffer {
    /// Name of the argument.
    pub name: String,
    /// Type of the elements.
    pub element: Element,
    /// Its contents are given, and nothing says that the kernel writes it.
    pub is_input: bool,
    /// Difference allowed by the launch file; 0 if it names none.
    pub tolerance: f64,
    /// Bytes before.
    pub before: Vec<u8>,
    /// Bytes after.
    pub after: Vec<u8>,
}

/// Why a kernel did not end.
#[derive(Clone, Debug)]
pub struct Stopped {
    /// It would run for ever, or longer than the limit; otherwise it did something that stops it.
    pub hangs: bool,
    /// In words, with instruction, workgroup and line.
    pub text: String,
}

/// Conditions of a launch on which no result may depend.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Conditions {
    /// Workgroups run from the last to the first.
    pub reversed: bool,
    /// Byte in buffers that the kernel is to write, in place of zeros or of what a captured launch found there.
    pub fill: Option<u8>,
}

/// Launches the kernel of a launch file once, looking for mistakes, and gives what its buffers hold then.
///
/// # Errors
/// If the code or an argument cannot be read, or they do not go together. A kernel that does not end is a result.
pub fn results(
    file: &LaunchFile,
    emulate: &Emulate,
    conditions: Conditions,
    reporter: &dyn Reporter,
) -> Result<Results> {
    let named = emulate.gpu.as_deref().or(file.gpu.as_deref()).map(model).transpose()?;
    let code = DeviceCode::find(&file.code, named.map(|model| model.target().name))?;
    code.notes.iter().for_each(|it| reporter.say(&format!("note: {it}")));
    let kernel = code.kernel(file.kernel.as_deref())?;
    let mut prepared = Prepared::new(file, &code, kernel, emulate, reporter)?;
    prepared.under(conditions);
    let (ran, checked) = prepared.run_checked();
    let findings = prepared.mistakes(&checked);
    let hangs = prepared.hangs;
    let stopped = ran.err().map(|error| Stopped { hangs, text: format!("{error:#}") });
    let unexpected = if stopped.is_none() { prepared.unexpected()? } else { None };
    let mut buffers = Vec::new();
    for ((argument, contents), address) in file.parts().zip(&prepared.contents).zip(&prepared.addresses) {
        if let (Contents::Buffer(before), Some(address)) = (contents, address) {
            let after = prepared.job.memory.read(*address, before.len()).unwrap_or_default();
            buffers.push(LeftBuffer {
                name: argument.name.clone(),
                element: argument.element,
                is_input: !argument.is_output(),
                tolerance: argument.tolerance,
                before: before.bytes().into_owned(),
                after: after.to_vec(),
            });
        }
    }
    Ok(Results { buffers, findings, unexpected, stopped, instructions: prepared.instructions })
}

/// Name of the recording and its folder.
fn name_and_folder(path: &Path, recording: &Recording, gpu: &str) -> Result<(String, PathBuf)> {
    let of_file = |path: PathBuf| Some(path.parent()?.to_owned());
    let full = path.canonicalize().ok();
    let folder = full.and_then(|it| if it.is_dir() { Some(it) } else { of_file(it) });
    let by_folder = folder.as_ref().and_then(|folder| folder.file_name()?.to_str());
    let name = recording.name.as_deref().or(by_folder).unwrap_or("launch").to_owned();
    let folder = recording_folder(recording.output.as_deref(), &name, gpu)?;
    Ok((name, folder))
}

/// The origin of a recording.
fn provenance(name: String, (path, values): (&Path, &Values), emulate: &Emulate) -> Provenance {
    let gpu = emulate.gpu.as_ref().map_or_else(String::new, |name| format!("--gpu {name} "));
    let values: Vec<String> = values.iter().map(|(name, it)| format!("{name}={it}")).collect();
    let shape = if values.is_empty() { String::new() } else { format!(" --shape {}", values.join(",")) };
    Provenance {
        name,
        command: format!("rockhound profile {gpu}{}{shape}", path.display()),
        emulator: concat!("rockhound ", env!("CARGO_PKG_VERSION")).to_owned(),
    }
}

/// Writes the recording, in place of an earlier one.
fn keep(
    folder: &Path,
    recorder: &mut Recorder,
    provenance: &Provenance,
    reporter: &dyn Reporter,
) -> Result<()> {
    let events = recorder.take_events();
    let files = recorder.files(provenance);
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
    let files = files.iter().map(|(name, bytes)| (name.clone(), bytes.as_slice()));
    remove_earlier(folder)?;
    for (dispatch, _) in events.iter().filter(|(_, bytes)| bytes.is_none()) {
        reporter.say(&format!("what the waves of dispatch {dispatch} did is too much to keep"));
    }
    let events = events
        .iter()
        .filter_map(|(dispatch, bytes)| Some((workload::events_file(*dispatch), bytes.as_deref()?)));
    for (name, bytes) in files.chain(recorder.code_objects()).chain(events) {
        let path = folder.join(name);
        std::fs::write(&path, bytes).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    reporter.say(&format!("recording: {}", folder.display()));
    let typed = view::shell_word(&folder.to_string_lossy()).into_owned();
    reporter.say(&format!("everything in it: rockhound analyze -p {typed} -b all"));
    Ok(())
}

/// A kernel with everything it needs in memory.
struct Prepared<'a> {
    file: &'a LaunchFile,
    code: &'a DeviceCode,
    emulate: &'a Emulate,
    reporter: &'a dyn Reporter,
    job: Job,
    /// Arguments at the start.
    contents: Vec<Contents>,
    /// Address of each buffer, of arguments and then of further memory.
    addresses: Vec<Option<u64>>,
    /// Set by Ctrl-C.
    stop: Arc<AtomicBool>,
    /// Workgroups run from the last to the first.
    reversed: bool,
    /// The last launch would run for ever, or longer than the limit.
    hangs: bool,
    /// Instructions of the last launch that ended.
    instructions: u64,
}

impl<'a> Prepared<'a> {
    fn new(
        file: &'a LaunchFile,
        code: &'a DeviceCode,
        kernel: &Kernel,
        emulate: &'a Emulate,
        reporter: &'a dyn Reporter,
    ) -> Result<Prepared<'a>> {
        let Placed { job, contents, addresses } = Placed::new(file, code, kernel)?;
        let stop = reporter.interrupts()?;
        let (reversed, hangs, instructions) = (false, false, 0);
        Ok(Prepared {
            file,
            code,
            emulate,
            reporter,
            job,
            contents,
            addresses,
            stop,
            reversed,
            hangs,
            instructions,
        })
    }

    /// Sets the conditions of the launches.
    fn under(&mut self, conditions: Conditions) {
        self.reversed = conditions.reversed;
        let Some(fill) = conditions.fill else { return };
        let buffers = self.file.parts().zip(&mut self.contents).zip(&self.addresses);
        for ((argument, contents), address) in buffers {
            if let (Contents::Buffer(bytes), Some(address), true) = (contents, address, argument.is_output())
            {
                *bytes = Bytes::Same(fill, bytes.len());
                // It was allocated with this length.
                let _ = bytes.write(&self.job.memory, *address);
            }
        }
    }

    fn launch(&mut self, recorder: &mut Recorder) -> Result<()> {
        // Its arguments come from the host.
        let released = recorder.dispatches().is_empty();
        self.launch_with(|it, launch| {
            let launch = Launch { released, ..*launch };
            recorder.run(&it.name, &it.program, &it.table, &it.memory, &launch)
        })
    }

    /// Runs the kernel checked and reports mistakes; nothing is counted.
    fn look_for_mistakes(&mut self) -> Result<Ran> {
        let (ran, checked) = self.run_checked();
        // Findings before a fault may be its reason.
        let findings = self.mistakes(&checked);
        self.reporter.findings(&self.job.name, &findings, ran.is_ok())?;
        if checked.unwatched > 0 {
            let most = Checks::LIMIT >> 20;
            self.reporter.say(&format!(
                "note: the {most} MiB of shadow memory were used up: {} accesses of lanes were not checked",
                checked.unwatched
            ));
        }
        ran?;
        let ended = if self.differs()? { Ended::Differs } else { Ended::Well };
        Ok(Ran { folders: Vec::new(), ended, findings: Some(findings.len()) })
    }

    /// One launch with mistakes looked for.
    fn run_checked(&mut self) -> (Result<()>, Checked) {
        let checks = Checks::parse(&self.emulate.check.join(",")).unwrap_or(Checks::NONE);
        let mut checked = Checked::default();
        let ran = self.launch_with(|it, launch| {
            let (result, found) = probe::check(checks, &it.program, &it.memory, launch);
            checked = found;
            // That is one of the findings.
            result.map(|summary| emu::Summary { outside_lds: None, ..summary })
        });
        (ran, checked)
    }

    /// The mistakes as findings.
    fn mistakes(&self, checked: &Checked) -> Vec<Finding> {
        let lines = LineTable::read(&self.code.data).ok();
        let Job { program, memory, .. } = &self.job;
        rules::check_execution(&rules::ExecutionEvidence { program, checked, memory, lines: lines.as_ref() })
    }

    fn launch_with(
        &mut self,
        run: impl FnOnce(&Job, &Launch<'_>) -> Result<emu::Summary, Box<emu::Fault>>,
    ) -> Result<()> {
        let Prepared { file, code, emulate, reporter, .. } = *self;
        let mut launch = Launch::new([1; 3], file.workgroup()?, 0);
        launch.grid = file.grid()?;
        launch.dynamic_lds = file.dynamic_lds;
        launch.cooperative = file.cooperative;
        launch.threads = emulate.threads;
        launch.max_instructions = emulate.max_instructions;
        let target =
            Target::by_name(self.job.program.isa.processor()).context("facts of the kernel's target")?;
        let size =
            LaunchSize { grid: launch.grid, workgroup: launch.workgroup, dynamic_lds: launch.dynamic_lds };
        size.check(&self.job.program, target).map_err(|error| anyhow!("`{}` {error}", self.job.name))?;
        let packets = launches::packets(&launch);
        let mut hidden = Hidden::default();
        if self.job.program.calls_host() {
            hidden.hostcall_buffer = self.job.memory.allocate("calls", Hostcall::bytes(packets) as usize);
        }
        if let Some(words) = launches::grid_barrier(&self.job.program, &launch) {
            hidden.multigrid = self.job.memory.allocate_with("barrier of the grid", &words);
        }
        launch = self.job.launch(launch, &hidden);
        let packet = launch.dispatch_packet(&self.job.program);
        launch.packet = self.job.memory.allocate_with("dispatch packet", &packet);
        let printed = Printed(reporter);
        let host = Hostcall::new(&self.job.memory, hidden.hostcall_buffer, packets, &printed);
        launch.host = host.as_ref().map(|it| it as &dyn Host);
        let stop = self.stop.clone();
        launch.stop = Some(&stop);
        let order: Vec<u64> = (0..launch.workgroup_count()).rev().collect();
        if self.reversed {
            launch.only = Some(&order);
        }
        let progress = emu::Progress::default();
        launch.progress = Some(&progress);
        let start = Instant::now();
        let run = || run(&self.job, &launch);
        let ran = watch(reporter, &self.job.name, launch.wave_count(), &progress, run);
        let summary = match ran {
            Ok(summary) => summary,
            Err(mut fault) => {
                fault.kernel.clone_from(&self.job.name);
                self.hangs = matches!(
                    fault.cause,
                    Cause::Endless { .. } | Cause::Stuck { .. } | Cause::Deadlock { .. }
                );
                return Err(anyhow!(launches::stopped(&fault, &source_line(code, fault.address), None)));
            }
        };
        self.instructions = summary.instructions;
        for lost in summary.lost() {
            let program = &self.job.program;
            let source = source_line(code, program.address(lost.index));
            let text = launches::lost(&self.job.name, program, &lost, &source);
            reporter.say(&format!("warning: {text}"));
        }
        let seconds = start.elapsed().as_secs_f64().max(1e-9);
        let numbers = format!(
            "{} waves, {} instructions in {seconds:.2} s ({:.1} million/s)",
            summary.waves,
            summary.instructions,
            summary.instructions as f64 / seconds / 1e6
        );
        reporter.ran(&self.job.name, &numbers);
        Ok(())
    }

    /// Compares results with the file's expected values and says what was found; returns whether one differs.
    fn differs(&self) -> Result<bool> {
        let compared = self.compared()?;
        for it in &compared {
            self.reporter.say(&match &it.wrong {
                None => format!("`{}`: all {} elements as expected", it.name, it.count),
                Some(text) => format!("failed: {text}"),
            });
        }
        Ok(compared.iter().any(|it| it.wrong.is_some()))
    }

    /// The first result that differs from the file's expected values.
    fn unexpected(&self) -> Result<Option<String>> {
        Ok(self.compared()?.into_iter().find_map(|it| it.wrong))
    }

    /// The buffers for which the file has expected values.
    fn compared(&self) -> Result<Vec<Compared<'_>>> {
        let mut all = Vec::new();
        if !self.file.parts().any(|it| it.is_expected()) {
            return Ok(all);
        }
        let start = self.file.numbers(&self.contents);
        for ((argument, contents), address) in self.file.parts().zip(&self.contents).zip(&self.addresses) {
            let (Contents::Buffer(before), Some(address)) = (contents, address) else { continue };
            let count = before.len() / argument.element.size();
            let Some(expected) = argument.expected(count, &start)? else { continue };
            let bytes = self.job.memory.read(*address, before.len()).unwrap_or_default();
            let found = argument.element.numbers(&bytes);
            let wrong = differences(&found, &expected, argument.tolerance);
            let [grid, workgroup] = [self.file.grid()?, self.file.workgroup()?].map(items);
            let (name, tolerance) = (&argument.name, argument.tolerance);
            let wrong = wrong.map(|it| {
                let text = it.text(count, (grid == count).then_some(workgroup));
                format!("`{name}`: {text} (tolerance {tolerance})")
            });
            all.push(Compared { name, count, wrong });
        }
        Ok(all)
    }
}

/// A buffer compared with its expected values.
struct Compared<'a> {
    name: &'a str,
    count: usize,
    /// Where they differ, in words.
    wrong: Option<String>,
}

/// Looks for mistakes that may be why results differ, in another launch.
fn explain(
    file: &LaunchFile,
    code: &DeviceCode,
    kernel: &Kernel,
    emulate: &Emulate,
    reporter: &dyn Reporter,
) -> Result<()> {
    let emulate = Emulate { check: vec!["races".into(), "uninit".into()], ..emulate.clone() };
    let mut again = Prepared::new(file, code, kernel, &emulate, reporter)?;
    let (ran, checked) = again.run_checked();
    let findings = again.mistakes(&checked);
    if findings.is_empty() {
        reporter.say("checked for races and reads of memory that was never written: none found");
    } else {
        reporter.findings(&again.job.name, &findings, ran.is_ok())?;
    }
    ran
}

/// Work-items of a grid or workgroup.
fn items(size: [u32; 3]) -> usize {
    size.iter().map(|&it| it as usize).product()
}

/// Text that kernels print goes where a program's would.
struct Printed<'a>(&'a dyn Reporter);

impl Services for Printed<'_> {
    fn print(&self, stream: Stream, text: &[u8]) {
        let output = match stream {
            Stream::Out => Output::Standard,
            Stream::Error => Output::Error,
        };
        self.0.print(output, text);
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
