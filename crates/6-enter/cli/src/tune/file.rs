//! A space file, searched through a database.

use super::telling::Telling;
use super::{Searched, add, prior, settings, told, why};
use crate::args::Tune;
use crate::progress::Running;
use anyhow::{Context, Result};
use host::run::{Place, Reporter};
use host::tune::{
    self, Course, Evaluator, Found, Id, Limit, Prior, Proof, Proving, Queue, QueueRequest, Run, Shared,
    Space, Spec,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use view::{Answer, Input, NamedValue, NoteKind, Searches};

/// A space file, ready to be searched.
struct Ready<'a> {
    args: &'a Tune,
    path: &'a Path,
    evaluator: Evaluator,
    space: Arc<Space>,
    start: Option<Id>,
    on_gpu: bool,
    /// The command that runs a job.
    command: PathBuf,
}

/// Searches, and adds the search to the answer.
pub(super) fn run(
    args: &Tune,
    path: &Path,
    running: &Running<'_>,
    answer: &mut Answer<Searches>,
) -> Result<()> {
    let ready = Ready::new(args, path)?;
    let spec = &ready.evaluator.spec;
    answer.inputs.push(ready.input());
    if let Some(text) = &args.why {
        return why::of_file(args, text, (path, &ready.space), &ready.evaluator, running, answer);
    }
    let known = prior::prior(args, Some(spec), &ready.space, &running.interrupts()?)?;
    told(answer, &known);
    let mut found = ready.search(known.prior, running, answer)?;
    if let Some(file) = &args.results {
        let gpu = ready.evaluator.gpu().unwrap_or("");
        let text = tune::t4(&spec.name, gpu, &ready.space, &found.attempts);
        std::fs::write(file, text).with_context(|| format!("cannot write `{}`", file.display()))?;
    }
    if found.timed_out {
        let runs = view::counted(found.attempts.len(), "run");
        answer.note(NoteKind::Info, format!("the budget of time ended the search after {runs}"));
    }
    if found.interrupted {
        answer.note(NoteKind::Warning, "interrupted: the budget was not used up");
    }
    let proof = ready.proof(&mut found)?;
    let objective = spec.objective.words(&ready.time());
    let objective = match spec.shapes.len() {
        0 => objective,
        many => format!("{objective}; geometric mean over {}", view::counted(many, "shape")),
    };
    let what =
        Searched { name: &spec.name, objective: &objective, of: &spec.objective, shapes: &spec.shapes };
    let config = proof.winner.filter(|_| matches!(spec.run, Run::Triton(_)));
    let config = config.map(|id| tune::config_text(&ready.space, id, "triton."));
    add(answer, args, &what, &ready.space, &found.attempts, (ready.start, proof));
    if let (Some(config), Some(search)) = (config, answer.part.searches.last_mut()) {
        search.outputs = vec![NamedValue::new("configuration", config)];
    }
    Ok(())
}

impl<'a> Ready<'a> {
    fn new(args: &'a Tune, path: &'a Path) -> Result<Ready<'a>> {
        let spec = Spec::read(path)?;
        let space = Arc::new(tune::space_of(&spec)?);
        let start = spec.start.as_ref().map(|it| tune::id_of(&space, it)).transpose()?;
        let on_gpu = match Place::from(args.on) {
            Place::Auto => {
                args.gpu.is_none() && spec.gpu.is_none() && Path::new(host::run::GPU_DEVICE).exists()
            }
            place => place == Place::Gpu,
        };
        let place = if on_gpu { Place::Gpu } else { Place::Emulator };
        let command = std::env::current_exe().context("the command cannot be found")?;
        let evaluator =
            Evaluator::new(spec, place, args.gpu.clone(), command.clone())?.inspecting(!args.no_inspect);
        Ok(Ready { args, path, evaluator, space, start, on_gpu, command })
    }

    fn input(&self) -> Input {
        let mut input = Input::new(&self.evaluator.spec.name, self.path.display().to_string(), "space file");
        let (space, valid) = (&self.space, view::thousands(self.space.len()));
        input.used = match u64::try_from(space.product()) {
            Ok(all) => format!("{valid} of {} combinations are valid", view::thousands(all)),
            Err(_) => format!("{valid} valid configurations"),
        };
        input
    }

    /// The time, in words.
    fn time(&self) -> String {
        let gpu = self.evaluator.gpu().unwrap_or("the code's GPU");
        match (&self.evaluator.spec.run, self.on_gpu) {
            (Run::Command { .. }, _) => "time that the command prints".to_owned(),
            (_, true) => "time of the kernels on the GPU of this machine".to_owned(),
            (Run::Launch(_) | Run::Triton(_) | Run::Program { .. }, false) => {
                let caches = self.evaluator.spec.caches.unwrap_or_default().words();
                format!("modelled time of the kernels on an emulated {gpu}; caches: {caches}")
            }
        }
    }

    fn search(&self, prior: Prior, running: &Running<'_>, answer: &mut Answer<Searches>) -> Result<Found> {
        let Ready { args, path, space, .. } = self;
        let spec = &self.evaluator.spec;
        let settings = settings(args, space, (args.lag, self.start));
        let stop = running.interrupts()?;
        let shared = Shared {
            stem: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            spec: std::fs::read_to_string(path)
                .with_context(|| format!("cannot read `{}`", path.display()))?,
            folder: std::path::absolute(&spec.folder)?,
            gpu: args.gpu.clone(),
            on_gpu: self.on_gpu,
            inspects: !args.no_inspect,
        };
        let mut name = args.study.clone().unwrap_or_else(|| shared.study(&spec.name, (&settings, &prior)));
        if args.fresh {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            name = format!("{name}-{:x}", now.as_millis());
        }
        let beside = path.with_extension("db").display().to_string();
        let store = args.store.as_deref().unwrap_or(&beside);
        let local = self.jobs();
        let request =
            QueueRequest { store, study: &name, local, mixes: args.mix_gpus, command: &self.command };
        let mut queue = Queue::begin(&request, &shared, (space, &settings, &prior), &stop)?;
        if queue.earlier() > 0 {
            let earlier = view::counted(queue.earlier(), "result");
            let text =
                format!("{earlier} of earlier runs in `{store}` (study `{name}`); `--fresh` runs all again");
            answer.note(NoteKind::Info, text);
        }
        if local == 0 {
            let (store, name) = (view::shell_word(store), view::shell_word(&name));
            eprintln!("tune: waits for workers: rockhound tune --worker --store {store} --study {name}");
        }
        // How many runs a time means is not known.
        let most =
            if args.budget.limit() == Limit::None { settings.budget.min(space.len()) } else { u64::MAX };
        let telling = Telling::new("tune", most).of(&spec.objective);
        let search = tune::Search::new(space.clone(), settings, prior);
        let course = Course { objective: &spec.objective, limit: args.budget.limit(), stop: &stop };
        let found = tune::drive(search, &mut queue, &course, &telling);
        telling.finish();
        match found {
            Ok(found) => {
                queue.end(!found.interrupted)?;
                Ok(found)
            }
            Err(error) => {
                // The journal may be what failed.
                let _ = queue.end(false);
                Err(error)
            }
        }
    }

    /// Configurations that run at once here: one where times are measured.
    fn jobs(&self) -> usize {
        let measured = self.on_gpu || matches!(self.evaluator.spec.run, Run::Command { .. });
        let usual = || match measured {
            true => 1,
            false => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        };
        self.args.jobs.map_or_else(usual, usize::from)
    }

    fn proof(&self, found: &mut Found) -> Result<Proof> {
        if self.args.no_proof || found.interrupted {
            return Ok(Proof { winner: found.search.best().map(|(id, _)| id), ..Proof::default() });
        }
        eprintln!("tune: proving the winner");
        tune::proof(Proving {
            evaluator: &self.evaluator,
            space: &self.space,
            attempts: &mut found.attempts,
            start: self.start,
            repeatable: self.evaluator.spec.is_repeatable(self.on_gpu),
        })
    }
}
