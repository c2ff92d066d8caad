//! Values as a space file writes them.

use anyhow::{Result, bail};
use tune::Value;

/// A value of TOML; `name` is whose it is.
pub(super) fn value(name: &str, it: &toml::Value) -> Result<Value> {
    Ok(match it {
        toml::Value::Integer(it) => Value::Int(*it),
        toml::Value::Float(it) if it.is_finite() => Value::Float(*it),
        toml::Value::Boolean(it) => Value::Bool(*it),
        toml::Value::String(it) => Value::Text(it.clone()),
        other => bail!("`{name}`: a value is a number, text, `true` or `false`, and not {other}"),
    })
}
