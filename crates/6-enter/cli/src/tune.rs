//! `rockhound tune`: the fastest configuration of a kernel with few runs.

mod cluster;
mod file;
mod library;
mod live;
mod prior;
mod shapes;
mod telling;
mod why;

use crate::answer::{self, DECIMALS, Target};
use crate::args::{Look, StrategyName, Tune};
use crate::exit::{Outcome, usage};
use crate::gate;
use crate::output;
use crate::progress::Running;
use anyhow::{Context, Result};
use host::run::Reporter;
use host::tune::{self, Attempt, Evaluation, Failure, Job, LookUp, Plan, Proof, Recorded};
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
    if let Some(project) = args.shapes.project {
        return shapes::run(args, project, look);
    }
    let mut gated = gate::open("tune", Judges::Searches, &args.fail_on, &args.memory)?;
    let mut answer = Answer::new(TUNE_SCHEMA, Searches::default());
    let running = Running::new(look);
    match &args.space {
        None if args.program.is_empty() => {
            return Err(usage("no space to search", "name a space file, or a program behind `--`"));
        }
        None => live::of_program(args, &running, &mut answer)?,
        Some(path) if path.extension().is_some_and(|it| it == "toml") => {
            file::run(args, path, &running, &mut answer)?;
        }
        Some(path) => of_recorded(args, path, &running, &mut answer)?,
    }
    let target = Target { format: args.format, output: args.output.as_deref(), decimals: DECIMALS, look };
    let outcome = answer::finish(&mut answer, &target, &mut gated)?;
    if let Some(page) = &args.page {
        output::page(page, &render::searches(&answer, env!("CARGO_PKG_VERSION"), &study::rules()))?;
    }
    Ok(outcome)
}

fn of_recorded(args: &Tune, path: &Path, running: &Running<'_>, answer: &mut Answer<Searches>) -> Result<()> {
    let (files, errors) = tunings::open(&[path.to_owned()]);
    answer.errors.extend(errors);
    let (read, errors) = study::tunings::read(files.iter().map(tunings::TuneFile::given));
    answer.errors.extend(errors);
    let Some(file) = read.first() else { return Ok(()) };
    if library::described(args, path, file, answer)? {
        return Ok(());
    }
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
    for problem in library::problems(file, answer) {
        of_problem(args, path, &problem, running, answer)?;
    }
    Ok(())
}

/// Searches the recorded space of one problem.
fn of_problem(
    args: &Tune,
    path: &Path,
    file: &study::tunings::Tunings<'_>,
    running: &Running<'_>,
    answer: &mut Answer<Searches>,
) -> Result<()> {
    let recorded = Recorded::of(file).with_context(|| format!("`{}`", path.display()))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut input = Input::new(&name, path.display().to_string(), "recorded space");
    input.used = format!("{} configurations", recorded.space.len());
    input.not_used = file.flaws.iter().take(5).map(|it| format!("line {}: {}", it.line, it.text)).collect();
    answer.inputs.push(input);
    if let Some(text) = &args.why {
        return why::of_recorded(&recorded, text, answer);
    }
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
    let what =
        Searched { name: &title, objective: "recorded time", of: &tune::Objective::default(), shapes: &[] };
    add(answer, args, &what, &space, &found.attempts, (None, proof));
    Ok(())
}

fn told(answer: &mut Answer<Searches>, known: &prior::Known) {
    if let Some(from) = &known.from {
        answer.note(NoteKind::Info, from.clone());
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

/// What was searched.
struct Searched<'a> {
    name: &'a str,
    /// The objective, in words.
    objective: &'a str,
    of: &'a tune::Objective,
    shapes: &'a [tune::Shape],
}

fn add(
    answer: &mut Answer<Searches>,
    args: &Tune,
    what: &Searched<'_>,
    space: &tune::Space,
    attempts: &[Attempt],
    (start, proof): (Option<tune::Id>, Proof),
) {
    let (is_time, parts) = (what.of.is_time(), what.of.parts());
    let trial = |it: &'_ Attempt| -> (tune::Id, Option<(&'static str, String)>) {
        (it.id, it.evaluation.failed.as_ref().map(|it| (it.kind.words(), it.why.clone())))
    };
    let failures: Vec<_> = attempts.iter().map(trial).collect();
    let trials = attempts.iter().zip(&failures).map(|(attempt, (id, failed))| Trial {
        id: *id,
        runs: what.of.runs(&attempt.evaluation),
        numbers: if is_time { Vec::new() } else { what.of.medians(&attempt.evaluation) },
        shapes_us: &attempt.evaluation.shapes_us,
        wrong: attempt.evaluation.failed.as_ref().is_some_and(|it| it.kind == Failure::Wrong),
        failed: failed.as_ref().map(|(kind, why)| (*kind, why.as_str())),
    });
    let name = what.name;
    let searched = SearchedSpace {
        name,
        objective: what.objective,
        unit: what.of.unit(),
        parts: if is_time { Vec::new() } else { parts.map(|(it, large)| (it.to_owned(), large)).collect() },
        shapes: what.shapes.iter().map(|it| it.name.clone()).collect(),
        space,
        trials: trials.collect(),
        start,
        winner: proof.winner,
        gain: proof.gain,
        proof: proof.steps,
        top: args.top,
    };
    study::add_search(answer, &searched);
    if attempts.iter().all(|it| it.evaluation.failed.is_some()) {
        let first = attempts.first().and_then(|it| it.evaluation.failed.as_ref());
        let why = first.map_or("none was run", |it| it.why.as_str());
        answer.note(NoteKind::Error, format!("{name}: no configuration has a time; the first: {why}"));
    }
}
