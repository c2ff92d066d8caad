//! Places where two buffers differ, in words.

use std::collections::BTreeSet;

/// Where two buffers differ by more than the tolerance.
#[derive(Clone, PartialEq, Debug)]
pub struct Differences {
    /// Places, in order.
    pub places: Vec<usize>,
    /// Found and expected value at the first place.
    pub first: (f64, f64),
    /// Place of the largest difference, with both values; a NaN is larger than any.
    pub largest: (usize, f64, f64),
}

impl Differences {
    /// The places in words, of `count` elements. `workgroup` is the number of work-items of a workgroup where each
    /// element belongs to one work-item.
    pub fn text(&self, count: usize, workgroup: Option<usize>) -> String {
        let Differences { places, first: (found, expected), largest } = self;
        let at = places.first().copied().unwrap_or_default();
        let mut text = format!("element {at} is {found}, expected {expected}");
        if let [_, .., last] = places[..] {
            let (place, found, expected) = largest;
            let differ = places.len();
            text += &format!(
                "\n  {differ} of {count} elements differ, from {at} to {last}; most does element {place}: {found}, expected {expected}"
            );
            text += &workgroup.map_or_else(String::new, |it| by_wave(places, count, it));
        }
        text
    }
}

/// Workgroups, and waves in them, whose work-items have the places.
fn by_wave(places: &[usize], count: usize, workgroup: usize) -> String {
    let workgroup = workgroup.max(1);
    let groups: BTreeSet<usize> = places.iter().map(|it| it / workgroup).collect();
    let waves: BTreeSet<usize> = places.iter().map(|it| it % workgroup / 64).collect();
    let of_waves = workgroup.div_ceil(64);
    let which: Vec<String> = waves.iter().map(usize::to_string).collect();
    let which =
        if waves.len() == of_waves { "all waves".into() } else { format!("waves {}", which.join(", ")) };
    format!(
        "\n  by work-item they are in {} of {} workgroups, {which} of {of_waves}",
        groups.len(),
        count.div_ceil(workgroup)
    )
}

/// Where two buffers differ by more than the tolerance, if anywhere.
pub fn differences(found: &[f64], expected: &[f64], tolerance: f64) -> Option<Differences> {
    let differ = |found: f64, expected: f64| {
        let same = found == expected || (found.is_nan() && expected.is_nan());
        // Not `>`: a NaN counts as different.
        let near = (found - expected).abs() <= tolerance * expected.abs().max(1.0);
        !(same || near)
    };
    let places: Vec<usize> =
        (0..found.len().min(expected.len())).filter(|&at| differ(found[at], expected[at])).collect();
    let first = *places.first()?;
    let apart = |at: usize| (found[at] - expected[at]).abs();
    let largest = places.iter().copied().reduce(|most, at| {
        let is_larger = !apart(most).is_nan() && (apart(at).is_nan() || apart(at) > apart(most));
        if is_larger { at } else { most }
    })?;
    Some(Differences {
        first: (found[first], expected[first]),
        largest: (largest, found[largest], expected[largest]),
        places,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_beyond_the_tolerance_are_found() {
        let cases = [
            (1.0, 1.0, 0.0, false),
            (1.0, 1.1, 0.0, true),
            (1.0, 1.1, 0.1, false),
            (100.0, 109.0, 0.1, false),
            (100.0, 120.0, 0.1, true),
            (f64::NAN, 1.0, 9.0, true),
            (f64::NAN, f64::NAN, 0.0, false),
            (f64::INFINITY, f64::INFINITY, 0.0, false),
        ];
        for (found, expected, tolerance, differs) in cases {
            let got = differences(&[0.0, found], &[0.0, expected], tolerance);
            assert_eq!(got.map(|it| it.places), differs.then(|| vec![1]), "{found} {expected} {tolerance}");
        }
    }

    #[test]
    fn places_of_differences_are_told() {
        let mut found = vec![1.0; 512];
        let expected = found.clone();
        found[200] = 1.5;
        let one = differences(&found, &expected, 0.0).unwrap();
        assert_eq!(one.text(512, Some(256)), "element 200 is 1.5, expected 1");
        (found[250], found[460]) = (-3.0, 2.0);
        let more = differences(&found, &expected, 0.0).unwrap();
        let text = "element 200 is 1.5, expected 1\n  3 of 512 elements differ, from 200 to 460; most does element 250: -3, expected 1";
        assert_eq!(more.text(512, None), text);
        let waves = "\n  by work-item they are in 2 of 2 workgroups, waves 3 of 4";
        assert_eq!(more.text(512, Some(256)), format!("{text}{waves}"));
        found[300] = f64::NAN;
        assert_eq!(differences(&found, &expected, 0.0).unwrap().largest.0, 300);
    }
}
