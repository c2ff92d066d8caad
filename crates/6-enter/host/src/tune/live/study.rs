//! The search for one kernel and key.

use super::super::child::{Buffer, JobResult, difference_of};
use super::super::evaluation::{Evaluation, Failed, Failure};
use super::super::proof::Proof;
use super::super::search::Attempt;
use super::LiveRequest;
use super::kept::Kept;
use super::message::{Answer, Begin, Configured, SaidBuffer, SaidCache, SaidFailure};
use super::product::product_of;
use super::space::LiveSpace;
use super::widen::LeftOut;
use crate::launch_file::Element;
use anyhow::Result;
use arch::Model;
use sorting::Sort;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;
use tune::{Asked, Id, Prior, Search, Settings, Space, Told};
use view::{Gain, ProofOf, ProofOutcome, ProofStep};

/// A file of Triton's cache of tuning results (`cache_results=True`, `TRITON_CACHE_AUTOTUNING=1`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CacheFile {
    /// Place below Triton's cache folder.
    pub place: PathBuf,
    /// Its text.
    pub text: String,
}

/// The search for one autotuned kernel and key.
#[derive(Clone, Debug)]
pub struct LiveStudy {
    /// The kernel's function.
    pub kernel: String,
    /// Names and values of its key, and types of its tensors: `M=512, a_ptr=float16`.
    pub key: String,
    /// File with the kernel.
    pub file: PathBuf,
    /// Line of its first decorator.
    pub line: u32,
    /// The space.
    pub space: Arc<Space>,
    /// Configurations that the program lists.
    pub listed: u64,
    /// Configurations left out before the first run, with the rule.
    pub left_out: Vec<LeftOut>,
    /// Configurations in the order of the proposals.
    pub attempts: Vec<Attempt>,
    /// The first of the list; of a wider space the fastest of the list.
    pub start: Option<Id>,
    /// The winner with its proof.
    pub proof: Proof,
    /// File of Triton's cache of tuning results, for the winner.
    pub cache: Option<CacheFile>,
    /// The times are modelled.
    pub modelled: bool,
    /// The search did not end: the program ended before.
    pub unfinished: bool,
    /// Configurations with results of an earlier run.
    pub earlier: u64,
    /// Configurations with an expected time before the first run.
    pub expected: u64,
}

/// A study at work.
pub(super) struct Study {
    begin: Begin,
    live: LiveSpace,
    search: Search,
    asked: Vec<Id>,
    results: Vec<(Id, Evaluation)>,
    start: Option<Id>,
    /// The first of the list, whose results count as right.
    first: Option<Id>,
    checks: bool,
    modelled: bool,
    widened: bool,
    /// The first that is checked is the start.
    start_checked: bool,
    reference: Option<JobResult>,
    proof: Proof,
    cache: Option<CacheFile>,
    ended: bool,
    folder: PathBuf,
    kept: Option<Kept>,
    /// Configurations with results of an earlier run.
    earlier: u64,
    /// Configurations with an expected time before the first run.
    expected: u64,
}

/// Most configurations whose results are checked.
const MOST_CHECKED: usize = 5;

impl Study {
    /// Begins the search for a kernel.
    pub(super) fn new(
        begin: Begin,
        request: &LiveRequest<'_>,
        model: Option<&'static Model>,
        folder: &Path,
    ) -> Result<Study> {
        let live = LiveSpace::new(&begin, request.widen, model)?;
        let listed = live.listed();
        let budget = (request.budget)(live.space.len());
        // The list comes first as far as it leaves half of the runs for the rest.
        let first = if request.widen { (budget / 2).max(1) as usize } else { 1 };
        let settings = Settings {
            strategy: request.strategy,
            seed: request.seed,
            budget,
            lag: if begin.isolated { request.workers } else { 1 },
            first: listed.iter().copied().take(first).collect(),
        };
        let prior = expected(&begin, &live.space, request, model);
        let known = prior.expected.iter().flatten().count() as u64;
        let search = Search::new(live.space.clone(), settings, prior);
        let kept = request.store.as_deref().map(|store| kept(store, &begin, request, model));
        Ok(Study {
            kept: kept.transpose()?,
            earlier: 0,
            expected: known,
            start: listed.first().copied(),
            first: listed.first().copied(),
            checks: request.proof && begin.isolated,
            modelled: begin.isolated,
            widened: request.widen,
            begin,
            live,
            search,
            asked: Vec::new(),
            results: Vec::new(),
            start_checked: false,
            reference: None,
            proof: Proof::default(),
            cache: None,
            ended: false,
            folder: folder.to_owned(),
        })
    }

    /// The next configuration to run, and before it the results that an earlier run has, with their numbers. If `is_over`,
    /// only the start is run.
    pub(super) fn ask(&mut self, is_over: bool) -> (Vec<(u64, Attempt)>, Answer) {
        let mut earlier = Vec::new();
        loop {
            let answer = match self.search.ask() {
                Asked::Run(_) if is_over && !self.asked.is_empty() => Answer::Finished,
                Asked::Run(id) => {
                    self.asked.push(id);
                    let known = self.kept.as_ref().and_then(|it| it.earlier(&self.live.space, id));
                    if let Some(evaluation) = known {
                        self.earlier += 1;
                        earlier.push((self.asked.len() as u64 - 1, self.learn(id, evaluation)));
                        continue;
                    }
                    Answer::Run(self.live.configured(id))
                }
                Asked::Wait => Answer::Wait,
                Asked::Finished => Answer::Finished,
            };
            return (earlier, answer);
        }
    }

    fn learn(&mut self, id: Id, evaluation: Evaluation) -> Attempt {
        self.search.tell(id, evaluation.time_us().map_or(Told::Failed, Told::Took));
        self.results.push((id, evaluation.clone()));
        Attempt { id, evaluation }
    }

    /// Time that its configurations ran in this run, seconds.
    pub(super) fn busy_s(&self) -> f64 {
        self.results.iter().map(|it| it.1.run_s).sum()
    }

    /// A result. Returns the number of the proposal with it; `None` if the configuration was not asked for.
    ///
    /// # Errors
    /// If it cannot be kept.
    pub(super) fn tell(
        &mut self,
        id: Id,
        us: Option<f64>,
        failed: Option<SaidFailure>,
        (build_s, run_s): (f64, f64),
    ) -> Result<Option<(u64, Attempt)>> {
        let Some(number) = self.asked.iter().position(|it| *it == id) else { return Ok(None) };
        let evaluation = match (us, failed) {
            (Some(us), None) if us > 0.0 && us.is_finite() => {
                Evaluation { runs_us: vec![us], build_s, run_s, ..Evaluation::default() }
            }
            (_, Some(it)) => {
                let failed = Some(Failed { kind: it.kind, why: it.why });
                Evaluation { failed, build_s, run_s, ..Evaluation::default() }
            }
            (us, None) => {
                let why = us.map_or_else(|| "no time was said".to_owned(), |us| format!("a time of {us} us"));
                Evaluation::failed(Failure::NoTime, why)
            }
        };
        if let Some(kept) = &mut self.kept {
            kept.keep(&self.live.space, id, &evaluation)?;
        }
        Ok(Some((number as u64, self.learn(id, evaluation))))
    }

    fn time(&self, id: Id) -> Option<f64> {
        self.results.iter().find(|it| it.0 == id)?.1.time_us()
    }

    /// The start and the fastest.
    pub(super) fn candidates(&mut self) -> Answer {
        if self.widened {
            let timed = self.live.listed().into_iter().filter_map(|id| Some((self.time(id)?, id)));
            self.start = timed.min_by(|a, b| a.0.total_cmp(&b.0)).map(|it| it.1).or(self.start);
        }
        let mut fastest: Vec<(f64, Id)> =
            self.results.iter().filter_map(|(id, it)| Some((it.time_us()?, *id))).collect();
        fastest.in_order_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let configured = |id: Id| -> Configured { self.live.configured(id) };
        let answer = Answer::Candidates {
            check: self.checks,
            start: self.first.map(configured),
            fastest: fastest.iter().take(MOST_CHECKED).map(|it| configured(it.1)).collect(),
        };
        if !self.checks {
            self.proof.winner = fastest.first().map(|it| it.1);
            if !self.modelled {
                let text = "on a GPU the program itself has to compare results".to_owned();
                self.proof.steps.push(ProofStep {
                    what: ProofOf::Results,
                    outcome: ProofOutcome::NotDone,
                    text,
                });
            }
        }
        answer
    }

    /// Takes the result of a checked run, of the start, or of a candidate. Returns whether it passed.
    pub(super) fn checked(
        &mut self,
        id: Id,
        buffers: &[SaidBuffer],
        mistakes: &[String],
        failed: Option<SaidFailure>,
    ) -> bool {
        let step = |what, outcome, text: String| ProofStep { what, outcome, text };
        let unreadable: Vec<&str> =
            buffers.iter().filter(|it| element(&it.element).is_none()).map(|it| it.name.as_str()).collect();
        let known = buffers.iter().filter_map(|it| {
            Some(Buffer { name: it.name.clone(), element: element(&it.element)?, file: it.file.clone() })
        });
        let result = JobResult { buffers: known.collect(), ..JobResult::default() };
        if self.first == Some(id) && !std::mem::replace(&mut self.start_checked, true) {
            // Its files go when the program heard the answer.
            self.reference = failed.is_none().then(|| self.kept(&result).ok()).flatten();
            return failed.is_none();
        }
        let mut steps = Vec::new();
        match (failed, &self.reference) {
            (Some(it), _) => steps.push(step(ProofOf::Results, ProofOutcome::Failed, it.why)),
            (None, None) => {
                let text = "the start does not run, so no results can be compared".to_owned();
                steps.push(step(ProofOf::Results, ProofOutcome::NotDone, text));
            }
            (None, Some(start)) => steps.push(compared(start, &result, &unreadable)),
        }
        steps.push(match mistakes.first() {
            None => step(ProofOf::Mistakes, ProofOutcome::Passed, "none found on the emulator".into()),
            Some(first) => step(ProofOf::Mistakes, ProofOutcome::Failed, first.clone()),
        });
        let passed = steps.iter().all(|it| it.outcome != ProofOutcome::Failed);
        self.proof.steps.extend(steps);
        if passed {
            self.proof.winner = Some(id);
        }
        passed
    }

    /// A copy of the files of a result.
    fn kept(&self, result: &JobResult) -> Result<JobResult> {
        std::fs::create_dir_all(&self.folder)?;
        let mut kept = result.clone();
        for (at, buffer) in kept.buffers.iter_mut().enumerate() {
            let file = self.folder.join(format!("{at}.bin"));
            std::fs::copy(&buffer.file, &file)?;
            buffer.file = file;
        }
        Ok(kept)
    }

    /// The program goes on.
    pub(super) fn end(&mut self, cache: Option<SaidCache>) {
        self.cache = cache.map(|it| CacheFile { place: it.place.into(), text: it.text });
        self.ended = true;
        self.reference = None;
        // The folder is within one that goes with the command.
        let _ = std::fs::remove_dir_all(&self.folder);
        let times = (self.start.and_then(|it| self.time(it)), self.proof.winner.and_then(|it| self.time(it)));
        if let (Some(before), Some(after), true) = (times.0, times.1, self.modelled) {
            self.proof.gain = Some(Gain {
                speedup: before / after,
                low: None,
                high: None,
                method: "modelled: equal runs give equal times".to_owned(),
            });
        }
    }

    /// The search as an answer shows it.
    pub(super) fn public(&self) -> LiveStudy {
        let begin = &self.begin;
        let words = begin.key.iter().chain(&begin.types).map(|(name, value)| format!("{name}={value}"));
        let attempts = self.asked.iter().filter_map(|id| {
            let (_, evaluation) = self.results.iter().find(|it| it.0 == *id)?;
            Some(Attempt { id: *id, evaluation: evaluation.clone() })
        });
        LiveStudy {
            kernel: begin.kernel.clone(),
            key: words.collect::<Vec<_>>().join(", "),
            file: begin.file.clone(),
            line: begin.line,
            space: self.live.space.clone(),
            listed: begin.configurations.len() as u64,
            left_out: self.live.left_out.clone(),
            attempts: attempts.collect(),
            start: self.start,
            proof: self.proof.clone(),
            cache: self.cache.clone(),
            modelled: self.modelled,
            unfinished: !self.ended,
            earlier: self.earlier,
            expected: self.expected,
        }
    }
}

/// Expected times of the configurations of a matrix product. None is rejected: the program's own list is to run.
fn expected(begin: &Begin, space: &Space, request: &LiveRequest<'_>, model: Option<&'static Model>) -> Prior {
    let times = || (request.prior?)(model?, &product_of(begin, space)?, space);
    Prior { expected: times().unwrap_or_default(), rejected: Vec::new() }
}

/// Opens the results of a study. Its name changes with everything that changes times.
fn kept(
    store: &str,
    begin: &Begin,
    request: &LiveRequest<'_>,
    model: Option<&'static Model>,
) -> Result<Kept> {
    let mut hash = DefaultHasher::new();
    (&begin.kernel, &begin.key, &begin.types, &begin.source, &begin.arguments, begin.isolated)
        .hash(&mut hash);
    if begin.source.is_empty() {
        std::fs::read(&begin.file).unwrap_or_default().hash(&mut hash);
    }
    let model = model.map_or("", |it| it.name.as_str());
    (model, request.gpu.as_deref()).hash(&mut hash);
    if request.fresh {
        SystemTime::now().hash(&mut hash);
    }
    let gpu = match (begin.isolated, crate::run::model_of_machine(None)) {
        (true, _) => "emulated".to_owned(),
        (false, Ok(Some(model))) => model.name.clone(),
        (false, _) => "GPU".to_owned(),
    };
    Kept::begin(store, &format!("{}-{:016x}", begin.kernel, hash.finish()), &gpu)
}

/// The step that compares results with those of the start, with a tolerance by the coarsest type.
fn compared(start: &JobResult, result: &JobResult, unreadable: &[&str]) -> ProofStep {
    let tolerance = result.buffers.iter().map(|it| tolerance(it.element)).fold(0.0, f64::max);
    let (outcome, mut text) = match difference_of(start, result, tolerance) {
        Ok(0) => (ProofOutcome::NotDone, "no tensors to compare".to_owned()),
        Ok(elements) => {
            let text =
                format!("{} elements as of the start (tolerance {tolerance})", view::thousands(elements));
            (ProofOutcome::Passed, text)
        }
        Err(why) => (ProofOutcome::Failed, why),
    };
    if !unreadable.is_empty() {
        text += &format!("; not compared, by their types: {}", unreadable.join(", "));
    }
    ProofStep { what: ProofOf::Results, outcome, text }
}

/// The type of elements by the name that NumPy or torch has for it.
fn element(name: &str) -> Option<Element> {
    let short = match name {
        "float16" => "f16",
        "bfloat16" => "bf16",
        "float32" => "f32",
        "float64" => "f64",
        "bool" => "u8",
        other => match other.strip_prefix("uint") {
            Some(bits) => return Element::by_name(&format!("u{bits}")),
            None => return Element::by_name(&format!("i{}", other.strip_prefix("int")?)),
        },
    };
    Element::by_name(short)
}

/// How far results may differ where sums have another order: a few roundings of the type.
fn tolerance(element: Element) -> f64 {
    match (element.is_whole(), element.size(), element.name()) {
        (true, ..) => 0.0,
        (_, _, "bf16") => 2e-2,
        (_, 2, _) => 4e-3,
        (_, 4, _) => 1e-4,
        _ => 1e-10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_numpy_and_torch() {
        for (name, expected) in [
            ("float16", Some(2)),
            ("bfloat16", Some(2)),
            ("float32", Some(4)),
            ("int8", Some(1)),
            ("uint32", Some(4)),
            ("bool", Some(1)),
            ("float8_e4m3fn", None),
            ("complex64", None),
        ] {
            assert_eq!(element(name).map(Element::size), expected, "{name}");
        }
    }
}
