//! Problems that each configuration of a space file runs, and the work of each.

use super::written::value;
use crate::braces::value_of;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use tune::{Parameter, Value};

/// A problem. Its values fill braces, as the values of parameters do.
#[derive(Clone, PartialEq, Debug)]
pub struct Shape {
    /// `M=512 N=512`, or the name that the file gives.
    pub name: String,
    /// Names and values.
    pub values: Vec<(String, Value)>,
}

/// The shapes of a file.
pub(super) fn shapes_of(tables: &[toml::Table], parameters: &[Parameter]) -> Result<Vec<Shape>> {
    let mut shapes: Vec<Shape> = Vec::new();
    for table in tables {
        let mut values = Vec::new();
        let mut name = None;
        for (key, it) in table {
            match it {
                toml::Value::String(it) if key == "name" => name = Some(it.clone()),
                _ if parameters.iter().any(|it| it.name == *key) => {
                    bail!("`[[shapes]]` names `{key}`, which is a parameter")
                }
                _ => values.push((key.clone(), value(key, it)?)),
            }
        }
        if values.is_empty() {
            bail!("a table `[[shapes]]` has no values");
        }
        let words = || values.iter().map(|(name, it)| format!("{name}={it}")).collect::<Vec<_>>().join(" ");
        let name = name.unwrap_or_else(words);
        if shapes.iter().any(|it| it.name == name || it.values == values) {
            bail!("`[[shapes]]` has `{name}` twice");
        }
        shapes.push(Shape { name, values });
    }
    if let Some(other) = shapes.iter().find(|it| names(it) != names(&shapes[0])) {
        bail!("the shapes `{}` and `{}` have other names of values", shapes[0].name, other.name);
    }
    Ok(shapes)
}

fn names(shape: &Shape) -> Vec<&str> {
    shape.values.iter().map(|it| it.0.as_str()).collect()
}

/// `[work]` as written.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkTable {
    flops: Option<Amount>,
    #[serde(rename = "type")]
    dtype: Option<String>,
    bytes: Option<Amount>,
}

/// A number, or an expression of Python over the values of the shape.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(untagged)]
enum Amount {
    Number(f64),
    Expression(String),
}

/// Work of one run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Work {
    /// Floating-point operations.
    pub flops: Option<f64>,
    /// Type that they are done in; without it the fastest of the GPU.
    pub dtype: Option<String>,
    /// Bytes that have to come from memory or go to it.
    pub bytes: Option<f64>,
}

impl WorkTable {
    /// The work of each shape, or of the one run of a file without shapes.
    pub(super) fn of(&self, shapes: &[Shape]) -> Result<Vec<Work>> {
        let work = |values: &[(String, Value)]| -> Result<Work> {
            let amount = |key: &str, it: &Option<Amount>| -> Result<Option<f64>> {
                it.as_ref().map(|it| it.at(values)).transpose().with_context(|| format!("`[work]`, `{key}`"))
            };
            Ok(Work {
                flops: amount("flops", &self.flops)?,
                bytes: amount("bytes", &self.bytes)?,
                dtype: self.dtype.clone(),
            })
        };
        match shapes {
            [] => Ok(vec![work(&[])?]),
            all => all.iter().map(|it| work(&it.values)).collect(),
        }
    }
}

impl Amount {
    fn at(&self, values: &[(String, Value)]) -> Result<f64> {
        let text = match self {
            Amount::Number(it) => return Ok(*it),
            Amount::Expression(it) => it,
        };
        let named: Vec<(&str, &Value)> = values.iter().map(|(name, it)| (name.as_str(), it)).collect();
        match value_of(text, &named)? {
            expression::Value::Int(it) => Ok(it as f64),
            expression::Value::Float(it) => Ok(it),
            other => bail!("`{text}` is {other}, and no number"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(text: &str) -> Vec<toml::Table> {
        #[derive(Deserialize)]
        struct File {
            shapes: Vec<toml::Table>,
        }
        toml::from_str::<File>(text).unwrap().shapes
    }

    #[test]
    fn shapes_have_names_and_work() {
        let shapes =
            shapes_of(&tables("shapes = [{ M = 512, N = 8 }, { M = 16, N = 4, name = \"decode\" }]"), &[]);
        let shapes = shapes.unwrap();
        let names: Vec<&str> = shapes.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["M=512 N=8", "decode"]);
        let table: WorkTable = toml::from_str("flops = \"2 * M * N\"\nbytes = 7.0").unwrap();
        let work = table.of(&shapes).unwrap();
        assert_eq!((work[0].flops, work[1].flops, work[1].bytes), (Some(8192.0), Some(128.0), Some(7.0)));
        assert!(table.of(&[]).is_err());
    }

    #[test]
    fn wrong_shapes_are_refused() {
        let parameters = [Parameter { name: "X".to_owned(), values: vec![Value::Int(1)] }];
        for (text, said) in [
            ("shapes = [{ X = 1 }]", "parameter"),
            ("shapes = [{ name = \"a\" }]", "no values"),
            ("shapes = [{ M = 1 }, { M = 1 }]", "twice"),
            ("shapes = [{ M = 1 }, { N = 1 }]", "other names"),
            ("shapes = [{ M = [1] }]", "`M`"),
        ] {
            let error = shapes_of(&tables(text), &parameters).unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
