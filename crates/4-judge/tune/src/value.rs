//! Values of parameters.

use std::fmt;

/// A value of a parameter.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// A whole number.
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// A text.
    Text(String),
}

impl Value {
    /// The value that a text of a file or command line means: `16`, `0.5`, `True`, `false`; anything else is a text.
    pub fn parse(text: &str) -> Value {
        let text = text.trim();
        match text {
            "True" | "true" => return Value::Bool(true),
            "False" | "false" => return Value::Bool(false),
            _ => {}
        }
        if let Ok(it) = text.parse::<i64>() {
            return Value::Int(it);
        }
        match text.parse::<f64>() {
            Ok(it) if it.is_finite() => Value::Float(it),
            _ => Value::Text(text.to_owned()),
        }
    }

    /// The number, with 1 and 0 for true and false; a text has none.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Int(it) => Some(*it as f64),
            Value::Float(it) => Some(*it),
            Value::Bool(it) => Some(f64::from(u8::from(*it))),
            Value::Text(_) => None,
        }
    }
}

impl Value {
    /// The option of a compiler that defines it: `-DTILE=32`; true is 1 and false 0.
    pub fn define(&self, name: &str) -> String {
        match self {
            Value::Bool(it) => format!("-D{name}={}", u8::from(*it)),
            other => format!("-D{name}={other}"),
        }
    }
}

impl From<&Value> for expression::Value {
    fn from(value: &Value) -> expression::Value {
        match value {
            Value::Int(it) => expression::Value::Int(*it),
            Value::Float(it) => expression::Value::Float(*it),
            Value::Bool(it) => expression::Value::Bool(*it),
            Value::Text(it) => expression::Value::Text(it.clone()),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(it) => write!(f, "{it}"),
            Value::Float(it) => write!(f, "{it:?}"),
            Value::Bool(true) => f.write_str("True"),
            Value::Bool(false) => f.write_str("False"),
            Value::Text(it) => f.write_str(it),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_text() {
        for (text, value) in [
            ("16", Value::Int(16)),
            (" -3 ", Value::Int(-3)),
            ("0.5", Value::Float(0.5)),
            ("1e3", Value::Float(1000.0)),
            ("True", Value::Bool(true)),
            ("nan", Value::Text("nan".to_owned())),
            ("fp16", Value::Text("fp16".to_owned())),
        ] {
            assert_eq!(Value::parse(text), value, "{text}");
        }
    }
}
