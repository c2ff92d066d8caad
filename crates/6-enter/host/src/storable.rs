//! Files of a recording, to be added to a database.

use crate::{Source, recording};
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::UNIX_EPOCH;

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
