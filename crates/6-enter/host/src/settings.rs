//! Files of a machine written, read back, and put back as they were.
//!
//! The old content is on disk before anything is changed, so a crash in the middle loses nothing; of a file
//! changed twice the first content counts.

use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// File of the old contents, relative to the root.
const STATE: &str = "var/lib/rockhound/doctor-before.tsv";

/// One file after it was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Written {
    /// Path without a leading `/`.
    pub path: String,
    /// Old content.
    pub before: Vec<u8>,
    /// Requested content.
    pub wanted: Vec<u8>,
    /// Content after the change; `Err` if it could not be read or written.
    pub now: Result<Vec<u8>, String>,
}

impl Written {
    /// True if it has the requested content. The kernel may add a line end.
    pub fn holds(&self) -> bool {
        self.now.as_ref().is_ok_and(|now| now.trim_ascii() == self.wanted.trim_ascii())
    }
}

/// The file that keeps the old contents.
pub fn state_file(root: &Path) -> PathBuf {
    root.join(STATE)
}

/// Writes values into files below a root and reads each back.
///
/// # Errors
/// Fails if the old content cannot be read or saved; nothing is changed then.
pub fn apply(root: &Path, changes: &[(String, String)]) -> Result<Vec<Written>> {
    let mut kept = read_state(root)?;
    let mut before = BTreeMap::new();
    for (path, _) in changes {
        let bytes = fs::read(root.join(path))
            .with_context(|| format!("cannot read `/{path}`; nothing was changed"))?;
        kept.entry(path.clone()).or_insert_with(|| bytes.clone());
        before.insert(path.clone(), bytes);
    }
    write_state(root, &kept)?;
    let write = |(path, value): &(String, String)| Written {
        path: path.clone(),
        before: before.get(path).cloned().unwrap_or_default(),
        wanted: value.clone().into_bytes(),
        now: put(&root.join(path), format!("{value}\n").as_bytes()),
    };
    Ok(changes.iter().map(write).collect())
}

/// Puts back what `apply` changed; forgets it where every file holds its old bytes again.
///
/// # Errors
/// Nothing is kept, or it cannot be read.
pub fn reset(root: &Path) -> Result<Vec<Written>> {
    let kept = read_state(root)?;
    if kept.is_empty() {
        bail!("nothing to put back: `{}` is not there", state_file(root).display());
    }
    let written: Vec<Written> = kept
        .into_iter()
        .rev()
        .map(|(path, bytes)| Written {
            before: fs::read(root.join(&path)).unwrap_or_default(),
            now: put(&root.join(&path), &bytes),
            wanted: bytes,
            path,
        })
        .collect();
    if written.iter().all(|it| it.now.as_ref() == Ok(&it.wanted)) {
        fs::remove_file(state_file(root)).context("cannot remove what was kept")?;
    }
    Ok(written)
}

/// Writes a file in place and reads it back.
fn put(path: &Path, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let write = || -> std::io::Result<Vec<u8>> {
        let mut file = fs::OpenOptions::new().write(true).truncate(true).open(path)?;
        file.write_all(bytes)?;
        drop(file);
        fs::read(path)
    };
    write().map_err(|error| error.to_string())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok()).collect()
}

fn read_state(root: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let path = state_file(root);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(error).with_context(|| format!("cannot read `{}`", path.display())),
    };
    let mut kept = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        let read = line.split_once('\t').and_then(|(path, bytes)| Some((path, from_hex(bytes)?)));
        let Some((path, bytes)) = read.filter(|(path, _)| is_below(path)) else {
            bail!("`{}` line {}: not as this tool writes it", state_file(root).display(), number + 1);
        };
        kept.insert(path.to_owned(), bytes);
    }
    Ok(kept)
}

/// Paths that this tool changes: a file that was edited may not send a write elsewhere.
fn is_below(path: &str) -> bool {
    (path.starts_with("proc/sys/kernel/") || path.starts_with("sys/devices/system/cpu/"))
        && !path.split('/').any(|part| part == "..")
}

fn write_state(root: &Path, kept: &BTreeMap<String, Vec<u8>>) -> Result<()> {
    let path = state_file(root);
    let failed = || format!("cannot keep what was there in `{}`; nothing was changed", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(failed)?;
    }
    let text: String = kept.iter().map(|(path, bytes)| format!("{path}\t{}\n", hex(bytes))).collect();
    let next = path.with_extension("new");
    let mut file = fs::File::create(&next).with_context(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).with_context(failed)?;
    fs::rename(&next, &path).with_context(failed)
}
