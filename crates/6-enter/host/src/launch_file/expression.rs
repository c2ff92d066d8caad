//! Expected content of a buffer, element by element: sums of products of arguments and numbers.
//!
//! A name means the argument's element of the same index, or for the scalar; both as they were before the
//! launch.

use serde::Deserialize;
use std::collections::BTreeMap;

/// A sum of products.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Expression {
    /// Terms: sign, factors.
    terms: Vec<(f64, Vec<Factor>)>,
}

#[derive(Clone, PartialEq, Debug)]
enum Factor {
    Number(f64),
    Name(String),
}

impl TryFrom<String> for Expression {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut terms = Vec::new();
        let mut rest = text.as_str();
        let mut sign = 1.0;
        loop {
            let end = next_sign(rest);
            let factors = rest[..end].split('*').map(|factor| factor_of(factor.trim()));
            terms.push((sign, factors.collect::<Result<_, _>>()?));
            match rest[end..].trim_start().chars().next() {
                None => return Ok(Expression { terms }),
                Some(operator) => {
                    sign = if operator == '-' { -1.0 } else { 1.0 };
                    rest = &rest[end..].trim_start()[1..];
                }
            }
        }
    }
}

/// Position of the next ` + ` or ` - `; spaces around the sign are required, so that `1e-3` is a number.
fn next_sign(text: &str) -> usize {
    [" + ", " - "].iter().filter_map(|sign| text.find(sign)).min().unwrap_or(text.len())
}

fn factor_of(text: &str) -> Result<Factor, String> {
    if let Ok(number) = text.parse() {
        return Ok(Factor::Number(number));
    }
    let is_name = |text: &str| {
        text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && text.starts_with(|c: char| !c.is_ascii_digit())
    };
    if text.is_empty() || !is_name(text) {
        return Err(format!(
            "`{text}` is neither an argument nor a number; an expression is a sum of products such as `y + a * x`"
        ));
    }
    Ok(Factor::Name(text.to_string()))
}

impl Expression {
    /// The first `count` values.
    pub fn values(&self, count: usize, arguments: &BTreeMap<String, Vec<f64>>) -> Result<Vec<f64>, String> {
        let mut sums = vec![0.0; count];
        for (sign, factors) in &self.terms {
            let mut products = vec![*sign; count];
            for factor in factors {
                match factor {
                    Factor::Number(number) => products.iter_mut().for_each(|product| *product *= number),
                    Factor::Name(name) => {
                        let values =
                            arguments.get(name).ok_or_else(|| format!("there is no argument `{name}`"))?;
                        match values[..] {
                            [scalar] => products.iter_mut().for_each(|product| *product *= scalar),
                            _ if values.len() < count => {
                                return Err(format!("`{name}` has {} elements of {count}", values.len()));
                            }
                            _ => products.iter_mut().zip(values).for_each(|(p, value)| *p *= value),
                        }
                    }
                }
            }
            sums.iter_mut().zip(products).for_each(|(sum, product)| *sum += product);
        }
        Ok(sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_products() {
        let arguments = BTreeMap::from([
            ("x".to_string(), vec![1.0, 2.0, 3.0]),
            ("y".to_string(), vec![10.0, 20.0]),
            ("a".to_string(), vec![2.0]),
        ]);
        let cases: [(&str, Result<&[f64], &str>); 9] = [
            ("x", Ok(&[1.0, 2.0])),
            ("y + a * x", Ok(&[12.0, 24.0])),
            ("y - a*x - 1", Ok(&[7.0, 15.0])),
            ("1e-3*y", Ok(&[0.01, 0.02])),
            ("-1 * x", Ok(&[-1.0, -2.0])),
            ("z", Err("there is no argument `z`")),
            ("x +", Err("`x +` is neither")),
            ("", Err("`` is neither")),
            ("x / y", Err("`x / y` is neither")),
        ];
        for (text, want) in cases {
            let found = Expression::try_from(text.to_string()).and_then(|it| it.values(2, &arguments));
            match want {
                Ok(values) => assert_eq!(found.as_deref(), Ok(values), "{text}"),
                Err(start) => assert!(found.unwrap_err().starts_with(start), "{text}"),
            }
        }
    }
}
