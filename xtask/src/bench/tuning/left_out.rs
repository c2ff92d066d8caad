//! Are the settings of the model good only for the spaces that they were chosen on? A grid of settings searches all spaces;
//! for each group of spaces, the setting with the best mean score on the spaces of the other groups is looked at. Spaces
//! of one kernel on several GPUs are one group, because they are alike.

use super::{Line, Measured, Outcome, SPACES, searched};
use anyhow::Result;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use tune::Knobs;

const SEEDS: u64 = 20;

/// The group of each of `SPACES`.
const GROUPS: [usize; SPACES.len()] = [0, 0, 1, 1, 2];

/// A setting: its name, and what it changes of the default.
type Setting = (&'static str, fn(&mut Knobs));

/// The first is the default.
const GRID: [Setting; 13] = [
    ("default", |_| ()),
    ("textbook", textbook),
    ("outcomes cut at 0.3", |it| it.cut = 0.3),
    ("outcomes cut at 1.5", |it| it.cut = 1.5),
    ("outcomes cut at 3", |it| it.cut = 3.0),
    ("never bold", |it| it.boldness = 1.0),
    ("bold after 20", |it| it.patience = 20),
    ("first 20", |it| it.first = 20),
    ("first by chance alone", |it| it.spread = 1),
    ("shorter lengths", |it| it.log_length = 0.0),
    ("longer lengths", |it| it.log_length = 1.0),
    ("half of the fits", |it| it.growth = 0.5),
    ("half of the candidates", |it| (it.work, it.candidates.0) = (it.work / 2, it.candidates.0 / 2)),
];

/// As most libraries of Bayesian optimisation do by default: outcomes are nearly as they are, more are drawn by chance
/// before the model, and expected improvement is always followed.
fn textbook(it: &mut Knobs) {
    (it.cut, it.first, it.spread, it.boldness) = (3.0, 20, 1, 1.0);
    (it.log_length, it.log_length_spread, it.log_noise, it.log_noise_spread) = (0.0, 1.0, -4.0, 2.0);
}

pub(in super::super) fn run() -> Result<Vec<Line>> {
    let folder = super::folder();
    if !folder.is_dir() {
        return Ok(super::skipped(&folder));
    }
    let outcomes = outcomes(&super::spaces(&folder)?);
    let mut lines: Vec<Line> = Vec::new();
    for ((name, _), outcomes) in GRID.iter().zip(&outcomes) {
        let scores: Vec<String> = outcomes.iter().map(|it| format!("{:.3}", it.score)).collect();
        lines.push(Line::plain(format!("scores: {name}"), scores.join(" ")));
    }
    for (at, space) in SPACES.iter().enumerate() {
        let choice = chosen(&outcomes, GROUPS[at]);
        for (what, setting) in [("default", 0), ("left out", choice)] {
            let [f1, _, f5] = outcomes[setting][at].fractions;
            let value =
                format!("{f1:.3} {f5:.4}; score {:.3}; {}", outcomes[setting][at].score, GRID[setting].0);
            lines.push(Line::plain(format!("{space}, {what}"), value));
        }
    }
    Ok(lines)
}

/// The setting with the best mean score on the spaces that are in other groups.
fn chosen(outcomes: &[Vec<Outcome>], group: usize) -> usize {
    let mean = |setting: &[Outcome]| {
        let others = || setting.iter().zip(GROUPS).filter(|it| it.1 != group).map(|it| it.0.score);
        others().sum::<f64>() / others().count() as f64
    };
    let means = outcomes.iter().map(|it| mean(it)).enumerate();
    // Of equal ones the first, which is nearer to the default.
    means.min_by(|a, b| b.1.total_cmp(&a.1)).map_or(0, |it| it.0)
}

/// Outcomes by setting and space.
fn outcomes(spaces: &[Measured]) -> Vec<Vec<Outcome>> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(vec![vec![Outcome::default(); spaces.len()]; GRID.len()]);
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some((name, change)) = GRID.get(at / spaces.len()) else { return };
            let space = at % spaces.len();
            let mut knobs = Knobs::default();
            change(&mut knobs);
            let outcome = searched(&spaces[space], 1, knobs, SEEDS);
            eprintln!("  {name}, {}: {:.3}", SPACES[space], outcome.score);
            if let Ok(mut found) = found.lock() {
                found[at / spaces.len()][space] = outcome;
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    found.into_inner().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_by_other_groups() {
        let of = |scores: [f64; 5]| scores.map(|score| Outcome { score, ..Outcome::default() }).to_vec();
        // The second is best on the first group alone, the third on the last.
        let outcomes =
            [of([0.5, 0.5, 0.6, 0.6, 0.5]), of([0.9, 0.9, 0.4, 0.4, 0.5]), of([0.1, 0.1, 0.6, 0.6, 0.9])];
        assert_eq!([0, 1, 2].map(|group| chosen(&outcomes, group)), [2, 1, 1]);
        // Equal.
        assert_eq!(chosen(&[of([0.5; 5]), of([0.5; 5])], 0), 0);
    }
}
