//! Findings on a space from its results.

use rockhound_tune::landscape::{geometric_mean, importance, landscape, pareto};
use rockhound_tune::{Id, Limits, Parameter, Random, Space, Value};

fn space() -> Space {
    let parameter = |name: &str, values: &str| Parameter {
        name: name.to_owned(),
        values: values.split(' ').map(Value::parse).collect(),
    };
    let parameters = vec![
        parameter("x", "1 2 4 8 16 32"),
        parameter("y", "1 2 3 4 5"),
        parameter("t", "a b c"),
        parameter("n", "0 1"),
    ];
    Space::new(parameters, &["x * y <= 64".to_owned()], Limits::default()).unwrap()
}

/// Times of some configurations, by a function of the values' places.
fn results(space: &Space, of: impl Fn(&[u32]) -> f64) -> Vec<(Id, f64)> {
    let mut random = Random::new(1);
    (0..300).map(|_| space.random(&mut random)).map(|id| (id, of(&space.places(id)))).collect()
}

#[test]
fn importance_of_parameters() {
    let space = space();
    let alone = |of: &dyn Fn(&[u32]) -> f64| importance(&space, &results(&space, of)).unwrap();
    let one = alone(&|it| 1.0 + f64::from(it[0]));
    assert!(one.alone[0] > 0.9 && one.alone[1] < 0.1 && one.alone[3] < 0.05, "{one:?}");
    assert!(one.explained > 0.9, "{one:?}");
    let text = alone(&|it| [1.0, 3.0, 1.5][it[2] as usize]);
    assert!(text.alone[2] > 0.9, "{text:?}");
    // Neither says anything alone.
    let pair = alone(&|it| if (it[1] > 2) == (it[3] == 1) { 1.0 } else { 2.0 });
    assert!((pair.pairs[0].a, pair.pairs[0].b) == (1, 3) && pair.pairs[0].share > 0.7, "{pair:?}");
    assert_eq!(importance(&space, &[(0, 1.0); 7]), None);
    assert_eq!(importance(&space, &[(0, 1.0); 9]), None);
}

#[test]
fn landscapes_along_pairs() {
    let space = space();
    let id = |places: [u32; 4]| space.id(&places).unwrap();
    let results = [(id([0, 1, 0, 0]), 1.0), (id([0, 1, 1, 0]), 4.0), (id([2, 0, 0, 0]), 3.0), (0, f64::NAN)];
    let cells = landscape(&space, &results, 0, 1);
    let found: Vec<_> = cells.iter().map(|it| (it.a, it.b, it.best, it.mean, it.results)).collect();
    assert_eq!(found, [(0, 1, 1.0, 2.0, 2), (2, 0, 3.0, 3.0_f64.ln().exp(), 1)]);
}

#[test]
fn fronts_of_objectives() {
    let nan = f64::NAN;
    for (points, expected) in [
        (vec![], vec![]),
        (vec![vec![1.0, 2.0], vec![2.0, 1.0], vec![2.0, 2.0], vec![1.0, 2.0]], vec![0, 1, 3]),
        (vec![vec![nan, 0.0], vec![5.0, 5.0]], vec![1]),
        (vec![vec![3.0], vec![1.0], vec![2.0]], vec![1]),
    ] {
        assert_eq!(pareto(&points), expected, "{points:?}");
    }
}

#[test]
fn means_over_shapes() {
    for (times, expected) in [
        (&[Some(1.0), Some(4.0)][..], Some(2.0)),
        (&[Some(1.0), None], None),
        (&[Some(0.0)], None),
        (&[], None),
    ] {
        assert_eq!(geometric_mean(times), expected, "{times:?}");
    }
}
