//! T1 descriptions: parameters with their values and restrictions as expressions of Python, and no results.

use super::{Building, Parameter, text};
use crate::error::Error;
use crate::format::Format;
use crate::json::{Json, Reader};
use crate::model::Tunings;

/// Most values of a range.
const MOST_VALUES: i64 = 100_000;

pub(super) fn read<'a>(name: &str, bytes: &'a [u8]) -> Result<Tunings<'a>, Error> {
    let root = Reader::new(text(bytes)?).value()?.value;
    let mut building = Building::new(name, Format::SpaceDescription, bytes);
    let space = root.get("ConfigurationSpace");
    let list = |key: &str| space.and_then(|it| it.get(key)?.array()).unwrap_or_default();
    for it in list("TuningParameters").iter().take(super::MOST_PARAMETERS) {
        let word = |key: &str| it.value.get(key).map(Json::words).unwrap_or_default();
        let name = word("Name");
        let values = values(&word("Values")).ok_or_else(|| {
            Error::new(0, format!("values of `{name}` are no list, range or list over a range"))
        })?;
        building.space.parameters.push(Parameter { name, values });
    }
    let expression = |it: &crate::json::Placed<'_>| it.value.get("Expression").map(Json::words);
    building.space.restrictions = list("Conditions").iter().filter_map(expression).collect();
    let kernel = root.get("KernelSpecification").and_then(|it| it.get("KernelName"));
    let general = root.get("General").and_then(|it| it.get("BenchmarkName"));
    building.space.kernel = kernel.or(general).map(Json::words).unwrap_or_default();
    Ok(building.finish())
}

/// Values of Python's `[1, 2] + list(range(4, 9, 2))` and `[2**i for i in range(0, 6)]`; `None` for other expressions.
fn values(expression: &str) -> Option<Vec<String>> {
    let mut out = Vec::new();
    for part in terms(expression) {
        let part = part.trim();
        if let Some(range) = part.strip_prefix("list(").and_then(|it| it.strip_suffix(')')) {
            out.extend(range_of(range)?.iter().map(i64::to_string));
        } else if part.starts_with("range(") {
            out.extend(range_of(part)?.iter().map(i64::to_string));
        } else {
            let inner = part.strip_prefix('[')?.strip_suffix(']')?;
            match inner.split_once(" for ") {
                Some((value, over)) => out.extend(comprehension(value.trim(), over)?),
                None => out.extend(inner.split(',').map(plain).filter(|it| !it.is_empty())),
            }
        }
    }
    Some(out)
}

fn plain(text: &str) -> String {
    text.trim().trim_matches(['"', '\'']).to_owned()
}

/// Parts between `+` that are in no brackets.
fn terms(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut out) = (0, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            '+' if depth == 0 => {
                out.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    out.push(&text[start..]);
    out
}

/// `range(a, b, c)`, whose numbers may be sums and products.
fn range_of(text: &str) -> Option<Vec<i64>> {
    let inner = text.trim().strip_prefix("range(")?.strip_suffix(')')?;
    let numbers: Vec<i64> = inner.split(',').map(number).collect::<Option<_>>()?;
    let (start, end, step) = match numbers[..] {
        [end] => (0, end, 1),
        [start, end] => (start, end, 1),
        [start, end, step] if step > 0 => (start, end, step),
        _ => return None,
    };
    let count = end.checked_sub(start)?.max(0).checked_add(step - 1)? / step;
    (count <= MOST_VALUES).then(|| (0..count).map(|it| start + it * step).collect())
}

/// A number, or a sum of products of numbers.
fn number(text: &str) -> Option<i64> {
    let product = |it: &str| {
        it.split('*').map(|it| it.trim().parse::<i64>().ok()).try_fold(1i64, |all, it| all.checked_mul(it?))
    };
    text.split('+').map(product).try_fold(0i64, |all, it| all.checked_add(it?))
}

/// `2**i` or `i*16` for a name over a range.
fn comprehension(value: &str, over: &str) -> Option<Vec<String>> {
    let (name, range) = over.split_once(" in ")?;
    let name = name.trim();
    let of = |it: i64| match value.split_once("**") {
        Some((base, exponent)) if exponent.trim() == name => {
            base.trim().parse::<i64>().ok()?.checked_pow(u32::try_from(it).ok()?)
        }
        Some(_) => None,
        None => number(&value.replace(name, &it.to_string())),
    };
    range_of(range)?.into_iter().map(|it| of(it).map(|it| it.to_string())).collect()
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
            ("range(0, 10**12)", None),
            ("range(999999999)", None),
            ("[9**i for i in range(99)]", None),
        ] {
            assert_eq!(values(text).map(|it| it.join(" ")), expected.map(str::to_owned), "{text}");
        }
    }
}
