//! Recordings between this machine's folders and a database.

use crate::{Source, recording, session};
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;
use store::Archive;
use tempfile::TempDir;

/// Variable with the address of the database.
pub const VARIABLE: &str = "ROCKHOUND_STORE";
/// The database where none is named: a file in the current folder.
pub const DEFAULT: &str = "rockhound.db";

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

/// A recording of a database in a temporary folder, which goes when this does.
pub struct Opened {
    _folder: TempDir,
    /// The path that reads it.
    pub path: PathBuf,
}

/// Address of the database: the one given, of the variable [`VARIABLE`], or [`DEFAULT`].
pub fn address(given: Option<&str>) -> String {
    let of_variable = || std::env::var(VARIABLE).ok().filter(|it| !it.is_empty());
    given.map(str::to_owned).or_else(of_variable).unwrap_or_else(|| DEFAULT.to_owned())
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

/// Writes a recording of the database into a temporary folder.
pub fn opened(wanted: &str) -> Result<Opened> {
    let mut archive = Archive::open_to_read(&address(None))?;
    let entry = archive.resolve(wanted)?;
    let folder = tempfile::Builder::new()
        .prefix("rockhound-store-")
        .tempdir()
        .context("cannot make a temporary folder")?;
    // Readers look at the names of folders: of a thread trace, of a pass.
    let own =
        entry.name.rsplit('/').next().filter(|it| !it.is_empty() && it.len() < 200 && !it.starts_with('.'));
    let root = folder.path().join(own.unwrap_or("recording"));
    write(&mut archive, entry.id, &root)?;
    let path = if entry.opened.is_empty() { root } else { root.join(&entry.opened) };
    Ok(Opened { _folder: folder, path })
}

/// Writes the files of a recording into a folder.
pub fn write(archive: &mut Archive, id: i64, folder: &Path) -> Result<usize> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
    let mut written = 0;
    archive.files(id, |name, bytes| -> Result<()> {
        let relative = Path::new(name);
        // Whoever wrote the database may have been hostile.
        if relative.components().any(|it| !matches!(it, Component::Normal(_))) {
            bail!("the database names a file `{name}`, which is outside of its folder");
        }
        let path = folder.join(relative);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).with_context(|| format!("cannot make `{}`", parent.display()))?;
        }
        std::fs::write(&path, bytes).with_context(|| format!("cannot write `{}`", path.display()))?;
        written += 1;
        Ok(())
    })?;
    Ok(written)
}

/// The commit, branch and run that recordings of now belong to.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Provenance {
    /// Labels by name: `commit`, `branch`, `run`, `dirty`.
    pub labels: BTreeMap<String, String>,
    /// Time of the commit, seconds since 1970.
    pub commit_time: Option<i64>,
    /// The commit is what git has here, and no CI named it: an older recording is not of it.
    pub from_git: bool,
}

/// Variables of CI systems, one a line: the label, the variable.
const CI: &str = include_str!("../data/ci.tsv");

/// Reads the environment of the CI, and asks git.
pub fn provenance() -> Provenance {
    let mut found = Provenance::default();
    let rows = CI.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'));
    for (label, variable) in rows {
        if !found.labels.contains_key(label)
            && let Some(value) = std::env::var(variable).ok().filter(|it| !it.is_empty())
        {
            let value = value.strip_prefix("refs/heads/").map_or(value.clone(), str::to_owned);
            found.labels.insert(label.to_owned(), value);
        }
    }
    found.from_git = !found.labels.contains_key("commit");
    if found.from_git
        && let Some(head) = git(&["rev-parse", "--verify", "--quiet", "HEAD"])
    {
        found.labels.insert("commit".to_owned(), head);
        if git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|it| !it.is_empty()) {
            found.labels.insert("dirty".to_owned(), "yes".to_owned());
        }
        if !found.labels.contains_key("branch")
            && let Some(branch) = git(&["symbolic-ref", "--quiet", "--short", "HEAD"])
        {
            found.labels.insert("branch".to_owned(), branch);
        }
    }
    found.commit_time = found.labels.get("commit").and_then(|commit| commit_time(commit));
    found
}

/// Time of a commit of the repository here, seconds since 1970.
pub fn commit_time(commit: &str) -> Option<i64> {
    // What is no commit's name could be an option.
    let plain =
        !commit.is_empty() && commit.chars().all(|it| it.is_ascii_alphanumeric() || "/._-".contains(it));
    if !plain || commit.starts_with('-') {
        return None;
    }
    git(&["log", "-1", "--format=%ct", commit, "--"])?.parse().ok()
}

/// What git says here; `None` without git, without a repository, or if it refuses.
fn git(arguments: &[&str]) -> Option<String> {
    let mut command = std::process::Command::new("git");
    command.args(arguments).stdin(std::process::Stdio::null());
    // Under `rockhound run` a program's environment names the library; git needs none of it.
    command.env_remove(session::VARIABLE);
    let output = command.output().ok().filter(|it| it.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
