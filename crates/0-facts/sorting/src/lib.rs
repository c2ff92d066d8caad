//! Sorting of lists that are short or sorted once, with one copy of the algorithm for all types.
//!
//! The standard library's `sort_by` is compiled again for each type and comparison: some 1,800 lines of LLVM's code, in our crates up to a third
//! of all. Here places are sorted by one function, and the values moved
//! afterwards; a list of millions is sorted with the standard library all the same.
//!
//! ```
//! use rockhound_sorting::Sort;
//!
//! let mut names = ["load", "add", "store"];
//! names.in_order_by_key(|name| name.len());
//! assert_eq!(names, ["add", "load", "store"]);
//! ```

use std::cmp::Ordering;

/// Stable sorting of a list.
pub trait Sort<T> {
    /// Sorts as `sort` does.
    fn in_order(&mut self)
    where
        T: Ord;

    /// Sorts as `sort_by` does.
    fn in_order_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering);

    /// Sorts as `sort_by_key` does.
    fn in_order_by_key<K: Ord>(&mut self, key: impl FnMut(&T) -> K);
}

impl<T> Sort<T> for [T] {
    fn in_order(&mut self)
    where
        T: Ord,
    {
        let places = places(self.len(), &mut |a, b| self[a].cmp(&self[b]));
        arrange(self, places);
    }

    fn in_order_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        let places = places(self.len(), &mut |a, b| compare(&self[a], &self[b]));
        arrange(self, places);
    }

    fn in_order_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        let places = places(self.len(), &mut |a, b| key(&self[a]).cmp(&key(&self[b])));
        arrange(self, places);
    }
}

/// The place that each value comes from.
fn places(len: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..len).collect();
    places.sort_by(|&a, &b| compare(a, b));
    places
}

/// Moves every value along the cycle of places that it is on.
fn arrange<T>(values: &mut [T], mut places: Vec<usize>) {
    for start in 0..places.len() {
        let mut at = start;
        loop {
            let from = std::mem::replace(&mut places[at], at);
            if from == start {
                break;
            }
            values.swap(at, from);
            at = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_as_the_standard_library_does() {
        let mut random = testkit::Random(1);
        for len in [0, 1, 2, 3, 20, 21, 100, 1000] {
            let list: Vec<(u64, usize)> = (0..len).map(|at| (random.next() >> 60, at)).collect();
            let (mut own, mut wanted) = (list.clone(), list.clone());
            own.in_order_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
            wanted.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
            assert_eq!(own, wanted, "{len}");
            own.in_order_by_key(|it| it.0);
            wanted.sort_by_key(|it| it.0);
            assert_eq!(own, wanted, "{len}");
            own.in_order();
            wanted.sort();
            assert_eq!(own, wanted, "{len}");
        }
    }
}
