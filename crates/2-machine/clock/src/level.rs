//! Level over time, such as resident waves, in a bounded number of intervals.
//!
//! A start raises the level of all later intervals and an end lowers it, one addition each. When time
//! outgrows the intervals they are merged in pairs.

/// Intervals kept: many for each one shown.
const KEPT: usize = 1024;

/// A level over time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Level {
    /// By interval: starts minus ends, each weighted by the cycles left of the interval.
    parts: Vec<i64>,
    /// By interval: difference of the level from the interval before.
    steps: Vec<i64>,
    /// Cycles of an interval, as a power of two.
    shift: u32,
}

impl Default for Level {
    fn default() -> Level {
        Level { parts: vec![0; KEPT], steps: vec![0; KEPT + 1], shift: 0 }
    }
}

impl Level {
    /// Raises the level from a cycle on.
    #[inline]
    pub(crate) fn begin(&mut self, cycle: u64) {
        self.change(cycle, 1);
    }

    /// Lowers the level from a cycle on.
    #[inline]
    pub(crate) fn end(&mut self, cycle: u64) {
        self.change(cycle, -1);
    }

    fn change(&mut self, cycle: u64, by: i64) {
        while cycle >> self.shift >= KEPT as u64 {
            self.join();
        }
        let at = (cycle >> self.shift) as usize;
        let left = ((at as u64 + 1) << self.shift) - cycle;
        self.parts[at] += by * left as i64;
        self.steps[at + 1] += by;
    }

    /// Merges intervals in pairs.
    fn join(&mut self) {
        let width = 1i64 << self.shift;
        for at in 0..KEPT / 2 {
            let (first, second) = (2 * at, 2 * at + 1);
            self.parts[at] = self.parts[first] + self.parts[second] + width * self.steps[second];
            self.steps[at] = self.steps[first] + if at > 0 { self.steps[first - 1] } else { 0 };
        }
        // Starts in the last two intervals count from the first interval behind them on.
        self.steps[KEPT / 2] = self.steps[KEPT - 1] + self.steps[KEPT];
        self.parts[KEPT / 2..].fill(0);
        self.steps[KEPT / 2 + 1..].fill(0);
        self.shift += 1;
    }

    /// Adds another.
    pub(crate) fn add(&mut self, other: &Level) {
        let mut other = other.clone();
        while self.shift < other.shift {
            self.join();
        }
        while other.shift < self.shift {
            other.join();
        }
        self.parts.iter_mut().zip(&other.parts).for_each(|(sum, part)| *sum += part);
        self.steps.iter_mut().zip(&other.steps).for_each(|(sum, step)| *sum += step);
    }

    /// Inserts cycles in which the level does not change.
    pub(crate) fn extend_at(&mut self, cycle: u64, cycles: u64) {
        let last = |level: &Level| level.steps.iter().rposition(|&step| step != 0).unwrap_or(0) as u64;
        while last(self) + (cycles >> self.shift) + 1 >= KEPT as u64 {
            self.join();
        }
        let at = (cycle >> self.shift) as usize + 1;
        let more = (cycles >> self.shift) as usize;
        for values in [&mut self.parts, &mut self.steps] {
            let kept = values.len();
            values.splice(at.min(kept)..at.min(kept), std::iter::repeat_n(0, more));
            values.truncate(kept);
        }
    }

    /// Mean level in each of `count` equal intervals of the first `cycles`, at whose end the level is 0.
    pub fn means(&self, cycles: u64, count: usize) -> Vec<f64> {
        let width = (1u64 << self.shift) as f64;
        // Sum of the level up to the start of each kept interval.
        let mut sums = Vec::with_capacity(KEPT + 1);
        let (mut sum, mut level) = (0.0, 0);
        sums.push(sum);
        for (part, step) in self.parts.iter().zip(&self.steps) {
            level += step;
            sum += *part as f64 + level as f64 * width;
            sums.push(sum);
        }
        let up_to = |cycle: f64| {
            let at = cycle / width;
            let whole = (at as usize).min(KEPT - 1);
            sums[whole] + (at - whole as f64).min(1.0) * (sums[whole + 1] - sums[whole])
        };
        let each = cycles as f64 / count as f64;
        // Ends in the last interval come before its end.
        let border = |at: usize| if at < count { up_to(at as f64 * each) } else { sum };
        let mean = |at: usize| (border(at + 1) - border(at)) / each;
        if cycles == 0 { vec![0.0; count] } else { (0..count).map(mean).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lives: &[(u64, u64)]) -> Level {
        let mut level = Level::default();
        for (begin, end) in lives {
            level.begin(*begin);
            level.end(*end);
        }
        level
    }

    #[test]
    fn levels_are_means_over_equal_intervals() {
        for (lives, cycles, expected) in [
            (&[(0, 100)][..], 100, vec![1.0; 4]),
            (&[(0, 50), (25, 100)], 100, vec![1.0, 2.0, 1.0, 1.0]),
            (&[(10, 30)], 80, vec![0.5, 0.5, 0.0, 0.0]),
            (&[], 80, vec![0.0; 4]),
            (&[], 0, vec![0.0; 4]),
            // Longer than what is kept: joined many times.
            (&[(0, 1 << 30), (0, 1 << 28)], 1 << 30, vec![2.0, 1.0, 1.0, 1.0]),
            (&[(3 << 40, 1 << 42)], 1 << 42, vec![0.0, 0.0, 0.0, 1.0]),
        ] {
            assert_eq!(of(lives).means(cycles, 4), expected, "{lives:?}");
        }
    }

    #[test]
    fn nothing_is_lost_however_often_intervals_are_joined() {
        // Lives of growing length, out of time order.
        let lives: Vec<(u64, u64)> =
            (0..500u64).map(|at| (at * 7919 % 4001 * at, at * 7919 % 4001 * at + 13 * at * at + 1)).collect();
        let last = lives.iter().map(|life| life.1).max().unwrap();
        let whole = of(&lives);
        let sum = lives.iter().map(|(begin, end)| end - begin).sum::<u64>() as f64;
        for count in [1, 64, 100] {
            let found = whole.means(last, count).iter().sum::<f64>() * last as f64 / count as f64;
            assert!((found / sum - 1.0).abs() < 1e-9, "{count}: {found} {sum}");
        }
        // Two halves, one of which is shorter, are the whole.
        let mut halves = of(&lives[..20]);
        halves.add(&of(&lives[20..]));
        assert_eq!(halves, whole);
        let mut halves = of(&lives[20..]);
        halves.add(&of(&lives[..20]));
        assert_eq!(halves, whole);
    }
}
