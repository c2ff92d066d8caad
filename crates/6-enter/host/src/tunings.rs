//! Tuning databases of this machine: found by path, mapped, unpacked, and written to a temporary file that is
//! renamed.
//!
//! A named file must be a tuning database; one found in a folder may be anything. A file is replaced as a
//! whole or not at all.

use crate::Contents;
use crate::inputs::file_error;
use anyhow::{Context, Result};
use flate2::read::GzDecoder;
use rayon::prelude::*;
use sorting::Sort;
use std::fs::Permissions;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
pub use tunedb::Source;
use tunedb::{Tunings, server_log};
use view::FileError;

/// Bytes a packed file may unpack to.
const MOST_UNPACKED: u64 = 1 << 30;

/// Bytes of a file by which its format is told, and that are read at once of a long log.
const HEAD: usize = 1 << 16;
const PIECE: usize = 1 << 23;

/// Bytes of files below which one core reads them sooner than several begin.
const ALONE: usize = 1 << 18;

/// One file.
pub struct TuneFile {
    /// Its path as given.
    pub name: String,
    /// True if it was named, not found in a folder.
    pub named: bool,
    contents: Contents,
    /// Problems of a long log, which is not kept.
    log: Option<Tunings<'static>>,
}

impl TuneFile {
    /// Its bytes, unpacked.
    pub fn bytes(&self) -> &[u8] {
        self.contents.bytes()
    }

    /// Its name, its content, and whether it was named.
    pub fn given(&self) -> (&str, Source<'_>, bool) {
        let source = self.log.as_ref().map_or(Source::Bytes(self.bytes()), Source::Read);
        (&self.name, source, self.named)
    }
}

/// Opens files, and those in folders, in the order given and by name within folders.
pub fn open(paths: &[PathBuf]) -> (Vec<TuneFile>, Vec<FileError>) {
    let mut files = Vec::new();
    let mut errors = Vec::new();
    for path in paths {
        if path.as_os_str() == "-" {
            match Contents::standard_input() {
                Ok(contents) => {
                    files.push(TuneFile { name: "<stdin>".to_owned(), named: true, contents, log: None });
                }
                Err(error) => errors.push(file_error(path, error, "")),
            }
            continue;
        }
        let mut found = Vec::new();
        let named = !path.is_dir();
        if named {
            found.push(path.clone());
        } else {
            walk(path, &mut found, &mut errors);
        }
        for path in found {
            match one(&path) {
                Ok(contents) => {
                    let name = path.display().to_string();
                    let log = long_log(&name, &contents);
                    files.push(TuneFile { name, named, contents, log });
                }
                Err(error) => errors.push(file_error(&path, format!("{error:#}"), "")),
            }
        }
    }
    (files, errors)
}

/// Reads files, large ones on all cores; results are in the order of the files.
pub fn each<'f, T: Send>(files: &'f [TuneFile], read: impl Fn(&'f TuneFile) -> T + Sync + Send) -> Vec<T> {
    let bytes: usize = files.iter().map(|it| it.bytes().len()).sum();
    if bytes < ALONE { files.iter().map(read).collect() } else { files.par_iter().map(read).collect() }
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>, errors: &mut Vec<FileError>) {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return errors.push(file_error(folder, error, "")),
    };
    let mut entries: Vec<_> = entries.filter_map(Result::ok).collect();
    entries.in_order_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => walk(&entry.path(), found, errors),
            Ok(kind) if kind.is_file() => found.push(entry.path()),
            _ => {}
        }
    }
}

/// The problems of a log that is too long to be kept in memory; `None` for other files and for logs without any.
fn long_log(name: &str, contents: &Contents) -> Option<Tunings<'static>> {
    let Contents::Mapped(bytes) = contents else { return None };
    let head = bytes.get(..HEAD.min(bytes.len()))?;
    if bytes.len() < server_log::LONG || !server_log::may_be(head) {
        return None;
    }
    let mut scan = server_log::Scan::new();
    for piece in bytes.chunks(PIECE) {
        scan.feed(piece);
        contents.release();
    }
    scan.finish(name).ok()
}

fn one(path: &Path) -> Result<Contents> {
    let contents = Contents::open(path)?;
    if !contents.bytes().starts_with(&[0x1f, 0x8b]) {
        return Ok(contents);
    }
    let mut bytes = Vec::new();
    GzDecoder::new(contents.bytes())
        .take(MOST_UNPACKED + 1)
        .read_to_end(&mut bytes)
        .context("cannot unpack")?;
    anyhow::ensure!(bytes.len() as u64 <= MOST_UNPACKED, "unpacks to more than {MOST_UNPACKED} bytes");
    Ok(Contents::Owned(bytes))
}

/// Writes a file beside its place and renames it, so that a write that fails leaves the old one.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    replace_checked(path, bytes, || Ok(()))
}

/// The same where a check passes, which runs while the disk writes.
pub fn replace_checked(path: &Path, bytes: &[u8], check: impl FnOnce() -> Result<()> + Send) -> Result<()> {
    let (checked, written) = rayon::join(check, || beside(path, bytes));
    checked?;
    let renamed = written.and_then(|file| file.persist(path).map_err(|error| error.error));
    renamed
        .map(drop)
        .with_context(|| format!("cannot write `{}`; what was there is unchanged", path.display()))
}

/// A file in the folder of a path, whole and on the disk, which is removed unless it is renamed.
fn beside(path: &Path, bytes: &[u8]) -> std::io::Result<NamedTempFile> {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut new = tempfile::Builder::new();
    let mut file =
        new.prefix(".").suffix(".new").permissions(Permissions::from_mode(0o666)).tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    if let Ok(metadata) = std::fs::metadata(path) {
        file.as_file().set_permissions(metadata.permissions())?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_that_fails_leaves_the_old_file() {
        let scratch = testkit::Scratch::new("tunings-checked");
        let path = scratch.write("a.csv", b"old");
        let said = replace_checked(&path, b"new", || anyhow::bail!("no")).unwrap_err();
        assert_eq!((said.to_string().as_str(), &std::fs::read(&path).unwrap()[..]), ("no", &b"old"[..]));
        replace_checked(&path, b"new", || Ok(())).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(scratch.path("")).unwrap().count(), 1);
    }

    #[test]
    fn a_write_that_fails_leaves_the_old_file() {
        let scratch = testkit::Scratch::new("tunings");
        let path = scratch.write("a.csv", b"old");
        replace(&path, b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        // A rename cannot replace a folder.
        let folder = scratch.path("folder");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("inside"), b"x").unwrap();
        assert!(replace(&folder, b"new").is_err());
        assert_eq!(std::fs::read_dir(scratch.path("")).unwrap().count(), 2);
        assert!(replace(&scratch.path("nowhere/a.csv"), b"new").is_err());
    }
}
