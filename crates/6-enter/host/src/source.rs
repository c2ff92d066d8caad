//! Address of a recording or trace, as a user writes it.

use std::fmt;
use std::path::{Path, PathBuf};

/// Where a recording or trace is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    /// A folder, a file, or a run by its name in a folder.
    Path(PathBuf),
}

impl Source {
    /// Its path on this machine.
    pub fn path(&self) -> &Path {
        let Source::Path(path) = self;
        path
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
        self.path().display().fmt(f)
    }
}
