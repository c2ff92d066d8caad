//! Configurations that were run, as T4: the form in which tuners exchange results, which `tune` and `tunedb` read.

use super::evaluation::{Evaluation, Failure};
use super::search::Attempt;
use serde_json::{Map, Value as Json, json};
use tune::{Space, Value};

/// T4 of the configurations that were run.
pub fn t4(name: &str, device: &str, space: &Space, attempts: &[Attempt]) -> String {
    let results: Vec<Json> = attempts.iter().map(|it| result(space, it)).collect();
    let document = json!({
        "metadata": { "timeunit": "microseconds", "kernel_name": name, "device_name": device },
        "schema_version": "1.0.0",
        "results": results,
    });
    format!("{document:#}\n")
}

fn result(space: &Space, attempt: &Attempt) -> Json {
    let names = space.parameters().iter().map(|it| it.name.clone());
    let configuration: Map<String, Json> =
        names.zip(space.values(attempt.id).into_iter().map(value)).collect();
    let Evaluation { runs_us, failed, build_s, .. } = &attempt.evaluation;
    let (invalidity, word) = match failed.as_ref().map(|it| it.kind) {
        None => ("correct", ""),
        Some(Failure::Build) => ("compile", "CompilationFailedConfig"),
        Some(Failure::Rejected) => ("constraints", "InvalidConfig"),
        Some(Failure::Wrong) => ("correctness", "InvalidConfig"),
        Some(Failure::Run | Failure::Time | Failure::Memory | Failure::NoTime) => {
            ("runtime", "RuntimeFailedConfig")
        }
    };
    let time = attempt.evaluation.time_us().map_or_else(|| json!(word), |it| json!(it));
    let mut times = json!({ "compilation": build_s * 1e6 });
    if failed.is_none() {
        times["runtimes"] = json!(runs_us);
    }
    let mut result = json!({
        "configuration": configuration,
        "times": times,
        "invalidity": invalidity,
        "correctness": u8::from(failed.is_none()),
        "measurements": [{ "name": "time", "value": time, "unit": "us" }],
        "objectives": ["time"],
    });
    if let Some(failed) = failed {
        result["why"] = json!(failed.why);
    }
    result
}

/// A value as JSON.
pub(super) fn value(value: &Value) -> Json {
    match value {
        Value::Int(it) => json!(it),
        Value::Float(it) => json!(it),
        Value::Bool(it) => json!(it),
        Value::Text(it) => json!(it),
    }
}

/// The value that JSON writes; `None` for null, a list or an object.
pub(super) fn of_json(it: &Json) -> Option<Value> {
    Some(match it {
        Json::Bool(it) => Value::Bool(*it),
        Json::Number(it) => match it.as_i64() {
            Some(it) => Value::Int(it),
            None => Value::Float(it.as_f64()?),
        },
        Json::String(it) => Value::Text(it.clone()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::recorded::Recorded;
    use super::*;
    use tune::Parameter;

    #[test]
    fn results_are_read_back() {
        let parameters = vec![
            Parameter { name: "x".to_owned(), values: vec![Value::Int(1), Value::Int(2)] },
            Parameter {
                name: "t".to_owned(),
                values: vec![Value::Text("f16".to_owned()), Value::Bool(true)],
            },
        ];
        let space = Space::new(parameters, &[], tune::Limits::default()).unwrap();
        let good = |us: f64| Evaluation { runs_us: vec![us, us + 2.0], ..Evaluation::default() };
        let evaluations = [
            good(10.0),
            Evaluation::failed(Failure::Build, "no"),
            Evaluation::failed(Failure::Wrong, "no"),
            good(3.5),
        ];
        let attempts: Vec<Attempt> =
            (0..).zip(evaluations).map(|(id, evaluation)| Attempt { id, evaluation }).collect();
        let text = t4("copy", "MI300X", &space, &attempts);
        let file = tunedb::read("a.json", text.as_bytes()).unwrap();
        let read = Recorded::of(&file).unwrap();
        // Single precision is what readers keep of each run.
        let times: Vec<Option<f64>> =
            read.evaluations.iter().map(|it| it.time_us().map(|us| (us * 1e3).round() / 1e3)).collect();
        assert_eq!(times, [Some(11.0), None, None, Some(4.5)]);
        let kinds: Vec<Failure> =
            read.evaluations.iter().filter_map(|it| Some(it.failed.as_ref()?.kind)).collect();
        assert_eq!(kinds, [Failure::Build, Failure::Wrong]);
        assert_eq!((read.name.as_str(), read.space.len()), ("copy, MI300X", 4));
    }
}
