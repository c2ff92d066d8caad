//! The bytes of a file, mapped into memory.
//!
//! Mapping is `unsafe` and happens here alone. Libraries with GPU code are gigabytes, of which a few
//! megabytes are read; mapping loads only those, and [`Contents::release`] gives the pages back, so memory in
//! use does not grow with the file.
#![allow(
    unsafe_code,
    reason = "mapping a file has a contract the compiler cannot check; it is stated at each use"
)]

use memmap2::Mmap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Bytes of one input.
pub enum Contents {
    /// A regular file.
    Mapped(Mmap),
    /// Standard input, a pipe, or an empty file.
    Owned(Vec<u8>),
}

impl Contents {
    /// Opens a file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            // A named pipe ends; a device such as /dev/zero may not.
            if is_pipe(&metadata) {
                let mut bytes = Vec::new();
                file.read_to_end(&mut bytes)?;
                return Ok(Contents::Owned(bytes));
            }
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        if metadata.len() == 0 {
            return Ok(Contents::Owned(Vec::new()));
        }
        // SAFETY: the mapping is private and read-only, so this program never writes through it. Another
        // process that changes the file while it is read can change bytes under a reader; readers take any
        // bytes and keep no assumption between two looks at the same place that memory safety rests on, as
        // slices are only indexed with checks. One that truncates the file makes the next access end the
        // program with a signal, as with every tool that maps its input.
        let map = unsafe { Mmap::map(&file)? };
        Ok(Contents::Mapped(map))
    }

    /// Reads standard input to its end.
    pub fn standard_input() -> io::Result<Self> {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes)?;
        Ok(Contents::Owned(bytes))
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Contents::Mapped(map) => map,
            Contents::Owned(bytes) => bytes,
        }
    }

    /// Tells the system that the bytes read so far are not needed soon. They stay readable.
    pub fn release(&self) {
        #[cfg(target_os = "linux")]
        if let Contents::Mapped(map) = self {
            // SAFETY: the mapping is read-only and backed by a file. Dropping its pages loses nothing: the
            // next access reads the same bytes from the file again, and references into the mapping stay
            // valid. Should the call fail, nothing has changed but memory in use.
            let _ = unsafe { map.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
        }
    }
}

#[cfg(unix)]
fn is_pipe(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    metadata.file_type().is_fifo()
}

#[cfg(not(unix))]
fn is_pipe(_: &std::fs::Metadata) -> bool {
    false
}
