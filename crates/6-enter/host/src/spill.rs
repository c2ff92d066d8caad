//! Temporary file for wave events that exceed the memory limit.
//!
//! The file is created at the first write and has no name, so nothing remains of it however the program ends.

use mem::{Backing, SpillStore};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Most bytes of the file: the free space of a disk is not known in advance.
const MOST: u64 = 16 << 30;

/// Directory for large temporary files (`/tmp` is often a RAM disk).
const LARGE: &str = "/var/tmp";

/// Room for streams in a file without a name.
pub fn store() -> Arc<SpillStore> {
    let named = std::env::var_os("TMPDIR").map(PathBuf::from);
    let large = || Some(PathBuf::from(LARGE)).filter(|it| it.is_dir());
    let folder = named.or_else(large).unwrap_or_else(std::env::temp_dir);
    Arc::new(SpillStore::new(Box::new(Unnamed { folder, file: OnceLock::new() }), MOST))
}

/// A file without a name, once it is needed.
#[derive(Debug)]
struct Unnamed {
    folder: PathBuf,
    file: OnceLock<Option<File>>,
}

impl Unnamed {
    fn file(&self) -> io::Result<&File> {
        let file = self.file.get_or_init(|| made(&self.folder));
        file.as_ref().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

fn made(folder: &Path) -> Option<File> {
    tempfile::tempfile_in(folder).or_else(|_| tempfile::tempfile()).ok()
}

impl Backing for Unnamed {
    fn write(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.file()?.write_all_at(bytes, at)
    }

    fn read(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.file()?.read_exact_at(bytes, at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_made_when_it_is_written_to_and_has_no_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = Unnamed { folder: folder.path().to_owned(), file: OnceLock::new() };
        assert!(file.file.get().is_none());
        file.write(100_000, b"streams").unwrap();
        let mut found = [0; 7];
        file.read(100_000, &mut found).unwrap();
        assert_eq!(&found, b"streams");
        assert!(file.read(100_007, &mut found).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn where_a_folder_is_not_there_another_is_used() {
        let file = Unnamed { folder: PathBuf::from("/nowhere"), file: OnceLock::new() };
        file.write(0, b"streams").unwrap();
    }
}
