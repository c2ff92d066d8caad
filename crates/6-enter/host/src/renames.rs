//! `--match OLD=NEW`.

use crate::usage;
use anyhow::Result;

/// Pairs of names. Names of operators hold `=` too, so the first `=` that has names on both sides counts.
pub fn parse(flags: &[String]) -> Result<Vec<(String, String)>> {
    flags
        .iter()
        .map(|flag| match flag.split_once('=') {
            Some((old, new)) if !old.is_empty() && !new.is_empty() => Ok((old.to_owned(), new.to_owned())),
            _ => Err(usage(format!("`--match {flag}` is not `OLD=NEW`"), "")),
        })
        .collect()
}
