//! Comparison of the contents that launches leave in their buffers.

use crate::launch_file::Element;
use crate::run::LeftBuffer;
use buffers::Tally;

/// How far all elements together may be off, as a multiple of the usual difference: an element near zero may be off by
/// much and the whole not.
const AS_A_WHOLE: f64 = 4.0;

/// A value with the digits that its type has.
fn words(element: Element, value: f64) -> String {
    if element.size() < 8 && !element.is_whole() { (value as f32).to_string() } else { value.to_string() }
}

/// How two buffers with the same meaning differ.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Compared {
    /// Why they are not equal.
    pub(super) problem: Option<String>,
    /// Largest difference, relative to the larger of the element and the scale of the buffer.
    pub(super) largest: f64,
}

/// Compares the elements that a base and another launch left. With a tolerance, differences count relative to elements
/// larger than 1; without, relative to those larger than the root of the mean square.
pub(super) fn compared(base: &LeftBuffer, other: &LeftBuffer, tolerance: Option<f64>) -> Compared {
    if base.after == other.after {
        return Compared::default();
    }
    let (expected, found) = (base.element.numbers(&base.after), other.element.numbers(&other.after));
    let given = tolerance.or(Some(base.tolerance).filter(|it| *it > 0.0));
    let usual = base.element.usual_difference();
    let Tally { allowed, first, wrong, largest, whole } = buffers::compare(&expected, &found, given, usual);
    let (name, all) = (&base.name, expected.len());
    let beyond = if allowed > 0.0 { format!(" by more than {allowed:e}") } else { String::new() };
    let problem = first.map(|(at, found, expected)| {
        format!(
            "element {at} of `{name}` is {}, in the base {}; {} of {} differ{beyond}",
            words(base.element, found),
            words(base.element, expected),
            view::thousands(wrong),
            view::thousands(all as u64)
        )
    });
    let most = allowed.max(AS_A_WHOLE * usual);
    let problem = problem.or_else(|| {
        (whole > most).then(|| {
            format!(
                "every element of `{name}` is within the tolerance of {allowed:e}, and all together are off by {:.3} %",
                100.0 * whole
            )
        })
    });
    Compared { problem, largest }
}

/// The first element that differs in any bit, with what two launches left there.
pub(super) fn first_bits(one: &LeftBuffer, other: &LeftBuffer) -> Option<(usize, String, String)> {
    let size = one.element.size();
    let at = buffers::first_different(&one.after, &other.after, size)?;
    let value =
        |it: &LeftBuffer| words(it.element, it.element.numbers(&it.after[at * size..(at + 1) * size])[0]);
    Some((at, value(one), value(other)))
}

/// The first element that the base computes from the inputs alone, and the candidate leaves as it was: `filled` are the
/// launches whose buffers held something else before.
pub(super) fn first_left(
    (base, base_filled): (&LeftBuffer, &LeftBuffer),
    (other, other_filled): (&LeftBuffer, &LeftBuffer),
) -> Option<usize> {
    let (first, second) =
        ((&base.after[..], &base_filled.after[..]), (&other.after[..], &other_filled.after[..]));
    buffers::first_kept(first, second, base.element.size())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(name: &str, values: &[f64]) -> LeftBuffer {
        let element = Element::by_name(name).unwrap();
        let after = element.bytes(values.iter().copied());
        LeftBuffer {
            name: "c".into(),
            element,
            is_input: false,
            tolerance: 0.0,
            before: vec![0; after.len()],
            after,
        }
    }

    #[test]
    fn differences_beyond_the_type_are_wrong() {
        let nan = f64::NAN;
        for (element, base, other, tolerance, wrong) in [
            ("f32", &[1.0, 2.0][..], &[1.0, 2.000_001][..], None, false),
            ("f32", &[1.0, 2.0], &[1.0, 2.001], None, true),
            ("f32", &[1.0, 2.0], &[1.0, 2.001], Some(1e-2), false),
            // Small beside the others: the order of sums may change it.
            ("f32", &[1e-7, 100.0], &[2e-7, 100.0], None, false),
            // Within the tolerance, because everything is small, and nothing was computed.
            ("f32", &[1e-3, 2e-3], &[0.0, 0.0], Some(1e-2), true),
            ("f32", &[nan, 1.0], &[nan, 1.0], None, false),
            ("f32", &[nan, 1.0], &[0.0, 1.0], None, true),
            ("f32", &[f64::INFINITY], &[1.0], None, true),
            ("i32", &[1.0], &[2.0], None, true),
            ("f16", &[1.0, 2.0], &[1.0, 2.002], None, false),
        ] {
            let compared = compared(&left(element, base), &left(element, other), tolerance);
            assert_eq!(compared.problem.is_some(), wrong, "{element} {base:?} {other:?}: {compared:?}");
        }
    }

    #[test]
    fn elements_that_keep_what_was_there() {
        let (base, filled) = (left("i32", &[1.0, 2.0, 0.0]), left("i32", &[1.0, 2.0, -1.0]));
        let stale = (left("i32", &[1.0, 0.0, 0.0]), left("i32", &[1.0, -1.0, -1.0]));
        assert_eq!(first_left((&base, &filled), (&base, &filled)), None);
        assert_eq!(first_left((&base, &filled), (&stale.0, &stale.1)), Some(1));
    }
}
