//! Sampling of a large grid: some workgroups run, and their counts are scaled to all.
//!
//! The grid is cut into parts of equal length and one workgroup of each part represents the whole part. Its
//! position is pseudo-random, so that no row length of the grid correlates with the choice. The first and the
//! last workgroup, which differ at edges, represent only themselves.

/// Workgroups to run, and how many each represents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sample {
    /// Numbers of workgroups, ascending.
    pub workgroups: Vec<u64>,
    /// Number of workgroups each represents; the sum is the size of the grid.
    pub weights: Vec<u64>,
}

impl Sample {
    /// At most `most` of `total` workgroups; `None` if that is all of them, or if there are none.
    pub fn new(total: u64, most: u64) -> Option<Sample> {
        if most == 0 || total <= most {
            return None;
        }
        if most < 3 {
            return Some(Sample { workgroups: vec![total / 2], weights: vec![total] });
        }
        let (parts, inner) = (most - 2, total - 2);
        let mut sample = Sample { workgroups: vec![0], weights: vec![1] };
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
            let Sample { workgroups, weights } = Sample::new(total, most).unwrap();
            assert!(workgroups.len() as u64 <= most && workgroups.len() == weights.len());
            assert!(workgroups.is_sorted_by(|a, b| a < b) && workgroups.iter().all(|it| *it < total));
            assert_eq!(
                weights.iter().map(|it| u128::from(*it)).sum::<u128>(),
                u128::from(total),
                "{total} {most}"
            );
        }
        for (total, most) in [(0, 0), (5, 0), (5, 5), (5, 6)] {
            assert_eq!(Sample::new(total, most), None);
        }
    }
}
