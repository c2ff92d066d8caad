//! Address of a recording or trace, as a user writes it.

use crate::stored::Opened;
use anyhow::{Result, anyhow};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Beginning of the address of a recording in a database.
const STORE: &str = "store:";

/// Where a recording or trace is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    /// A folder, a file, or a run by its name in a folder.
    Path(PathBuf),
    /// A recording in a database: `store:7`, `store:label=commit=1a2b3c`.
    Stored(Arc<InStore>),
}

/// A recording in a database. The first use writes its files into a temporary folder.
pub struct InStore {
    /// The address as typed, with `store:`.
    address: PathBuf,
    /// Address of the database; without one that of the environment.
    database: Option<String>,
    opened: OnceLock<Result<Opened, String>>,
}

impl Source {
    /// Parses an address: `store:…` names a recording in the database, all else is a path.
    pub fn parse(typed: PathBuf) -> Source {
        match typed.to_str() {
            Some(text) if text.starts_with(STORE) => {
                Source::Stored(Arc::new(InStore { address: typed, database: None, opened: OnceLock::new() }))
            }
            _ => Source::Path(typed),
        }
    }

    /// A recording of a database by its number or label.
    pub fn stored(database: &str, wanted: &str) -> Source {
        let (address, database) = (format!("{STORE}{wanted}").into(), Some(database.to_owned()));
        Source::Stored(Arc::new(InStore { address, database, opened: OnceLock::new() }))
    }

    /// Its path on this machine; if the database cannot provide the recording, the address.
    pub fn path(&self) -> &Path {
        match self {
            Source::Path(path) => path,
            Source::Stored(it) => it.open().map_or(&it.address, |it| &it.path),
        }
    }

    /// Its path on this machine.
    ///
    /// # Errors
    /// If the database cannot provide the recording.
    pub fn open(&self) -> Result<&Path> {
        match self {
            Source::Path(path) => Ok(path),
            Source::Stored(it) => it.open().map(|it| &*it.path).map_err(|error| anyhow!("{error}")),
        }
    }

    /// A text with the addresses of recordings in place of the temporary folders that hold their files.
    pub fn told_of(all: &[Source], text: String) -> String {
        let stored = all.iter().filter(|it| matches!(it, Source::Stored(_)));
        stored.fold(text, |text, it| it.told(&text))
    }

    /// The address as typed, which outputs show.
    pub fn called(&self) -> &Path {
        match self {
            Source::Path(path) => path,
            Source::Stored(it) => &it.address,
        }
    }

    /// A message on its files, with the address in place of the temporary folder.
    pub fn told(&self, message: &str) -> String {
        let here = self.path().display().to_string();
        match self {
            Source::Path(_) => message.to_owned(),
            Source::Stored(it) => message.replace(&here, &it.address.to_string_lossy()),
        }
    }
}

impl InStore {
    fn open(&self) -> Result<&Opened, &String> {
        let wanted = self.address.to_str().and_then(|it| it.strip_prefix(STORE)).unwrap_or_default();
        self.opened
            .get_or_init(|| {
                crate::stored::opened(self.database.as_deref(), wanted).map_err(|error| format!("{error:#}"))
            })
            .as_ref()
    }
}

impl PartialEq for InStore {
    fn eq(&self, other: &InStore) -> bool {
        (&self.address, &self.database) == (&other.address, &other.database)
    }
}

impl Eq for InStore {}

impl Hash for InStore {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.address, &self.database).hash(state);
    }
}

impl fmt::Debug for InStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.address.fmt(f)
    }
}

impl From<PathBuf> for Source {
    fn from(path: PathBuf) -> Source {
        Source::Path(path)
    }
}

impl From<&Path> for Source {
    fn from(path: &Path) -> Source {
        Source::Path(path.to_owned())
    }
}

impl From<&PathBuf> for Source {
    fn from(path: &PathBuf) -> Source {
        Source::Path(path.clone())
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.called().display().fmt(f)
    }
}
