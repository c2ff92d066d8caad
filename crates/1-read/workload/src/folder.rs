//! Input of the readers: names and contents given by the caller, gzip decompressed here.
//!
//! The readers see a folder as a list of relative names with bytes, so a folder on disk, an archive in memory
//! and a fuzzer's input are read the same way.

use crate::form::Form;
use crate::problem::Error;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read;

/// Bytes in which a header line ends, of ten thousands of columns too.
const HEAD: usize = 4 << 20;

/// A recording's files.
pub trait Folder {
    /// Relative names with `/` between parts, in any order.
    fn names(&self) -> Vec<String>;
    /// Contents of a file, or the reason why it cannot be read.
    fn bytes(&self, name: &str) -> Result<Cow<'_, [u8]>, String>;
    /// Files requested by name; the others only accompany them. All files of the folder if none was
    /// requested.
    fn named(&self) -> Vec<String> {
        Vec::new()
    }
}

impl Folder for BTreeMap<String, Vec<u8>> {
    fn names(&self) -> Vec<String> {
        self.keys().cloned().collect()
    }
    fn bytes(&self, name: &str) -> Result<Cow<'_, [u8]>, String> {
        self.get(name).map(|b| Cow::Borrowed(b.as_slice())).ok_or_else(|| "no such file".to_string())
    }
}

/// Sorted view of a folder: a compressed file is listed under its name without `.gz`.
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

    /// The requested files; a single file in the folder counts as requested.
    pub(crate) fn named(&self) -> Vec<String> {
        let plain = |name: String| name.strip_suffix(".gz").unwrap_or(&name).to_string();
        let named: Vec<String> =
            self.folder.named().into_iter().map(plain).filter(|it| self.has(it)).collect();
        if named.is_empty() && self.len() == 1 { self.names().map(str::to_string).collect() } else { named }
    }

    /// The form of a table, by its header line; `None` if the form is unknown or the file is unreadable.
    pub(crate) fn form(&self, name: &str) -> Option<Form> {
        let stored = self.names.get(name)?;
        form(&self.folder.bytes(stored).ok()?)
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

/// The form of a table, packed or not, by its begin.
pub(crate) fn form(bytes: &[u8]) -> Option<Form> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Form::of(&bytes[..bytes.len().min(HEAD)]);
    }
    let mut head = Vec::new();
    // What was unpacked before a defect is there all the same.
    let _ = flate2::read::MultiGzDecoder::new(bytes).take(HEAD as u64).read_to_end(&mut head);
    Form::of(&head)
}

/// Decompresses gzip. The result grows as it is produced and stops at the limit, regardless of the size that
/// the data claim.
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
