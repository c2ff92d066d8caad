//! Elements of two buffers, counted by how far they are apart.

/// Differences of two buffers.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Tally {
    /// Difference that was allowed.
    pub allowed: f64,
    /// The first element that differs by more: place, found and expected value.
    pub first: Option<(usize, f64, f64)>,
    /// Elements that do.
    pub wrong: u64,
    /// Largest finite difference, relative to the larger of the element and the scale.
    pub largest: f64,
    /// Root of the sum of all squared differences, relative to the root of the sum of squared expected values.
    pub whole: f64,
}

/// Compares with a given difference, relative to elements larger than 1; without, with the usual one, relative to those
/// larger than the root of the mean square.
pub fn compare(expected: &[f64], found: &[f64], given: Option<f64>, usual: f64) -> Tally {
    let allowed = given.unwrap_or(usual);
    let (mut squares, mut finite) = (0.0, 0u64);
    for it in expected.iter().filter(|it| it.is_finite()) {
        squares += it * it;
        finite += 1;
    }
    let mean = (squares / finite.max(1) as f64).sqrt();
    let scale = if given.is_some() { 1.0 } else { mean };
    let (mut tally, mut off) = (Tally { allowed, ..Tally::default() }, 0.0);
    for (at, (&expected, &found)) in expected.iter().zip(found).enumerate() {
        if expected == found || expected.is_nan() && found.is_nan() {
            continue;
        }
        let difference = (expected - found).abs();
        let relative = difference / expected.abs().max(scale).max(f64::MIN_POSITIVE);
        // A difference that is no number is one of NaN or infinity from a number.
        if relative.is_nan() || relative > allowed {
            tally.wrong += 1;
            tally.first.get_or_insert((at, found, expected));
        }
        if relative.is_finite() {
            tally.largest = tally.largest.max(relative);
            off += difference * difference;
        }
    }
    tally.whole = (off / squares.max(f64::MIN_POSITIVE)).sqrt();
    tally
}

/// The first element that differs in any bit.
pub fn first_different(one: &[u8], other: &[u8], size: usize) -> Option<usize> {
    if one == other {
        return None;
    }
    one.chunks_exact(size).zip(other.chunks_exact(size)).position(|(a, b)| a != b)
}

/// The first element that is the same in the first pair of buffers and not in the second.
pub fn first_kept(first: (&[u8], &[u8]), second: (&[u8], &[u8]), size: usize) -> Option<usize> {
    if second.0 == second.1 {
        return None;
    }
    let is_same = |(a, b): (&[u8], &[u8]), at: usize| {
        let range = at * size..(at + 1) * size;
        a.get(range.clone()) == b.get(range)
    };
    (0..first.0.len() / size).find(|&at| is_same(first, at) && !is_same(second, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_places() {
        let (a, b): (&[u8], &[u8]) = (&[1, 0, 2, 0], &[1, 0, 3, 0]);
        assert_eq!([first_different(a, b, 2), first_different(a, a, 2)], [Some(1), None]);
        assert_eq!([first_kept((a, a), (a, b), 2), first_kept((a, b), (a, b), 2)], [Some(1), None]);
    }
}
