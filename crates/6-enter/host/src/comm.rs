//! Files about communication between GPUs.

use crate::Contents;
use anyhow::{Context, Result, anyhow};
use std::collections::BTreeMap;
use std::path::Path;
use trace::comm::{CommFile, NpkitDump};

/// Reads a file, which may hold several runs; a folder is one that NPKit dumped, whose files `read_npkit` reads.
pub fn read(
    path: &Path,
    read_npkit: impl Fn(&BTreeMap<String, Vec<u8>>) -> Result<CommFile, trace::Error>,
) -> Result<Vec<CommFile>> {
    let name = path.display();
    if path.is_dir() {
        return read_npkit(&npkit(path)?).map(|it| vec![it]).map_err(|error| anyhow!("`{name}`: {error}"));
    }
    let contents = if path.as_os_str() == "-" { Contents::standard_input() } else { Contents::open(path) };
    let contents = contents.with_context(|| format!("cannot read `{name}`"))?;
    trace::comm::read(contents.bytes()).map_err(|error| anyhow!("`{name}`: {error}"))
}

/// Files of a dump, by name.
fn npkit(path: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let folder = path.display();
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(path).with_context(|| format!("cannot read `{folder}`"))? {
        let path = entry.with_context(|| format!("cannot read `{folder}`"))?.path();
        let bytes = std::fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
        let name = path
            .file_name()
            .map_or_else(|| path.display().to_string(), |it| it.to_string_lossy().into_owned());
        files.insert(name, bytes);
    }
    if !files.keys().any(|name| NpkitDump::is_file(name)) {
        return Err(anyhow!("`{folder}` holds no dump of NPKit"));
    }
    Ok(files)
}
