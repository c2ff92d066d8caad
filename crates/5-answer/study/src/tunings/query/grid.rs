//! The grid point of a logic file that hipBLASLt takes: of all the one with the least distance.

use super::{Choice, Problem, Taken, fits};
use tunedb::{Row, Tunings};

const RULE: &str = "the grid point with the least distance: few tiles of the point that cover M and N with little waste, then the nearest K";
/// Size up to which tiles of a grid point are counted; beyond it the distance of M and N counts.
const BOUNDARY: f64 = 32_768.0;

/// The distance of a problem from a grid point, as `GridBasedDistance` of TensileLite computes it.
fn distance(wanted: [u64; 3], point: [u64; 3]) -> f64 {
    let ([m, n, k], [point_m, point_n, point_k]) = (wanted.map(|it| it as f64), point.map(|it| it as f64));
    let steps = |own: f64, point: f64| if own <= BOUNDARY { (own / point).ceil() } else { 1.0 };
    let (steps_m, steps_n) = (steps(m, point_m), steps(n, point_n));
    let sizes = if m <= BOUNDARY && n <= BOUNDARY {
        let used = m * n / (steps_m * point_m * steps_n * point_n);
        100.0 * steps_m * steps_n / (used * used)
    } else {
        10_000.0 * steps_m * steps_n * (m - point_m).hypot(n - point_n)
    };
    sizes.round() + (point_k - k).abs() / (point_k + 8.0 * k)
}

/// The point for a problem; without sizes the points that the question names otherwise.
pub(super) fn choose<'f, 'a>(
    file: &'f Tunings<'a>,
    problem: &Problem,
    named: Vec<Taken<'f, 'a>>,
) -> Choice<'f, 'a> {
    let Some(wanted) = problem.mnk else { return Choice::of(RULE, named) };
    let sizes = |row: &Row<'_>| {
        let [m, n, k, _] = row.shape.as_ref().ok()?.gemm()?.sizes();
        (m > 0 && n > 0).then_some([m, n, k])
    };
    let points = file.rows.iter().filter(|row| fits(row, problem, false));
    let points = points.filter_map(|row| Some((distance(wanted, sizes(row)?), row)));
    // Of equal ones `min_by` gives the first, as the library does.
    let Some((_, row)) = points.min_by(|a, b| a.0.total_cmp(&b.0)) else {
        return Choice::none(RULE, "no grid point is for these types and this transposition");
    };
    let how = if sizes(row) == Some(wanted) { "exact" } else { "nearest grid point" };
    Choice::of(RULE, vec![Taken { row, how: how.to_owned() }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_point_of_least_distance_is_taken() {
        let points =
            [[256, 256, 1024], [1024, 256, 1024], [1024, 1024, 64], [1024, 1024, 4096], [65_536, 64, 64]];
        for (wanted, expected) in [
            // Exact ones have distance 100, and every other one more.
            ([256, 256, 1024], 0),
            ([1024, 1024, 4096], 3),
            // Covered by one tile rather than by two, if little of it is unused.
            ([1000, 250, 1024], 1),
            // The waste of a large tile costs more than several small ones.
            ([300, 250, 1024], 0),
            // Same tiles: the nearest K.
            ([1024, 1000, 128], 2),
            // Beyond the boundary the nearest M and N.
            ([60_000, 64, 64], 4),
        ] {
            let found = (0..points.len())
                .min_by(|a, b| distance(wanted, points[*a]).total_cmp(&distance(wanted, points[*b])));
            assert_eq!(found, Some(expected), "{wanted:?}");
        }
    }
}
