//! A recording on disk: a folder, or a single file.
//!
//! The one idea to keep in mind: files are listed by name and opened only when the reader asks for them.

use crate::contents::Contents;
use anyhow::{Result, anyhow};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use workload::{Folder, Workload, plain_kernel_name};

/// Deepest folder looked into; rocprofv3 makes one per host, others none.
const DEPTH: usize = 3;
/// Most files listed; a recording has a few dozen.
const FILES: usize = 10_000;

/// The files of a recording, opened when they are read.
pub(crate) struct Disk {
    /// The folder that holds them.
    pub(crate) folder: PathBuf,
    files: BTreeMap<String, (PathBuf, OnceCell<Contents>)>,
}

impl Folder for Disk {
    fn names(&self) -> Vec<String> {
        self.files.keys().cloned().collect()
    }

    fn bytes(&self, name: &str) -> Result<Cow<'_, [u8]>, String> {
        let (path, cell) = self.files.get(name).ok_or("no such file")?;
        if cell.get().is_none() {
            let contents = Contents::open(path).map_err(|error| error.to_string())?;
            let _ = cell.set(contents);
        }
        Ok(Cow::Borrowed(cell.get().map_or(&[], |contents| contents.bytes())))
    }
}

/// Reads a recording; an error names the path.
pub(crate) fn read(path: &Path) -> Result<Workload> {
    read_with_files(path).map(|(workload, _)| workload)
}

/// Reads a recording, and gives its files too.
pub(crate) fn read_with_files(path: &Path) -> Result<(Workload, Disk)> {
    let name = path.display();
    let disk = files(path)?;
    let mut workload =
        workload::read(&disk, &workload::Options::default()).map_err(|error| anyhow!("`{name}`: {error}"))?;
    for kernel in &mut workload.kernels {
        let plain = plain_kernel_name(kernel);
        if plain.starts_with("_Z") {
            *kernel = codeobj::demangle(plain);
        }
    }
    Ok((workload, disk))
}

/// Lists the files of a recording.
pub(crate) fn files(path: &Path) -> Result<Disk> {
    let name = path.display();
    let mut disk = Disk { folder: path.to_owned(), files: BTreeMap::new() };
    if path.is_dir() {
        let folder = descend(path);
        disk.folder.clone_from(&folder);
        list(&folder, "", DEPTH, &mut disk.files).map_err(|error| anyhow!("`{name}`: {error}"))?;
    } else if path.exists() {
        let file = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        disk.files.insert(file, (path.to_owned(), OnceCell::new()));
    } else {
        return Err(anyhow!("`{name}`: no such file or folder"));
    }
    Ok(disk)
}

/// The folder itself, or its one subfolder that is a recording: profilers write `NAME/MI200/pmc_perf.csv`.
fn descend(folder: &Path) -> PathBuf {
    let holds = |folder: &Path| ["pmc_perf.csv", "pmc_perf.csv.gz"].iter().any(|n| folder.join(n).is_file());
    if holds(folder) {
        return folder.to_owned();
    }
    let below: Vec<PathBuf> = std::fs::read_dir(folder)
        .map(|entries| entries.flatten().map(|e| e.path()).filter(|p| p.is_dir() && holds(p)).collect())
        .unwrap_or_default();
    match &below[..] {
        [one] => one.clone(),
        _ => folder.to_owned(),
    }
}

fn list(
    folder: &Path,
    prefix: &str,
    depth: usize,
    files: &mut BTreeMap<String, (PathBuf, OnceCell<Contents>)>,
) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if path.is_dir() {
            if depth > 0 {
                list(&path, &format!("{name}/"), depth - 1, files)?;
            }
        } else if files.len() < FILES {
            files.insert(name, (path, OnceCell::new()));
        }
    }
    Ok(())
}
