//! Spaces of constraints.

use std::collections::BTreeSet;

use rockhound_tune::{Limits, Neighbourhood, Parameter, Random, Space, SpaceError, Value};

fn parameter(name: &str, values: &str) -> Parameter {
    Parameter { name: name.to_owned(), values: values.split(' ').map(Value::parse).collect() }
}

fn texts(constraints: &[&str]) -> Vec<String> {
    constraints.iter().map(|it| (*it).to_owned()).collect()
}

/// Values of the small spaces: a text, negative numbers, fractions and zero are among them.
fn parameters() -> Vec<Parameter> {
    vec![
        parameter("x", "1 2 3 4 8 16"),
        parameter("y", "0 1 2 5"),
        parameter("z", "-2 0.5 3"),
        parameter("t", "fp16 fp32 bf16"),
        parameter("b", "True False"),
        parameter("one", "7"),
    ]
}

/// Every configuration of the product, by place.
fn product(parameters: &[Parameter]) -> Vec<Vec<u32>> {
    let mut rows: Vec<Vec<u32>> = vec![Vec::new()];
    for it in parameters {
        let places = 0..it.values.len() as u32;
        rows = rows.iter().flat_map(|row| places.clone().map(|it| [&row[..], &[it]].concat())).collect();
    }
    rows
}

/// Whether a configuration satisfies a constraint, by `expression` alone.
fn holds(parameters: &[Parameter], row: &[u32], constraint: &str) -> Result<bool, String> {
    let expression = expression::Expression::parse(constraint).unwrap();
    let names: Vec<&str> = parameters.iter().map(|it| it.name.as_str()).collect();
    let values: Vec<expression::Value> = expression
        .bind(&names)
        .unwrap()
        .iter()
        .map(|&it| match &parameters[it].values[row[it] as usize] {
            Value::Int(it) => expression::Value::Int(*it),
            Value::Float(it) => expression::Value::Float(*it),
            Value::Bool(it) => expression::Value::Bool(*it),
            Value::Text(it) => expression::Value::Text(it.clone()),
        })
        .collect();
    match expression.evaluate(&values) {
        Ok(expression::Value::Bool(it)) => Ok(it),
        it => Err(format!("{it:?}")),
    }
}

const CONSTRAINTS: [&str; 24] = [
    "x * y <= 20",
    "x % 2 == 0",
    "y == 0 or x % y == 0",
    "y != 0 and 8 / y > 3",
    "t == 'fp16' or x < 8",
    "t in ['fp16', 'bf16']",
    "x in (1, 4, 16) and z not in [3]",
    "not (x == 16 and b)",
    "-1 <= z * x < 20",
    "x // 3 + y >= 2",
    "(x + y) % 3 != 1",
    "min(x, y, one) < 3",
    "max(x, y) >= 2",
    "abs(z) < 2 if b else z > 0",
    "b",
    "b == (x > 2)",
    "x ** 2 < 100",
    "x & (x - 1) == 0 or True",
    "(x & (x - 1)) == 0",
    "len(t) > 3 or one == 7",
    "z / one < 0.2",
    "-x % 5 <= 3",
    "z % 2 > 0.4",
    "x * 10**14 * x < 10**17",
];

#[test]
fn trees_have_exactly_what_constraints_allow() {
    let parameters = parameters();
    let all = product(&parameters);
    let allowed = CONSTRAINTS.map(|constraint| {
        let rows = all.iter().filter(|row| holds(&parameters, row, constraint) == Ok(true));
        rows.cloned().collect::<BTreeSet<_>>()
    });
    let mut random = Random::new(7);
    for round in 0..300 {
        let chosen: Vec<usize> = match round {
            _ if round < CONSTRAINTS.len() => vec![round],
            _ => (0..=random.below(4)).map(|_| random.below(24) as usize).collect(),
        };
        let words: Vec<&str> = chosen.iter().map(|&it| CONSTRAINTS[it]).collect();
        // Rows that are left by none of the constraints, by the first, by the first two, and so on.
        let mut left = vec![all.iter().cloned().collect::<BTreeSet<_>>()];
        for &it in &chosen {
            left.push(left[left.len() - 1].intersection(&allowed[it]).cloned().collect());
        }
        let expected = &left[chosen.len()];
        let space = match Space::new(parameters.clone(), &texts(&words), Limits::default()) {
            Ok(it) => it,
            Err(SpaceError::Empty { .. }) => {
                assert!(expected.is_empty(), "{words:?}");
                continue;
            }
            Err(it) => panic!("{words:?}: {it}"),
        };
        let found: Vec<Vec<u32>> = (0..space.len()).map(|id| space.places(id)).collect();
        for (id, row) in found.iter().enumerate() {
            assert_eq!(space.id(row), Some(id as u64), "{words:?}");
        }
        assert_eq!(&found.into_iter().collect::<BTreeSet<_>>(), expected, "{words:?}");
        for (at, it) in space.removed().unwrap().iter().enumerate() {
            let counts = (all.len() - allowed[chosen[at]].len(), left[at].len() - left[at + 1].len());
            assert_eq!((it.configurations, it.in_order), (counts.0 as u128, counts.1 as u128), "{words:?}");
        }
    }
}

#[test]
fn errors_say_what_is_wrong() {
    let parameters = parameters();
    for (constraints, expected) in [
        (
            &["x > 20"][..],
            "no configuration is left: `x > 20` removes the last 432; no configuration satisfies it",
        ),
        (&["x > 8", "y == 0", "x * y > 0"], "no configuration is left: `x * y > 0` removes the last 18"),
        (&["xx > 8"], "constraint `xx > 8`: column 1: unknown name `xx`; the nearest is `x`"),
        (&["x >"], "constraint `x >`: column 4: expected a value, found the end"),
        (
            &["x % 2"],
            "constraint `x % 2` is a number, and neither true nor false: compare it, as in `… != 0`",
        ),
        (&["t"], "constraint `t` is a text (fp16), and neither true nor false: compare it, as in `… != 0`"),
        (
            &["x % y == 0", "x < 2"],
            "constraint `x % y == 0`: column 3: division by zero, for x=1 y=0 z=-2 t=fp16 b=True one=7",
        ),
        (
            &["x < t", "x == 3"],
            "constraint `x < t`: column 3: an integer is not compared with a text by size, \
             for x=3 y=0 z=-2 t=fp16 b=True one=7",
        ),
        (
            &["x * 10**18 * 100 > 0"],
            "constraint `x * 10**18 * 100 > 0`: column 12: the result is no integer of 64 bits, \
          for x=1 y=0 z=-2 t=fp16 b=True one=7",
        ),
    ] {
        let error = Space::new(parameters.clone(), &texts(constraints), Limits::default()).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    // Another constraint removes every configuration that divides by zero.
    assert!(Space::new(parameters.clone(), &texts(&["x % y == 0", "y > 0"]), Limits::default()).is_ok());
    let repeated = |extra: Parameter| {
        let all = [parameters.clone(), vec![extra]].concat();
        Space::new(all, &[], Limits::default()).unwrap_err().to_string()
    };
    assert!(repeated(parameter("x", "1")).contains("`x`"));
    assert!(repeated(parameter("w", "1 2 1")).contains("`w` has the value 1 "));
    let none = Parameter { name: "w".to_owned(), values: Vec::new() };
    assert!(repeated(none).contains("`w`"));
}

#[test]
fn size_and_time_are_bounded() {
    let wide: Vec<Parameter> = (0..40)
        .map(|it| Parameter { name: format!("p{it}"), values: (0..1000).map(Value::Int).collect() })
        .collect();
    let names: Vec<&str> = wide.iter().map(|it| it.name.as_str()).collect();
    let limits = Limits { edges: 10_000, steps: 100_000 };
    for (constraint, parameters) in [
        // More configurations than 64 bits count.
        ("True".to_owned(), wide.clone()),
        // Every sum is another state.
        (format!("({}) % 4096 == 7", names[..12].join(" + ")), wide[..12].to_vec()),
    ] {
        let error = Space::new(parameters, &[constraint], limits).unwrap_err();
        assert!(matches!(error, SpaceError::TooLarge(_)), "{error}");
    }
    // A product of 10^18 that equal subtrees keep small.
    let space = Space::new(wide[..6].to_vec(), &texts(&["p0 <= 1"]), limits).unwrap();
    assert_eq!((space.len(), space.product()), (2_000_000_000_000_000, 1_000_000_000_000_000_000));
    let id = space.random(&mut Random::new(1));
    assert_eq!(space.id(&space.places(id)), Some(id));
}

#[test]
fn neighbours_differ_in_one_parameter() {
    let parameters = vec![parameter("x", "1 2 4 8"), parameter("y", "1 2 4")];
    let space = Space::new(parameters, &texts(&["x * y != 4", "x * y <= 16"]), Limits::default()).unwrap();
    let of = |x: u32, y: u32, which| {
        let mut found: Vec<Vec<u32>> =
            space.neighbours(space.id(&[x, y]).unwrap(), which).iter().map(|&it| space.places(it)).collect();
        found.sort();
        found
    };
    // 1,1 has x = 2, 8 and y = 2, since 4 * 1 and 1 * 4 are excluded.
    assert_eq!(of(0, 0, Neighbourhood::Any), [[0, 1], [1, 0], [3, 0]]);
    assert_eq!(of(0, 0, Neighbourhood::Adjacent), [[0, 1], [1, 0]]);
    assert_eq!(of(1, 2, Neighbourhood::Adjacent), [[1, 0], [2, 2]]);
}

#[test]
fn draws_are_uniform() {
    let parameters = vec![parameter("x", "1 2 4 8"), parameter("y", "1 2 4")];
    let space = Space::new(parameters, &texts(&["x * y != 4"]), Limits::default()).unwrap();
    let (mut random, mut counts) = (Random::new(3), [0u32; 9]);
    for _ in 0..9000 {
        counts[space.random(&mut random) as usize] += 1;
    }
    // Chi-square with 8 degrees of freedom exceeds 26 once in a thousand.
    let chi: f64 = counts.iter().map(|&it| (f64::from(it) - 1000.0).powi(2) / 1000.0).sum();
    assert!(space.len() == 9 && chi < 26.0, "{counts:?}");
}

#[test]
fn listed_spaces_keep_their_order() {
    let parameters = vec![parameter("x", "1 2"), parameter("y", "1 2")];
    let rows = vec![vec![1, 0], vec![0, 1]];
    let space = Space::listed(parameters.clone(), rows).unwrap();
    assert_eq!((space.id(&[0, 1]), space.id(&[0, 0]), space.places(0)), (Some(1), None, vec![1, 0]));
    for (rows, expected) in [
        (vec![], "no configuration is listed"),
        (vec![vec![0]], "configuration 0 has 1 values for 2 parameters"),
        (vec![vec![0, 0], vec![0, 0]], "configuration 1 is listed twice"),
        (vec![vec![0, 2]], "a configuration names value 2 of parameter `y`, which has fewer"),
    ] {
        assert_eq!(Space::listed(parameters.clone(), rows).unwrap_err().to_string(), expected);
    }
}
