//! Evaluation of one configuration: build, look at the code, run.

use super::child::{Buffer, Job, JobResult};
use super::evaluation::{Evaluation, Failure};
use super::floor::least_us;
use super::number::ResultFile;
use super::number::number;
use super::shapes::Shape;
use super::spec::{Measure, Run, Spec};
use super::triton::{self, Site, TritonRun};
use crate::braces::{self, Unknown, fill};
use crate::launch_file;
use crate::process::{self, Bounds};
use crate::run::{CacheState, Place};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use tempfile::TempDir;
use tune::Value;

/// Runs configurations of a space file on this machine.
#[derive(Debug)]
pub struct Evaluator {
    /// The space file.
    pub spec: Spec,
    /// GPU or emulator.
    place: Place,
    /// The GPU to emulate, in place of the file's.
    gpu: Option<String>,
    /// Folder for what configurations build.
    scratch: TempDir,
    /// The program that runs a [`Job`] given as the file behind `tune --job`.
    command: PathBuf,
    /// Looks at built code before it runs.
    inspects: bool,
    /// The least time that the work of each shape takes, microseconds, and what needs it.
    least: Vec<Option<(f64, String)>>,
    /// More variables of the environment than this process has.
    variables: Vec<(String, String)>,
    /// Set when what runs is to end.
    stop: Option<Arc<AtomicBool>>,
}

/// A configuration that is built.
#[derive(Debug)]
pub struct Built<'e> {
    evaluator: &'e Evaluator,
    configuration: &'e Configuration<'e>,
    folder: TempDir,
}

impl Built<'_> {
    /// Runs it this number of times.
    pub fn run(&self, repeats: u32) -> Evaluation {
        let start = Instant::now();
        let ran = self.evaluator.run(self.configuration, self.folder.path(), repeats);
        let mut evaluation = match ran {
            Ok(it) | Err(it) => it,
        };
        evaluation.run_s = start.elapsed().as_secs_f64();
        evaluation
    }
}

/// A configuration: names and values.
pub type Configuration<'a> = [(&'a str, &'a Value)];

impl Evaluator {
    /// Runs the configurations of a space file on the GPU of this machine or on an emulated one, by name or as the
    /// file says. `command` runs a [`Job`], given as the file behind `tune --job`.
    ///
    /// # Errors
    /// If no temporary folder can be made, there is no such GPU, or the file sets what a GPU does not take.
    pub fn new(spec: Spec, place: Place, gpu: Option<String>, command: PathBuf) -> Result<Evaluator> {
        let evaluator = Evaluator::unchecked(spec, place, gpu, command)?;
        evaluator.check_triton()?;
        Ok(evaluator)
    }

    /// As [`Evaluator::new`], of a kernel of Triton that is known to be one.
    pub(super) fn unchecked(
        spec: Spec,
        place: Place,
        gpu: Option<String>,
        command: PathBuf,
    ) -> Result<Evaluator> {
        if place == Place::Gpu && spec.caches.is_some() {
            bail!(
                "`caches` is a setting of emulated runs: on a GPU the program's own launches leave lines in the caches, unless its buffers are larger than `{{last_cache_mib}}`"
            );
        }
        let scratch = tempfile::tempdir().context("cannot make a temporary folder")?;
        let named = gpu.as_deref().or(spec.gpu.as_deref());
        let model = named.map(crate::run::model).transpose()?;
        let least = spec.work.iter().map(|work| least_us(model?, work)).collect();
        Ok(Evaluator {
            spec,
            place,
            gpu,
            scratch,
            command,
            inspects: true,
            least,
            stop: None,
            variables: Vec::new(),
        })
    }

    /// Refuses a kernel of Triton that no configuration could run.
    pub(super) fn check_triton(&self) -> Result<()> {
        let Run::Triton(run) = &self.spec.run else { return Ok(()) };
        let folder = self.folder()?;
        let bounds = self.bounds();
        let site = Site { model: self.model()?, out: folder.path(), bounds: &bounds };
        let shapes = self.spec.shapes.first().into_iter().flat_map(|it| &it.values);
        let shapes: Vec<&str> = shapes.map(|it| it.0.as_str()).collect();
        triton::check(run, &self.spec.parameters, &shapes, &site)
    }

    /// The GPU that kernels of Triton are compiled for.
    fn model(&self) -> Result<&'static arch::Model> {
        let Some(name) = self.gpu() else {
            bail!("a kernel of Triton is compiled for a GPU: name one, `gpu = \"mi300x\"` or `--gpu mi300x`")
        };
        crate::run::model(name)
    }

    /// With or without a look at built code before it runs.
    #[must_use]
    pub fn inspecting(self, inspects: bool) -> Evaluator {
        Evaluator { inspects, ..self }
    }

    /// Ends what runs when the flag is set.
    #[must_use]
    pub fn stopping(self, stop: Arc<AtomicBool>) -> Evaluator {
        Evaluator { stop: Some(stop), ..self }
    }

    /// With more variables of the environment for what runs.
    #[must_use]
    pub fn with_variables(self, variables: Vec<(String, String)>) -> Evaluator {
        Evaluator { variables, ..self }
    }

    /// A folder for what is built, which goes with the evaluator.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn folder(&self) -> Result<TempDir> {
        let scratch = self.scratch.path();
        tempfile::tempdir_in(scratch)
            .with_context(|| format!("cannot make a folder in `{}`", scratch.display()))
    }

    /// Builds and runs a configuration.
    pub fn run_one(&self, configuration: &Configuration<'_>) -> Evaluation {
        let start = Instant::now();
        let built = self.built(configuration);
        let build_s = start.elapsed().as_secs_f64();
        let mut evaluation = match built {
            Ok(built) => built.run(self.spec.repeats),
            Err(failed) => failed,
        };
        evaluation.build_s = build_s;
        evaluation
    }

    /// Builds a configuration, to be run any number of times.
    ///
    /// # Errors
    /// The failure, as the result of the configuration.
    pub fn built<'e>(&'e self, configuration: &'e Configuration<'e>) -> Result<Built<'e>, Evaluation> {
        let folder = self.folder().map_err(|error| Evaluation::failed(Failure::Run, format!("{error:#}")))?;
        self.build(configuration, folder.path())?;
        Ok(Built { evaluator: self, configuration, folder })
    }

    /// Runs the check command of the space file; `None` if it has none.
    ///
    /// # Errors
    /// Why the results are wrong, or the command cannot run.
    pub fn check_command(&self, built: &Built<'_>) -> Option<Result<(), String>> {
        let command = self.spec.check.as_ref()?.command.as_ref()?;
        let check = |configuration: &Configuration<'_>| {
            let at = (configuration, built.folder.path());
            let command = self.filled(command, at, Unknown::Refused).map_err(|error| format!("{error:#}"))?;
            let ended = process::shell(&command, &self.spec.folder, &self.bounds());
            if ended.is_well() { Ok(()) } else { Err(ended.why()) }
        };
        Some(match &self.spec.shapes[..] {
            [] => check(built.configuration),
            shapes => shapes.iter().try_for_each(|shape| {
                check(&with(built.configuration, shape)).map_err(|why| format!("{}: {why}", shape.name))
            }),
        })
    }

    /// Runs the configuration with mistakes looked for: races, reads of unwritten memory. `None` if the run
    /// is not an emulated launch. Its results are left in a file of the folder.
    pub fn check(&self, configuration: &Configuration<'_>, folder: &Path) -> Result<Option<JobResult>> {
        if let Err(failed) = self.build(configuration, folder) {
            bail!("{}", failed.failed.map_or_else(String::new, |it| it.why));
        }
        if self.launch_file(folder, 0).is_none() {
            return Ok(None);
        }
        let check = |configuration: &Configuration<'_>, at: usize| {
            let path = self.launch_file(folder, at).unwrap_or_default();
            let job = self.launch_job(&path, configuration, folder)?;
            let job = Job { checks: true, output: folder.join(format!("recording{at}")), ..job };
            self.job(&job, folder).map_err(|it| {
                anyhow::anyhow!("{}", it.failed.map_or_else(|| "it failed".to_owned(), |it| it.why))
            })
        };
        if self.spec.shapes.is_empty() {
            return check(configuration, 0).map(Some);
        }
        let mut all = JobResult::default();
        for (at, shape) in self.spec.shapes.iter().enumerate() {
            let JobResult { buffers, mistakes, .. } =
                check(&with(configuration, shape), at).with_context(|| shape.name.clone())?;
            let named = |it: Buffer| Buffer { name: format!("{} of {}", it.name, shape.name), ..it };
            all.buffers.extend(buffers.into_iter().map(named));
            all.mistakes.extend(mistakes.into_iter().map(|it| format!("{}: {it}", shape.name)));
        }
        Ok(Some(all))
    }

    fn filled(&self, text: &str, at: (&Configuration<'_>, &Path), unknown: Unknown) -> Result<String> {
        let (configuration, out) = at;
        let lookup = |name: &str| self.lookup(name, configuration, out, unknown);
        fill(text, &lookup, unknown)
    }

    /// The text in place of a name or expression in braces.
    fn lookup(
        &self,
        name: &str,
        configuration: &Configuration<'_>,
        out: &Path,
        unknown: Unknown,
    ) -> Option<String> {
        let word = |text: &str| match unknown {
            Unknown::Refused => view::shell_word(text).into_owned(),
            Unknown::Kept => text.to_owned(),
        };
        if let Some((_, value)) = configuration.iter().find(|(it, _)| *it == name) {
            return Some(word(&value.to_string()));
        }
        match name {
            "out" => Some(word(&out.to_string_lossy())),
            "defines" => Some(defines(configuration)),
            "gpu" => self.gpu().map(str::to_owned),
            "target" => crate::run::model(self.gpu()?).ok().map(|it| it.target().name.to_owned()),
            "last_cache_mib" => {
                Some(crate::run::model(self.gpu()?).ok()?.last_cache_bytes().div_ceil(1 << 20).to_string())
            }
            "clang" => crate::compiler::compilers().first().map(|it| word(&it.to_string_lossy())),
            _ => braces::expression(name, configuration),
        }
    }

    /// Name of the GPU to emulate, if one is named.
    pub fn gpu(&self) -> Option<&str> {
        self.gpu.as_deref().or(self.spec.gpu.as_deref())
    }

    /// Launches before the one that counts, so that it finds what the one before left in the caches.
    fn warm_ups(&self) -> usize {
        usize::from(matches!(self.spec.caches, Some(CacheState::Warm | CacheState::AsRun)))
    }

    /// Why a measured time of a shape cannot be true.
    fn impossible(&self, evaluation: &Evaluation, shape: usize) -> Option<String> {
        let (least_us, needs) = self.least.get(shape)?.as_ref()?;
        let time_us = evaluation.runs_us.iter().copied().min_by(f64::total_cmp)?;
        (time_us < *least_us).then(|| {
            format!("a time of {time_us:.3} us is impossible: {needs} take {least_us:.3} us at least")
        })
    }

    fn bounds(&self) -> Bounds {
        let limits = self.spec.limits;
        Bounds {
            seconds: limits.seconds,
            memory_mib: limits.memory_mib,
            stop: self.stop.clone(),
            variables: self.variables.clone(),
            ..Bounds::default()
        }
    }

    /// The launch file of a shape, if launch files are what runs.
    fn launch_file(&self, out: &Path, shape: usize) -> Option<PathBuf> {
        match &self.spec.run {
            Run::Launch(path) => Some(path.clone()),
            Run::Triton(_) => Some(triton::launch_file(out, shape)),
            Run::Program { .. } | Run::Command { .. } => None,
        }
    }

    /// Compiles a kernel of Triton for all shapes.
    fn build_triton(
        &self,
        run: &TritonRun,
        configuration: &Configuration<'_>,
        out: &Path,
    ) -> Result<(), Evaluation> {
        let refused = |error: anyhow::Error| Evaluation::failed(Failure::Build, format!("{error:#}"));
        let problems = match &self.spec.shapes[..] {
            [] => vec![configuration.to_vec()],
            shapes => shapes.iter().map(|it| with(configuration, it)).collect(),
        };
        let bounds = self.bounds();
        let site = Site { model: self.model().map_err(refused)?, out, bounds: &bounds };
        triton::built(run, &problems, &site)?;
        for shape in (0..problems.len()).filter(|_| self.inspects) {
            match super::prior::rejection(&triton::code(out, shape)) {
                Ok(None) => {}
                Ok(Some(why)) => return Err(Evaluation::failed(Failure::Rejected, why)),
                Err(error) => return Err(refused(error)),
            }
        }
        Ok(())
    }

    fn build(&self, configuration: &Configuration<'_>, out: &Path) -> Result<(), Evaluation> {
        if let Run::Triton(run) = &self.spec.run {
            return self.build_triton(run, configuration, out);
        }
        let Some(build) = &self.spec.build else { return Ok(()) };
        let refused = |error: anyhow::Error| Evaluation::failed(Failure::Build, format!("{error:#}"));
        let command = self.filled(&build.command, (configuration, out), Unknown::Refused).map_err(refused)?;
        let ended = process::shell(&command, &self.spec.folder, &self.bounds());
        if !ended.is_well() {
            let kind = Failure::of(&ended).map_or(Failure::Build, |it| match it {
                Failure::Run => Failure::Build,
                other => other,
            });
            return Err(Evaluation::failed(kind, ended.why()));
        }
        let Some(code) = build.code.as_ref().filter(|_| self.inspects) else { return Ok(()) };
        let code = self.filled(code, (configuration, out), Unknown::Kept).map_err(refused)?;
        match super::prior::rejection(&self.spec.folder.join(code)) {
            Ok(None) => Ok(()),
            Ok(Some(why)) => Err(Evaluation::failed(Failure::Rejected, why)),
            Err(error) => Err(refused(error)),
        }
    }

    /// Runs a configuration on all shapes.
    fn run(
        &self,
        configuration: &Configuration<'_>,
        out: &Path,
        repeats: u32,
    ) -> Result<Evaluation, Evaluation> {
        let possible = |ran: Evaluation, shape: usize| match self.impossible(&ran, shape) {
            None => Ok(ran),
            Some(why) => Err(Evaluation::failed(Failure::NoTime, why)),
        };
        if self.spec.shapes.is_empty() {
            return possible(self.run_shape(configuration, (out, 0), repeats)?, 0);
        }
        let mut all = Vec::new();
        for (at, shape) in self.spec.shapes.iter().enumerate() {
            let ran = self.run_shape(&with(configuration, shape), (out, at), repeats);
            let ran = ran.and_then(|it| possible(it, at)).map_err(|mut it| {
                it.failed.iter_mut().for_each(|it| it.why = format!("{}: {}", shape.name, it.why));
                it
            })?;
            all.push(ran);
        }
        Ok(Evaluation::over_shapes(all))
    }

    fn run_shape(
        &self,
        configuration: &Configuration<'_>,
        (out, shape): (&Path, usize),
        repeats: u32,
    ) -> Result<Evaluation, Evaluation> {
        let refused = |error: anyhow::Error| Evaluation::failed(Failure::Run, format!("{error:#}"));
        match &self.spec.run {
            Run::Command { command, measure } => {
                let command =
                    self.filled(command, (configuration, out), Unknown::Refused).map_err(refused)?;
                let file =
                    measure.file.as_ref().map(|it| self.filled(it, (configuration, out), Unknown::Refused));
                let file = file.transpose().map_err(refused)?.map(|it| self.spec.folder.join(it));
                let mut all = Evaluation::default();
                for _ in 0..repeats {
                    all.add(self.printed(&command, measure, file.as_deref())?);
                }
                Ok(all)
            }
            Run::Launch(_) | Run::Triton(_) => {
                let path = self.launch_file(out, shape).unwrap_or_default();
                let job = self.launch_job(&path, configuration, out).map_err(refused)?;
                self.job(&job, out).map(|it| it.evaluation)
            }
            Run::Program { command, kernel } => {
                let command =
                    self.filled(command, (configuration, out), Unknown::Refused).map_err(refused)?;
                let job =
                    Job { program: Some(command), kernel: kernel.clone(), repeats, ..self.any_job(out) };
                self.job(&job, out).map(|it| it.evaluation)
            }
        }
    }

    fn any_job(&self, out: &Path) -> Job {
        Job {
            launch: None,
            program: None,
            kernel: None,
            gpu: self.gpu().map(str::to_owned),
            on_gpu: self.place == Place::Gpu,
            output: out.join("recording"),
            repeats: 1,
            checks: false,
            caches: self.spec.caches.unwrap_or_default(),
            warm_ups: 0,
            metrics: self.spec.objective.numbers.clone(),
        }
    }

    /// Runs a command that prints its numbers, once.
    fn printed(
        &self,
        command: &str,
        measure: &Measure,
        file: Option<&Path>,
    ) -> Result<Evaluation, Evaluation> {
        let file = file.map(ResultFile::before);
        let ended = process::shell(command, &self.spec.folder, &self.bounds());
        if let Some(kind) = Failure::of(&ended) {
            return Err(Evaluation::failed(kind, ended.why()));
        }
        let none = |why: String| Evaluation::failed(Failure::NoTime, why);
        let output = match file {
            Some(file) => file.text().map_err(|it| none(it.to_string()))?,
            None => ended.output,
        };
        let us = printed_time(&output, measure).map_err(none)?;
        let mut evaluation = Evaluation { runs_us: vec![us], ..Evaluation::default() };
        for (name, pattern) in &self.spec.objective.numbers {
            let number = number(&output, Some(pattern));
            let number = number.map_err(|why| none(format!("`{name}`: {why}")))?;
            evaluation.numbers.insert(name.clone(), vec![number]);
        }
        Ok(evaluation)
    }

    /// The launch file of a configuration, with the paths in it made absolute.
    fn launch_job(&self, path: &Path, configuration: &Configuration<'_>, out: &Path) -> Result<Job> {
        let (text, path) = launch_file::text(path)?;
        let text = self.filled(&text, (configuration, out), Unknown::Kept)?;
        let mut table = launch_file::rooted(&text, &path)?;
        let job = Job { warm_ups: self.warm_ups(), ..self.any_job(out) };
        if job.warm_ups > 0 {
            let launches = table.get("repeat").and_then(toml::Value::as_integer).unwrap_or(1);
            table.insert("repeat".to_owned(), (launches.saturating_add(job.warm_ups as i64)).into());
        }
        let filled = out.join("launch.toml");
        std::fs::write(&filled, table.to_string())
            .with_context(|| format!("cannot write `{}`", filled.display()))?;
        Ok(Job { launch: Some(filled), ..job })
    }

    /// Runs a job in its own process.
    fn job(&self, job: &Job, out: &Path) -> Result<JobResult, Evaluation> {
        let failed = |why: String| Evaluation::failed(Failure::Run, why);
        let file = out.join("job.json");
        let text = serde_json::to_string(job).map_err(|it| failed(it.to_string()))?;
        std::fs::write(&file, text)
            .map_err(|it| failed(format!("cannot write `{}`: {it}", file.display())))?;
        let words = [self.command.as_os_str(), "tune".as_ref(), "--job".as_ref(), file.as_os_str()];
        let ended = process::program(&words, &self.spec.folder, &self.bounds());
        if let Some(kind) = Failure::of(&ended) {
            return Err(Evaluation::failed(kind, ended.why()));
        }
        let result = std::fs::read(job.result()).map_err(|it| failed(format!("it left no result: {it}")))?;
        let result: JobResult = serde_json::from_slice(&result).map_err(|it| failed(it.to_string()))?;
        match result.evaluation.failed {
            Some(_) => Err(result.evaluation),
            None => Ok(result),
        }
    }
}

/// A configuration with the values of a shape.
fn with<'a>(configuration: &Configuration<'a>, shape: &'a Shape) -> Vec<(&'a str, &'a Value)> {
    let values = shape.values.iter().map(|(name, value)| (name.as_str(), value));
    configuration.iter().copied().chain(values).collect()
}

/// `-DNAME=VALUE` of each parameter, for a shell; true is 1 and false 0.
fn defines(configuration: &Configuration<'_>) -> String {
    let words = configuration.iter().map(|(name, value)| view::shell_word(&value.define(name)).into_owned());
    words.collect::<Vec<_>>().join(" ")
}

/// The time that a command printed, microseconds.
fn printed_time(output: &str, measure: &Measure) -> Result<f64, String> {
    number(output, measure.pattern.as_deref()).and_then(|it| {
        let us = it * measure.scale.us();
        match us > 0.0 && us.is_finite() {
            true => Ok(us),
            false => Err(format!("it printed a time of {it}")),
        }
    })
}
