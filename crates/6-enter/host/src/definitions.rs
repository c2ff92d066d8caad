//! Definitions of metrics: built in, and from files.

use anyhow::{Context, Result};
use metrics::Definitions;
use std::borrow::Cow;
use std::path::PathBuf;

/// The built-in definitions with the definitions of `files`.
pub fn read(files: &[PathBuf]) -> Result<Cow<'static, Definitions>> {
    let built_in = Definitions::built_in();
    if files.is_empty() {
        return Ok(Cow::Borrowed(built_in));
    }
    let mut texts = Vec::new();
    for path in files {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{name}`"))?;
        texts.push((name, text));
    }
    let files: Vec<(&str, &str)> = texts.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
    Ok(Cow::Owned(built_in.clone().with(&files)?))
}
