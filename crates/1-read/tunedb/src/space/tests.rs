//! Small spaces of our own in each form.

#![allow(clippy::disallowed_methods, reason = "a test reads files")]

use super::*;

const CACHE: &str = "{\n\"device_name\": \"AMD Instinct MI210\",\n\"kernel_name\": \"add\",\n\"problem_size\": [64, 1],\n\"tune_params_keys\": [\"x\", \"y\"],\n\"tune_params\": {\"x\": [1, 2], \"y\": [\"a\", \"b\", \"c\"]},\n\"cache\": {\n\"1,a\": {\"x\": 1, \"y\": \"a\", \"time\": 2.0, \"times\": [1.5, 2.5], \"compile_time\": 9, \"GFLOP/s\": 1500.0},\n\"2,a\": {\"x\": 2, \"y\": \"a\", \"time\": \"CompilationFailedConfig\", \"compile_time\": 7},\n\"1,b\": {\"x\": 1, \"y\": \"b\", \"time\": \"RuntimeFailedConfig\"},\n\"1,c\": {\"x\": 1, \"y\": \"c\", \"time\": 1.0, \"times\": [1.0]}}}\n";

const RESULTS: &str = "{\"metadata\": {\"timeunit\": \"milliseconds\"}, \"schema_version\": \"1.0.0\", \"results\": [\n{\"configuration\": {\"x\": 1, \"y\": \"a\"}, \"times\": {\"compilation\": 9, \"runtimes\": [1.5, 2.5]}, \"invalidity\": \"correct\", \"correctness\": 1, \"measurements\": [{\"name\": \"time\", \"value\": 2.0, \"unit\": \"\"}], \"objectives\": [\"time\"]},\n{\"configuration\": {\"x\": 2, \"y\": \"a\"}, \"times\": {\"compilation\": 7}, \"invalidity\": \"compile\", \"correctness\": 0, \"measurements\": [{\"name\": \"time\", \"value\": \"CompilationFailedConfig\"}], \"objectives\": [\"time\"]},\n{\"configuration\": {\"x\": 1, \"y\": \"b\"}, \"times\": {\"runtimes\": [3]}, \"invalidity\": \"correct\", \"correctness\": 0, \"measurements\": [{\"name\": \"time\", \"value\": 3.0}], \"objectives\": [\"time\"]},\n{\"configuration\": {\"x\": 1, \"y\": \"a\"}, \"times\": {\"runtimes\": [2]}, \"invalidity\": \"correct\", \"correctness\": 1, \"measurements\": [{\"name\": \"time\", \"value\": 2.1}], \"objectives\": [\"time\"]}]}";

fn space<'t>(file: &'t Tunings<'_>) -> &'t Space {
    let Detail::Space(space) = &file.detail else { panic!("{:?}", file.detail) };
    space
}

#[test]
fn caches_of_kernel_tuner() {
    let file = crate::read("add.json", CACHE.as_bytes()).unwrap();
    assert_eq!((file.format, file.rows.len(), file.flaws.len()), (Format::KernelTuner, 4, 0));
    assert_eq!(file.write(), CACHE.as_bytes());
    let own = space(&file);
    assert_eq!(
        (own.combinations(), own.device.as_str(), own.problem.as_str()),
        (Some(6), "AMD Instinct MI210", "[64, 1]")
    );
    let status: Vec<Status> = own.trials.iter().map(|it| it.status).collect();
    assert_eq!(status, [Status::Correct, Status::Compile, Status::Runtime, Status::Correct]);
    assert_eq!((own.trials[0].runs_ms.as_slice(), own.trials[1].compile_ms), (&[1.5, 2.5][..], Some(7.0)));
    assert_eq!(own.trials[3].values, [0, 2]);
    let row = &file.rows[0];
    assert_eq!(
        (row.line, row.candidate.as_deref(), row.time_us, row.tera_flops()),
        (8, Ok("x: 1, y: a"), Ok(2000.0), Ok(1.5))
    );
    assert_eq!(file.rows[1].time_us, Err(Status::Compile.words()));
    // A run that was killed: after each configuration, and within one.
    let end = CACHE.find(",\n\"1,c\"").unwrap();
    for cut in [&CACHE[..end], &CACHE[..=end], &CACHE[..CACHE.len() - 2]] {
        let file = crate::read("add.json", cut.as_bytes()).unwrap();
        assert_eq!(file.flaws.iter().map(|it| it.kind).collect::<Vec<_>>(), [FlawKind::CutLine], "{cut}");
        assert!(file.rows.len() >= 3);
    }
    assert!(crate::read("add.json", &CACHE.as_bytes()[..end - 9]).is_err());
}

#[test]
fn results_of_the_hub() {
    let file = crate::read("t4.json", RESULTS.as_bytes()).unwrap();
    assert_eq!((file.format, file.rows.len()), (Format::SpaceResults, 4));
    let own = space(&file);
    let status: Vec<Status> = own.trials.iter().map(|it| it.status).collect();
    assert_eq!(status, [Status::Correct, Status::Compile, Status::Wrong, Status::Correct]);
    assert_eq!(file.rows[0].time_us, Ok(2000.0));
    assert_eq!(
        own.parameters[1],
        Parameter { name: "y".to_owned(), values: vec!["a".to_owned(), "b".to_owned()] }
    );
    let flaws: Vec<(u32, FlawKind)> = file.flaws.iter().map(|it| (it.line, it.kind)).collect();
    assert_eq!(flaws, [(5, FlawKind::RepeatedEntry)]);
}

#[test]
fn descriptions_have_no_rows() {
    let text = "{\"General\": {\"BenchmarkName\": \"add\"}, \"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"x\", \"Type\": \"int\", \"Values\": \"[1, 2] + list(range(4, 8+1, 4))\"}, {\"Name\": \"y\", \"Values\": \"[0, 1]\"}], \"Conditions\": [{\"Expression\": \"x % 2 == 0 or y == 1\", \"Parameters\": [\"x\"]}]}}";
    let file = crate::read("t1.json", text.as_bytes()).unwrap();
    assert_eq!((file.format, file.rows.len()), (Format::SpaceDescription, 0));
    let own = space(&file);
    assert_eq!(
        (own.combinations(), own.restrictions.as_slice()),
        (Some(8), &["x % 2 == 0 or y == 1".to_owned()][..])
    );
}

#[test]
fn recorded_spaces() {
    for (name, rows, failed, flaws) in [
        ("tuning/spaces/made-failures.cache.json", 24, 3, 0),
        ("tuning/spaces/made-failures.T4.json", 24, 3, 0),
        ("tuning/spaces/made-killed.cache.json", 24, 3, 1),
    ] {
        let Some(path) = testkit::shared(name) else { return };
        let bytes = std::fs::read(path).unwrap();
        let file = crate::read(name, &bytes).unwrap();
        let found = space(&file).trials.iter().filter(|it| it.status != Status::Correct).count();
        assert_eq!((file.rows.len(), found, file.flaws.len()), (rows, failed, flaws), "{name}");
    }
}
