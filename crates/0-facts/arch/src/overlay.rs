//! Merges data files.
//!
//! Facts shared by targets are written once; a target's file holds only its differences. A fact (a table with
//! `value` or `missing`) is replaced whole, other tables are merged key by key.

use serde::de::DeserializeOwned;
use toml::{Table, Value};

/// Parses `files`, later ones over earlier ones.
pub(crate) fn parse<T: DeserializeOwned>(files: &[&str]) -> Result<T, String> {
    let mut whole = Table::new();
    for file in files {
        lay(&mut whole, file.parse::<Table>().map_err(|error| error.to_string())?);
    }
    Value::Table(whole).try_into().map_err(|error: toml::de::Error| error.to_string())
}

fn lay(below: &mut Table, above: Table) {
    for (key, value) in above {
        match (below.get_mut(&key), value) {
            (Some(Value::Table(old)), Value::Table(new)) if !is_fact(&new) => lay(old, new),
            (_, value) => {
                below.insert(key, value);
            }
        }
    }
}

fn is_fact(table: &Table) -> bool {
    table.contains_key("value") || table.contains_key("missing")
}
