//! `rockhound tune`: the fastest configuration of a kernel with few runs.

mod cluster;
mod live;
mod prior;
mod telling;

use crate::answer::{self, DECIMALS, Target};
use crate::args::{Look, StrategyName, Tune};
use crate::exit::{Outcome, usage};
use crate::gate;
use crate::output;
use crate::progress::Running;
use anyhow::{Context, Result};
use host::run::{Place, Reporter};
use host::tune::{
    self, Attempt, Evaluation, Evaluator, Job, LookUp, Plan, Proof, Proving, Queue, QueueRequest, Recorded,
    Run, Shared, Spec,
};
use host::tunings;
use std::path::Path;
use std::sync::Arc;
use study::{Judges, SearchedSpace, Trial};
use telling::Telling;
use view::{Answer, FileError, Input, NoteKind, Searches, TUNE_SCHEMA};

/// Searches.
pub(crate) fn run(args: &Tune, look: &Look) -> Result<Outcome> {
    if let Some(job) = &args.job {
        Job::run_file(job, &Running::new(look))?;
        return Ok(Outcome::Fine);
    }
    if let Some(source) = &args.init {
        output::print(&tune::init(source)?)?;
        return Ok(Outcome::Fine);
    }
    if args.worker {
        return cluster::worker(args);
    }
    if let Some(form) = args.emit {
        return cluster::emit(args, form);
    }
    let mut gated = gate::open("tune", Judges::Launches, &args.fail_on, &args.memory)?;
    let mut answer = Answer::new(TUNE_SCHEMA, Searches::default());
    let running = Running::new(look);
    match &args.space {
        None if args.program.is_empty() => {
            return Err(usage("no space to search", "name a space file, or a program behind `--`"));
        }
        None => live::of_program(args, &running, &mut answer)?,
        Some(path) if path.extension().is_some_and(|it| it == "toml") => {
            of_file(args, path, &running, &mut answer)?;
        }
        Some(path) => of_recorded(args, path, &running, &mut answer)?,
    }
    let target = Target { format: args.format, output: args.output.as_deref(), decimals: DECIMALS, look };
    answer::finish(&mut answer, &target, &mut gated)
}

fn of_recorded(args: &Tune, path: &Path, running: &Running<'_>, answer: &mut Answer<Searches>) -> Result<()> {
    let (files, errors) = tunings::open(&[path.to_owned()]);
    answer.errors.extend(errors);
    let (read, errors) = study::tunings::read(files.iter().map(tunings::TuneFile::given));
    answer.errors.extend(errors);
    let Some(file) = read.first() else { return Ok(()) };
    if let Some(space) = tune::described(file)? {
        let name = path.display().to_string();
        let mut input = Input::new(&name, &name, "description of a space (T1)");
        input.used = format!("{} valid configurations", view::thousands(space.len()));
        answer.inputs.push(input);
        answer.tables.extend(study::constraints(&name, &space));
        answer.errors.push(FileError {
            file: name.clone(),
            error: "it describes a space, and nothing to run".to_owned(),
            hint: Some(format!("name it in a space file: `space = {name:?}` and a table `[run]`")),
        });
        return Ok(());
    }
    let recorded = Recorded::of(file).with_context(|| format!("`{}`", path.display()))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut input = Input::new(&name, path.display().to_string(), "recorded space");
    input.used = format!("{} configurations", recorded.space.len());
    answer.inputs.push(input);
    let optimum = recorded.evaluations.iter().filter_map(Evaluation::time_us).min_by(f64::total_cmp);
    let space = Arc::new(recorded.space);
    let known = prior::prior(args, None, &space, &running.interrupts()?)?;
    told(answer, &known);
    let settings = settings(args, &space, (1, None));
    let telling = Telling::new("tune", settings.budget.min(space.len()));
    let evaluate = &LookUp(&recorded.evaluations);
    let plan = Plan {
        space: space.clone(),
        settings,
        prior: known.prior,
        evaluate,
        workers: 1,
        stop: running.interrupts()?,
    };
    let found = tune::search(plan, &telling);
    telling.finish();
    let found = found?;
    if let (Some(optimum), Some((_, best))) = (optimum, found.search.best()) {
        let percent = 100.0 * optimum / best;
        answer.note(
            NoteKind::Info,
            format!("the best found has {percent:.2} % of the speed of the best recorded"),
        );
    }
    let winner = found.search.best().map(|(id, _)| id);
    let title = if recorded.name.is_empty() { name } else { recorded.name };
    let proof = Proof { winner, ..Proof::default() };
    add(answer, args, (&title, "recorded time"), &space, &found.attempts, (None, proof));
    Ok(())
}

fn of_file(args: &Tune, path: &Path, running: &Running<'_>, answer: &mut Answer<Searches>) -> Result<()> {
    let spec = Spec::read(path)?;
    let space = Arc::new(tune::space_of(&spec)?);
    let start = spec.start.as_ref().map(|it| tune::id_of(&space, it)).transpose()?;
    let on_gpu = match Place::from(args.on) {
        Place::Auto => args.gpu.is_none() && spec.gpu.is_none() && Path::new(host::run::GPU_DEVICE).exists(),
        place => place == Place::Gpu,
    };
    let place = if on_gpu { Place::Gpu } else { Place::Emulator };
    let command = std::env::current_exe().context("the command cannot be found")?;
    let evaluator =
        Evaluator::new(spec, place, args.gpu.clone(), command.clone())?.inspecting(!args.no_inspect);
    let spec = &evaluator.spec;
    let mut input = Input::new(&spec.name, path.display().to_string(), "space file");
    let (valid, all) = (view::thousands(space.len()), u64::try_from(space.product()).map(view::thousands));
    input.used = match all {
        Ok(all) => format!("{valid} of {all} combinations are valid"),
        Err(_) => format!("{valid} valid configurations"),
    };
    answer.inputs.push(input);
    let objective = objective(spec, &evaluator, on_gpu);
    let one = on_gpu || matches!(spec.run, Run::Command { .. });
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let jobs = args.jobs.map_or_else(|| if one { 1 } else { cores() }, usize::from);
    let known = prior::prior(args, Some(spec), &space, &running.interrupts()?)?;
    told(answer, &known);
    let settings = settings(args, &space, (args.lag, start));
    let stop = running.interrupts()?;
    let shared = Shared {
        stem: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        spec: std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?,
        folder: std::path::absolute(&spec.folder)?,
        gpu: args.gpu.clone(),
        on_gpu,
        inspects: !args.no_inspect,
    };
    let mut name = args.study.clone().unwrap_or_else(|| shared.study(&spec.name, &settings));
    if args.fresh {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        name = format!("{name}-{:x}", now.as_millis());
    }
    let beside = path.with_extension("db").display().to_string();
    let store = args.store.as_deref().unwrap_or(&beside);
    let request = QueueRequest { store, study: &name, local: jobs, mixes: args.mix_gpus, command: &command };
    let mut queue = Queue::begin(&request, &shared, (&space, &settings), &stop)?;
    if queue.earlier() > 0 {
        let earlier = view::counted(queue.earlier(), "result");
        answer.note(
            NoteKind::Info,
            format!("{earlier} of earlier runs in `{store}` (study `{name}`); `--fresh` runs all again"),
        );
    }
    if jobs == 0 {
        eprintln!(
            "tune: waits for workers: rockhound tune --worker --store {} --study {}",
            view::shell_word(store),
            view::shell_word(&name)
        );
    }
    let telling = Telling::new("tune", settings.budget.min(space.len()));
    let search = tune::Search::new(space.clone(), settings, known.prior);
    let found = tune::drive(search, &mut queue, &stop, &telling);
    telling.finish();
    let mut found = match found {
        Ok(found) => {
            queue.end(!found.interrupted)?;
            found
        }
        Err(error) => {
            // The journal may be what failed.
            let _ = queue.end(false);
            return Err(error);
        }
    };
    if let Some(file) = &args.results {
        let text = tune::t4(&spec.name, evaluator.gpu().unwrap_or(""), &space, &found.attempts);
        std::fs::write(file, text).with_context(|| format!("cannot write `{}`", file.display()))?;
    }
    if found.interrupted {
        answer.note(NoteKind::Warning, "interrupted: the budget was not used up");
    }
    let proof = if args.no_proof {
        Proof { winner: found.search.best().map(|(id, _)| id), ..Proof::default() }
    } else {
        eprintln!("tune: proving the winner");
        tune::proof(Proving {
            evaluator: &evaluator,
            space: &space,
            attempts: &mut found.attempts,
            start,
            repeatable: spec.is_repeatable(on_gpu),
        })?
    };
    add(answer, args, (&spec.name, &objective), &space, &found.attempts, (start, proof));
    if found.attempts.iter().all(|it| it.evaluation.failed.is_some()) {
        let first = found.attempts.first().and_then(|it| it.evaluation.failed.as_ref());
        bail_nothing(first.map_or("", |it| it.why.as_str()), answer);
    }
    Ok(())
}

fn told(answer: &mut Answer<Searches>, known: &prior::Known) {
    if let Some(from) = &known.from {
        answer.note(NoteKind::Info, from.clone());
    }
}

fn bail_nothing(why: &str, answer: &mut Answer<Searches>) {
    answer.note(NoteKind::Error, format!("no configuration has a time; the first: {why}"));
}

/// The objective, in words.
fn objective(spec: &Spec, evaluator: &Evaluator, on_gpu: bool) -> String {
    let gpu = evaluator.gpu().unwrap_or("the code's GPU");
    match (&spec.run, on_gpu) {
        (Run::Command { .. }, _) => "time that the command prints".to_owned(),
        (_, true) => "time of the kernels on the GPU of this machine".to_owned(),
        (Run::Launch(_), _) | (Run::Program { .. }, false) => {
            format!("modelled time of the kernels on an emulated {gpu}")
        }
    }
}

fn settings(args: &Tune, space: &tune::Space, (lag, start): (u32, Option<tune::Id>)) -> tune::Settings {
    tune::Settings {
        strategy: strategy(args),
        seed: args.seed,
        budget: args.budget.of(space.len()),
        lag,
        first: start.into_iter().collect(),
    }
}

fn strategy(args: &Tune) -> tune::Strategy {
    match args.strategy {
        StrategyName::Model => tune::Strategy::Model,
        StrategyName::Random => tune::Strategy::Random,
        StrategyName::Exhaustive => tune::Strategy::Exhaustive,
    }
}

fn add(
    answer: &mut Answer<Searches>,
    args: &Tune,
    (name, objective): (&str, &str),
    space: &tune::Space,
    attempts: &[Attempt],
    (start, proof): (Option<tune::Id>, Proof),
) {
    let trial = |it: &'_ Attempt| -> (tune::Id, Option<(&'static str, String)>) {
        (it.id, it.evaluation.failed.as_ref().map(|it| (it.kind.words(), it.why.clone())))
    };
    let failures: Vec<_> = attempts.iter().map(trial).collect();
    let trials = attempts.iter().zip(&failures).map(|(attempt, (id, failed))| Trial {
        id: *id,
        runs_us: &attempt.evaluation.runs_us,
        failed: failed.as_ref().map(|(kind, why)| (*kind, why.as_str())),
    });
    let searched = SearchedSpace {
        name,
        objective,
        space,
        trials: trials.collect(),
        start,
        winner: proof.winner,
        gain: proof.gain,
        proof: proof.steps,
        top: args.top,
    };
    study::add_search(answer, &searched);
}
