//! Searches of recorded spaces, where running a configuration is looking its time up.
//!
//! After k of N configurations the baseline is the expected best of k random draws, and the score the part of the way from
//! there to the optimum, as a mean over the budget: 5 % of the configurations.

mod left_out;

pub(super) use left_out::run as left_out;

use super::Line;
use crate::run::root;
use anyhow::{Context, Result, bail};
use host::tune::{Prior, Recorded, Settings, Space, Strategy};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use tune::{Asked, Knobs, Search, Told};

const SPACES: [&str; 5] = [
    "convolution_milo.MI250X.T4.json.gz",
    "convolution_milo.W6600.T4.json.gz",
    "dedispersion_milo.W7800.T4.json.gz",
    "dedispersion_milo.A4000.T4.json.gz",
    "gemm.RTX_2080_Ti.cache.json.gz",
];

const DESCRIBED: [(&str, u64); 4] =
    [("convolution", 4_362), ("dedispersion", 11_130), ("gemm", 116_928), ("hotspot", 82_984)];

const SEEDS: u64 = 50;

struct Measured {
    space: Arc<Space>,
    times: Vec<Option<f64>>,
    /// From the slowest; failures first.
    sorted: Vec<f64>,
}

/// Means over seeds of one space.
#[derive(Clone, Copy, Default)]
struct Outcome {
    /// Optimum over best after 1 %, 2 % and 5 %.
    fractions: [f64; 3],
    worst: f64,
    optimum: u32,
    score: f64,
    unused: u64,
    ms: f64,
}

pub(super) fn run() -> Result<Vec<Line>> {
    let folder = folder();
    if !folder.is_dir() {
        return Ok(skipped(&folder));
    }
    let mut lines = Vec::new();
    for (name, count) in DESCRIBED {
        lines.push(construction(&folder.join(format!("{name}_milo.T1.json")), count)?);
    }
    let spaces = spaces(&folder)?;
    for lag in [1, 8] {
        let outcomes: Vec<Outcome> =
            spaces.iter().map(|it| searched(it, lag, Knobs::default(), SEEDS)).collect();
        for (name, it) in SPACES.iter().zip(&outcomes) {
            let [f1, f2, f5] = it.fractions;
            let value = format!(
                "{f1:.3} {f2:.3} {f5:.4} at 1, 2, 5 %; worst {:.3}; optimum {} of {SEEDS}; score {:.3}; unused {}; {:.2} ms",
                it.worst, it.optimum, it.score, it.unused, it.ms
            );
            lines.push(Line::plain(format!("{name}, lag {lag}"), value));
        }
        let mean = |of: fn(&Outcome) -> f64| outcomes.iter().map(of).sum::<f64>() / outcomes.len() as f64;
        for (what, value, least) in [
            ("optimum / best at 1 %", mean(|it| it.fractions[0]), 0.95),
            ("optimum / best at 5 %", mean(|it| it.fractions[2]), 0.995),
            ("score", mean(|it| it.score), 0.8),
        ] {
            // The bounds are asked of one configuration at a time.
            let asked = (lag == 1).then(|| (format!("{least}"), value >= least));
            lines.push(Line {
                what: format!("mean, lag {lag}: {what}"),
                value: format!("{value:.4}"),
                asked,
            });
        }
        let ms = mean(|it| it.ms);
        let asked = (lag == 1).then(|| ("0.2".to_owned(), ms <= 0.2));
        lines.push(Line { what: format!("lag {lag}: ms per evaluation"), value: format!("{ms:.3}"), asked });
    }
    Ok(lines)
}

fn folder() -> PathBuf {
    root().join("../shared/tuning/spaces")
}

fn skipped(folder: &Path) -> Vec<Line> {
    vec![Line::plain("tune".to_owned(), format!("skipped: needs {}", folder.display()))]
}

fn spaces(folder: &Path) -> Result<Vec<Measured>> {
    SPACES.iter().map(|it| read(&folder.join(it))).collect()
}

fn open(path: &Path) -> Result<host::tunings::TuneFile> {
    let (mut files, _) = host::tunings::open(&[path.to_owned()]);
    files.pop().with_context(|| format!("cannot read `{}`", path.display()))
}

fn construction(path: &std::path::Path, count: u64) -> Result<Line> {
    let file = open(path)?;
    let tunings = tunedb::read(&path.display().to_string(), file.bytes())?;
    let tunedb::Detail::Space(described) = &tunings.detail else { bail!("`{}` is no space", path.display()) };
    let parameters: Vec<tune::Parameter> = described
        .parameters
        .iter()
        .map(|it| tune::Parameter {
            name: it.name.clone(),
            values: it.values.iter().map(|it| tune::Value::parse(it)).collect(),
        })
        .collect();
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        let space = Space::new(parameters.clone(), &described.restrictions, tune::Limits::default())?;
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
        if space.len() != count {
            bail!("`{}` has {} configurations; {count} were counted", path.display(), space.len());
        }
    }
    let asked = Some(("5 ms".to_owned(), best <= 5.0));
    let what = format!("construction of {} configurations", view::thousands(count));
    Ok(Line { what, value: format!("{best:.2} ms"), asked })
}

fn read(path: &Path) -> Result<Measured> {
    let file = open(path)?;
    let recorded = Recorded::of(&tunedb::read(&path.display().to_string(), file.bytes())?)?;
    let times: Vec<Option<f64>> = recorded.evaluations.iter().map(|it| it.time_us()).collect();
    let mut sorted: Vec<f64> = times.iter().map(|it| it.unwrap_or(f64::INFINITY)).collect();
    sorted.sort_by(|a, b| b.total_cmp(a));
    Ok(Measured { space: Arc::new(recorded.space), times, sorted })
}

fn searched(measured: &Measured, lag: u32, knobs: Knobs, seeds: u64) -> Outcome {
    let all = measured.times.len();
    let budget = all / 20;
    let optimum = measured.sorted[all - 1];
    let start = Instant::now();
    let mut out = Outcome { worst: 1.0, ..Outcome::default() };
    for seed in 1..=seeds {
        let best = curve(measured, seed, (lag, budget), knobs);
        out.unused += (budget - best.len()) as u64;
        let after = |it: usize| best[it.clamp(1, best.len()) - 1];
        for (mean, percent) in out.fractions.iter_mut().zip([1, 2, 5]) {
            *mean += optimum / after((all * percent + 50) / 100) / seeds as f64;
        }
        out.worst = out.worst.min(optimum / after(budget));
        out.optimum += u32::from(after(budget) <= optimum);
        let first = budget.div_ceil(100);
        let progress = (first..=budget).map(|k| {
            let place = (k as f64 * (all as f64 + 1.0) / (k as f64 + 1.0)).round() as usize;
            let random = measured.sorted[place.min(all) - 1];
            if random > optimum { (after(k) - random) / (optimum - random) } else { 1.0 }
        });
        out.score += progress.sum::<f64>() / (budget - first + 1) as f64 / seeds as f64;
    }
    out.ms = start.elapsed().as_secs_f64() * 1e3 / (seeds as f64 * budget as f64);
    out
}

/// The best time after each result, with `lag` configurations out.
fn curve(measured: &Measured, seed: u64, (lag, budget): (u32, usize), knobs: Knobs) -> Vec<f64> {
    let settings =
        Settings { strategy: Strategy::Model, seed, budget: budget as u64, lag, first: Vec::new() };
    let mut search = Search::with_knobs(measured.space.clone(), settings, Prior::default(), knobs);
    let (mut out, mut best, mut curve) = (std::collections::VecDeque::new(), f64::INFINITY, Vec::new());
    loop {
        if let Asked::Run(id) = search.ask() {
            out.push_back(id);
            continue;
        }
        let Some(id) = out.pop_front() else { return curve };
        let time = measured.times[id as usize];
        search.tell(id, time.map_or(Told::Failed, Told::Took));
        best = best.min(time.unwrap_or(f64::INFINITY));
        curve.push(best);
    }
}
