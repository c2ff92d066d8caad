//! T1 descriptions: parameters with their values and restrictions as expressions of Python, and no results.

use super::{Building, Parameter, text};
use crate::error::Error;
use crate::format::Format;
use crate::json::{Json, Reader};
use crate::model::Tunings;
use expression::{Expression, Value};

pub(super) fn read<'a>(name: &str, bytes: &'a [u8]) -> Result<Tunings<'a>, Error> {
    let root = Reader::new(text(bytes)?).value()?.value;
    let mut building = Building::new(name, Format::SpaceDescription, bytes);
    let space = root.get("ConfigurationSpace");
    let list = |key: &str| space.and_then(|it| it.get(key)?.array()).unwrap_or_default();
    for it in list("TuningParameters").iter().take(super::MOST_PARAMETERS) {
        let word = |key: &str| it.value.get(key).map(Json::words).unwrap_or_default();
        let name = word("Name");
        let values = values(&word("Values"))
            .map_err(|reason| Error::new(0, format!("values of parameter `{name}`: {reason}")))?;
        building.space.parameters.push(Parameter { name, values });
    }
    let expression = |it: &crate::json::Placed<'_>| it.value.get("Expression").map(Json::words);
    building.space.restrictions = list("Conditions").iter().filter_map(expression).collect();
    let kernel = root.get("KernelSpecification").and_then(|it| it.get("KernelName"));
    let general = root.get("General").and_then(|it| it.get("BenchmarkName"));
    building.space.kernel = kernel.or(general).map(Json::words).unwrap_or_default();
    Ok(building.finish())
}

/// The values that an expression of Python lists, as text.
fn values(text: &str) -> Result<Vec<String>, String> {
    let value = Expression::parse(text).and_then(|it| it.constant()).map_err(|it| it.to_string())?;
    match value {
        Value::List(it) => Ok(it.iter().map(Value::to_string).collect()),
        it => Err(format!("`{it}` is no list")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_python() {
        for (text, expected) in [
            ("[1, 2, 4] + list(range(32, 1024+1, 512))", Some("1 2 4 32 544")),
            ("[2**i for i in range(0, 4)]", Some("1 2 4 8")),
            ("[16*i for i in range(1, 3)]", Some("16 32")),
            ("['a', \"b\"]", Some("a b")),
            ("range(3)", Some("0 1 2")),
            ("[0]", Some("0")),
            ("[]", Some("")),
            ("os.cpus()", None),
            ("16", None),
            ("range(0, 10**12)", None),
            ("range(999999999)", None),
            ("[9**i for i in range(99)]", None),
            ("[x, 2]", None),
        ] {
            assert_eq!(values(text).ok().map(|it| it.join(" ")), expected.map(str::to_owned), "{text}");
        }
    }
}
