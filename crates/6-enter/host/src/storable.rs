//! Files of a recording, to be added to a database; tunings and answers beside them.

mod answers;
mod tunings;

pub use answers::timeline;

use crate::{Contents, Source, recording};
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::time::UNIX_EPOCH;
use store::recordings::NewRecording;
use view::StoredSort;

/// Bytes of a file by which it is told.
const HEAD: u64 = 128;

/// Files of a recording, with what to open of them.
#[derive(Debug, Default)]
pub struct Files {
    /// Bytes by relative path.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Name of the file or run that was asked for; empty for the whole folder.
    pub opened: String,
    /// Files that are code objects.
    pub code: Vec<String>,
    /// Name of the folder.
    pub name: String,
    /// When the newest file was written, seconds since 1970.
    pub newest: Option<i64>,
}

/// All files of a recording.
pub fn files(source: &Source) -> Result<Files> {
    let path = source.open()?;
    let disk = recording::files_of(source)?;
    let root = if disk.folder.as_os_str().is_empty() { Path::new(".") } else { &disk.folder };
    let mut read = Files { name: name_of(path), ..Files::default() };
    for file in disk.paths() {
        let relative = file.strip_prefix(&disk.folder).unwrap_or(file);
        let name =
            relative.to_str().with_context(|| format!("`{}`: its name is not UTF-8", file.display()))?;
        let metadata =
            std::fs::metadata(file).with_context(|| format!("cannot read `{}`", file.display()))?;
        if metadata.len() > store::recordings::MOST_BYTES {
            bail!(
                "`{}` has {} bytes; a file in a database has at most {}\nhint: copy the recording without it",
                file.display(),
                metadata.len(),
                store::recordings::MOST_BYTES
            );
        }
        let bytes = std::fs::read(file).with_context(|| format!("cannot read `{}`", file.display()))?;
        if codeobj::recognise(&bytes[..bytes.len().min(64)])
            .is_some_and(|kind| kind == codeobj::Kind::CodeObject)
        {
            read.code.push(name.to_owned());
        }
        let written = metadata.modified().ok().and_then(|it| it.duration_since(UNIX_EPOCH).ok());
        read.newest = read.newest.max(written.map(|it| it.as_secs().cast_signed()));
        read.files.insert(name.to_owned(), bytes);
    }
    // A path below the folder is a file, or the name of a run.
    let is_root =
        std::fs::canonicalize(path).is_ok_and(|it| std::fs::canonicalize(root).is_ok_and(|root| root == it));
    let is_above = path.is_dir();
    if !is_root && !is_above {
        read.opened = path.file_name().map_or_else(String::new, |it| it.to_string_lossy().into_owned());
    }
    Ok(read)
}

/// `app/MI300X` of a path: the last two parts.
fn name_of(path: &Path) -> String {
    let full = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let parts: Vec<_> = full.iter().map(|it| it.to_string_lossy()).filter(|it| it != "/").collect();
    parts[parts.len().saturating_sub(2)..].join("/")
}

/// The answer of a command, or the studies of the tuner, at a path that is told by its first bytes; `None` for all
/// other paths.
///
/// # Errors
/// If it is one and cannot be read.
pub fn told(path: &Path) -> Result<Option<Vec<NewRecording>>> {
    if path.is_dir() {
        let found = tunings::databases(path);
        let all: Result<Vec<_>> = found.iter().map(|it| tunings::studies(it)).collect();
        return Ok(Some(all?.concat()).filter(|it| !it.is_empty()));
    }
    let Ok(head) = head(path) else { return Ok(None) };
    if tunings::is_database(&head) {
        return tunings::studies(path).map(Some);
    }
    if !answers::is_answer(&head) {
        return Ok(None);
    }
    check_length(path, std::fs::metadata(path).map_or(0, |it| it.len()))?;
    let bytes = std::fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    Ok(Some(vec![answers::read(path, bytes)?]))
}

/// A file of a tuner with configurations that were tried; `None` for all other files.
///
/// # Errors
/// If it is one and too large.
pub fn tuning(path: &Path) -> Result<Option<NewRecording>> {
    match Contents::open(path) {
        Ok(contents) if !path.is_dir() => {
            let found = tunings::file(path, contents.bytes())?;
            if found.is_some() {
                check_length(path, contents.bytes().len() as u64)?;
            }
            Ok(found)
        }
        _ => Ok(None),
    }
}

fn head(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    std::fs::File::open(path)?.take(HEAD).read_to_end(&mut head)?;
    Ok(head)
}

/// An entry without content.
fn entry(sort: StoredSort, path: &Path) -> Result<NewRecording> {
    let written = std::fs::metadata(path).and_then(|it| it.modified());
    let written = written.with_context(|| format!("cannot read `{}`", path.display()))?;
    Ok(NewRecording {
        sort,
        name: name_of(path),
        path: path.display().to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        measured_ms: written.duration_since(UNIX_EPOCH).ok().map(|it| it.as_millis() as i64),
        ..NewRecording::default()
    })
}

/// Target of the GPU that a text names, by its product or its target.
fn target_of(text: &str) -> Option<String> {
    let mut words = text.split(|it: char| !it.is_ascii_alphanumeric());
    let target = words.find_map(arch::Target::by_name).or_else(|| arch::target_of_product(text));
    target.map(|it| it.name.to_owned())
}

fn check_length(path: &Path, bytes: u64) -> Result<()> {
    let most = store::recordings::MOST_BYTES;
    if bytes > most {
        bail!("`{}` has {bytes} bytes; a file in a database has at most {most}", path.display());
    }
    Ok(())
}
