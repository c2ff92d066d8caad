//! Sampling of a large grid: some workgroups run, and their counts are scaled to all.
//!
//! The grid is cut into parts of equal length and one workgroup of each part represents the whole part. Its
//! position is pseudo-random, so that no row length of the grid correlates with the choice. The first and the
//! last workgroup, which differ at edges, represent only themselves.
//!
//! For times, consecutive workgroups have to fill the GPU several times. A sample that is large enough has the
//! first workgroups of the grid, which the clock follows, and some of the others.

/// Workgroups to run, and how many each represents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sample {
    /// Numbers of workgroups, ascending.
    pub workgroups: Vec<u64>,
    /// Number of workgroups each represents; the sum is the size of the grid.
    pub weights: Vec<u64>,
    /// Number of the first workgroups, all of the grid's first, that the clock follows.
    pub followed: u64,
}

/// Rounds of workgroups that a clock follows at least: as many as it compares, and the one that is resident.
const ROUNDS: u64 = 5;
/// Other workgroups of a sample with times.
const OTHERS: u64 = 64;

impl Sample {
    /// At most `most` of `total` workgroups; `None` if that is all of them, or if there are none.
    pub fn new(total: u64, most: u64) -> Option<Sample> {
        if most == 0 || total <= most {
            return None;
        }
        if most < 3 {
            return Some(Sample { workgroups: vec![total / 2], weights: vec![total], followed: 0 });
        }
        let (parts, inner) = (most - 2, total - 2);
        let mut sample = Sample { workgroups: vec![0], weights: vec![1], followed: 0 };
        let start = |part: u64| 1 + (u128::from(inner) * u128::from(part) / u128::from(parts)) as u64;
        for part in 0..parts {
            let (from, to) = (start(part), start(part + 1));
            sample.workgroups.push(from + scattered(part) % (to - from));
            sample.weights.push(to - from);
        }
        sample.workgroups.push(total - 1);
        sample.weights.push(1);
        Some(sample)
    }

    /// A sample with times, where a GPU holds `round` workgroups at a time; `None` if it would be too small, or
    /// all of the grid.
    pub fn with_times(total: u64, most: u64, round: u64) -> Option<Sample> {
        if most < fewest_with_times(round) || total <= most {
            return None;
        }
        let followed = most - OTHERS;
        let others = Sample::new(total - followed, OTHERS)?;
        let mut sample =
            Sample { workgroups: (0..followed).collect(), weights: vec![1; followed as usize], followed };
        sample.workgroups.extend(others.workgroups.iter().map(|it| followed + it));
        sample.weights.extend(others.weights);
        Some(sample)
    }
}

/// Fewest workgroups of a sample with times, on a GPU that holds `round` workgroups at a time.
pub(crate) fn fewest_with_times(round: u64) -> u64 {
    ROUNDS.saturating_mul(round).saturating_add(OTHERS)
}

/// Pseudo-random number (splitmix64), the same in every run.
fn scattered(number: u64) -> u64 {
    let mut value = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_stand_for_the_whole_grid() {
        for (total, most) in [(2, 1), (3, 2), (4, 3), (100, 7), (100, 99), (1 << 40, 64), (u64::MAX, 100)] {
            let Sample { workgroups, weights, .. } = Sample::new(total, most).unwrap();
            assert!(workgroups.len() as u64 <= most && workgroups.len() == weights.len());
            assert!(workgroups.is_sorted_by(|a, b| a < b) && workgroups.iter().all(|it| *it < total));
            assert_eq!(
                weights.iter().map(|it| u128::from(*it)).sum::<u128>(),
                u128::from(total),
                "{total} {most}"
            );
        }
        let sample = Sample::with_times(10_000, 600, 100).unwrap();
        assert_eq!((sample.workgroups.len(), sample.followed), (600, 536));
        assert!(sample.workgroups.is_sorted_by(|a, b| a < b) && sample.workgroups[535..537] == [535, 536]);
        assert_eq!((sample.weights.iter().sum::<u64>(), sample.workgroups[599]), (10_000, 9999));
        assert_eq!(
            [(10_000, 563), (600, 600)].map(|(total, most)| Sample::with_times(total, most, 100)),
            [None, None]
        );
        for (total, most) in [(0, 0), (5, 0), (5, 5), (5, 6)] {
            assert_eq!(Sample::new(total, most), None);
        }
    }
}
