//! Compressed offload bundles (`CCOB`), versions 1 to 3, zlib or zstd.
//!
//! Sizes in the header are not trusted. The output is bounded by the stated size, by the ratio real code can
//! reach and by an absolute limit, and only the wanted entry is kept. Source: `CompressedOffloadBundle` in
//! Clang's OffloadBundler.

use std::io::Read;

use crate::ReadError;
use crate::bytes::{range, u16_at, u32_at, u64_at};
use crate::kind::COMPRESSED_MAGIC;

/// Output that is fine whatever the ratio, and the ratio that is fine beyond it. Bundles of twenty nearly
/// equal targets reach about 60.
const FREE_OUTPUT: u64 = 32 << 20;
const HIGHEST_RATIO: u64 = 200;
/// Largest bundle at all.
const LARGEST_OUTPUT: u64 = 16 << 30;
/// Zstd frames may ask for a window of this many bits and no more; clang's long-distance mode uses 27.
const WINDOW_BITS: u32 = 27;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Method {
    Zlib,
    Zstd,
}

/// The header of a compressed bundle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Header {
    pub(crate) method: Method,
    /// Bytes of the header.
    pub(crate) length: u64,
    /// Bytes with the header, where the version says so.
    pub(crate) total: Option<u64>,
    /// Bytes after decompression, as claimed.
    pub(crate) uncompressed: u64,
}

pub(crate) fn read_header(data: &[u8]) -> Result<Header, ReadError> {
    let head = range(data, 0, 8, "the header of a compressed bundle")?;
    if !head.starts_with(COMPRESSED_MAGIC) {
        return Err(ReadError::new(0, "no compressed bundle magic"));
    }
    let version = u16_at(head, 4).unwrap_or(0);
    let method = match u16_at(head, 6).unwrap_or(0) {
        0 => Method::Zlib,
        1 => Method::Zstd,
        other => {
            return Err(ReadError::new(
                6,
                format!("compression method {other} is neither zlib (0) nor zstd (1)"),
            ));
        }
    };
    let length = match version {
        1 => 20,
        2 => 24,
        3 => 32,
        _ => {
            return Err(ReadError::new(4, format!("compressed bundle of version {version}"))
                .hint("versions 1 to 3 are known; a newer compiler may need a newer rockhound"));
        }
    };
    let head = range(data, 0, length, "the header of a compressed bundle")?;
    let word = |at| u64::from(u32_at(head, at).unwrap_or(0));
    let long = |at| u64_at(head, at).unwrap_or(0);
    let (total, uncompressed) = match version {
        1 => (None, word(8)),
        2 => (Some(word(8)), word(12)),
        _ => (Some(long(8)), long(16)),
    };
    Ok(Header { method, length, total, uncompressed })
}

/// A decompressed bundle as a stream that is read once, forward.
pub(crate) struct Stream<'a> {
    decoder: Box<dyn Read + Send + 'a>,
    /// Bytes of output so far.
    pub(crate) at: u64,
    limit: u64,
    claimed: u64,
}

impl<'a> Stream<'a> {
    /// Opens the frame that follows the header.
    pub(crate) fn open(header: &Header, compressed: &'a [u8]) -> Result<Stream<'a>, ReadError> {
        let limit =
            FREE_OUTPUT.max(HIGHEST_RATIO.saturating_mul(compressed.len() as u64)).min(LARGEST_OUTPUT);
        let decoder: Box<dyn Read + Send + 'a> = match header.method {
            Method::Zlib => Box::new(flate2::bufread::ZlibDecoder::new(compressed)),
            Method::Zstd => {
                let failed = |error: std::io::Error| ReadError::new(header.length, format!("zstd: {error}"));
                let mut decoder = zstd::stream::read::Decoder::with_buffer(compressed).map_err(failed)?;
                decoder.window_log_max(WINDOW_BITS).map_err(failed)?;
                Box::new(decoder.single_frame())
            }
        };
        Ok(Stream { decoder, at: 0, limit, claimed: header.uncompressed })
    }

    /// The next `length` bytes. Memory grows with what really arrives.
    pub(crate) fn take(&mut self, length: u64) -> Result<Vec<u8>, ReadError> {
        self.take_after(Vec::new(), length)
    }

    /// As many more bytes as `bytes` needs to be `length` long.
    pub(crate) fn take_after(&mut self, mut bytes: Vec<u8>, length: u64) -> Result<Vec<u8>, ReadError> {
        let missing = length.saturating_sub(bytes.len() as u64);
        self.check(missing)?;
        // A small claim is met in one allocation, a large one doubles as data arrives.
        bytes.reserve_exact(missing.min(1 << 20) as usize);
        let before = bytes.len();
        let read = (&mut self.decoder).take(missing).read_to_end(&mut bytes);
        self.finish(missing, (bytes.len() - before) as u64, read.map(|_| ()))?;
        Ok(bytes)
    }

    /// Passes over `length` bytes.
    pub(crate) fn pass(&mut self, length: u64) -> Result<(), ReadError> {
        self.check(length)?;
        let copied = std::io::copy(&mut (&mut self.decoder).take(length), &mut std::io::sink());
        let count = *copied.as_ref().unwrap_or(&0);
        self.finish(length, count, copied.map(|_| ()))
    }

    fn check(&self, length: u64) -> Result<(), ReadError> {
        let end = self.at.saturating_add(length);
        if end > self.claimed {
            return Err(ReadError::new(
                self.at,
                format!("an entry reaches byte {end} of a compressed bundle of {} bytes", self.claimed),
            ));
        }
        if end > self.limit {
            return Err(ReadError::new(
                self.at,
                format!("a compressed bundle unfolds to more than {} bytes", self.limit),
            )
            .hint(format!(
                "real code compresses by less than {HIGHEST_RATIO} to 1: the bundle is damaged or hostile"
            )));
        }
        Ok(())
    }

    fn finish(&mut self, asked: u64, got: u64, outcome: std::io::Result<()>) -> Result<(), ReadError> {
        self.at += got;
        match outcome {
            Err(error) => Err(ReadError::new(self.at, format!("decompression failed: {error}"))
                .hint("the compressed bundle is cut short or damaged")),
            Ok(()) if got < asked => Err(ReadError::new(
                self.at,
                format!("a compressed bundle ends {} bytes too early", asked - got),
            )
            .hint("the compressed bundle is cut short or damaged")),
            Ok(()) => Ok(()),
        }
    }
}
