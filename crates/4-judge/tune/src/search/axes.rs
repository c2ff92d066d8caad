//! Distances between values of parameters, as the model sees them.

use crate::space::Parameter;
use crate::value::Value;
use sorting::Sort;

/// Most classes of values of a parameter: a table has a row and a column for each.
pub(super) const MOST_CLASSES: usize = 64;

/// Distances of the values of one parameter, from 0 to 1, each by class and class.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    /// Which parameter.
    pub(super) parameter: usize,
    /// The class of each value: its place, but where a parameter has many values.
    pub(super) class: Vec<u16>,
    /// Number of classes.
    pub(super) classes: usize,
    /// One table for each way in which values can be near to each other.
    pub(super) distances: Vec<Vec<f64>>,
}

/// The axes of the parameters that have a choice.
pub(super) fn axes(parameters: &[Parameter]) -> Vec<Axis> {
    let choices = parameters.iter().enumerate().filter(|(_, it)| it.values.len() > 1);
    choices.map(|(at, it)| axis(at, &it.values)).collect()
}

fn axis(parameter: usize, values: &[Value]) -> Axis {
    let Some(numbers) = values.iter().map(Value::number).collect::<Option<Vec<f64>>>() else {
        let classes = values.len().min(MOST_CLASSES);
        let class = (0..values.len()).map(|it| (it % classes) as u16).collect();
        let differ = (0..classes * classes).map(|it| f64::from(u8::from(it / classes != it % classes)));
        return Axis { parameter, class, classes, distances: vec![differ.collect()] };
    };
    let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Sizes act by their ratio.
    let by_ratio = least > 0.0 && most / least >= 4.0;
    let sizes: Vec<f64> = numbers.iter().map(|it| if by_ratio { it.log2() } else { *it }).collect();
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.in_order_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
    let classes = numbers.len().min(MOST_CLASSES);
    let (mut class, mut first) = (vec![0u16; numbers.len()], vec![None; classes]);
    for (rank, &at) in order.iter().enumerate() {
        let it = rank * classes / numbers.len();
        class[at] = it as u16;
        first[it].get_or_insert(at);
    }
    let of =
        |coordinates: &[f64]| -> Vec<f64> { first.iter().flatten().map(|&it| coordinates[it]).collect() };
    let mut distances: Vec<Vec<f64>> = distances(&of(&sizes)).into_iter().collect();
    // Alignment matters beside size: two values are also near if the same power of two divides them.
    let alignment: Vec<f64> = numbers.iter().map(|&it| powers_of_two(it)).collect();
    let is_size = numbers.iter().all(|&it| it > 0.0 && it.log2().fract() == 0.0);
    if !is_size && numbers.len() > 4 {
        distances.extend(self::distances(&of(&alignment)));
    }
    Axis { parameter, class, classes, distances }
}

/// How often two divides a whole number.
fn powers_of_two(number: f64) -> f64 {
    let whole = number.fract() == 0.0 && number > 0.0 && number < 9e15;
    if whole { f64::from((number as u64).trailing_zeros()) } else { 0.0 }
}

/// Distances of coordinates, scaled to 1; `None` where all are equal.
fn distances(coordinates: &[f64]) -> Option<Vec<f64>> {
    let least = coordinates.iter().copied().fold(f64::INFINITY, f64::min);
    let most = coordinates.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let scale = most - least;
    let table =
        || coordinates.iter().flat_map(|a| coordinates.iter().map(move |b| (a - b).abs() / scale)).collect();
    (scale > 0.0).then(table)
}
