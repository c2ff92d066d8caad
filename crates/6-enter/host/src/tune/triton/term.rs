//! Values of a space file that are written as numbers or as expressions.

use super::super::written::value;
use crate::braces;
use anyhow::{Context, Result, anyhow, bail};
use expression::Expression;
use tune::Value;

/// Names and values of a configuration and a shape.
pub(in super::super) type Names<'a> = [(&'a str, &'a Value)];

/// A value, or an expression of parameters and values of the shape.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Term {
    /// A value.
    Value(Value),
    /// An expression of Python.
    Expression(String),
    /// Python's `None`.
    None,
}

impl Term {
    /// A term as written; a text is an expression.
    pub(super) fn of(name: &str, it: &toml::Value) -> Result<Term> {
        let toml::Value::String(text) = it else { return value(name, it).map(Term::Value) };
        if text.trim() == "None" {
            return Ok(Term::None);
        }
        Expression::parse(text)
            .map_err(|error| anyhow!("`{name}`: `{text}` is not an expression: {error}"))?;
        Ok(Term::Expression(text.clone()))
    }

    /// The names that it reads.
    ///
    /// # Errors
    /// If one is not known.
    pub(super) fn names(&self, known: &[&str]) -> Result<Vec<String>> {
        let Term::Expression(text) = self else { return Ok(Vec::new()) };
        let expression = Expression::parse(text).map_err(|error| anyhow!("`{text}`: {error}"))?;
        let bound = expression.bind(known).map_err(|error| anyhow!("`{text}`: {error}"))?;
        Ok(bound.into_iter().map(|at| known[at].to_owned()).collect())
    }

    /// Its value as JSON; absent for `None`.
    pub(super) fn json(&self, names: &Names<'_>) -> Result<serde_json::Value> {
        let value = match self {
            Term::None => return Ok(serde_json::Value::Null),
            Term::Value(it) => it.into(),
            Term::Expression(text) => braces::value_of(text, names)?,
        };
        json_of(&value)
    }

    /// Its value as a number of elements or programs.
    pub(super) fn size(&self, names: &Names<'_>) -> Result<u64> {
        let value = self.json(names)?;
        let words = || match self {
            Term::Expression(text) => format!("`{text}` is {value}"),
            _ => value.to_string(),
        };
        let whole = value
            .as_u64()
            .or_else(|| value.as_f64().filter(|it| it.fract() == 0.0 && *it >= 0.0).map(|it| it as u64));
        whole.filter(|it| *it > 0).with_context(|| format!("{}: a size is a whole number above 0", words()))
    }
}

/// A value as JSON.
pub(super) fn json_of(value: &expression::Value) -> Result<serde_json::Value> {
    Ok(match value {
        expression::Value::Int(it) => (*it).into(),
        expression::Value::Float(it) => (*it).into(),
        expression::Value::Bool(it) => (*it).into(),
        expression::Value::Text(it) => it.clone().into(),
        expression::Value::List(_) => bail!("a value is a number, a text or a switch, and no list"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_whole_and_positive() {
        let (m, tile) = (Value::Int(100), Value::Int(64));
        let names = [("M", &m), ("TILE", &tile)];
        for (text, size) in [
            ("7", Some(7)),
            ("'-(-M // TILE)'", Some(2)),
            ("'M / 50'", Some(2)),
            ("'M / TILE'", None),
            ("'M - 100'", None),
            ("'None'", None),
            ("-1", None),
            ("true", None),
        ] {
            let written: toml::Table = toml::from_str(&format!("it = {text}")).unwrap();
            let term = Term::of("it", &written["it"]).unwrap();
            assert_eq!(term.size(&names).ok(), size, "{text}");
        }
        assert!(Term::of("it", &"M //".into()).is_err());
        assert!(Term::Expression("M // Q".to_owned()).names(&["M"]).is_err());
    }
}
