//! Data files of launch files: bytes as they are, or compressed with zstd if the name ends in `.zst`.

use crate::capture::COMPRESSED;
use anyhow::{Context, Result, anyhow, bail};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The contents of a file, which must have this length.
pub(super) fn of_length(path: &Path, bytes: u64) -> Result<Vec<u8>> {
    let name = path.display();
    let file = File::open(path).with_context(|| format!("cannot read `{name}`"))?;
    let is_compressed = path.extension().is_some_and(|it| it == COMPRESSED);
    let mut contents = Vec::new();
    // One byte more than wanted tells that there are more. Nothing is allocated for a length that is only claimed.
    let most = bytes.saturating_add(1);
    if is_compressed {
        let damaged = |error: std::io::Error| anyhow!("`{name}` is cut or damaged: {error}");
        let decoder = zstd::stream::read::Decoder::new(file).map_err(damaged)?;
        decoder.take(most).read_to_end(&mut contents).map_err(damaged)?;
    } else {
        file.take(most).read_to_end(&mut contents).with_context(|| format!("cannot read `{name}`"))?;
    }
    if contents.len() as u64 > bytes {
        bail!("`{name}` has more than the {bytes} bytes of the buffer");
    }
    if contents.len() as u64 != bytes {
        bail!("`{name}` has {} bytes, the buffer {bytes}", contents.len());
    }
    Ok(contents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_the_length_of_their_buffer() {
        let folder = tempfile::tempdir().unwrap();
        let whole = zstd::stream::encode_all(&[7u8; 1000][..], 1).unwrap();
        let mut flipped = whole.clone();
        *flipped.last_mut().unwrap() ^= 1;
        // (name, contents, bytes of the buffer, part of the error)
        for (name, contents, bytes, error) in [
            ("plain", &[1u8, 2, 3][..], 3, ""),
            ("plain", &[1, 2, 3], 4, "has 3 bytes, the buffer 4"),
            ("plain", &[1, 2, 3], 2, "more than the 2 bytes"),
            ("a.zst", &whole, 1000, ""),
            ("a.zst", &whole, 999, "more than the 999 bytes"),
            ("a.zst", &whole, 1 << 40, "has 1000 bytes"),
            ("a.zst", &whole[..whole.len() - 3], 1000, "cut or damaged"),
            ("a.zst", &[1, 2, 3], 3, "cut or damaged"),
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, contents).unwrap();
            let read = of_length(&path, bytes);
            match read {
                Ok(read) => {
                    assert!(error.is_empty() && read.len() as u64 == bytes, "{name} {bytes}: {error}")
                }
                Err(found) => {
                    assert!(!error.is_empty() && found.to_string().contains(error), "{name} {bytes}: {found}")
                }
            }
        }
        assert!(of_length(&folder.path().join("absent"), 1).is_err());
    }
}
