//! `rockhound judge`: variants of a kernel compared.

use crate::answer::{self, DECIMALS, Target};
use crate::args::{Judge, Look};
use crate::exit::{Outcome, usage};
use crate::gate;
use crate::output;
use crate::progress::Running;
use crate::subjects;
use anyhow::{Context, Result};
use host::Source;
use host::judge::{self, Judged, Question, Rounds, Tried};
use host::run::CacheState;
use host::subjects::Asked;
use std::path::PathBuf;
use study::{Judges, TriedVariant};

/// Endings of variants in a folder.
const VARIANTS: [&str; 7] = ["toml", "hsaco", "co", "o", "hip", "cpp", "cu"];

/// Runs of each variant on a GPU, unless told otherwise.
const ROUNDS: u32 = 7;

/// Judges.
pub(crate) fn run(args: &Judge, look: &Look) -> Result<Outcome> {
    let mut gated = gate::open("judge", Judges::Candidates, &args.fail_on, &args.memory)?;
    let candidates = candidates(args)?;
    let shapes = judge::shapes(&args.shape)?;
    let rounds = rounds(args)?;
    let question = Question {
        base: &args.base,
        candidates: &candidates,
        launch: args.launch.as_deref(),
        gpu: args.gpu.as_deref(),
        seeds: args.seeds,
        shapes: &shapes,
        keep: &args.keep,
        tolerance: args.tolerance,
        caches: CacheState::by_name(&args.caches).unwrap_or_default(),
        arguments: &args.arguments,
        python: &args.python,
        element: args.element.as_deref(),
        rounds: rounds.as_ref(),
    };
    let judged = judge::judge(&question, &Running::new(look))?;
    let claims = claims(args, &judged)?;
    let [base, others @ ..] = &judged.variants[..] else { return Err(usage("nothing to judge", "")) };
    let tried = others.iter().zip(claims).map(|(it, claim)| view_of(base, it, claim));
    let tried = tried.collect::<Result<Vec<_>>>()?;
    let names: Vec<String> = shapes.iter().map(|it| it.name.clone()).collect();
    let mut answer = study::verdicts(&view_of(base, base, None)?, &tried, judged.cases, &names);
    judged.notes.iter().for_each(|it| answer.note(it.kind, it.text.clone()));
    let target = Target { format: args.format, output: args.output.as_deref(), decimals: DECIMALS, look };
    let outcome = answer::finish(&mut answer, &target, &mut gated)?;
    if let Some(page) = &args.page {
        output::page(page, &render::verdicts(&answer, env!("CARGO_PKG_VERSION")))?;
    }
    let refused = answer.part.candidates.iter().any(|it| !it.verdict.is_right());
    Ok(outcome.or_met(refused))
}

/// Times on a GPU, if they are asked for.
fn rounds(args: &Judge) -> Result<Option<Rounds>> {
    if args.on == "gpu" {
        return Ok(Some(Rounds { count: args.rounds.unwrap_or(ROUNDS), profiler: args.profiler.clone() }));
    }
    match (args.rounds, &args.profiler) {
        (None, None) => Ok(None),
        _ => Err(usage("`--rounds` and `--profiler` are for times on a GPU", "add `--on gpu`")),
    }
}

/// The named candidates, then the candidates of the folder.
fn candidates(args: &Judge) -> Result<Vec<PathBuf>> {
    let mut all = args.candidates.clone();
    if let Some(folder) = &args.variants {
        let name = folder.display();
        let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read `{name}`"))?;
        let paths = entries.map(|it| it.map(|it| it.path())).collect::<std::io::Result<Vec<_>>>()?;
        let is_variant = |it: &PathBuf| {
            it.extension().is_some_and(|it| VARIANTS.contains(&it.to_string_lossy().as_ref()))
                && *it != args.base
                && Some(it) != args.launch.as_ref()
        };
        let mut found: Vec<PathBuf> = paths.into_iter().filter(is_variant).collect();
        found.sort();
        if found.is_empty() {
            let endings = VARIANTS.map(|it| format!(".{it}")).join(", ");
            return Err(usage(
                format!("`{name}` has no variants"),
                format!("files with {endings} are taken"),
            ));
        }
        all.extend(found);
    }
    Ok(all)
}

/// The time claimed for each candidate, us.
fn claims(args: &Judge, judged: &Judged) -> Result<Vec<Option<f64>>> {
    let candidates = &judged.variants[1..];
    let mut all = vec![None; candidates.len()];
    for text in &args.claim {
        let (name, value) = text.split_once('=').map_or((None, text.as_str()), |it| (Some(it.0), it.1));
        let wrong = || {
            usage(
                format!("`--claim {text}` is not a time"),
                "write `--claim 12.5` or `--claim NAME=12.5`, in us",
            )
        };
        let us: f64 = value.parse().map_err(|_| wrong())?;
        let at = match name {
            None if candidates.len() == 1 => Some(0),
            None => None,
            Some(name) => candidates.iter().position(|it| it.name == name || it.path.ends_with(name)),
        };
        let Some(at) = at.filter(|_| us.is_finite()) else {
            let names: Vec<&str> = candidates.iter().map(|it| it.name.as_str()).collect();
            return Err(usage(
                format!("`--claim {text}` is for no candidate"),
                format!("write NAME=US with one of {}", names.join(", ")),
            ));
        };
        all[at] = Some(us);
    }
    Ok(all)
}

/// The answer's view of a variant.
fn view_of(base: &Tried, it: &Tried, claim_us: Option<f64>) -> Result<TriedVariant> {
    let read = |(before, after): (&PathBuf, &PathBuf)| {
        let sources = vec![Source::from(before), Source::from(after)];
        subjects::measured(&Asked { sources, ..Asked::default() })
    };
    Ok(TriedVariant {
        name: it.name.clone(),
        path: it.path.display().to_string(),
        kind: it.kind,
        problem: it.problem.clone().map(|it| (it.verdict, it.why, it.inputs)),
        largest: it.largest,
        by_order: it.by_order,
        recordings: base.recordings.iter().zip(&it.recordings).map(read).collect::<Result<_>>()?,
        claim_us,
    })
}
