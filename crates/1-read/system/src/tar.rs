//! The part of the tar format that bundles need: plain files, read and written.
//!
//! The one idea to keep in mind: a bundle comes from a stranger. Nothing is unpacked to a disk; links, devices and names that
//! climb (`..`, a leading `/`) are refused by name, and sizes are checked against what is there.
//!
//! Source: POSIX.1-1988 ustar, with GNU's and pax's long names.

use crate::{Error, Tree};

const BLOCK: usize = 512;

/// Reads the files of an archive into a tree; returns what was refused.
pub(crate) fn read(bytes: &[u8], most_entries: usize, tree: &mut Tree) -> Result<Vec<String>, Error> {
    let mut refused = Vec::new();
    let mut at = 0;
    let mut long_name: Option<String> = None;
    let mut entries = 0usize;
    while let Some(header) = bytes.get(at..at + BLOCK) {
        if header.iter().all(|byte| *byte == 0) {
            return Ok(refused);
        }
        let offset = at as u64;
        if !checksum_holds(header) {
            return Err(Error::at(offset, "not a tar header"));
        }
        entries += 1;
        if entries > most_entries {
            return Err(Error::at(offset, format!("more than {most_entries} entries")));
        }
        let size = octal(&header[124..136])
            .and_then(|size| usize::try_from(size).ok())
            .ok_or_else(|| Error::at(offset, "no size in a tar header"))?;
        let data = at + BLOCK;
        let end = data.checked_add(size).filter(|end| *end <= bytes.len());
        let Some(end) = end else {
            return Err(Error::at(offset, format!("cut: an entry of {size} bytes ends after the archive")));
        };
        let body = &bytes[data..end];
        // A last entry without its padding is as good as a whole one.
        at = data.saturating_add(size.div_ceil(BLOCK).saturating_mul(BLOCK)).min(bytes.len());
        match header[156] {
            b'L' => long_name = Some(text(body)),
            b'x' => long_name = pax_path(body).or(long_name),
            b'g' => {}
            kind => {
                let name = long_name.take().unwrap_or_else(|| short_name(header));
                take(kind, &name, body, tree, &mut refused);
            }
        }
    }
    if at < bytes.len() {
        return Err(Error::at(at as u64, "cut within a tar header"));
    }
    Ok(refused)
}

fn take(kind: u8, name: &str, body: &[u8], tree: &mut Tree, refused: &mut Vec<String>) {
    let clean = name.trim_start_matches("./");
    let climbs = clean.starts_with('/') || clean.split('/').any(|part| part == "..");
    match kind {
        b'5' if !climbs => {}
        b'0' | 0 | b'7' if !climbs && !clean.is_empty() => tree.insert(clean, body.to_vec()),
        b'1' | b'2' => refused.push(format!("`{clean}`: a link")),
        _ if climbs => refused.push(format!("`{clean}`: leaves the bundle's folder")),
        _ => refused.push(format!("`{clean}`: neither file nor folder")),
    }
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

fn short_name(header: &[u8]) -> String {
    let name = text(&header[..100]);
    let prefix = if header[257..262] == *b"ustar" { text(&header[345..500]) } else { String::new() };
    if prefix.is_empty() { name } else { format!("{prefix}/{name}") }
}

/// The path of a pax header: lines `LENGTH key=value`.
fn pax_path(body: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(body);
    text.lines().find_map(|line| line.split_once(" path=").map(|(_, path)| path.to_owned()))
}

fn octal(field: &[u8]) -> Option<u64> {
    let text = text(field);
    let text = text.trim();
    if text.is_empty() { None } else { u64::from_str_radix(text, 8).ok() }
}

/// The sum of all bytes, the sum's own field counted as blanks.
fn sum(header: &[u8]) -> u64 {
    header
        .iter()
        .enumerate()
        .map(|(at, byte)| if (148..156).contains(&at) { 32 } else { u64::from(*byte) })
        .sum()
}

fn checksum_holds(header: &[u8]) -> bool {
    octal(&header[148..156]) == Some(sum(header))
}

/// Writes files as an archive; the same files give the same bytes. Names over 100 bytes get GNU's long-name entry.
pub fn write<'a>(files: impl Iterator<Item = (&'a str, &'a [u8])>) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, body) in files {
        if name.len() > 100 {
            entry(&mut out, "././@LongLink", b'L', name.as_bytes());
        }
        let cut = name.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= 100).last();
        entry(&mut out, &name[..cut.unwrap_or(0)], b'0', body);
    }
    out.resize(out.len() + 2 * BLOCK, 0);
    out
}

fn entry(out: &mut Vec<u8>, name: &str, kind: u8, body: &[u8]) {
    let mut header = [0u8; BLOCK];
    header[..name.len()].copy_from_slice(name.as_bytes());
    let mut put = |at: usize, text: &str| header[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(100, "0000644\0");
    put(108, "0000000\0");
    put(116, "0000000\0");
    put(124, &format!("{:011o}\0", body.len()));
    put(136, "00000000000\0");
    put(257, "ustar\0");
    put(263, "00");
    header[156] = kind;
    let sum = sum(&header);
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    out.extend_from_slice(&header);
    out.extend_from_slice(body);
    out.resize(out.len().div_ceil(BLOCK) * BLOCK, 0);
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
        let archive = write([("b/c", &b"xyz"[..]), (&long, b""), ("d", &[7u8; 513])].into_iter());
        let expected = vec![(long, 0), ("b/c".to_owned(), 3), ("d".to_owned(), 513)];
        assert_eq!(files(&archive), Ok((expected, Vec::new())));
    }

    #[test]
    fn hostile_entries_are_refused() {
        let mut archive = write(
            [("../up", &b"x"[..]), ("/etc/passwd", b"x"), ("a/../../b", b""), ("fine", b"1")].into_iter(),
        );
        archive.truncate(archive.len() - 2 * BLOCK);
        entry(&mut archive, "link", b'2', b"");
        entry(&mut archive, "node", b'3', b"");
        let (found, refused) = files(&archive).unwrap();
        assert_eq!(found, [("fine".to_owned(), 1)]);
        assert_eq!(refused.len(), 5, "{refused:?}");
    }

    #[test]
    fn every_cut_is_an_error_or_fewer_files() {
        let whole = write([("a", &b"0123456789"[..]), ("b", &[1; 600])].into_iter());
        for end in 0..whole.len() {
            if let Ok((found, _)) = files(&whole[..end]) {
                assert!(found.len() <= 2);
            }
        }
        // A size beyond the archive asks for no memory.
        let mut huge = whole.clone();
        huge[124..136].copy_from_slice(b"77777777777\0");
        let sum = sum(&huge[..BLOCK]);
        huge[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        assert!(files(&huge).unwrap_err().what.starts_with("cut"), "{:?}", files(&huge));
    }
}
