//! Memory that a kernel reaches, written to files.

use super::text::{Part, Place};
use super::{Allocation, COMPRESSED, Device, Kind};
use anyhow::{Context, Result};
use buffers::Element;
use std::collections::{BTreeSet, VecDeque};
use std::fs::File;
use std::hash::{DefaultHasher, Hasher as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use zstd::stream::write::Encoder;

/// Bytes that are read at a time.
const PIECE: usize = 16 << 20;
/// Bytes by which the type of the elements is guessed.
const HEAD: usize = 64 << 10;
/// Fast: a launch waits for it.
const LEVEL: i32 = 1;

/// Memory that was written as it is before the launch.
#[derive(Debug)]
pub(super) struct Reached {
    name: String,
    place: Place,
    address: u64,
    bytes: u64,
    stored: Stored,
}

/// A file that was written: its name, a digest and the begin of its contents.
#[derive(Debug)]
struct Stored {
    file: String,
    digest: u64,
    head: Vec<u8>,
}

/// Memory as it is found: everything reached so far, and what waits to be looked at.
pub(super) struct Found<'a> {
    folder: &'a Path,
    device: &'a dyn Device,
    /// Bytes that may still be written.
    left: u64,
    reached: Vec<Reached>,
    /// Allocations that were met, with the first pointer to each.
    waiting: VecDeque<(Allocation, String)>,
    met: BTreeSet<u64>,
    names: BTreeSet<String>,
    lacking: Vec<String>,
}

impl<'a> Found<'a> {
    pub(super) fn new(folder: &'a Path, limit: u64, device: &'a dyn Device) -> Found<'a> {
        let (reached, waiting) = (Vec::new(), VecDeque::new());
        let (met, names, lacking) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        Found { folder, device, left: limit, reached, waiting, met, names, lacking }
    }

    /// Notes what is not captured.
    pub(super) fn lacks(&mut self, text: String) {
        if !self.lacking.contains(&text) {
            self.lacking.push(text);
        }
    }

    /// Looks at words as pointers.
    pub(super) fn words(&mut self, from: &str, bytes: &[u8]) {
        for address in buffers::words_within(bytes, &self.device.span()) {
            self.pointer(from, address);
        }
    }

    fn pointer(&mut self, from: &str, address: u64) {
        let Some(allocation) = self.device.allocation(address) else { return };
        if allocation.kind == Kind::Runtime {
            return;
        }
        if self.met.insert(allocation.base) {
            self.waiting.push_back((allocation, from.to_owned()));
        }
    }

    /// Writes everything that waits, and what is reached from that.
    pub(super) fn follow(&mut self) -> Result<()> {
        while let Some((allocation, from)) = self.waiting.pop_front() {
            let Allocation { base, bytes, kind } = allocation;
            if kind == Kind::Managed {
                self.lacks(format!(
                    "memory of `{from}` is managed: its contents are captured, and where its pages are is not"
                ));
            }
            self.store(&from, Place::Address(base), (base, bytes))?;
        }
        Ok(())
    }

    /// Writes a variable whose contents differ from `expected`, the contents in the file.
    pub(super) fn variable(&mut self, symbol: &str, address: u64, expected: &[u8]) -> Result<()> {
        let mut contents = vec![0; expected.len()];
        if let Err(why) = self.device.read(address, &mut contents) {
            self.lacks(format!("variable `{symbol}` cannot be read: {why}"));
            return Ok(());
        }
        if contents == expected {
            return Ok(());
        }
        self.store(symbol, Place::Symbol(symbol.to_owned()), (address, contents.len() as u64))
    }

    fn store(&mut self, from: &str, place: Place, (address, bytes): (u64, u64)) -> Result<()> {
        let wanted = bytes.min(self.left) & !7;
        let wanted = if wanted == bytes & !7 { bytes } else { wanted };
        if wanted < bytes {
            self.lacks(format!(
                "of the {bytes} bytes that `{from}` leads to, the first {wanted} are captured; `--limit` allows more"
            ));
        }
        if wanted == 0 {
            return Ok(());
        }
        let name = self.name(from);
        let file = format!("{name}.bin.{COMPRESSED}");
        let path = self.folder.join(&file);
        let mut pointers = Vec::new();
        let span = self.device.span();
        let note = |piece: &[u8]| pointers.extend(buffers::words_within(piece, &span));
        match stored(self.device, (address, wanted), &path, note)? {
            Err(why) => {
                let _ = std::fs::remove_file(&path);
                self.lacks(format!("memory of `{from}` at {address:#x} cannot be read: {why}"));
                return Ok(());
            }
            Ok((digest, head)) => {
                let stored = Stored { file, digest, head };
                self.reached.push(Reached { name: name.clone(), place, address, bytes: wanted, stored });
            }
        }
        self.left -= wanted;
        for pointer in pointers {
            self.pointer(&name, pointer);
        }
        Ok(())
    }

    /// A name for a file, not used yet.
    fn name(&mut self, from: &str) -> String {
        let plain = |it: char| if it.is_ascii_alphanumeric() || it == '_' { it } else { '_' };
        let base: String = from.chars().map(plain).take(60).collect();
        let numbered =
            (1..).map(|number| if number == 1 { base.clone() } else { format!("{base}_{number}") });
        let free = numbered.into_iter().find(|it| !self.names.contains(it)).unwrap_or_default();
        self.names.insert(free.clone());
        free
    }

    /// Memory that was written, and texts on memory that was not.
    pub(super) fn done(self) -> (Vec<Reached>, Vec<String>) {
        (self.reached, self.lacking)
    }
}

/// Compresses memory into a file; returns digest and begin, or why the memory cannot be read.
fn stored(
    device: &dyn Device,
    (address, bytes): (u64, u64),
    path: &PathBuf,
    mut note: impl FnMut(&[u8]),
) -> Result<Result<(u64, Vec<u8>), String>> {
    let failed = || format!("cannot write `{}`", path.display());
    let file = File::create(path).with_context(failed)?;
    let mut encoder = Encoder::new(file, LEVEL).with_context(failed)?;
    encoder.include_checksum(true).with_context(failed)?;
    let (mut digest, mut head) = (DefaultHasher::new(), Vec::new());
    let read = pieces(device, (address, bytes), |piece| {
        digest.write(piece);
        head.extend_from_slice(&piece[..piece.len().min(HEAD.saturating_sub(head.len()))]);
        note(piece);
        encoder.write_all(piece).with_context(failed)
    })?;
    encoder.finish().with_context(failed)?;
    Ok(read.map(|()| (digest.finish(), head)))
}

/// Reads memory piece by piece.
fn pieces(
    device: &dyn Device,
    (address, bytes): (u64, u64),
    mut with: impl FnMut(&[u8]) -> Result<()>,
) -> Result<Result<(), String>> {
    let mut buffer = vec![0; PIECE.min(bytes as usize)];
    let mut at = 0;
    while at < bytes {
        let piece = &mut buffer[..PIECE.min((bytes - at) as usize)];
        if let Err(why) = device.read(address + at, piece) {
            return Ok(Err(why));
        }
        with(piece)?;
        at += piece.len() as u64;
    }
    Ok(Ok(()))
}

impl Reached {
    /// Compares it with what the launch left, and writes that if it is another; notes in `lacking` what cannot be read.
    pub(super) fn part(self, folder: &Path, device: &dyn Device, lacking: &mut Vec<String>) -> Result<Part> {
        let Reached { name, place, address, bytes, stored: before } = self;
        let (mut digest, mut head) = (DefaultHasher::new(), Vec::new());
        let read = pieces(device, (address, bytes), |piece| {
            digest.write(piece);
            head.extend_from_slice(&piece[..piece.len().min(HEAD.saturating_sub(head.len()))]);
            Ok(())
        })?;
        let mut expected = None;
        match read {
            Ok(()) if digest.finish() == before.digest => {}
            Ok(()) => {
                let file = format!("{name}.after.bin.{COMPRESSED}");
                stored(device, (address, bytes), &folder.join(&file), |_| {})?
                    .map_or_else(|why| lacking.push(why), |_| expected = Some(file));
            }
            Err(why) => lacking.push(format!("what the launch left in `{name}` cannot be read: {why}")),
        }
        let element = Element::likely(&[&before.head, &head]);
        Ok(Part { name, place, element, bytes, file: before.file, expected })
    }
}
