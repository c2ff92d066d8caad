//! Static archives (`ar`).
//!
//! Members are found one after another; the symbol table is not needed. GNU and BSD long names are both in
//! use.

use crate::ReadError;
use crate::bytes::range;
use crate::kind::{ARCHIVE_MAGIC, THIN_ARCHIVE_MAGIC};

const HEADER_BYTES: u64 = 60;

/// An archive with the position of the reader.
pub(crate) struct Archive<'a> {
    data: &'a [u8],
    at: u64,
    long_names: &'a [u8],
}

/// One file of an archive.
pub(crate) struct Member<'a> {
    pub(crate) name: String,
    pub(crate) data: &'a [u8],
    pub(crate) position: u64,
}

impl<'a> Archive<'a> {
    pub(crate) fn open(data: &'a [u8]) -> Result<Archive<'a>, ReadError> {
        if data.starts_with(THIN_ARCHIVE_MAGIC) {
            return Err(ReadError::new(0, "a thin archive, which names its members and does not hold them")
                .hint("give the object files, or repack with `ar rc`"));
        }
        if !data.starts_with(ARCHIVE_MAGIC) {
            return Err(ReadError::new(0, "no archive magic"));
        }
        Ok(Archive { data, at: ARCHIVE_MAGIC.len() as u64, long_names: &[] })
    }

    /// The next member; symbol tables are passed over.
    pub(crate) fn next(&mut self) -> Option<Result<Member<'a>, ReadError>> {
        loop {
            if self.at >= self.data.len() as u64 {
                return None;
            }
            match self.read_member() {
                Ok(Some(member)) => return Some(Ok(member)),
                Ok(None) => {}
                Err(error) => {
                    self.at = u64::MAX;
                    return Some(Err(error));
                }
            }
        }
    }

    fn read_member(&mut self) -> Result<Option<Member<'a>>, ReadError> {
        let header = range(self.data, self.at, HEADER_BYTES, "an archive member's header")?;
        let size = number(&header[48..58]);
        let (true, Some(size)) = (header.ends_with(b"`\n"), size) else {
            return Err(ReadError::new(self.at, "a damaged archive member header"));
        };
        let position = self.at + HEADER_BYTES;
        let data = range(self.data, position, size, "an archive member")?;
        self.at = position + size.next_multiple_of(2);
        let raw = header[..16].trim_ascii_end();
        let (name, skip): (&[u8], usize) = match raw {
            b"/" | b"/SYM64/" | b"__.SYMDEF" => return Ok(None),
            b"//" => {
                self.long_names = data;
                return Ok(None);
            }
            _ if raw.starts_with(b"#1/") => {
                let length = number(&raw[3..]).and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
                let name = data.get(..length).unwrap_or_default();
                (name.split(|&byte| byte == 0).next().unwrap_or_default(), name.len())
            }
            _ if raw.starts_with(b"/") => {
                let start = number(&raw[1..]).and_then(|start| usize::try_from(start).ok());
                let tail = start.and_then(|start| self.long_names.get(start..)).unwrap_or_default();
                (tail.split(|&byte| byte == b'\n').next().unwrap_or_default(), 0)
            }
            _ => (raw, 0),
        };
        // A name may be as long as the table of names; a message needs no more than this.
        let name = &name[..name.len().min(1024)];
        let name = String::from_utf8_lossy(name.strip_suffix(b"/").unwrap_or(name)).into_owned();
        Ok(Some(Member { name, data: &data[skip..], position: position + skip as u64 }))
    }
}

fn number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text.trim_ascii()).ok()?.parse().ok()
}
