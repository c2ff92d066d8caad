//! Expected times of configurations before the first run.

use super::telling::Telling;
use crate::args::{PriorName, Tune};
use crate::exit::usage;
use anyhow::{Context, Result};
use host::run::Place;
use host::tune::{self, Evaluator, Plan, Prior, Recorded, Space, Spec, TilePrior, Told};
use host::tunings;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use study::AskedTile;

/// A prior and where it is from, in words.
pub(super) struct Known {
    pub(super) prior: Prior,
    pub(super) from: Option<String>,
}

/// The prior that the arguments request.
pub(super) fn prior(
    args: &Tune,
    spec: Option<&Spec>,
    space: &Arc<Space>,
    stop: &Arc<AtomicBool>,
) -> Result<Known> {
    let none = Known { prior: Prior::default(), from: None };
    match (&args.prior, spec) {
        (PriorName::None, _) => Ok(none),
        (PriorName::Auto, Some(spec)) => match spec.prior.as_ref().and_then(|it| it.tile.as_ref()) {
            Some(tile) => of_tiles(args, spec, tile, space),
            None => Ok(none),
        },
        (PriorName::Auto, None) => Ok(none),
        (PriorName::Tile, Some(spec)) => match spec.prior.as_ref().and_then(|it| it.tile.as_ref()) {
            Some(tile) => of_tiles(args, spec, tile, space),
            None => Err(usage(
                "`--prior tile` needs the product and its parameters",
                "write `tile = { mnk = [4096, 4096, 4096], type = \"f16\", m = \"BLOCK_M\", n = \"BLOCK_N\", k = \"BLOCK_K\" }` in `[prior]`",
            )),
        },
        (PriorName::Emulated, Some(spec)) => emulated(args, spec, space, stop),
        (PriorName::File(path), _) => of_file(path, space),
        (PriorName::Tile | PriorName::Emulated, None) => Err(usage(
            "a recorded space has nothing to model",
            "give `--prior` a file with times of another GPU, or of an emulated one (`--results`)",
        )),
    }
}

fn of_file(path: &Path, space: &Space) -> Result<Known> {
    let name = path.display();
    let (files, errors) = tunings::open(&[path.to_owned()]);
    let (read, more) = study::tunings::read(files.iter().map(tunings::TuneFile::given));
    if let Some(error) = errors.first().or(more.first()) {
        anyhow::bail!("{}", error.message());
    }
    let file = read.first().with_context(|| format!("`{name}` holds nothing"))?;
    let recorded = Recorded::of(file).with_context(|| format!("`{name}`"))?;
    let time = |id: tune::Id| recorded.evaluations.get(id as usize)?.time_us();
    let (prior, known) =
        tune::prior_of(space, &recorded.space, &time).with_context(|| format!("`{name}`"))?;
    Ok(Known { prior, from: Some(words(known, space, &format!("`{name}`"))) })
}

fn words(known: u64, space: &Space, from: &str) -> String {
    let (known, all) = (view::thousands(known), view::thousands(space.len()));
    format!("expected times of {known} of {all} configurations: {from}")
}

fn of_tiles(args: &Tune, spec: &Spec, tile: &TilePrior, space: &Space) -> Result<Known> {
    let gpu = args.gpu.as_deref().or(spec.gpu.as_deref()).unwrap_or("mi300x");
    let times = tile_times(gpu, tile, space)?;
    let known = times.iter().flatten().count() as u64;
    let rejected = (0..).zip(&times).filter(|(_, time)| time.is_none()).map(|(id, _)| id).collect();
    let from = format!("`tile` on {gpu}; others fit in no compute unit and are not run");
    Ok(Known { prior: Prior { expected: times, rejected }, from: Some(words(known, space, &from)) })
}

/// The prior of programs whose kernels are matrix products.
pub(super) fn of_program(args: &Tune) -> Result<Option<Box<tune::ProductPrior>>> {
    match args.prior {
        PriorName::None => Ok(None),
        PriorName::Auto | PriorName::Tile => {
            Ok(Some(Box::new(|model, tile, space| tile_times(&model.key(), tile, space).ok())))
        }
        PriorName::Emulated | PriorName::File(_) => Err(usage(
            "a program's kernels have no other prior than `tile` and `none`",
            "a kernel with a space file (`rockhound tune --init SOURCE`) takes the others",
        )),
    }
}

/// Modelled times of the tiles of a space.
fn tile_times(gpu: &str, tile: &TilePrior, space: &Space) -> Result<Vec<Option<f64>>> {
    let place = |name: &str| {
        let at = space.parameters().iter().position(|it| it.name == name);
        at.ok_or_else(|| usage(format!("`[prior]` names `{name}`, which is no parameter"), ""))
    };
    let of = |name: &Option<String>| name.as_deref().map(place).transpose();
    let at = [place(&tile.m)?, place(&tile.n)?, place(&tile.k)?];
    let (split_k, waves, stages) = (of(&tile.split_k)?, of(&tile.waves)?, of(&tile.stages)?);
    let tiles: Vec<AskedTile> = (0..space.len())
        .map(|id| {
            let values = space.values(id);
            let number = |at: usize| values[at].number().map(|it| it.max(0.0) as u64);
            // Configurations of a program may leave an option to the compiler.
            let or = |at: Option<usize>, default: u64| at.and_then(number).unwrap_or(default);
            AskedTile {
                mnk: at.map(|it| number(it).unwrap_or(0)),
                split_k: or(split_k, 1),
                waves: u32::try_from(or(waves, 4)).unwrap_or(u32::MAX),
                stages: u32::try_from(or(stages, 2)).unwrap_or(u32::MAX),
            }
        })
        .collect();
    study::tile_times((gpu, &tile.dtype, &tile.layout), tile.mnk, &tiles)
        .map_err(|error| usage(error.message, error.hint))
}

/// Times of the emulated clock, of the configurations that a search on it finds worth a look.
fn emulated(args: &Tune, spec: &Spec, space: &Arc<Space>, stop: &Arc<AtomicBool>) -> Result<Known> {
    let Some(emulated) = spec.emulated_prior() else {
        return Err(usage(
            "`--prior emulated` needs a launch file",
            "name one in `[prior]`: `launch = \"SMALL.toml\"`, perhaps of fewer workgroups",
        ));
    };
    let command = std::env::current_exe().context("the command cannot be found")?;
    let evaluator =
        Evaluator::new(emulated, Place::Emulator, args.gpu.clone(), command)?.inspecting(!args.no_inspect);
    let budget = args.prior_runs.min(space.len());
    let telling = Telling::new("prior", budget);
    let workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let settings = tune::Settings {
        strategy: tune::Strategy::Model,
        seed: args.seed,
        budget,
        lag: u32::try_from(workers).unwrap_or(1),
        first: Vec::new(),
    };
    let plan = Plan {
        space: space.clone(),
        settings,
        prior: Prior::default(),
        evaluate: &evaluator,
        workers,
        stop: stop.clone(),
    };
    let found = tune::search(plan, &telling)?;
    telling.finish();
    let results: Vec<(tune::Id, Told)> = found
        .attempts
        .iter()
        .map(|it| (it.id, it.evaluation.time_us().map_or(Told::Failed, Told::Took)))
        .collect();
    let failed = results.iter().filter(|it| it.1 == Told::Failed).map(|it| it.0).collect();
    // Times of some tell of all.
    let prior = Prior { expected: tune::extended(space, &results), rejected: failed };
    let known = (results.len() - prior.rejected.len()) as u64;
    let from = match prior.rejected.len() {
        0 => "the emulated clock".to_owned(),
        it => format!("the emulated clock; {it} others failed on it and are not run"),
    };
    Ok(Known { prior, from: Some(words(known, space, &from)) })
}
