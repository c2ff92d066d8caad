//! Offsets for buffers that live at different times: Triton's allocation, after Li et al., "Minimizing
//! storage for buffers".
//!
//! Steps and their order are the compiler's, so that the sum equals the compiler's even if it is not minimal.

use sorting::Sort;
use std::ops::Range;

/// A buffer to place.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) size: u64,
    pub(super) live: Range<usize>,
    pub(super) alignment: u64,
}

/// Upper bound on rounds, above the number for any real set of buffers; protects against malformed texts.
const MOST_ROUNDS: usize = 1000;

/// Offsets in the order of the requests.
pub(super) fn allocate(requests: &[Request]) -> Vec<u64> {
    // The largest first.
    let mut order: Vec<usize> = (0..requests.len()).collect();
    order.in_order_by_key(|at| std::cmp::Reverse(requests.get(*at).map_or(0, |it| it.size)));
    let sorted: Vec<&Request> = order.iter().filter_map(|at| requests.get(*at)).collect();
    let mut offsets = starts(&sorted);
    for _ in 0..MOST_ROUNDS {
        let clashes = clashes(&sorted, &offsets);
        if clashes.iter().all(Vec::is_empty) {
            break;
        }
        bump(&sorted, &clashes, &mut offsets);
    }
    let mut placed = vec![0; requests.len()];
    for (at, offset) in order.iter().zip(offsets) {
        if let Some(it) = placed.get_mut(*at) {
            *it = offset;
        }
    }
    placed
}

fn overlap<T: Ord>(a: &Range<T>, b: &Range<T>) -> bool {
    a.start < b.end && b.start < a.end
}

fn aligned(offset: u64, request: &Request) -> u64 {
    offset.checked_next_multiple_of(request.alignment).unwrap_or(offset)
}

/// A first place for each, by free stretches of (offset, time).
fn starts(requests: &[&Request]) -> Vec<u64> {
    let mut offsets = vec![0; requests.len()];
    // Free from this offset on, in this stretch of time; ascending by offset, later entries after earlier ones.
    let mut free: Vec<(u64, Range<usize>)> = vec![(0, 0..usize::MAX)];
    let insert = |free: &mut Vec<(u64, Range<usize>)>, offset: u64, time: Range<usize>| {
        let at = free.partition_point(|(it, _)| *it <= offset);
        free.insert(at, (offset, time));
    };
    let mut left: Vec<usize> = (0..requests.len()).collect();
    while !left.is_empty() && !free.is_empty() {
        let (offset, time) = free.remove(0);
        let fits = |at: &usize| {
            requests.get(*at).is_some_and(|it| {
                overlap(&it.live, &time) && !free.iter().any(|(_, other)| overlap(other, &it.live))
            })
        };
        let Some(found) = left.iter().position(fits) else { continue };
        let at = left.remove(found);
        let Some(request) = requests.get(at) else { continue };
        let begin = aligned(offset, request);
        if let Some(it) = offsets.get_mut(at) {
            *it = begin;
        }
        let live = &request.live;
        insert(
            &mut free,
            begin.saturating_add(request.size),
            time.start.max(live.start)..time.end.min(live.end),
        );
        if time.start < live.start {
            insert(&mut free, offset, time.start..live.end);
        }
        if live.end < time.end {
            insert(&mut free, offset, live.start..time.end);
        }
    }
    offsets
}

/// For each buffer, the buffers whose bytes and live range overlap with it.
fn clashes(requests: &[&Request], offsets: &[u64]) -> Vec<Vec<usize>> {
    let bytes = |at: usize| {
        let offset = offsets.get(at).copied().unwrap_or(0);
        offset..offset.saturating_add(requests.get(at).map_or(0, |it| it.size))
    };
    let live = |at: usize| requests.get(at).map_or(0..0, |it| it.live.clone());
    let all = 0..requests.len();
    let of = |a: usize| {
        all.clone()
            .filter(move |&b| a != b && overlap(&live(a), &live(b)) && overlap(&bytes(a), &bytes(b)))
            .collect()
    };
    all.clone().map(of).collect()
}

/// Moves clashing buffers above the ones they clash with, one colour after the other.
fn bump(requests: &[&Request], clashes: &[Vec<usize>], offsets: &mut [u64]) {
    let mut colours: Vec<Option<usize>> = vec![None; requests.len()];
    if let Some(first) = colours.first_mut() {
        *first = Some(0);
    }
    for at in 0..requests.len() {
        let taken: Vec<usize> = clashes
            .get(at)
            .map(|it| it.iter().filter_map(|other| colours.get(*other).copied().flatten()).collect())
            .unwrap_or_default();
        if let Some(colour) = colours.get_mut(at) {
            *colour = (0..=requests.len()).find(|it| !taken.contains(it));
        }
    }
    for (at, request) in requests.iter().enumerate() {
        if colours.get(at).copied().flatten() == Some(0) {
            continue;
        }
        let above = clashes.get(at).map_or(0, |others| {
            let end = |other: &usize| {
                offsets.get(*other).copied().unwrap_or(0)
                    + requests.get(*other).map_or(0, |request| request.size)
            };
            others.iter().map(end).max().unwrap_or(0)
        });
        if let Some(offset) = offsets.get_mut(at) {
            *offset = aligned(above, request);
        }
    }
}
