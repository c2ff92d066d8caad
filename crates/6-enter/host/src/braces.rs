//! Texts with values in braces.

use anyhow::{Result, anyhow, bail};
use expression::Expression;
use tune::Value;

/// The text in place of a name or expression in braces; `None` if it is unknown.
pub(crate) type Lookup<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Treatment of braces that hold nothing known.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// An error: the text is a command.
    Refused,
    /// Kept: the text uses braces for other things, as TOML does.
    Kept,
}

/// Replaces `{name}`; `{{` and `}}` are braces.
pub(crate) fn fill(text: &str, lookup: &Lookup<'_>, unknown: Unknown) -> Result<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        out.push_str(&rest[..at]);
        let (here, after) = rest.split_at(at);
        let _ = here;
        let brace = &after[..1];
        if after[1..].starts_with(brace) && unknown == Unknown::Refused {
            out.push_str(brace);
            rest = &after[2..];
            continue;
        }
        let inner = after[1..].find('}').filter(|_| brace == "{").map(|end| &after[1..=end]);
        match (inner, inner.and_then(lookup)) {
            (Some(name), Some(value)) => {
                out.push_str(&value);
                rest = &after[name.len() + 2..];
            }
            _ if unknown == Unknown::Kept => {
                out.push_str(brace);
                rest = &after[1..];
            }
            (Some(name), None) => bail!("`{{{name}}}` is no parameter, and no expression of parameters"),
            _ => bail!("a brace without its other one in `{text}`; write `{{{{` for a brace"),
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// The value of an expression of Python over a configuration; `None` if it is none or reads other names.
pub(crate) fn expression(text: &str, configuration: &[(&str, &Value)]) -> Option<String> {
    Some(value_of(text, configuration).ok()?.to_string())
}

/// The value of an expression of Python over named values.
///
/// # Errors
/// If it is not an expression, reads other names, or has no value.
pub(crate) fn value_of(text: &str, named: &[(&str, &Value)]) -> Result<expression::Value> {
    let wrong = |error: expression::ExpressionError| anyhow!("`{text}`: {error}");
    let expression = Expression::parse(text).map_err(wrong)?;
    let names: Vec<&str> = named.iter().map(|(name, _)| *name).collect();
    let places = expression.bind(&names).map_err(wrong)?;
    let values: Vec<expression::Value> = places.into_iter().map(|at| named[at].1.into()).collect();
    expression.evaluate(&values).map_err(wrong)
}

/// Names with values that fill braces.
pub type Values = Vec<(String, Value)>;

/// A text with values and expressions over them in braces; other braces stay.
pub(crate) fn with_values(text: &str, values: &[(String, Value)]) -> Result<String> {
    let configuration: Vec<(&str, &Value)> = values.iter().map(|(name, it)| (name.as_str(), it)).collect();
    let lookup = |name: &str| match configuration.iter().find(|(it, _)| *it == name) {
        Some((_, value)) => Some(value.to_string()),
        None => expression(name, &configuration).filter(|_| !configuration.is_empty()),
    };
    fill(text, &lookup, Unknown::Kept)
}

/// A mistake in TOML on one line: its place, what is wrong, and the line; or which braces were not filled in.
pub(crate) fn mistake(error: &toml::de::Error, text: &str) -> String {
    let at = error.span().map_or(0, |it| it.start.min(text.len()));
    let line = text[..text.floor_char_boundary(at)].matches('\n').count();
    let written = text.lines().nth(line).unwrap_or_default().trim();
    match unfilled(written) {
        Some(name) => {
            format!("line {}: `{{{name}}}` has no value; `--shape N=1000,M=8` gives some", line + 1)
        }
        None if written.is_empty() => format!("line {}: {}", line + 1, one_line(error.message())),
        None => format!("line {}: {}: `{written}`", line + 1, one_line(error.message())),
    }
}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|it| !it.is_empty()).collect::<Vec<_>>().join(", ")
}

/// The first expression in braces that was not filled in.
pub(crate) fn unfilled(text: &str) -> Option<&str> {
    let inner = text.split('{').skip(1).filter_map(|it| it.split_once('}'));
    inner.map(|it| it.0.trim()).find(|it| Expression::parse(it).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// A file with one field.
    #[derive(serde::Deserialize, Debug)]
    struct Needed {
        #[serde(rename = "x")]
        _x: i64,
    }

    #[test]
    fn values_in_braces() {
        let lookup = |name: &str| (name == "N").then(|| "8".to_owned());
        let filled = |text: &str, unknown| fill(text, &lookup, unknown).ok();
        for (text, command, file) in [
            ("a {N} b", Some("a 8 b"), "a 8 b"),
            ("{N}{N}", Some("88"), "88"),
            ("{{N}}", Some("{N}"), "{8}"),
            ("{M}", None, "{M}"),
            ("{ name = \"x\" }", None, "{ name = \"x\" }"),
            ("a }", None, "a }"),
            ("a {", None, "a {"),
        ] {
            assert_eq!(filled(text, Unknown::Refused).as_deref(), command, "{text}");
            assert_eq!(filled(text, Unknown::Kept).as_deref(), Some(file), "{text}");
        }
    }

    #[test]
    fn a_mistake_has_its_line() {
        for (text, expected) in [
            ("a = 1\nb = }", "line 2: "),
            ("a = {N}", "line 1: `{N}` has no value"),
            ("", "line 1: missing field `x`"),
        ] {
            let error = toml::from_str::<BTreeMap<String, Needed>>(text).err();
            let error = error.or_else(|| toml::from_str::<Needed>(text).err()).unwrap();
            let told = mistake(&error, text);
            assert!(told.starts_with(expected) && !told.ends_with("``"), "{told}");
        }
    }

    #[test]
    fn braces_without_a_value_are_named() {
        for (text, expected) in [
            ("grid = [{(N + 255) // 256}]", Some("(N + 255) // 256")),
            ("a = { name = \"x\" }\nb = {N}", Some("N")),
            ("a = { name = \"x\" }", None),
            ("a {", None),
        ] {
            assert_eq!(unfilled(text), expected, "{text}");
        }
    }
}
