//! Files as blobs, packed against an earlier file of the same form.
//!
//! Tables are packed as columns. Files of one program differ in numbers and share headers, names of kernels and
//! constants, so the first file of a form is the dictionary of the later ones. A base has no base itself.

use super::columns;
use crate::engine::{Cell, Statements};
use crate::error::StoreError;
use hmac_sha256::Hash;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use zstd::bulk::{Compressor, Decompressor};
use zstd::dict::EncoderDictionary;

/// Level of zstd: higher levels take longer and do not make columns of numbers smaller.
const LEVEL: i32 = 1;
/// First byte of a packed file: plain bytes, or columns.
const PLAIN: u8 = 0;
const COLUMNS: u8 = 1;
/// Most bytes of the first line that is a part of a form.
const LONGEST_LINE: usize = 1 << 16;
/// Most bytes of a dictionary, and of a file packed against it.
const MOST_SHARED: usize = 8 << 20;
/// Most bases kept in memory, and their bytes.
const MOST_BASES: usize = 256;
const MOST_BASE_BYTES: usize = 64 << 20;

/// SHA-256.
pub(super) type Digest = [u8; 32];

/// Hash of parts with the length of each, so that different lists of parts have different hashes.
pub(super) fn digest<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Digest {
    let mut hash = Hash::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize()
}

/// A file that others are packed against.
#[derive(Clone)]
pub(super) struct Base {
    /// Number of its blob.
    pub(super) id: i64,
    dictionary: Arc<Dictionary>,
}

struct Dictionary {
    bytes: Vec<u8>,
    /// Prepared when the first file is packed against this dictionary.
    encoder: OnceLock<EncoderDictionary<'static>>,
}

impl Base {
    /// The base that is the file with these bytes.
    pub(super) fn new(id: i64, bytes: Vec<u8>) -> Base {
        let bytes = columns::encoded(&bytes).unwrap_or(bytes);
        Base { id, dictionary: Arc::new(Dictionary { bytes, encoder: OnceLock::new() }) }
    }

    fn encoder(&self) -> &EncoderDictionary<'static> {
        self.dictionary.encoder.get_or_init(|| EncoderDictionary::copy(&self.dictionary.bytes, LEVEL))
    }
}

/// Known bases by form.
#[derive(Default)]
pub(super) struct Bases(HashMap<Digest, Base>);

impl Bases {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    fn keep(&mut self, form: Digest, base: &Base) {
        let bytes: usize = self.0.values().map(|it| it.dictionary.bytes.len()).sum();
        if self.0.len() < MOST_BASES && bytes + base.dictionary.bytes.len() <= MOST_BASE_BYTES {
            self.0.insert(form, base.clone());
        }
    }

    /// The base of a form, from memory or the database.
    pub(super) fn of(
        &mut self,
        form: &Digest,
        sql: &str,
        statements: &mut dyn Statements,
    ) -> Result<Option<Base>, StoreError> {
        if let Some(base) = self.0.get(form) {
            return Ok(Some(base.clone()));
        }
        let rows = statements.rows(sql, &[Cell::from(&form[..])])?;
        let Some([Cell::Integer(id), Cell::Integer(bytes), Cell::Bytes(packed)]) =
            rows.first().map(|row| &row[..])
        else {
            return Ok(None);
        };
        let base = Base::new(*id, unpack(packed, None, *bytes)?);
        self.keep(*form, &base);
        Ok(Some(base))
    }
}

/// Form of a file: its name without folder, and its first line. `None` for large files and files without a line end.
pub(super) fn form_of(name: &str, bytes: &[u8]) -> Option<Digest> {
    let line = bytes.get(..bytes.len().min(LONGEST_LINE))?;
    let end = line.iter().position(|byte| *byte == b'\n')?;
    let file = name.rsplit('/').next().unwrap_or(name);
    (bytes.len() <= MOST_SHARED).then(|| digest([file.as_bytes(), &line[..end]]))
}

/// Packs bytes, against a base if there is one.
pub(super) fn pack(name: &str, bytes: &[u8], base: Option<&Base>) -> Result<Vec<u8>, StoreError> {
    let columns = if bytes.len() <= MOST_SHARED { columns::encoded(bytes) } else { None };
    let (kind, content) = match &columns {
        Some(it) => (COLUMNS, &it[..]),
        None => (PLAIN, bytes),
    };
    let packed = match base {
        Some(base) => {
            Compressor::with_prepared_dictionary(base.encoder()).and_then(|mut it| it.compress(content))
        }
        None => zstd::bulk::compress(content, LEVEL),
    };
    let packed =
        packed.map_err(|error| StoreError::Unstorable { what: name.to_owned(), why: error.to_string() })?;
    let mut out = vec![kind];
    out.extend((content.len() as u64).to_le_bytes());
    out.extend(packed);
    Ok(out)
}

/// Unpacks the bytes of a file.
pub(super) fn unpack(packed: &[u8], base: Option<&Base>, bytes: i64) -> Result<Vec<u8>, StoreError> {
    let damaged = |why: &str| StoreError::Damaged { why: format!("a file of {bytes} bytes {why}") };
    let (kind, rest) = packed.split_first().ok_or_else(|| damaged("is empty"))?;
    let (length, content) = rest.split_first_chunk::<8>().ok_or_else(|| damaged("is cut"))?;
    let length = u64::from_le_bytes(*length);
    if length > super::MOST_BYTES {
        return Err(damaged("has an impossible length"));
    }
    let length = length as usize;
    let unpacked = match base {
        Some(base) => Decompressor::with_dictionary(&base.dictionary.bytes)
            .and_then(|mut it| it.decompress(content, length)),
        None => zstd::bulk::decompress(content, length),
    };
    let unpacked = unpacked.map_err(|error| damaged(&error.to_string()))?;
    let whole = match *kind {
        PLAIN => Some(unpacked),
        COLUMNS => columns::decoded(&unpacked),
        _ => None,
    };
    whole.filter(|it| it.len() as i64 == bytes).ok_or_else(|| damaged("unpacks to other bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_small_beside_another_of_its_form() {
        let row = |n: u64| format!("{n},copy(double*),{},{}\n", n * 7919 % 1000, n * n % 977);
        let text = |from: u64| {
            format!("Dispatch_ID,Kernel_Name,A,B\n{}", (from..from + 200).map(row).collect::<String>())
                .into_bytes()
        };
        let (first, second) = (text(0), text(100));
        let alone = pack("a.csv", &second, None).unwrap();
        let base = Base::new(1, first);
        let beside = pack("a.csv", &second, Some(&base)).unwrap();
        assert!(
            beside.len() < alone.len() && alone.len() * 2 < second.len(),
            "{} {}",
            beside.len(),
            alone.len()
        );
        assert_eq!(unpack(&beside, Some(&base), second.len() as i64).unwrap(), second);
        assert_eq!(unpack(&alone, None, second.len() as i64).unwrap(), second);
        let other = Base::new(2, second[..99].to_vec());
        assert!(unpack(&beside, Some(&other), second.len() as i64).is_err());
        assert!(unpack(&alone, None, 10).is_err());
        assert!(unpack(&alone, None, -1).is_err() && unpack(&alone, None, i64::MAX).is_err());
    }

    #[test]
    fn forms_are_names_and_first_lines() {
        let form = |name, text: &str| form_of(name, text.as_bytes());
        assert_eq!(form("x/a.csv", "A,B\n1,2\n"), form("y/a.csv", "A,B\n3,4\n"));
        assert_ne!(form("a.csv", "A,B\n1,2\n"), form("a.csv", "A,C\n1,2\n"));
        assert_ne!(form("a.csv", "A,B\n1,2\n"), form("b.csv", "A,B\n1,2\n"));
        assert_eq!(form("a.csv", "A,B"), None);
    }
}
