//! Bundles as tar archives: plain files, read and written.
//!
//! A bundle is untrusted. Nothing is unpacked to a disk; links, devices and names that leave the folder
//! (`..`, a leading `/`) are refused by name, and sizes are checked against the available bytes.

use crate::{Error, Tree};
use std::io::Read as _;
use tar::{Archive, Builder, EntryType, Header};

/// Reads the files of an archive into a tree; returns the refused ones.
pub(crate) fn read(bytes: &[u8], most_entries: usize, tree: &mut Tree) -> Result<Vec<String>, Error> {
    let mut refused = Vec::new();
    let mut archive = Archive::new(bytes);
    let broken =
        |error: std::io::Error| Error::at(bytes.len() as u64, format!("not a whole tar archive: {error}"));
    for (number, entry) in archive.entries().map_err(broken)?.enumerate() {
        let entry = entry.map_err(broken)?;
        let offset = entry.raw_header_position();
        if number == most_entries {
            return Err(Error::at(offset, format!("more than {most_entries} entries")));
        }
        let size = entry.size();
        // A size that the archive does not have asks for no memory.
        if size > bytes.len() as u64 - entry.raw_file_position().min(bytes.len() as u64) {
            return Err(Error::at(offset, format!("cut: an entry of {size} bytes ends after the archive")));
        }
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let kind = entry.header().entry_type();
        let mut body = Vec::new();
        entry.take(size).read_to_end(&mut body).map_err(broken)?;
        take(kind, &name, body, tree, &mut refused);
    }
    Ok(refused)
}

fn take(kind: EntryType, name: &str, body: Vec<u8>, tree: &mut Tree, refused: &mut Vec<String>) {
    let clean = name.trim_start_matches("./");
    let climbs = clean.starts_with('/') || clean.split('/').any(|part| part == "..");
    match kind {
        EntryType::XGlobalHeader => {}
        EntryType::Link | EntryType::Symlink => refused.push(format!("`{clean}`: a link")),
        _ if climbs => refused.push(format!("`{clean}`: leaves the bundle's folder")),
        EntryType::Directory => {}
        EntryType::Regular | EntryType::Continuous if !clean.is_empty() => tree.insert(clean, body),
        _ => refused.push(format!("`{clean}`: neither file nor folder")),
    }
}

/// Writes files as an archive; the same files give the same bytes. Names that climb are errors.
pub(crate) fn write<'a>(files: impl Iterator<Item = (&'a str, &'a [u8])>) -> std::io::Result<Vec<u8>> {
    let mut archive = Builder::new(Vec::new());
    for (name, body) in files {
        let mut header = Header::new_gnu();
        header.set_size(body.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, name, body)?;
    }
    archive.into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Content;

    type Files = (Vec<(String, usize)>, Vec<String>);

    fn files(bytes: &[u8]) -> Result<Files, Error> {
        let mut tree = Tree::new("t");
        let refused = read(bytes, 100, &mut tree)?;
        let size = |content: &Content| if let Content::Bytes(bytes) = content { bytes.len() } else { 0 };
        Ok((tree.files().map(|(path, content)| (path.to_owned(), size(content))).collect(), refused))
    }

    #[test]
    fn what_is_written_is_read() {
        let long = "a/".repeat(70) + "end";
        let archive = write([("b/c", &b"xyz"[..]), (&long, b""), ("d", &[7u8; 513])].into_iter()).unwrap();
        let expected = vec![(long, 0), ("b/c".to_owned(), 3), ("d".to_owned(), 513)];
        assert_eq!(files(&archive), Ok((expected, Vec::new())));
    }

    #[test]
    fn hostile_entries_are_refused() {
        let mut archive = Builder::new(Vec::new());
        for (name, kind) in [
            ("../up", EntryType::Regular),
            ("/etc/passwd", EntryType::Regular),
            ("a/../../b", EntryType::Regular),
            ("fine", EntryType::Regular),
            ("link", EntryType::Symlink),
            ("node", EntryType::Char),
        ] {
            let mut header = Header::new_ustar();
            // The builder refuses such names itself.
            header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
            header.set_entry_type(kind);
            header.set_size(u64::from(kind == EntryType::Regular));
            header.set_cksum();
            archive.append(&header, if kind == EntryType::Regular { &b"1"[..] } else { b"" }).unwrap();
        }
        let archive = archive.into_inner().unwrap();
        assert!(write([("../up", &b""[..])].into_iter()).is_err());
        let (found, refused) = files(&archive).unwrap();
        assert_eq!(found, [("fine".to_owned(), 1)]);
        assert_eq!(refused.len(), 5, "{refused:?}");
    }

    #[test]
    fn every_cut_is_an_error_or_fewer_files() {
        let whole = write([("a", &b"0123456789"[..]), ("b", &[1; 600])].into_iter()).unwrap();
        for end in 0..whole.len() {
            if let Ok((found, _)) = files(&whole[..end]) {
                assert!(found.len() <= 2);
            }
        }
        // A size beyond the archive asks for no memory.
        let mut huge = whole.clone();
        huge[124..136].copy_from_slice(b"77777777777\0");
        let mut header = Header::from_byte_slice(&huge[..512]).clone();
        header.set_cksum();
        huge[..512].copy_from_slice(header.as_bytes());
        assert!(files(&huge).unwrap_err().what.starts_with("cut"), "{:?}", files(&huge));
    }
}
