//! Contents that the program reads back from the GPU, kept for a comparison with another program.

use crate::message::say_once;
use host::session::{self, KeptPiece};
use std::path::{Path, PathBuf};

/// The file of this process.
#[derive(Debug)]
pub(crate) struct Results {
    file: PathBuf,
    kept: u64,
}

impl Results {
    /// Keeps results in the session's folder.
    pub(crate) fn new(session: &Path) -> Results {
        Results { file: session::results_file(session), kept: 0 }
    }

    /// Keeps bytes that arrived at the host.
    pub(crate) fn keep(&mut self, bytes: &[u8]) {
        let room = session::MOST_RESULTS.saturating_sub(self.kept);
        self.kept += bytes.len() as u64;
        if bytes.len() as u64 > room {
            say_once(&format!("results past {} MiB are not compared", session::MOST_RESULTS >> 20));
            return;
        }
        if let Err(error) =
            session::add_result(&self.file, &KeptPiece { element: None, bytes: bytes.to_vec() })
        {
            say_once(&format!("cannot write {}: {error}", self.file.display()));
        }
    }
}
