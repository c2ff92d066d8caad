//! Variants of a kernel, run on the same inputs: what each leaves is compared with what the base leaves.

mod compare;
mod data;
mod problem;
mod program;
mod rounds;
mod variant;

pub use program::is_program;
pub use rounds::Rounds;

use crate::launch_file::LaunchFile;
use crate::run::{
    self, Conditions, Detail, Emulate, OnGpu, Output, Place, Recording, Reporter, Request, Selection, What,
};
use crate::session::Progress;
use crate::tune::Shape;
use crate::usage;
use anyhow::{Context, Result, bail};
use data::Data;
use problem::{Launches, Others, Shown, fault_of_base, leave_the_same, one_line, problem};
use rayon::prelude::*;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use variant::Variant;
use view::{CandidateVerdict, Finding, Note, NoteKind};

/// A candidate may issue this many times the instructions of the base in one wave, and some more.
const MOST_TIMES: u64 = 4;
/// Instructions that a wave may issue however few the base does.
const MOST_MORE: u64 = 100_000;
/// In buffers that a kernel is to write: no number in floats, and -1 in integers.
const FILL: u8 = 0xff;

/// Said where nothing can change.
const ONE_SET: &str = "no argument has random contents, so one set of inputs was tried; `initial = \"random\"` in the launch file makes more";

/// Bytes of buffers of sets of inputs that are tried side by side; each is held some ten times.
const MOST_AT_ONCE: u64 = 256 << 20;

/// The variants to judge, and their inputs.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// The variant that is right.
    pub base: &'a Path,
    /// The others.
    pub candidates: &'a [PathBuf],
    /// Launch file of variants that are code or sources.
    pub launch: Option<&'a Path>,
    /// The GPU to emulate, in place of the launch file's.
    pub gpu: Option<&'a str>,
    /// Sets of random inputs; at least 1.
    pub seeds: u32,
    /// Values that fill braces of the launch files; at least one shape, perhaps without values.
    pub shapes: &'a [Shape],
    /// Buffers whose contents in files are kept in all sets of inputs.
    pub keep: &'a [String],
    /// Difference allowed, in place of the launch file's and the type's.
    pub tolerance: Option<f64>,
    /// Lines that launches find in the caches when they are timed.
    pub caches: run::CacheState,
    /// Arguments of programs.
    pub arguments: &'a [OsString],
    /// The Python that runs scripts.
    pub python: &'a OsStr,
    /// Type of what programs read back, where it is not known from tensors.
    pub element: Option<&'a str>,
    /// Times of programs on the GPU of this machine, in place of modelled ones.
    pub rounds: Option<&'a Rounds>,
}

/// A variant that was tried.
#[derive(Debug)]
pub struct Tried {
    /// Name of its file, or its path where two have one name.
    pub name: String,
    /// Path as given.
    pub path: PathBuf,
    /// Form.
    pub kind: &'static str,
    /// Why it cannot be used.
    pub problem: Option<Problem>,
    /// Largest relative difference from the base.
    pub largest: f64,
    /// Its results depend on the order of workgroups, as the base's do.
    pub by_order: bool,
    /// Recordings of a launch of each shape, or of each round on a GPU.
    pub recordings: Vec<PathBuf>,
}

/// Why a candidate cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Kind.
    pub verdict: CandidateVerdict,
    /// In a sentence.
    pub why: String,
    /// The inputs that show it.
    pub inputs: Option<String>,
}

impl Judged {
    /// Adds a note, unless it is there.
    fn note(&mut self, kind: NoteKind, text: impl Into<String>) {
        let note = Note { kind, text: text.into() };
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

impl Problem {
    fn new(verdict: CandidateVerdict, why: impl Into<String>) -> Problem {
        Problem { verdict, why: why.into(), inputs: None }
    }
}

/// The result of a question.
#[derive(Debug)]
pub struct Judged {
    /// The base, then the candidates.
    pub variants: Vec<Tried>,
    /// Sets of inputs on which all ran.
    pub cases: u64,
    /// Notes on the inputs.
    pub notes: Vec<Note>,
    /// The recordings are in it.
    pub folder: TempDir,
}

/// Runs all variants.
///
/// # Errors
/// If the base cannot be run or is wrong itself, or it is interrupted.
pub fn judge(question: &Question<'_>, reporter: &dyn Reporter) -> Result<Judged> {
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    if question.launch.is_none() && program::is_program(question.base) {
        return program::judge(question, reporter, folder);
    }
    if !question.arguments.is_empty() {
        return Err(usage(
            "arguments after `--` are for programs",
            "launch files have values in braces: `--shape N=1000`",
        ));
    }
    if question.rounds.is_some() {
        return Err(usage(
            "`--on gpu` times programs and scripts, and a launch file is none",
            "a program that launches the kernel can be judged, as `rockhound judge old/app new/app --on gpu`",
        ));
    }
    let quiet = Quiet { reporter, stop: reporter.interrupts()? };
    let named = variant::all(question);
    let mut variants = Vec::new();
    let mut tried = Vec::new();
    for (at, it) in named.into_iter().enumerate() {
        let (variant, problem) = match it.variant {
            Ok(variant) => (Some(variant), None),
            Err(error) if at == 0 || error.is::<view::UsageError>() => return Err(error),
            Err(error) => (None, Some(Problem::new(CandidateVerdict::NotRun, format!("{error:#}")))),
        };
        variants.push(variant);
        tried.push(Tried {
            name: it.name,
            path: it.path,
            kind: it.kind,
            problem,
            largest: 0.0,
            by_order: false,
            recordings: Vec::new(),
        });
    }
    let path = folder.path().to_owned();
    let mut judged = Judged { variants: tried, cases: 0, notes: Vec::new(), folder };
    for note in variants.iter().flatten().flat_map(|it| &it.notes) {
        judged.note(NoteKind::Warning, note);
    }
    let mut panel = Panel { bench: Bench { question, quiet: &quiet }, variants, judged };
    for (at, shape) in question.shapes.iter().enumerate() {
        panel.shape(shape, &path.join(format!("shape{at}")))?;
    }
    Ok(panel.judged)
}

/// The variants while they are tried.
struct Panel<'a> {
    bench: Bench<'a>,
    variants: Vec<Option<Variant>>,
    judged: Judged,
}

/// Where variants are launched, several side by side.
#[derive(Clone, Copy)]
struct Bench<'a> {
    question: &'a Question<'a>,
    quiet: &'a Quiet<'a>,
}

/// One set of inputs of a shape.
struct Inputs {
    file: LaunchFile,
    seed: u64,
    /// For people.
    name: String,
    /// Contents in place of those of files.
    data: Option<Arc<Data>>,
}

impl Inputs {
    /// Gives the launch file of any variant the contents of a seed; `false` if no contents change.
    fn change(file: &mut LaunchFile, seed: u64, data: Option<&Data>) -> bool {
        let reseeded = file.reseed(seed);
        data.is_some_and(|it| it.vary(file, seed)) || reseeded
    }
}

impl Panel<'_> {
    /// Tries all variants on a shape: on all sets of inputs side by side, as far as memory has room for.
    fn shape(&mut self, shape: &Shape, scratch: &Path) -> Result<()> {
        let bench = self.bench;
        let inputs = self.inputs(shape)?;
        let bytes: u64 = inputs.first().map_or(0, |it| it.file.bytes());
        let at_once = usize::try_from(MOST_AT_ONCE / bytes.max(1)).unwrap_or(1).max(1);
        for some in inputs.chunks(at_once) {
            let mut pairs = Vec::new();
            for (inputs, base) in some.iter().zip(bench.bases(some)?) {
                match base {
                    Ok(base) => pairs.push((inputs, base)),
                    Err(why) => self.judged.note(
                        NoteKind::Warning,
                        format!("{} is left out: the base fails on such contents: {why}", inputs.name),
                    ),
                }
            }
            self.others().try_for_each(|(variant, tried)| -> Result<()> {
                for it in bench.candidate(variant, shape, &pairs)? {
                    tried.largest = tried.largest.max(it.largest);
                    tried.by_order |= it.by_order;
                    tried.problem = it.problem;
                }
                Ok(())
            })?;
            self.judged.cases += pairs.len() as u64;
        }
        self.usable().enumerate().try_for_each(|(at, it)| -> Result<()> {
            let Some((variant, tried)) = it else { return Ok(()) };
            tried.recordings.push(bench.record(variant, shape, &scratch.join(at.to_string()))?);
            Ok(())
        })
    }

    /// The sets of inputs of a shape.
    fn inputs(&mut self, shape: &Shape) -> Result<Vec<Inputs>> {
        let Some(base) = &self.variants[0] else { bail!("there is no base") };
        let (_, mut base_file) = base.launch(shape)?;
        let Question { seeds, keep, .. } = *self.bench.question;
        let data = Data::new(self.bench, &base_file, keep)?.map(Arc::new);
        if let Some(data) = &data {
            data.mark(&mut base_file);
            let Note { kind, text } = data.note(seeds);
            self.judged.note(kind, text);
        }
        let mut all = Vec::new();
        for seed in 0..u64::from(seeds.max(1)) {
            let mut file = base_file.clone();
            let is_other = seed == 0 || Inputs::change(&mut file, seed, data.as_deref());
            if !is_other {
                if data.is_none() {
                    self.judged.note(NoteKind::Warning, ONE_SET);
                }
                break;
            }
            let name = match shape.name.as_str() {
                "" => format!("seed {seed}"),
                name => format!("{name}, seed {seed}"),
            };
            all.push(Inputs { file, seed, name, data: data.clone() });
        }
        Ok(all)
    }

    /// Each variant, side by side, with what is known of it; `None` for one that cannot be used.
    fn usable(&mut self) -> impl IndexedParallelIterator<Item = Option<(&Variant, &mut Tried)>> {
        let all = self.variants.par_iter().zip(self.judged.variants.par_iter_mut());
        all.map(|(variant, tried)| variant.as_ref().filter(|_| tried.problem.is_none()).map(|it| (it, tried)))
    }

    /// The candidates that can be used so far.
    fn others(&mut self) -> impl ParallelIterator<Item = (&Variant, &mut Tried)> {
        self.usable().skip(1).flatten()
    }
}

impl Bench<'_> {
    /// Launches of the base on sets of inputs; or why it fails on one whose contents are not those of the files.
    fn bases(self, inputs: &[Inputs]) -> Result<Vec<Result<Launches, String>>> {
        let one = |it: &Inputs| {
            // Made here, and not by each of the launches side by side.
            it.file.contents()?;
            self.launches(&it.file, it.seed == 0, run::MOST_INSTRUCTIONS)
        };
        let all: Vec<Result<Launches>> = inputs.par_iter().map(one).collect();
        let mut bases = Vec::new();
        for (it, base) in inputs.iter().zip(all) {
            let base = base?;
            match fault_of_base(&base.plain) {
                Some(why) if it.seed > 0 && it.data.is_some() => bases.push(Err(one_line(&why))),
                Some(why) => bail!("the base is wrong itself ({}): {why}", it.name),
                None => bases.push(Ok(base)),
            }
        }
        Ok(bases)
    }

    /// Compares a candidate on sets of inputs, up to the first with a problem.
    fn candidate(
        self,
        variant: &Variant,
        shape: &Shape,
        pairs: &[(&Inputs, Launches)],
    ) -> Result<Vec<Shown>> {
        // The first set with a problem so far: no later one is needed.
        let first = AtomicUsize::new(usize::MAX);
        let one = |(at, (inputs, base)): (usize, &(&Inputs, Launches))| {
            if first.load(Ordering::Relaxed) < at {
                return Ok(Shown::default());
            }
            let shown = self.shown(variant, shape, (inputs, base))?;
            if shown.problem.is_some() {
                first.fetch_min(at, Ordering::Relaxed);
            }
            Ok(shown)
        };
        let all: Vec<Result<Shown>> = pairs.par_iter().enumerate().map(one).collect();
        let needed = first.into_inner().saturating_add(1);
        all.into_iter().take(needed).collect()
    }

    fn shown(self, variant: &Variant, shape: &Shape, (inputs, base): (&Inputs, &Launches)) -> Result<Shown> {
        let most = base.plain.instructions.saturating_mul(MOST_TIMES).saturating_add(MOST_MORE);
        let launched = variant.launch(shape).and_then(|(_, mut file)| {
            if self.question.gpu.is_none() && file.gpu != base.gpu {
                bail!("its launch file names another GPU than the base's; `--gpu` names one for all");
            }
            if let Some(data) = &inputs.data {
                data.mark(&mut file);
            }
            if inputs.seed > 0 {
                Inputs::change(&mut file, inputs.seed, inputs.data.as_deref());
            }
            file.share_contents(&inputs.file);
            file.contents()?;
            self.launches(&file, base.others.is_some(), most)
        });
        self.quiet.check()?;
        let mut shown = Shown::default();
        let problem = match launched {
            Err(error) => Some(Problem::new(CandidateVerdict::NotRun, format!("{error:#}"))),
            Ok(own) => problem(base, &own, self.question.tolerance, &mut shown),
        };
        shown.problem = problem.map(|it| Problem { inputs: Some(inputs.name.clone()), ..it });
        Ok(shown)
    }

    fn launches(self, file: &LaunchFile, with_others: bool, most: u64) -> Result<Launches> {
        let run = |conditions: Conditions, checked: bool| {
            let check = if checked { vec!["races".into(), "uninit".into()] } else { Vec::new() };
            let emulate = Emulate { check, max_instructions: most, ..emulate(self.question, 1) };
            let results = run::results(file, &emulate, conditions, self.quiet);
            self.quiet.check()?;
            results
        };
        let plain = || run(Conditions::default(), with_others);
        let gpu = file.gpu.clone();
        if !with_others {
            return Ok(Launches { gpu, plain: plain()?, others: None });
        }
        let filled = || run(Conditions { fill: Some(FILL), ..Conditions::default() }, false);
        let reversed = || run(Conditions { reversed: true, ..Conditions::default() }, false);
        let both = || run(Conditions { reversed: true, fill: Some(FILL) }, false);
        let (plain, both) = rayon::join(plain, both);
        let (plain, both) = (plain?, both?);
        // Where it stops, the others say nothing more.
        if plain.stopped.is_some() {
            return Ok(Launches { gpu, plain, others: None });
        }
        if both.stopped.is_none() && leave_the_same(&plain, &both) {
            return Ok(Launches { gpu, plain, others: Some(Others::Same) });
        }
        let (filled, reversed) = rayon::join(filled, reversed);
        Ok(Launches { gpu, plain, others: Some(Others::Apart(Box::new([filled?, reversed?]))) })
    }

    /// Records a launch; returns the folder.
    fn record(self, variant: &Variant, shape: &Shape, scratch: &Path) -> Result<PathBuf> {
        std::fs::create_dir_all(scratch).with_context(|| format!("cannot make `{}`", scratch.display()))?;
        let (text, _) = variant.launch(shape)?;
        let file = scratch.join("LAUNCH.toml");
        std::fs::write(&file, text).with_context(|| format!("cannot write `{}`", file.display()))?;
        let request = Request {
            what: What::LaunchFile(file, Vec::new()),
            place: Place::Emulator,
            emulate: emulate(self.question, 0),
            on_gpu: OnGpu::default(),
            record: Some(Recording {
                name: Some("judge".to_owned()),
                output: Some(scratch.join("recording")),
                overwrite: true,
                select: Selection::default(),
                blocks: Vec::new(),
                set: None,
                detail: Detail { caches: self.question.caches, shares_xcds: true, ..Detail::default() },
                no_results: true,
            }),
        };
        let ran = run::run(&request, self.quiet)?;
        self.quiet.check()?;
        ran.folders.into_iter().next().context("nothing was recorded")
    }
}

/// Settings of the emulated GPU.
fn emulate(question: &Question<'_>, threads: usize) -> Emulate {
    Emulate {
        gpu: question.gpu.map(str::to_owned),
        devices: 1,
        threads,
        max_instructions: run::MOST_INSTRUCTIONS,
        check: Vec::new(),
        progress: Progress::Silent,
        repeats: false,
        virtual_time: None,
        autotune_limit: None,
    }
}

/// Shows that kernels run, and nothing else.
struct Quiet<'a> {
    reporter: &'a dyn Reporter,
    stop: Arc<AtomicBool>,
}

impl Quiet<'_> {
    fn check(&self) -> Result<()> {
        if self.stop.load(Ordering::Relaxed) {
            bail!("interrupted");
        }
        Ok(())
    }
}

impl Reporter for Quiet<'_> {
    fn say(&self, _: &str) {}
    fn print(&self, _: Output, _: &[u8]) {}
    fn running(&self, kernel: &str, time: Duration, state: &dyn Fn() -> String) {
        self.reporter.running(kernel, time, state);
    }
    fn stopped(&self) {
        self.reporter.stopped();
    }
    fn ran(&self, _: &str, _: &str) {}
    fn interrupts(&self) -> Result<Arc<AtomicBool>> {
        Ok(self.stop.clone())
    }
    fn findings(&self, _: &str, _: &[Finding], _: bool) -> Result<()> {
        Ok(())
    }
}

/// Shapes as written in options: `N=1000` or `N=1000,M=8`; one without values if there are none.
///
/// # Errors
/// If a text is not of that form.
pub fn shapes(texts: &[String]) -> Result<Vec<Shape>> {
    let one = |text: &String| {
        let words = text.split([',', ' ']).filter(|it| !it.is_empty());
        let values = words.map(|word| match word.split_once('=') {
            Some((name, value)) if !name.is_empty() && !value.is_empty() => {
                Ok((name.to_owned(), tune::Value::parse(value)))
            }
            _ => {
                Err(usage(format!("`{word}` is not of the form NAME=VALUE"), "such as `--shape N=1000,M=8`"))
            }
        });
        Ok(Shape { name: text.clone(), values: values.collect::<Result<_>>()? })
    };
    if texts.is_empty() {
        return Ok(vec![Shape { name: String::new(), values: Vec::new() }]);
    }
    texts.iter().map(one).collect()
}
