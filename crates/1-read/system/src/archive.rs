//! Bundles: tar archives, plain or compressed with zstd or gzip.

use crate::{Content, Error, Tree, capture, tar};
use sorting::Sort;
use std::io::Read;

/// Most bytes an archive may hold uncompressed: a machine of 512 CPUs and 16 GPUs needs about 8 MiB of tar
/// blocks.
pub const MOST_BYTES: u64 = 64 << 20;
/// Most entries an archive may hold.
pub const MOST_ENTRIES: usize = 50_000;

const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Whether bytes begin like a tar archive, plain or compressed.
pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(&ZSTD)
        || bytes.starts_with(&GZIP)
        || bytes.get(257..262).is_some_and(|magic| magic == b"ustar")
}

/// Reads an archive into a tree of the given name, with the entries refused, one phrase each.
///
/// # Errors
/// Not an archive, cut, or larger than [`MOST_BYTES`] uncompressed.
pub fn read_archive(name: &str, bytes: &[u8]) -> Result<(Tree, Vec<String>), Error> {
    let plain = if bytes.starts_with(&ZSTD) {
        let decoder = zstd::stream::read::Decoder::with_buffer(bytes)
            .map_err(|error| Error::whole(error.to_string()))?;
        Some(bounded(decoder)?)
    } else if bytes.starts_with(&GZIP) {
        Some(bounded(flate2::read::MultiGzDecoder::new(bytes))?)
    } else {
        None
    };
    let mut tree = Tree::new(name);
    let refused = tar::read(plain.as_deref().unwrap_or(bytes), MOST_ENTRIES, &mut tree)?;
    read_refusals(&mut tree);
    Ok((tree, refused))
}

/// File of a bundle that lists what could not be read when it was made: path and reason, one a line.
const UNREADABLE: &str = "unreadable.tsv";

fn read_refusals(tree: &mut Tree) {
    let Some(list) = tree.text(UNREADABLE).get().cloned() else { return };
    for (path, reason) in list.lines().filter_map(|line| line.split_once('\t')) {
        if !tree.has(path) {
            tree.insert_unreadable(path, reason);
        }
    }
}

/// The files of a tree as a bundle compressed with zstd; `more` are outputs, the environment and the name.
///
/// # Errors
/// The compressor failed.
pub fn write_bundle(tree: &Tree, more: &[(String, Vec<u8>)]) -> Result<Vec<u8>, Error> {
    let mut files: Vec<(String, Vec<u8>)> = more.to_vec();
    let mut refusals = String::new();
    for (path, content) in tree.files() {
        match content {
            Content::Bytes(bytes) => files.push((path.to_owned(), capture::for_bundle(path, bytes))),
            Content::Unreadable(reason) => refusals += &format!("{path}\t{reason}\n"),
        }
    }
    if !refusals.is_empty() {
        files.push((UNREADABLE.to_owned(), refusals.into_bytes()));
    }
    files.in_order();
    let whole = |error: std::io::Error| Error::whole(error.to_string());
    let files = files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()));
    let plain = tar::write(files).map_err(whole)?;
    zstd::stream::encode_all(&plain[..], 9).map_err(whole)
}

/// Everything a decoder gives, up to the bound.
fn bounded(decoder: impl Read) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    decoder
        .take(MOST_BYTES + 1)
        .read_to_end(&mut out)
        .map_err(|error| Error::whole(format!("compressed data is damaged: {error}")))?;
    if out.len() as u64 > MOST_BYTES {
        return Err(Error::whole(format!(
            "more than {} MiB uncompressed: no bundle of this tool",
            MOST_BYTES >> 20
        )));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn bundles_keep_what_could_not_be_read() {
        let mut tree = Tree::new("n");
        tree.insert("proc/sys/kernel/numa_balancing", b"1\n".to_vec());
        tree.insert_unreadable("sys/x", "permission denied");
        let bundle = write_bundle(&tree, &[("name".to_owned(), b"n1".to_vec())]).unwrap();
        let (read, refused) = read_archive("m", &bundle).unwrap();
        assert!(refused.is_empty());
        assert_eq!(read.text("sys/x").reason(), Some("/sys/x: permission denied"));
        assert_eq!(read.text("proc/sys/kernel/numa_balancing"), tree.text("proc/sys/kernel/numa_balancing"));
        assert_eq!(bundle, write_bundle(&tree, &[("name".to_owned(), b"n1".to_vec())]).unwrap());
    }

    #[test]
    fn compressed_archives_and_bombs() {
        let plain = tar::write([("proc/cmdline", &b"quiet\n"[..])].into_iter()).unwrap();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&plain).unwrap();
        let packed = zstd::stream::encode_all(&plain[..], 3).unwrap();
        for bytes in [plain.clone(), gzip.finish().unwrap(), packed] {
            assert!(is_archive(&bytes));
            let (tree, refused) = read_archive("n", &bytes).unwrap();
            assert_eq!(tree.text("proc/cmdline").get().map(String::as_str), Some("quiet"));
            assert!(refused.is_empty());
        }
        let bomb = zstd::stream::encode_all(&vec![0u8; (MOST_BYTES + 10) as usize][..], 3).unwrap();
        assert!(bomb.len() < 1 << 20);
        assert!(read_archive("n", &bomb).unwrap_err().what.contains("more than 64 MiB"));
    }
}
