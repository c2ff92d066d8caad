//! Facts of one configuration.

use super::evaluation::Evaluation;
use super::queue::{Shared, absent, evaluation, payload};
use super::space::values_of;
use super::spec::Spec;
use anyhow::{Result, bail};
use expression::Expression;
use tune::{Id, Parameter, Space, Value};

/// Reads `TILE=64 ROWS=8` or `TILE=64,ROWS=8`. A parameter that the text does not name has its value of the start, or its
/// first. Returns a value of each parameter, and the names that the text leaves out.
///
/// # Errors
/// If a name is no parameter, or a value is not one of its values.
pub fn chosen(
    text: &str,
    parameters: &[Parameter],
    start: &[(String, Value)],
) -> Result<(Vec<Value>, Vec<String>)> {
    let mut named = start.to_vec();
    for word in text.split([' ', ',', ';']).filter(|it| !it.is_empty()) {
        let word = word.strip_prefix("-D").unwrap_or(word);
        let Some((name, value)) = word.split_once('=') else {
            bail!("`{word}` is not of the form NAME=VALUE");
        };
        named.push((name.to_owned(), Value::parse(value)));
    }
    let given = &named[start.len()..];
    let left_out = |it: &&Parameter| !given.iter().any(|(name, _)| *name == it.name);
    let left_out = parameters.iter().filter(left_out).map(|it| it.name.clone()).collect();
    Ok((values_of(parameters, &named)?, left_out))
}

/// The constraints that these values break, each with why: it is false, or it cannot be evaluated.
pub fn broken(parameters: &[Parameter], constraints: &[String], values: &[Value]) -> Vec<(String, String)> {
    let names: Vec<&str> = parameters.iter().map(|it| it.name.as_str()).collect();
    let check = |text: &String| -> Option<(String, String)> {
        let expression = Expression::parse(text).ok()?;
        let places = expression.bind(&names).ok()?;
        let bound: Vec<expression::Value> = places.iter().map(|at| (&values[*at]).into()).collect();
        let with: Vec<String> = places.iter().map(|at| format!("{}={}", names[*at], values[*at])).collect();
        match expression.evaluate(&bound) {
            Ok(it) if it.truth() => None,
            Ok(_) => Some((text.clone(), format!("false for {}", with.join(" ")))),
            Err(error) => Some((text.clone(), format!("{error} for {}", with.join(" ")))),
        }
    };
    constraints.iter().filter_map(check).collect()
}

/// A result of an earlier run.
#[derive(Clone, PartialEq, Debug)]
pub struct Earlier {
    /// Name of the study.
    pub study: String,
    /// The result.
    pub evaluation: Evaluation,
    /// Rank among the results of the study, 1 for the best; `None` without a time.
    pub rank: Option<usize>,
    /// Results of the study.
    pub of: usize,
}

/// Results of a configuration in the studies of a space file; none if there is no database.
///
/// # Errors
/// If the database cannot be read.
pub fn earlier(store: &str, spec: &Spec, space: &Space, id: Id) -> Result<Vec<Earlier>> {
    if absent(store).is_some() {
        return Ok(Vec::new());
    }
    let mut journal = store::open(store)?;
    let wanted = payload(space, id);
    let mut found = Vec::new();
    for entry in journal.studies()? {
        // Studies of programs have other settings.
        let Ok(shared) = serde_json::from_str::<Shared>(&entry.study.settings) else { continue };
        if std::path::absolute(&spec.folder).ok() != Some(shared.folder) {
            continue;
        }
        let done = journal.results(entry.id, 0)?;
        let scores: Vec<Option<f64>> = done.iter().map(|it| spec.objective.score(&evaluation(it))).collect();
        if let Some(at) = done.iter().position(|it| it.payload == wanted) {
            let better = |score: f64| scores.iter().flatten().filter(|it| **it < score).count() + 1;
            found.push(Earlier {
                study: entry.study.name,
                evaluation: evaluation(&done[at]),
                rank: scores[at].map(better),
                of: scores.len(),
            });
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters() -> Vec<Parameter> {
        let whole = |name: &str, values: &[i64]| Parameter {
            name: name.to_owned(),
            values: values.iter().map(|it| Value::Int(*it)).collect(),
        };
        vec![whole("x", &[1, 2, 4]), whole("y", &[0, 3])]
    }

    #[test]
    fn a_configuration_is_read_and_explained() {
        let parameters = parameters();
        let start = [("y".to_owned(), Value::Int(3))];
        for text in ["x=4 y=3", "x=4,y=3", "-Dx=4 -Dy=3", "x=4"] {
            let (values, filled) = chosen(text, &parameters, &start).unwrap();
            assert_eq!(
                (values, filled.len()),
                (vec![Value::Int(4), Value::Int(3)], usize::from(text == "x=4"))
            );
        }
        for (text, said) in [("x", "NAME=VALUE"), ("z=1", "`z`"), ("x=3", "1, 2, 4")] {
            assert!(chosen(text, &parameters, &start).unwrap_err().to_string().contains(said), "{text}");
        }
        let constraints: Vec<String> =
            ["x > y", "x / y < 2", "x < 9"].iter().map(|it| (*it).to_owned()).collect();
        let broken = |x, y| broken(&parameters, &constraints, &[Value::Int(x), Value::Int(y)]);
        assert_eq!(broken(4, 3), []);
        assert_eq!((broken(1, 3).len(), broken(1, 3)[0].0.as_str()), (1, "x > y"));
        assert!(broken(1, 3)[0].1.ends_with(" x=1 y=3"), "{:?}", broken(1, 3));
        assert!(broken(1, 0)[0].1.contains("zero"), "{:?}", broken(1, 0));
    }
}
