//! Noisy times: robust centres, which configurations to repeat, whether one is really faster, drift of clocks.

mod compare;
mod drift;
mod robust;

pub use compare::{Comparison, Verdict, compare};
pub use drift::{Drift, drift};
pub use robust::{Centre, centre};
use sorting::Sort;

/// How a race is run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RaceSettings {
    /// Most runs of one configuration.
    pub most_runs: usize,
    /// Difference of two times that nobody minds, as a share.
    pub indifference: f64,
    /// Half of the width of confidence bounds, in standard errors.
    pub width: f64,
}

impl Default for RaceSettings {
    fn default() -> RaceSettings {
        RaceSettings { most_runs: 64, indifference: 0.002, width: 2.6 }
    }
}

/// The state of a race.
#[derive(Clone, PartialEq, Debug)]
pub struct Race {
    /// Configurations that may be the fastest, from the one that is now.
    pub contenders: Vec<usize>,
    /// The configuration to run again; `None`: the race is over.
    pub next: Option<usize>,
}

/// Which configurations may be the fastest, and which of them to run again.
///
/// Each has confidence bounds on its median time (racing, Maron and Moore 1994). A configuration whose lower bound is
/// above the lowest upper bound is out. The spread of one with few runs is the spread of all.
/// `runs`: times of each configuration; one without a time does not take part.
pub fn race(runs: &[Vec<f64>], settings: &RaceSettings) -> Race {
    let centres: Vec<Option<Centre>> = runs.iter().map(|it| centre(it)).collect();
    let mut spreads: Vec<f64> = centres
        .iter()
        .flatten()
        .filter(|it| it.runs >= 3 && it.value > 0.0)
        .map(|it| it.spread / it.value)
        .collect();
    spreads.in_order_by(f64::total_cmp);
    // Without any repetition nothing is known of the noise; a percent is more than most GPUs have.
    let common = spreads.get(spreads.len() / 2).copied().unwrap_or(0.01);
    let bounds = |it: &Centre| {
        // Prior weight of four runs for the common spread.
        let n = it.runs as f64;
        let spread = ((n * (it.spread / it.value).powi(2) + 4.0 * common * common) / (n + 4.0)).sqrt();
        let half = settings.width * robust::MEDIAN_ERROR * spread * it.value / n.sqrt();
        (it.value - half, it.value + half, half / it.value)
    };
    let lowest = centres.iter().flatten().map(|it| bounds(it).1).fold(f64::INFINITY, f64::min);
    let mut contenders: Vec<(f64, usize)> = Vec::new();
    for (at, it) in centres.iter().enumerate() {
        if let Some(it) = it.as_ref().filter(|it| bounds(it).0 <= lowest) {
            contenders.push((it.value, at));
        }
    }
    contenders.in_order_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let width = |at: usize| centres[at].as_ref().map_or(0.0, |it| bounds(it).2);
    let open = contenders.iter().map(|it| it.1).filter(|&it| runs[it].len() < settings.most_runs);
    let widest = open.clone().map(width).fold(0.0, f64::max);
    let over = contenders.len() < 2 || widest < settings.indifference;
    // The widest bound; the earlier of equal ones.
    let next = open.filter(|_| !over).max_by(|&a, &b| width(a).total_cmp(&width(b)).then(b.cmp(&a)));
    Race { contenders: contenders.into_iter().map(|it| it.1).collect(), next }
}
