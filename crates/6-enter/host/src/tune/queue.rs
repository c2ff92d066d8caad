//! A search whose evaluations are tasks in a database: nothing is lost when a process dies, and workers of this machine
//! and of others share the work.

use super::evaluate::Evaluator;
use super::evaluation::{Evaluation, Failure};
use super::search::{Known, Pool};
use super::spec::Spec;
use super::worker::{EvaluateTask, LEASE, Work, Worked, name, pinned, work};
use crate::run::{Place, model_of_machine};
use anyhow::{Context, Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use store::{Done, Journal, Population, Study, StudyId, Task, Worker};
use tune::{Id, Prior, Settings, Space, Value};

/// First and longest pause between two looks for results.
const PAUSES: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(200));
/// Largest file that is part of a fingerprint, bytes.
const MOST_HASHED: u64 = 1 << 28;

/// Settings of a study in the database: all that a worker has to know.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Shared {
    /// Name of the space file without its ending.
    pub stem: String,
    /// Text of the space file.
    pub spec: String,
    /// Folder of the space file, which all workers see at this path.
    pub folder: PathBuf,
    /// The GPU to emulate, in place of the file's.
    pub gpu: Option<String>,
    /// On a GPU, not emulated.
    pub on_gpu: bool,
    /// Looks at built code before it runs.
    pub inspects: bool,
}

impl Shared {
    /// Who runs these configurations; `command` runs a job.
    ///
    /// # Errors
    /// If the space file cannot be read here.
    pub fn evaluator(&self, command: PathBuf) -> Result<Evaluator> {
        let spec = Spec::of(&self.spec, &self.stem, &self.folder)?;
        let place = if self.on_gpu { Place::Gpu } else { Place::Emulator };
        Ok(Evaluator::new(spec, place, self.gpu.clone(), command)?.inspecting(self.inspects))
    }

    /// The GPU whose times these are. An emulated one is the same everywhere, and so is what a command prints for us.
    fn population(&self) -> String {
        match model_of_machine(None) {
            Ok(Some(model)) if self.on_gpu => model.name.clone(),
            _ if self.on_gpu => "GPU".to_owned(),
            _ => "emulated".to_owned(),
        }
    }

    /// The study that goes on with results of earlier runs only where everything is equal: `tune-1a2b3c4d`.
    pub fn study(&self, name: &str, search: (&Settings, &Prior)) -> String {
        format!("{name}-{}", self.fingerprint(search).get(..8).unwrap_or_default())
    }

    /// Hash of all that must be equal for results to go on with: the file, the files that it names, the search.
    fn fingerprint(&self, (settings, prior): (&Settings, &Prior)) -> String {
        let mut hash = DefaultHasher::new();
        (&self.spec, &self.gpu, self.on_gpu, self.inspects).hash(&mut hash);
        // A kernel that changed has other times.
        let splits = |c: char| c.is_whitespace() || "\"'=,;{}()".contains(c);
        for word in self.spec.split(splits).filter(|it| !it.is_empty()) {
            let path = self.folder.join(word);
            if path.metadata().is_ok_and(|it| it.is_file() && it.len() < MOST_HASHED) {
                std::fs::read(path).unwrap_or_default().hash(&mut hash);
            }
        }
        format!("{:?}", (settings.strategy, settings.seed, settings.lag, &settings.first)).hash(&mut hash);
        prior.rejected.hash(&mut hash);
        prior.expected.iter().for_each(|it| it.map(f64::to_bits).hash(&mut hash));
        format!("{:016x}", hash.finish())
    }
}

/// A study in a database, and who works on it here.
#[derive(Clone, Debug)]
pub struct QueueRequest<'a> {
    /// Address of the database.
    pub store: &'a str,
    /// Name of the study.
    pub study: &'a str,
    /// Workers of this process.
    pub local: usize,
    /// Times of different GPUs may be mixed.
    pub mixes: bool,
    /// The command that runs a job.
    pub command: &'a Path,
}

/// The end of the search that asks: it pushes tasks and collects their results.
pub struct Queue {
    journal: Box<dyn Journal>,
    study: StudyId,
    space: Arc<Space>,
    /// Number of the last result that was seen.
    after: u64,
    /// Results of earlier runs, by the number of the proposal, with what was run.
    earlier: BTreeMap<u64, (String, Evaluation)>,
    /// Results that are known and not collected.
    ready: Vec<Known>,
    local: Vec<JoinHandle<Result<Worked>>>,
    /// Workers elsewhere may come.
    waits: bool,
    stop: Arc<AtomicBool>,
}

impl Queue {
    /// Begins a study, or goes on with the one of this name, and starts the workers of this process.
    ///
    /// # Errors
    /// If the database refuses, or the study of this name is another search.
    pub fn begin(
        request: &QueueRequest<'_>,
        shared: &Shared,
        (space, settings, prior): (&Arc<Space>, &Settings, &Prior),
        stop: &Arc<AtomicBool>,
    ) -> Result<Queue> {
        make_folder(request.store)?;
        let mut journal = store::open(request.store)?;
        let population = match (request.mixes, shared.on_gpu) {
            (true, _) => Population::Any,
            (false, true) => Population::First,
            (false, false) => Population::Only(shared.population()),
        };
        let study = journal.begin(&Study {
            name: request.study.to_owned(),
            fingerprint: shared.fingerprint((settings, prior)),
            settings: serde_json::to_string(shared)?,
            population,
        })?;
        let mut queue = Queue {
            journal,
            study,
            space: space.clone(),
            after: 0,
            earlier: BTreeMap::new(),
            ready: Vec::new(),
            local: Vec::new(),
            waits: request.local == 0,
            stop: stop.clone(),
        };
        for done in queue.news()? {
            let evaluation = evaluation(&done);
            queue.earlier.insert(done.sequence, (done.payload, evaluation));
        }
        for at in 0..request.local {
            let mut evaluate = Evaluating::new(shared, request.command.to_owned(), stop)?;
            let work_on = work_of(request.store, request.study, shared, Some(at));
            let told = stop.clone();
            queue.local.push(std::thread::spawn(move || work(&work_on, &mut evaluate, &told)));
        }
        Ok(queue)
    }

    /// Results of earlier runs.
    pub fn earlier(&self) -> usize {
        self.earlier.len()
    }

    /// Ends the study: closed if the search is at its end, else interrupted, so that it can go on.
    ///
    /// # Errors
    /// With the database.
    pub fn end(mut self, finished: bool) -> Result<()> {
        if finished {
            self.journal.close(self.study)?;
        } else {
            self.journal.stop(self.study)?;
        }
        for worker in self.local {
            let _ = worker.join();
        }
        Ok(())
    }

    fn news(&mut self) -> Result<Vec<Done>> {
        let news = self.journal.results(self.study, self.after)?;
        self.after = news.iter().map(|it| it.order).max().unwrap_or(self.after);
        Ok(news)
    }

    /// The error of the first worker that failed, once all of this process have ended and none may come.
    fn deserted(&mut self) -> Result<()> {
        if self.waits || self.local.iter().any(|it| !it.is_finished()) {
            return Ok(());
        }
        for worker in self.local.drain(..) {
            match worker.join() {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => return Err(error.context("a worker ended")),
                Err(_) => bail!("a worker ended by a defect of this program"),
            }
        }
        bail!("all workers ended before the search")
    }
}

impl Pool for Queue {
    fn submit(&mut self, number: u64, id: Id) -> Result<()> {
        let payload = payload(&self.space, id);
        if let Some((ran, evaluation)) = self.earlier.remove(&number) {
            if ran != payload {
                bail!("run {} of the study is another configuration: {ran}", number + 1);
            }
            self.ready.push(Known { number, evaluation, earlier: true });
            return Ok(());
        }
        Ok(self.journal.push(self.study, &[Task { sequence: number, payload }])?)
    }

    fn wait(&mut self) -> Result<Vec<Known>> {
        let mut pause = PAUSES.0;
        loop {
            let mut known = std::mem::take(&mut self.ready);
            for done in self.news()? {
                known.push(Known { number: done.sequence, evaluation: evaluation(&done), earlier: false });
            }
            if !known.is_empty() || self.stop.load(Ordering::Relaxed) {
                return Ok(known);
            }
            self.deserted()?;
            std::thread::sleep(pause);
            pause = (pause * 2).min(PAUSES.1);
        }
    }
}

/// Works on a study of a database until it is closed or `told` is set. Each worker takes one GPU of its node.
///
/// # Errors
/// If there is no such study, the space file cannot be read here, or with the database.
pub fn serve(store: &str, study: &str, command: PathBuf, told: &Arc<AtomicBool>) -> Result<Worked> {
    if let Some(path) = absent(store) {
        bail!("there is no database `{}`: the search makes it, so start that first", path.display());
    }
    let entry = store::open(store)?.study(study)?;
    let shared: Shared = serde_json::from_str(&entry.study.settings)
        .with_context(|| format!("settings of the study `{study}`"))?;
    let mut evaluate = Evaluating::new(&shared, command, told)?;
    let variable = |name: &str| std::env::var(name).ok();
    if let Some(local) = variable("SLURM_LOCALID").and_then(|it| it.parse().ok()).filter(|_| shared.on_gpu) {
        evaluate.0 = evaluate.0.with_variables(pinned(local, variable)?);
    }
    work(&work_of(store, study, &shared, None), &mut evaluate, told)
}

fn work_of(store: &str, study: &str, shared: &Shared, local: Option<usize>) -> Work {
    let name = local.map_or_else(name, |at| format!("{} thread {at}", name()));
    Work {
        store: store.to_owned(),
        study: study.to_owned(),
        worker: Worker { name, population: shared.population() },
        lease: LEASE,
        patience: None,
    }
}

/// Evaluates tasks on this machine.
struct Evaluating(Evaluator);

impl Evaluating {
    fn new(shared: &Shared, command: PathBuf, stop: &Arc<AtomicBool>) -> Result<Evaluating> {
        Ok(Evaluating(shared.evaluator(command)?.stopping(stop.clone())))
    }
}

impl EvaluateTask for Evaluating {
    fn evaluate(&mut self, payload: &str, _alive: &dyn Fn() -> bool) -> String {
        let evaluation = match configuration(payload) {
            Ok(values) => {
                let values: Vec<(&str, &Value)> =
                    values.iter().map(|(name, it)| (name.as_str(), it)).collect();
                self.0.run_one(&values)
            }
            Err(error) => Evaluation::failed(Failure::Run, format!("{error:#}")),
        };
        serde_json::to_string(&evaluation).unwrap_or_default()
    }
}

/// A configuration as a task says it.
pub(super) fn payload(space: &Space, id: Id) -> String {
    let names = space.parameters().iter().map(|it| it.name.clone());
    let all: Map<String, Json> = names.zip(space.values(id).into_iter().map(super::results::value)).collect();
    Json::Object(all).to_string()
}

fn configuration(payload: &str) -> Result<Vec<(String, Value)>> {
    let Json::Object(all) = serde_json::from_str(payload)? else { bail!("`{payload}` is no configuration") };
    let pair = |(name, it): (&String, &Json)| {
        let value =
            super::results::of_json(it).ok_or_else(|| anyhow!("`{name}` of `{payload}` is no value"))?;
        Ok((name.clone(), value))
    };
    all.iter().map(pair).collect()
}

pub(crate) fn evaluation(done: &Done) -> Evaluation {
    match &done.result {
        Ok(text) => serde_json::from_str(text).unwrap_or_else(|error| {
            Evaluation::failed(Failure::Run, format!("the result cannot be read: {error}"))
        }),
        Err(why) => Evaluation::failed(Failure::Run, why.clone()),
    }
}

/// The path of a database that is a file.
fn file_of(store: &str) -> Option<&Path> {
    (!store.contains("://")).then(|| Path::new(store.strip_prefix("sqlite:").unwrap_or(store)))
}

/// The path of a database that is a file and does not exist.
pub(super) fn absent(store: &str) -> Option<&Path> {
    file_of(store).filter(|it| !it.exists())
}

/// The folder of a database that is a file.
pub(super) fn make_folder(store: &str) -> Result<()> {
    let Some(path) = file_of(store) else { return Ok(()) };
    match path.parent().filter(|it| !it.as_os_str().is_empty()) {
        Some(folder) => {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot make `{}`", folder.display()))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tune::{Limits, Parameter};

    #[test]
    fn a_configuration_comes_back() {
        let values =
            vec![Value::Int(-3), Value::Float(0.5), Value::Bool(true), Value::Text("a \"b\"\n".to_owned())];
        let parameters = (0..)
            .zip(&values)
            .map(|(at, value): (u32, _)| Parameter { name: format!("p{at}"), values: vec![value.clone()] });
        let space = Space::new(parameters.collect(), &[], Limits::default()).unwrap();
        let back: Vec<Value> =
            configuration(&payload(&space, 0)).unwrap().into_iter().map(|it| it.1).collect();
        assert_eq!(back, values);
        assert!(configuration("[1]").is_err() && configuration("{\"a\": null}").is_err());
    }
}
