//! Sample of the lines that were read.
//!
//! Membership depends on the line alone, so the intersection of samples is a sample of the lines read by all.
//! A sample that grows too large lowers its rate.

use serde::{Deserialize, Serialize};

/// Most lines of a sample.
const MOST: usize = 512;
/// Sampling rate of a new sample: one line of this many.
const ONE_OF: u32 = 64;

/// A sample of lines.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Sample {
    lines: Vec<u64>,
    kept: u32,
}

impl Default for Sample {
    fn default() -> Sample {
        Sample { lines: Vec::new(), kept: u32::MAX / ONE_OF }
    }
}

impl Sample {
    /// Adds a line.
    #[inline]
    pub fn add(&mut self, line: u64) {
        if Sample::rank(line) <= self.kept && self.lines.last() != Some(&line) {
            self.push(line);
        }
    }

    #[cold]
    fn push(&mut self, line: u64) {
        self.lines.push(line);
        if self.lines.len() > MOST {
            self.lines.sort_unstable();
            self.lines.dedup();
            while self.lines.len() > MOST / 2 {
                self.kept /= 2;
                let kept = self.kept;
                self.lines.retain(|&line| Sample::rank(line) <= kept);
            }
        }
    }

    /// Lines, possibly with repetitions.
    pub fn lines(&self) -> &[u64] {
        &self.lines
    }

    /// Highest [`Sample::rank`] in the sample: all read lines up to it are included.
    pub fn kept(&self) -> u32 {
        self.kept
    }

    /// Pseudo-random rank of a line.
    #[inline]
    pub fn rank(line: u64) -> u32 {
        (line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
    }

    /// Memory of the sample, bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.lines.capacity() * size_of::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_share_the_lines_read_by_both() {
        for lines in [10_000, 100_000, 2_000_000u64] {
            let (mut a, mut b) = (Sample::default(), Sample::default());
            for _ in 0..2 {
                (0..lines).for_each(|line| a.add(line));
                (lines / 2..lines * 3 / 2).for_each(|line| b.add(line));
            }
            let kept = a.kept().min(b.kept());
            let set = |sample: &Sample| {
                let mut lines: Vec<u64> = sample.lines().to_vec();
                lines.retain(|&line| Sample::rank(line) <= kept);
                lines.sort_unstable();
                lines.dedup();
                lines
            };
            let (a, b) = (set(&a), set(&b));
            assert!(
                a.len() <= MOST && a.len() as u64 > (lines / 64).min(MOST as u64 / 8),
                "{lines}: {}",
                a.len()
            );
            let common = a.iter().filter(|line| b.contains(line)).count();
            assert!((2 * common).abs_diff(a.len()) < a.len() / 4, "{lines}: {common} of {}", a.len());
            assert!(a.iter().filter(|&&line| line >= lines / 2).all(|line| b.contains(line)));
        }
    }
}
