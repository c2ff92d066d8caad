//! All code objects of a file, one at a time.
//!
//! Containers nest (archive, host object, section, bundle, compression), so the scan keeps a stack of open
//! containers and looks only at what the wanted targets need; at most one decompressed code object is in
//! memory.

use sorting::Sort;
use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::archive::Archive;
use crate::bundle::{self, Entry};
use crate::bytes::{range, u16_at, u32_at};
use crate::compressed::{self, Stream};
use crate::elf::{self, Elf};
use crate::kind::{
    BITCODE_MAGIC, BITCODE_WRAPPER_MAGIC, BUNDLE_MAGIC, COMPRESSED_MAGIC, Kind, not_yet_code, recognise,
};
use crate::{CodeObject, ReadError, Target};

/// Errors after which a file is given up.
const MOST_ERRORS: usize = 100;
/// Targets kept for [`Scan::passed_over`].
const MOST_TARGETS: usize = 256;

/// A code object inside a file.
#[derive(Clone, Debug)]
pub struct Found<'a> {
    /// How it was reached: `.hip_fatbin[3]`, `member foo.o, .hip_fatbin[0]`; empty for a bare file.
    pub origin: String,
    /// Target as the bundle names it, or as the ELF header does for a bare code object.
    pub target: Target,
    /// The code object.
    pub data: Cow<'a, [u8]>,
    /// Where it, or the compressed bundle around it, begins in the file.
    pub position: u64,
}

impl Found<'_> {
    /// Whether the program registers it with the HIP runtime when it starts; code among its data is loaded by name.
    pub fn is_registered(&self) -> bool {
        !is_data(self.origin.as_bytes())
    }

    /// Reads it; the origin is carried over and errors give positions in the file.
    pub fn read(&self) -> Result<CodeObject, ReadError> {
        let mut object = CodeObject::read(&self.data).map_err(|error| match self.data {
            Cow::Borrowed(_) => error.within(self.position),
            Cow::Owned(_) => ReadError {
                what: format!("{error} of a decompressed code object"),
                position: self.position,
                ..error
            },
        })?;
        object.origin.clone_from(&self.origin);
        Ok(object)
    }
}

/// Which targets to look at. Entries for other targets are passed over without reading or decompressing them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Wanted {
    targets: Vec<Target>,
}

impl Wanted {
    /// Every AMD GPU.
    pub fn all() -> Wanted {
        Wanted::default()
    }

    /// The given targets only; no targets at all means every AMD GPU.
    pub fn targets(targets: Vec<Target>) -> Wanted {
        Wanted { targets }
    }

    /// Whether code for `target` is wanted.
    pub fn accepts(&self, target: &Target) -> bool {
        self.targets.is_empty() || self.targets.iter().any(|wanted| target.matches(wanted))
    }
}

/// Opens a code object, bundle, archive, program, library or object file. Files without GPU code yield
/// nothing.
pub fn scan<'a>(data: &'a [u8], wanted: &Wanted) -> Result<Scan<'a>, ReadError> {
    let mut scan = Scan {
        wanted: wanted.clone(),
        open: Vec::new(),
        ready: None,
        errors: 0,
        passed_over: BTreeSet::new(),
    };
    match recognise(data) {
        Some(Kind::CodeObject | Kind::Host | Kind::Archive | Kind::Bundle) => {
            scan.enter(data, 0, String::new())?
        }
        Some(Kind::Assembly | Kind::Json) => {
            return Err(ReadError::new(0, "text, where a binary file is expected"));
        }
        None => {
            if let Some((what, hint)) = not_yet_code(data) {
                return Err(ReadError::new(0, what).hint(hint));
            }
            return Err(ReadError::new(0, "neither ELF, archive, offload bundle nor AMD GPU assembly")
                .hint("give a code object, a program or library with HIP kernels, or assembly text"));
        }
    }
    Ok(scan)
}

/// Iterator over the code objects of a file. After an error it goes on with the next part of the file.
pub struct Scan<'a> {
    wanted: Wanted,
    open: Vec<Container<'a>>,
    ready: Option<Found<'a>>,
    errors: usize,
    passed_over: BTreeSet<String>,
}

enum Container<'a> {
    Archive {
        archive: Archive<'a>,
        origin: String,
    },
    Sections {
        sections: std::vec::IntoIter<Bytes<'a>>,
    },
    /// Data in which a program embeds code objects without a section for them.
    Embedded {
        bytes: Bytes<'a>,
        at: usize,
        count: usize,
    },
    Bundles {
        bytes: Bytes<'a>,
        at: u64,
        count: usize,
    },
    Errors {
        errors: std::vec::IntoIter<ReadError>,
    },
    Entries {
        entries: std::vec::IntoIter<(Entry, Target)>,
        source: Source<'a>,
        position: u64,
        origin: String,
    },
}

/// A part of the file.
struct Bytes<'a> {
    data: &'a [u8],
    position: u64,
    origin: String,
}

enum Source<'a> {
    Plain(&'a [u8]),
    Compressed(Stream<'a>),
}

impl<'a> Iterator for Scan<'a> {
    type Item = Result<Found<'a>, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.errors == MOST_ERRORS {
            return None;
        }
        let item = loop {
            if let Some(found) = self.ready.take() {
                break Ok(found);
            }
            // The container is put back unless it is used up.
            let container = self.open.pop()?;
            if let Err(error) = self.step(container) {
                break Err(error);
            }
        };
        if item.is_err() {
            self.errors += 1;
        }
        Some(item)
    }
}

impl<'a> Scan<'a> {
    /// Targets that were found but not selected, including other vendors'.
    pub fn passed_over(&self) -> impl Iterator<Item = &str> {
        self.passed_over.iter().map(String::as_str)
    }

    fn pass_over(&mut self, target: &str) {
        if self.passed_over.len() < MOST_TARGETS && !self.passed_over.contains(target) {
            self.passed_over.insert(target.to_owned());
        }
    }

    /// Takes the next part out of a container.
    fn step(&mut self, container: Container<'a>) -> Result<(), ReadError> {
        match container {
            Container::Archive { mut archive, origin } => {
                let Some(member) = archive.next() else { return Ok(()) };
                let inner = member.as_ref().map_or(String::new(), |member| format!("member {}", member.name));
                let origin_of_member = join(&origin, &inner);
                self.open.push(Container::Archive { archive, origin });
                let (member, origin) = (member?, origin_of_member);
                match recognise(member.data) {
                    Some(Kind::CodeObject | Kind::Host | Kind::Bundle) => {
                        self.enter(member.data, member.position, origin)
                    }
                    // Archives hold anything: other members are none of this reader's business.
                    _ => Ok(()),
                }
            }
            Container::Sections { mut sections } => {
                let Some(bytes) = sections.next() else { return Ok(()) };
                self.open.push(Container::Sections { sections });
                self.open.push(Container::Bundles { bytes, at: 0, count: 0 });
                Ok(())
            }
            Container::Embedded { bytes, at, count } => self.next_embedded(bytes, at, count),
            Container::Errors { mut errors } => {
                let Some(error) = errors.next() else { return Ok(()) };
                self.open.push(Container::Errors { errors });
                Err(error)
            }
            Container::Bundles { bytes, at, count } => self.next_bundle(bytes, at, count),
            Container::Entries { entries, source, position, origin } => {
                self.next_entry(entries, source, position, origin)
            }
        }
    }

    /// Opens data of any binary kind.
    fn enter(&mut self, data: &'a [u8], position: u64, origin: String) -> Result<(), ReadError> {
        match recognise(data) {
            Some(Kind::CodeObject) => {
                let target = elf_target(data).unwrap_or_default();
                if self.wanted.accepts(&target) {
                    self.ready = Some(Found { origin, target, data: Cow::Borrowed(data), position });
                } else {
                    self.pass_over(&target.to_string());
                }
                Ok(())
            }
            Some(Kind::Host) => {
                let elf = Elf::read(data).map_err(|error| error.within(position))?;
                self.enter_host(&elf, position, &origin)
            }
            Some(Kind::Archive) => {
                let archive = Archive::open(data).map_err(|error| error.within(position))?;
                self.open.push(Container::Archive { archive, origin });
                Ok(())
            }
            Some(Kind::Bundle) => {
                let origin = join(&origin, "bundle");
                self.open.push(Container::Bundles {
                    bytes: Bytes { data, position, origin },
                    at: 0,
                    count: 0,
                });
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Collects the sections of a host file that hold GPU code.
    fn enter_host(&mut self, elf: &Elf<'a>, position: u64, origin: &str) -> Result<(), ReadError> {
        if elf.sections.is_empty() {
            // Without a section table only a search through the whole file is left.
            let bytes = Bytes { data: elf.data, position, origin: join(origin, "file") };
            self.open.push(Container::Bundles { bytes, at: 0, count: 0 });
            return Ok(());
        }
        if !elf.sections.iter().any(|section| holds_gpu_code(section.name)) {
            return self.enter_data(elf, position, origin);
        }
        let mut sections = Vec::new();
        let mut errors = Vec::new();
        let mut end = 0;
        let mut holding: Vec<_> =
            elf.sections.iter().filter(|section| holds_gpu_code(section.name)).collect();
        holding.in_order_by_key(|section| section.offset);
        for section in holding {
            // Two headers for the same bytes would read them twice.
            if section.offset < end || section.size == 0 {
                continue;
            }
            match elf.contents(section) {
                Ok(data) => {
                    end = section.offset + section.size;
                    let name = String::from_utf8_lossy(&section.name[..section.name.len().min(256)]);
                    let origin = join(origin, &name);
                    sections.push(Bytes { data, position: position + section.offset, origin });
                }
                Err(error) => errors.push(error.within(position)),
            }
        }
        self.open.push(Container::Sections { sections: sections.into_iter() });
        self.open.push(Container::Errors { errors: errors.into_iter() });
        Ok(())
    }

    /// Looks at constants and data of a host file: some runtimes load code objects that they carry there.
    fn enter_data(&mut self, elf: &Elf<'a>, position: u64, origin: &str) -> Result<(), ReadError> {
        let mut holding: Vec<_> = elf.sections.iter().filter(|section| is_data(section.name)).collect();
        holding.in_order_by_key(|section| std::cmp::Reverse(section.offset));
        let mut start = u64::MAX;
        for section in holding {
            // Two headers for the same bytes would read them twice. Damage outside of GPU code is none of
            // this reader's business.
            let end = section.offset.saturating_add(section.size);
            let Some(data) = elf.contents(section).ok().filter(|_| end <= start) else { continue };
            start = section.offset;
            let name = String::from_utf8_lossy(section.name);
            let bytes = Bytes { data, position: position + section.offset, origin: join(origin, &name) };
            self.open.push(Container::Embedded { bytes, at: 0, count: 0 });
        }
        Ok(())
    }

    /// Opens the next code object at or after `at`.
    fn next_embedded(&mut self, bytes: Bytes<'a>, at: usize, count: usize) -> Result<(), ReadError> {
        let Some(start) = find_code_object(bytes.data, at) else { return Ok(()) };
        let data = &bytes.data[start..];
        let position = bytes.position + start as u64;
        let origin = format!("{}[{count}]", bytes.origin);
        let length = elf::extent(data).filter(|length| (1..=data.len() as u64).contains(length));
        // What claims more than there is is data that looks like a code object.
        let next = start + length.map_or(EMBEDDED_ALIGNMENT, |length| length as usize);
        let count = count + usize::from(length.is_some());
        self.open.push(Container::Embedded { bytes, at: next, count });
        match length {
            Some(length) => self.enter(&data[..length as usize], position, origin),
            None => Ok(()),
        }
    }

    /// Opens the next bundle at or after `at`.
    fn next_bundle(&mut self, bytes: Bytes<'a>, at: u64, count: usize) -> Result<(), ReadError> {
        let Some(start) = find_bundle(bytes.data, at as usize) else { return Ok(()) };
        let data = &bytes.data[start..];
        let position = bytes.position + start as u64;
        let origin = format!("{}[{count}]", bytes.origin);
        let bytes_and_count =
            |next: u64| Container::Bundles { bytes, at: start as u64 + next, count: count + 1 };
        if data.starts_with(b"\x7fELF") {
            let length = elf::extent(data).unwrap_or(u64::MAX).clamp(1, data.len() as u64);
            self.open.push(bytes_and_count(length));
            return self.enter(&data[..length as usize], position, origin);
        }
        let opened =
            if data.starts_with(COMPRESSED_MAGIC) { open_compressed(data) } else { open_plain(data) };
        match opened {
            Err(error) => {
                self.open.push(bytes_and_count(1));
                Err(error.within(position))
            }
            Ok(Opened { checked, end, source }) => {
                self.open.push(bytes_and_count(end));
                let entries = self.select(checked.entries);
                if !entries.is_empty() {
                    let entries = entries.into_iter();
                    self.open.push(Container::Entries { entries, source, position, origin });
                }
                let errors: Vec<_> = checked.errors.into_iter().map(|error| error.within(position)).collect();
                self.open.push(Container::Errors { errors: errors.into_iter() });
                Ok(())
            }
        }
    }

    fn select(&mut self, entries: Vec<Entry>) -> Vec<(Entry, Target)> {
        let mut selected = Vec::new();
        for entry in entries {
            match Target::parse(&entry.id) {
                Some(target) if self.wanted.accepts(&target) => selected.push((entry, target)),
                Some(target) => self.pass_over(&target.to_string()),
                None if entry.id.starts_with("host") => {}
                None => self.pass_over(&entry.id),
            }
        }
        selected
    }

    fn next_entry(
        &mut self,
        mut entries: std::vec::IntoIter<(Entry, Target)>,
        mut source: Source<'a>,
        position: u64,
        origin: String,
    ) -> Result<(), ReadError> {
        let Some((entry, target)) = entries.next() else { return Ok(()) };
        let (read, place) = match &mut source {
            Source::Plain(data) => {
                let read = range(data, entry.offset, entry.size, "a bundle entry")
                    .and_then(|data| check_entry(data, &entry).map(|()| Cow::Borrowed(data)));
                (read.map_err(|error| error.within(position)), position + entry.offset)
            }
            Source::Compressed(stream) => {
                let read = decompress(stream, &entry)
                    .map(Cow::Owned)
                    .map_err(|error| in_compressed(error, position));
                // After a failure the position of the stream is undefined.
                if stream.at != entry.offset + entry.size {
                    entries = Vec::new().into_iter();
                }
                (read, position)
            }
        };
        self.open.push(Container::Entries { entries, source, position, origin: origin.clone() });
        self.ready = Some(Found { origin, target, data: read?, position: place });
        Ok(())
    }
}

fn join(outer: &str, inner: &str) -> String {
    if outer.is_empty() { inner.to_owned() } else { format!("{outer}, {inner}") }
}

/// Sections where HIP and the offload bundler put GPU code.
fn holds_gpu_code(section: &[u8]) -> bool {
    section.starts_with(b".hip_fatbin") || section.starts_with(BUNDLE_MAGIC)
}

/// Sections of constants and data.
fn is_data(section: &[u8]) -> bool {
    [&b".rodata"[..], b".data", b".lrodata", b".ldata"].iter().any(|name| section.starts_with(name))
}

/// Code objects among other data are aligned at least like this.
const EMBEDDED_ALIGNMENT: usize = 8;

/// Finds the next aligned code object.
fn find_code_object(data: &[u8], from: usize) -> Option<usize> {
    let first = from.next_multiple_of(EMBEDDED_ALIGNMENT);
    let mut at = (first..data.len()).step_by(EMBEDDED_ALIGNMENT);
    at.find(|at| data[*at..].starts_with(b"\x7fELF") && u16_at(&data[*at..], 18) == Some(elf::MACHINE_AMDGPU))
}

fn elf_target(data: &[u8]) -> Option<Target> {
    Some(Target::from_elf_flags(u32_at(data, 48)?, *data.get(8)?))
}

struct Opened<'a> {
    checked: bundle::Checked,
    /// Bytes to the end of the bundle.
    end: u64,
    source: Source<'a>,
}

fn open_plain(data: &[u8]) -> Result<Opened<'_>, ReadError> {
    let (entries, table_end) = bundle::read_plain_table(data)?;
    let checked = bundle::check(entries, table_end, data.len() as u64);
    Ok(Opened { end: checked.end, checked, source: Source::Plain(data) })
}

fn open_compressed(data: &[u8]) -> Result<Opened<'_>, ReadError> {
    let header = compressed::read_header(data)?;
    let end = match header.total {
        // Version 1 does not tell its length: the decoder stops by itself, and the next bundle is searched
        // for.
        None => data.len() as u64,
        Some(total) if total >= header.length && total <= data.len() as u64 => total,
        Some(total) => {
            let message = format!("a compressed bundle claims {total} bytes, where {} are left", data.len());
            return Err(ReadError::new(0, message).hint("the file is cut short or damaged"));
        }
    };
    let frame = range(data, header.length, end - header.length, "a compressed bundle")?;
    let mut stream = Stream::open(&header, frame)?;
    let (entries, table_end) =
        bundle::read_table(|length| stream.take(length)).map_err(|error| in_compressed(error, 0))?;
    let checked = bundle::check(entries, table_end, header.uncompressed);
    let end = if header.total.is_some() { end } else { header.length };
    Ok(Opened { checked, end, source: Source::Compressed(stream) })
}

/// Positions inside a decompressed bundle mean nothing in the file.
fn in_compressed(error: ReadError, position: u64) -> ReadError {
    ReadError { what: format!("compressed bundle: {error} after decompression"), position, ..error }
}

/// Decompresses one entry, after a look at its first bytes.
fn decompress(stream: &mut Stream<'_>, entry: &Entry) -> Result<Vec<u8>, ReadError> {
    const HEADER: u64 = 64;
    stream.pass(entry.offset - stream.at)?;
    let head = stream.take(entry.size.min(HEADER))?;
    check_entry(&head, entry).and_then(|()| match elf::extent(&head) {
        Some(extent) if extent > entry.size => Err(ReadError::new(
            entry.offset,
            format!("the code object for `{}` needs {extent} bytes and has {}", entry.id, entry.size),
        )),
        _ => Ok(()),
    })?;
    stream.take_after(head, entry.size)
}

/// Whether an entry holds a code object; says what else it holds.
fn check_entry(data: &[u8], entry: &Entry) -> Result<(), ReadError> {
    if data.starts_with(b"\x7fELF") && u16_at(data, 18) == Some(elf::MACHINE_AMDGPU) {
        return Ok(());
    }
    let (what, hint) = if data.starts_with(BITCODE_MAGIC) || data.starts_with(BITCODE_WRAPPER_MAGIC) {
        (
            "LLVM bitcode",
            "relocatable device code becomes machine code when the program is linked: give the linked program",
        )
    } else {
        ("no code object", "the bundle is damaged, or of a kind this version does not know")
    };
    Err(ReadError::new(entry.offset, format!("the entry for `{}` holds {what}", entry.id)).hint(hint))
}

/// Finds the next bundle. Padding is zeros; after anything else every byte is tried, once.
fn find_bundle(data: &[u8], from: usize) -> Option<usize> {
    let is_start = |tail: &[u8]| {
        tail.starts_with(BUNDLE_MAGIC)
            || (tail.starts_with(COMPRESSED_MAGIC) && compressed::read_header(tail).is_ok())
    };
    let mut at = from.min(data.len());
    at += data[at..].iter().position(|&byte| byte != 0)?;
    if data[at..].starts_with(b"\x7fELF") && u16_at(&data[at..], 18) == Some(elf::MACHINE_AMDGPU) {
        return Some(at);
    }
    // The first one is opened even when its header is bad, so that the user hears why.
    if from == 0 && data[at..].starts_with(COMPRESSED_MAGIC) {
        return Some(at);
    }
    loop {
        at += data[at..].iter().position(|&byte| byte == BUNDLE_MAGIC[0] || byte == COMPRESSED_MAGIC[0])?;
        if is_start(&data[at..]) {
            return Some(at);
        }
        at += 1;
    }
}
