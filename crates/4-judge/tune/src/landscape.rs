//! Findings on a space from its results: importance of parameters, landscapes along pairs, fronts of several objectives.

mod forest;
mod importance;

pub use importance::{Importance, Pair, importance};

use crate::space::{Id, Space};

/// The results that share the values of two parameters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cell {
    /// Place of the value of the first parameter.
    pub a: u32,
    /// Place of the value of the second parameter.
    pub b: u32,
    /// Fastest.
    pub best: f64,
    /// Geometric mean.
    pub mean: f64,
    /// Results.
    pub results: u32,
}

/// Results along two parameters: the cells that have any, by the values' places.
///
/// # Panics
/// If the space has no such parameter or configuration.
pub fn landscape(space: &Space, results: &[(Id, f64)], a: usize, b: usize) -> Vec<Cell> {
    let mut cells = std::collections::BTreeMap::new();
    for &(id, time) in results.iter().filter(|it| it.1 > 0.0 && it.1.is_finite()) {
        let places = space.places(id);
        let cell = cells.entry((places[a], places[b])).or_insert((f64::INFINITY, 0.0, 0u32));
        *cell = (cell.0.min(time), cell.1 + time.ln(), cell.2 + 1);
    }
    let cell = |((a, b), (best, logs, results)): ((u32, u32), (f64, f64, u32))| {
        let mean = (logs / f64::from(results)).exp();
        Cell { a, b, best, mean, results }
    };
    cells.into_iter().map(cell).collect()
}

/// Which of some points no other beats: every objective is to be small. Points with a value that is not a number are out;
/// of equal points all stay.
pub fn pareto(points: &[Vec<f64>]) -> Vec<usize> {
    let valid: Vec<usize> =
        (0..points.len()).filter(|&it| points[it].iter().all(|it| !it.is_nan())).collect();
    let beats =
        |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| a <= b) && a.iter().zip(b).any(|(a, b)| a < b);
    let free = |&it: &usize| !valid.iter().any(|&other| beats(&points[other], &points[it]));
    valid.iter().copied().filter(free).collect()
}

/// The geometric mean of the times of one configuration over shapes; `None` if a shape has no time.
pub fn geometric_mean(times: &[Option<f64>]) -> Option<f64> {
    let logs: Vec<f64> = times
        .iter()
        .map(|it| it.filter(|it| *it > 0.0 && it.is_finite()).map(f64::ln))
        .collect::<Option<_>>()?;
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}
