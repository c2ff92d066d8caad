//! Where the bytes come from: names and contents given by the caller, gzip undone here.
//!
//! The one idea to keep in mind: the readers see a folder as a list of relative names with bytes behind them, so
//! a folder on disk, an archive in memory and a fuzzer's input are the same to them.

use crate::problem::Error;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read;

/// A recording's files.
pub trait Folder {
    /// Relative names with `/` between parts, in any order.
    fn names(&self) -> Vec<String>;
    /// Contents of a file, or why it cannot be had.
    fn bytes(&self, name: &str) -> Result<Cow<'_, [u8]>, String>;
}

impl Folder for BTreeMap<String, Vec<u8>> {
    fn names(&self) -> Vec<String> {
        self.keys().cloned().collect()
    }
    fn bytes(&self, name: &str) -> Result<Cow<'_, [u8]>, String> {
        self.get(name).map(|b| Cow::Borrowed(b.as_slice())).ok_or_else(|| "no such file".to_string())
    }
}

/// Sorted view of a folder: a packed file stands under its name without `.gz`.
pub(crate) struct Files<'a> {
    folder: &'a dyn Folder,
    /// plain name -> stored name
    names: BTreeMap<String, String>,
    max_unpacked: u64,
}

impl<'a> Files<'a> {
    pub(crate) fn new(folder: &'a dyn Folder, max_unpacked: u64) -> Self {
        let mut names = BTreeMap::new();
        for stored in folder.names() {
            let plain = stored.strip_suffix(".gz").unwrap_or(&stored).to_string();
            // The plain file wins over its packed copy.
            if stored == plain || !names.contains_key(&plain) {
                names.insert(plain, stored);
            }
        }
        Self { folder, names, max_unpacked }
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    pub(crate) fn bytes(&self, name: &str) -> Result<Cow<'a, [u8]>, Error> {
        let stored = self.names.get(name).map_or(name, String::as_str);
        let bytes = self
            .folder
            .bytes(stored)
            .map_err(|reason| Error::Unreadable { file: stored.to_string(), reason })?;
        if bytes.starts_with(&[0x1f, 0x8b]) {
            return unpack(stored, &bytes, self.max_unpacked).map(Cow::Owned);
        }
        Ok(bytes)
    }
}

/// Undoes gzip. The result grows as it is produced and stops at the limit, whatever the packed data claim.
fn unpack(file: &str, packed: &[u8], limit: u64) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    let mut reader = flate2::read::MultiGzDecoder::new(packed).take(limit.saturating_add(1));
    let fail = |reason: String| Error::Gzip { file: file.to_string(), reason };
    reader.read_to_end(&mut out).map_err(|e| fail(e.to_string()))?;
    if out.len() as u64 > limit {
        return Err(fail(format!("more than {limit} bytes")));
    }
    Ok(out)
}
