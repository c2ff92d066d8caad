//! Other contents that a buffer might as well have had: its own values, elsewhere and in other sizes.

use crate::Element;
use crate::fill::spread;
use std::collections::BTreeSet;

/// Integers within this many times their number that are all different are places of something.
const PLACES: f64 = 2.0;

/// How far other contents are from the given ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variation {
    /// Each element is one of the buffer; fractions are scaled, integers that are all different places change places only.
    Drawn,
    /// Integers change places, fractions and other floats are scaled where they are.
    Moved,
    /// Floats are scaled where they are, integers are kept.
    Scaled,
}

impl Variation {
    /// All, farthest first.
    pub const ALL: [Variation; 3] = [Variation::Drawn, Variation::Moved, Variation::Scaled];
}

/// Why a buffer has no other contents.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fixed {
    /// Its integers are all the same.
    Equal,
    /// All elements are zero, or it has none.
    Zero,
    /// Its integers ascend: so do offsets of rows and lists that are searched.
    Ascending,
    /// Integers are kept.
    Integers,
}

impl Fixed {
    /// In words, after the name of the buffer.
    pub const fn words(self) -> &'static str {
        match self {
            Fixed::Equal => "all elements are equal",
            Fixed::Zero => "all elements are zero",
            Fixed::Ascending => "ascending integers, as offsets are",
            Fixed::Integers => "integers",
        }
    }
}

/// Other contents by a seed. Whatever an element can be used for, as an index or as a size, it can afterwards as well: integers
/// are values that the buffer has, and floats are such values, times 0.5 to 1 unless all are whole.
///
/// # Errors
/// Says why there are none.
pub fn varied(bytes: &[u8], element: Element, variation: Variation, seed: u64) -> Result<Vec<u8>, Fixed> {
    let size = element.size();
    let items: Vec<&[u8]> = bytes.chunks_exact(size).collect();
    let numbers = element.numbers(bytes);
    if numbers.iter().all(|it| *it == 0.0) {
        return Err(Fixed::Zero);
    }
    let are_equal = items.windows(2).all(|it| it[0] == it[1]);
    let is_whole = element.is_whole();
    if is_whole {
        fixed_integers(&numbers, are_equal, variation)?;
    }
    let random =
        |at: usize, salt: u64| spread((seed ^ salt) ^ (at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let places = match (variation, is_whole) {
        (Variation::Scaled, _) | (Variation::Moved, false) => (0..items.len()).collect(),
        (Variation::Moved, true) => shuffled(items.len(), |at| random(at, 1)),
        (Variation::Drawn, true) if are_places(&items, &numbers) => shuffled(items.len(), |at| random(at, 1)),
        (Variation::Drawn, _) => {
            (0..items.len()).map(|at| (random(at, 1) * items.len() as f64) as usize).collect::<Vec<_>>()
        }
    };
    let mut other: Vec<u8> = places.iter().flat_map(|it| items[*it]).copied().collect();
    let all_whole = numbers.iter().all(|it| it.fract() == 0.0 || !it.is_finite());
    let stay_whole = all_whole && !are_equal && variation == Variation::Drawn;
    if !is_whole && !stay_whole {
        let scaled =
            places.iter().enumerate().map(|(at, place)| numbers[*place] * (1.0 - random(at, 2) / 2.0));
        other = element.bytes(scaled);
    }
    other.extend(&bytes[items.len() * size..]);
    Ok(other)
}

fn fixed_integers(numbers: &[f64], are_equal: bool, variation: Variation) -> Result<(), Fixed> {
    if are_equal {
        return Err(Fixed::Equal);
    }
    if numbers.is_sorted() {
        return Err(Fixed::Ascending);
    }
    if variation == Variation::Scaled { Err(Fixed::Integers) } else { Ok(()) }
}

/// Whether integers look like places: all different, and close together.
fn are_places(items: &[&[u8]], numbers: &[f64]) -> bool {
    let range = |(low, high): (f64, f64), it: &f64| (low.min(*it), high.max(*it));
    let (low, high) = numbers.iter().fold((f64::INFINITY, f64::NEG_INFINITY), range);
    high - low < PLACES * numbers.len() as f64 && items.iter().collect::<BTreeSet<_>>().len() == items.len()
}

/// The numbers below `count` in another order.
fn shuffled(count: usize, random: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    for at in (1..count).rev() {
        places.swap(at, (random(at) * (at + 1) as f64) as usize);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of a type, varied.
    fn numbers(name: &str, values: &[f64], variation: Variation) -> Result<Vec<f64>, Fixed> {
        let element = Element::by_name(name).unwrap();
        let bytes = element.bytes(values.iter().copied());
        let other = varied(&bytes, element, variation, 1)?;
        assert_eq!(other, varied(&bytes, element, variation, 1).unwrap(), "the same seed");
        assert_ne!(other, varied(&bytes, element, variation, 2).unwrap(), "another seed");
        assert_ne!(other, bytes);
        Ok(element.numbers(&other))
    }

    fn sorted(mut values: Vec<f64>) -> Vec<f64> {
        values.sort_by(f64::total_cmp);
        values
    }

    #[test]
    fn floats_keep_sign_and_zeros_and_do_not_grow() {
        let values: Vec<f64> =
            (0..64).map(|it| if it % 4 == 0 { 0.0 } else { f64::from(it) - 30.5 }).collect();
        for name in ["f64", "f32", "f16", "bf16"] {
            for variation in [Variation::Moved, Variation::Scaled] {
                let other = numbers(name, &values, variation).unwrap();
                for (old, new) in values.iter().zip(&other) {
                    assert!(old * new >= 0.0 && (*old == 0.0) == (*new == 0.0), "{name}: {old} {new}");
                    assert!(new.abs() <= old.abs() && new.abs() >= old.abs() * 0.49, "{name}: {old} {new}");
                }
            }
            let other = numbers(name, &values, Variation::Drawn).unwrap();
            assert!(other.iter().all(|it| (-30.5..=33.0).contains(it)), "{name}: {other:?}");
        }
        // Whole numbers may be labels or places.
        let whole: Vec<f64> = (0..64).map(f64::from).collect();
        let other = numbers("f32", &whole, Variation::Drawn).unwrap();
        assert!(other.iter().all(|it| whole.contains(it)), "{other:?}");
        let ones = numbers("f32", &[1.0; 8], Variation::Drawn).unwrap();
        assert!(ones.iter().all(|it| (0.5..=1.0).contains(it)), "{ones:?}");
        // Bytes after the last element stay.
        let odd =
            varied(&[5, 6, 1, 2, 3, 4, 9], Element::by_name("i16").unwrap(), Variation::Moved, 1).unwrap();
        assert_eq!((odd.len(), odd[6]), (7, 9));
    }

    #[test]
    fn integers_are_values_of_the_buffer() {
        let values: Vec<f64> = (0..100).map(|it| f64::from(it * 7 % 30 - 5)).collect();
        let drawn = numbers("i32", &values, Variation::Drawn).unwrap();
        assert!(drawn.iter().all(|it| values.contains(it)));
        assert_ne!(drawn.iter().sum::<f64>(), values.iter().sum::<f64>(), "sums change");
        assert_eq!(sorted(numbers("i32", &values, Variation::Moved).unwrap()), sorted(values.clone()));
        // An order of places stays one; numbers from anywhere do not.
        let order: Vec<f64> = (0..100).map(|it| f64::from(it * 37 % 100)).collect();
        assert_eq!(sorted(numbers("i32", &order, Variation::Drawn).unwrap()), sorted(order.clone()));
        let wide: Vec<f64> = order.iter().map(|it| it * 1000.0).collect();
        assert_ne!(sorted(numbers("i32", &wide, Variation::Drawn).unwrap()), sorted(wide.clone()));
    }

    #[test]
    fn what_has_no_other_contents_says_why() {
        for (name, values, variation, expected) in [
            ("f32", &[0.0; 8][..], Variation::Drawn, Fixed::Zero),
            ("i32", &[0.0; 8], Variation::Drawn, Fixed::Zero),
            ("i32", &[7.0; 8], Variation::Drawn, Fixed::Equal),
            ("f32", &[], Variation::Drawn, Fixed::Zero),
            ("i32", &[0.0, 4.0, 4.0, 9.0], Variation::Moved, Fixed::Ascending),
            ("i32", &[3.0, 4.0, 1.0, 9.0], Variation::Scaled, Fixed::Integers),
        ] {
            let element = Element::by_name(name).unwrap();
            let bytes = element.bytes(values.iter().copied());
            assert_eq!(varied(&bytes, element, variation, 1), Err(expected), "{name} {values:?}");
        }
    }
}
