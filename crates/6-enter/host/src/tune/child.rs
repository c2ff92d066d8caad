//! Work of the process of one configuration: a kernel is launched, or a program profiled, and its times read.

use super::evaluation::{Evaluation, Failure};
use crate::launch_file::{Element, LaunchFile, differences};
use crate::run::{
    self, CacheState, Conditions, Detail, Emulate, Ended, LeftBuffer, OnGpu, Place, Recording, Reporter,
    Request, Selection, What,
};
use crate::{Source, recording};
use anyhow::{Context, Result, bail};
use metrics::{Definitions, Settings};
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use workload::Workload;

/// A launch or a program to run, as a file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Job {
    /// A launch file.
    pub launch: Option<PathBuf>,
    /// A command of the shell that launches kernels.
    pub program: Option<String>,
    /// Name or regular expression of the kernels that count; of none all.
    pub kernel: Option<String>,
    /// The GPU to emulate.
    pub gpu: Option<String>,
    /// On the GPU of this machine.
    pub on_gpu: bool,
    /// Folder of the recording, which also gets the result.
    pub output: PathBuf,
    /// Runs.
    pub repeats: u32,
    /// Looks for races and reads of unwritten memory, and keeps the buffers, in place of times.
    pub checks: bool,
    /// Lines that emulated launches find in the caches.
    #[serde(default)]
    pub caches: CacheState,
    /// Dispatches of a run that come before those that count.
    #[serde(default)]
    pub warm_ups: usize,
    /// Metrics to read from the recording: names in the space file, and ids of the metrics.
    #[serde(default)]
    pub metrics: BTreeMap<String, String>,
}

/// Result of a job.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct JobResult {
    /// Times or failure.
    pub evaluation: Evaluation,
    /// Buffers after the launch.
    #[serde(default)]
    pub buffers: Vec<Buffer>,
    /// Mistakes that were found, a line each.
    #[serde(default)]
    pub mistakes: Vec<String>,
}

/// A buffer after a launch.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Buffer {
    /// Its argument.
    pub name: String,
    /// Type of its elements.
    pub element: Element,
    /// File with its bytes.
    pub file: PathBuf,
}

impl Job {
    /// File of the result.
    pub fn result(&self) -> PathBuf {
        self.output.with_extension("json")
    }

    /// Runs the job that a file describes, and writes its result. Failures of what runs are results.
    ///
    /// # Errors
    /// If the file cannot be read, or the result cannot be written.
    pub fn run_file(file: &Path, reporter: &dyn Reporter) -> Result<()> {
        let text = std::fs::read(file).with_context(|| format!("cannot read `{}`", file.display()))?;
        let job: Job = serde_json::from_slice(&text).with_context(|| format!("`{}`", file.display()))?;
        let result = job.run(reporter).unwrap_or_else(|error| JobResult {
            evaluation: Evaluation::failed(Failure::Run, format!("{error:#}")),
            ..JobResult::default()
        });
        let path = job.result();
        std::fs::write(&path, serde_json::to_vec(&result)?)
            .with_context(|| format!("cannot write `{}`", path.display()))
    }

    fn run(&self, reporter: &dyn Reporter) -> Result<JobResult> {
        if let (Some(launch), true) = (&self.launch, self.checks) {
            return self.checked(launch, reporter);
        }
        let mut evaluation = Evaluation::default();
        for _ in 0..self.repeats.max(1) {
            evaluation.add(self.once(reporter)?);
            if evaluation.failed.is_some() {
                break;
            }
        }
        Ok(JobResult { evaluation, ..JobResult::default() })
    }

    fn once(&self, reporter: &dyn Reporter) -> Result<Evaluation> {
        let ran = run::run(&self.request(), reporter)?;
        let failed = |kind, why: String| Ok(Evaluation::failed(kind, why));
        match ran.ended {
            Ended::Well => {}
            Ended::Differs => {
                return failed(Failure::Wrong, "results differ from what the launch file expects".into());
            }
            Ended::Program(code) => {
                return failed(Failure::Run, format!("the program ended with code {code}"));
            }
            Ended::Interrupted => return failed(Failure::Run, "interrupted".into()),
            Ended::InPart => return failed(Failure::Run, "only a part was recorded".into()),
        }
        let mut sum_us = 0.0;
        let mut counted = 0;
        let mut numbers = BTreeMap::new();
        for folder in &ran.folders {
            let workload = recording::read(&Source::from(folder))?;
            let kernel = self.kernel.as_deref().map(Regex::new).transpose()?;
            let wanted = |row: usize| {
                let name = workload.kernels.get(workload.dispatches.kernel[row] as usize);
                kernel.as_ref().is_none_or(|it| name.is_some_and(|name| it.is_match(name)))
            };
            let rows = (0..workload.dispatches.len()).filter(|row| wanted(*row));
            let rows: Vec<usize> = rows.skip(self.warm_ups).collect();
            for ns in rows.iter().filter_map(|row| workload.dispatches.duration(*row)) {
                sum_us += ns / 1e3;
                counted += 1;
            }
            if numbers.is_empty() && !rows.is_empty() && !self.metrics.is_empty() {
                match self.numbers(&workload, rows) {
                    Ok(found) => numbers = found,
                    Err(why) => return failed(Failure::NoTime, format!("{why:#}")),
                }
            }
        }
        match counted {
            0 => failed(Failure::NoTime, "no kernel that counts was launched".into()),
            _ => Ok(Evaluation { runs_us: vec![sum_us], numbers, ..Evaluation::default() }),
        }
    }

    /// The metrics of the kernels that count.
    fn numbers(&self, workload: &Workload, rows: Vec<usize>) -> Result<BTreeMap<String, Vec<f64>>> {
        let target = workload.machine.target().context("the recording does not name its GPU")?;
        let compiled = Definitions::built_in().compile(target)?;
        let rows = rows.into_iter().map(|row| row as u32).collect();
        let evaluation = metrics::Evaluation::new(&compiled, workload, rows, Settings::default());
        let number = |(name, metric): (&String, &String)| match evaluation.value(metric) {
            Ok(value) => Ok((name.clone(), vec![value])),
            Err(missing) => bail!("`{name}` ({metric}) has no value: {missing}"),
        };
        self.metrics.iter().map(number).collect()
    }

    fn request(&self) -> Request {
        let what = match (&self.launch, &self.program) {
            (Some(file), _) => What::LaunchFile(file.clone(), Vec::new()),
            (None, command) => {
                let command = command.clone().unwrap_or_default();
                What::Program(vec!["sh".into(), "-c".into(), format!("exec {command}").into()])
            }
        };
        Request {
            what,
            place: if self.on_gpu { Place::Gpu } else { Place::Emulator },
            emulate: self.emulate(),
            on_gpu: OnGpu::default(),
            record: Some(Recording {
                name: Some("tune".to_owned()),
                output: Some(self.output.clone()),
                overwrite: true,
                select: Selection::default(),
                blocks: Vec::new(),
                set: None,
                detail: Detail { caches: self.caches, ..Detail::default() },
                no_results: false,
            }),
        }
    }

    fn emulate(&self) -> Emulate {
        Emulate {
            gpu: self.gpu.clone(),
            devices: 1,
            threads: 1,
            max_instructions: run::MOST_INSTRUCTIONS,
            repeats: true,
            virtual_time: None,
            autotune_limit: None,
            check: Vec::new(),
            progress: crate::session::Progress::Silent,
        }
    }

    fn checked(&self, launch: &Path, reporter: &dyn Reporter) -> Result<JobResult> {
        let emulate = Emulate { check: vec!["races".into(), "uninit".into()], ..self.emulate() };
        let left = run::results(&LaunchFile::read(launch)?, &emulate, Conditions::default(), reporter)?;
        if let Some(stopped) = left.stopped {
            bail!("{}", stopped.text);
        }
        std::fs::create_dir_all(&self.output)?;
        let mut buffers = Vec::new();
        for (at, LeftBuffer { name, element, after, .. }) in left.buffers.into_iter().enumerate() {
            let file = self.output.join(format!("{at}.bin"));
            std::fs::write(&file, after).with_context(|| format!("cannot write `{}`", file.display()))?;
            buffers.push(Buffer { name, element, file });
        }
        let mistakes = left.findings.iter().map(|it| format!("{}: {}", it.rule, it.message)).collect();
        Ok(JobResult { evaluation: Evaluation::default(), buffers, mistakes })
    }
}

/// Compares what two launches left in their buffers; returns the number of elements compared.
///
/// # Errors
/// The first difference beyond the tolerance, in words.
pub fn difference_of(start: &JobResult, other: &JobResult, tolerance: f64) -> Result<u64, String> {
    let mut compared = 0;
    for (a, b) in start.buffers.iter().zip(&other.buffers) {
        let read = |it: &Buffer| {
            let bytes =
                std::fs::read(&it.file).map_err(|error| format!("`{}`: {error}", it.file.display()))?;
            Ok::<_, String>(it.element.numbers(&bytes))
        };
        let (expected, found) = (read(a)?, read(b)?);
        if expected.len() != found.len() {
            return Err(format!(
                "`{}` has {} elements, of the start {}",
                a.name,
                found.len(),
                expected.len()
            ));
        }
        if let Some(found) = differences(&found, &expected, tolerance) {
            let (at, (found, expected)) = (found.places[0], found.first);
            return Err(format!(
                "`{}`: element {at} is {found}, of the start {expected} (tolerance {tolerance})",
                a.name
            ));
        }
        compared += found.len() as u64;
    }
    Ok(compared)
}
