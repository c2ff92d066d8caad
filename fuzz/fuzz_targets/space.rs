//! Any lines as constraints of a small space: what is built agrees with itself.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tune::{Limits, Parameter, Space, Value};

fuzz_target!(|text: &str| {
    let parameter = |name: &str, values: &str| Parameter {
        name: name.to_owned(),
        values: values.split(' ').map(Value::parse).collect(),
    };
    let parameters = vec![
        parameter("x", "1 2 3 4 8 16"),
        parameter("y", "0 1 2 5"),
        parameter("z", "-2 0.5 3"),
        parameter("t", "fp16 fp32"),
        parameter("b", "True False"),
    ];
    let constraints: Vec<String> = text.lines().take(4).map(str::to_owned).collect();
    let limits = Limits { edges: 10_000, steps: 100_000 };
    let Ok(space) = Space::new(parameters, &constraints, limits) else { return };
    for id in 0..space.len() {
        assert_eq!(space.id(&space.places(id)), Some(id));
    }
    let _ = space.removed();
});
