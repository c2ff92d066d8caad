//! Sets of times as sorted intervals that do not touch.

use sorting::Sort;

/// Intervals from start to end, sorted, disjoint and not touching; ns.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Intervals(Vec<(i64, i64)>);

impl Intervals {
    /// The union of spans in any order.
    pub fn union(spans: impl IntoIterator<Item = (i64, i64)>) -> Intervals {
        let mut spans: Vec<(i64, i64)> = spans.into_iter().filter(|(start, end)| start < end).collect();
        spans.in_order();
        let mut out: Vec<(i64, i64)> = Vec::with_capacity(spans.len());
        for (start, end) in spans {
            match out.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => out.push((start, end)),
            }
        }
        Intervals(out)
    }

    /// The intervals.
    pub fn all(&self) -> &[(i64, i64)] {
        &self.0
    }

    /// Time in them together, ns.
    pub fn total(&self) -> i64 {
        self.0.iter().map(|(start, end)| end - start).sum()
    }

    /// From the first start to the last end, ns; 0 without intervals.
    pub fn span(&self) -> i64 {
        match (self.0.first(), self.0.last()) {
            (Some(first), Some(last)) => last.1 - first.0,
            _ => 0,
        }
    }

    /// Intersection of both.
    pub fn intersection(&self, other: &Intervals) -> Intervals {
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut out = Vec::new();
        while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
            let (start, end) = (x.0.max(y.0), x.1.min(y.1));
            if start < end {
                out.push((start, end));
            }
            if x.1 < y.1 {
                a.next()
            } else {
                b.next()
            };
        }
        Intervals(out)
    }

    /// Time in these and not in `other`, ns.
    pub fn without(&self, other: &Intervals) -> i64 {
        self.total() - self.intersection(other).total()
    }

    /// True if one of the intervals contains the moment.
    pub fn contains(&self, time: i64) -> bool {
        let before = self.0.partition_point(|(start, _)| *start <= time);
        before.checked_sub(1).is_some_and(|at| time < self.0[at].1)
    }

    /// Gaps between the intervals.
    pub fn gaps(&self) -> impl Iterator<Item = (i64, i64)> + '_ {
        self.0.windows(2).map(|pair| (pair[0].1, pair[1].0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_times() {
        let a = Intervals::union([(5, 9), (0, 3), (2, 4), (9, 10), (7, 7)]);
        assert_eq!(a.all(), [(0, 4), (5, 10)]);
        assert_eq!((a.total(), a.span()), (9, 10));
        let b = Intervals::union([(3, 6), (8, 20)]);
        assert_eq!(a.intersection(&b).all(), [(3, 4), (5, 6), (8, 10)]);
        assert_eq!((a.without(&b), b.without(&a)), (5, 11));
        assert_eq!(a.gaps().collect::<Vec<_>>(), [(4, 5)]);
        assert_eq!(
            [-1, 0, 3, 4, 5, 9, 10].map(|t| a.contains(t)),
            [false, true, true, false, true, true, false]
        );
        assert_eq!(Intervals::default().span(), 0);
    }
}
