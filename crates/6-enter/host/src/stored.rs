//! Writes recordings of a database into folders of this machine.

use anyhow::{Context, Result, bail};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use store::Archive;
use tempfile::TempDir;

/// Variable that names the database.
pub const VARIABLE: &str = "ROCKHOUND_STORE";
/// The default database: a file in the current folder.
pub const DEFAULT: &str = "rockhound.db";

/// A recording of a database in a temporary folder, which is removed on drop.
pub struct Opened {
    _folder: Folder,
    /// The path to read.
    pub path: PathBuf,
}

/// A temporary folder, which is removed on drop.
pub struct Folder(TempDir);

impl Folder {
    /// Makes one whose name begins with `prefix`.
    pub fn new(prefix: &str) -> Result<Folder> {
        let made = tempfile::Builder::new().prefix(prefix).tempdir();
        Ok(Folder(made.context("cannot make a temporary folder")?))
    }

    /// Makes one inside of another folder.
    pub fn within(parent: &Path, prefix: &str) -> Result<Folder> {
        // Readable as other folders are: it is kept under another name.
        let permissions = std::fs::Permissions::from_mode(0o777);
        let made = tempfile::Builder::new().prefix(prefix).permissions(permissions).tempdir_in(parent);
        Ok(Folder(made.with_context(|| format!("cannot make a folder in `{}`", parent.display()))?))
    }

    /// Gives it another name and keeps it.
    pub fn rename(self, to: &Path) -> Result<()> {
        std::fs::rename(self.path(), to).with_context(|| format!("cannot make `{}`", to.display()))?;
        let _ = self.0.keep();
        Ok(())
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// Address of the database: the given one, else that in the variable [`VARIABLE`], else [`DEFAULT`].
pub fn address(given: Option<&str>) -> String {
    let of_variable = || std::env::var(VARIABLE).ok().filter(|it| !it.is_empty());
    given.map(str::to_owned).or_else(of_variable).unwrap_or_else(|| DEFAULT.to_owned())
}

/// Writes a recording of a database into a temporary folder; without an address the database is that of the environment.
pub fn opened(database: Option<&str>, wanted: &str) -> Result<Opened> {
    opened_of(&mut Archive::open_to_read(&address(database))?, wanted)
}

/// Writes a recording of an open database into a temporary folder.
pub fn opened_of(archive: &mut Archive, wanted: &str) -> Result<Opened> {
    let entry = archive.resolve(wanted)?;
    let folder = Folder::new("rockhound-store-")?;
    // Some readers use the name of the folder: of a thread trace, of a pass.
    let own =
        entry.name.rsplit('/').next().filter(|it| !it.is_empty() && it.len() < 200 && !it.starts_with('.'));
    let root = folder.path().join(own.unwrap_or("recording"));
    write(archive, entry.id, &root)?;
    let path = if entry.opened.is_empty() { root } else { root.join(&entry.opened) };
    Ok(Opened { _folder: folder, path })
}

/// Writes the files of a recording into a folder.
pub fn write(archive: &mut Archive, id: i64, folder: &Path) -> Result<usize> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
    let mut written = 0;
    archive.files(id, |name, bytes| -> Result<()> {
        let relative = Path::new(name);
        // A hostile database may name files outside of the folder.
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
