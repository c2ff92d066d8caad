//! The parts of ELF that code objects and their hosts use: header, sections, symbols, notes.
//!
//! The header is checked once, everything after it is looked up on demand and may be missing; 64-bit
//! little-endian only, which is all that AMD tools write.

use crate::ReadError;
use crate::bytes::{c_string, range, u16_at, u32_at, u64_at};

pub(crate) const MACHINE_AMDGPU: u16 = 224;
pub(crate) const OSABI_HSA: u8 = 64;
pub(crate) const TYPE_RELOCATABLE: u16 = 1;

pub(crate) const SECTION_SYMTAB: u32 = 2;
pub(crate) const SECTION_NOTE: u32 = 7;
pub(crate) const SECTION_NOBITS: u32 = 8;
pub(crate) const SECTION_DYNSYM: u32 = 11;
pub(crate) const SYMBOL_FUNCTION: u8 = 2;
pub(crate) const FLAG_COMPRESSED: u64 = 0x800;

const HEADER_BYTES: usize = 64;
const SECTION_HEADER_BYTES: u64 = 64;
const PROGRAM_HEADER_BYTES: u64 = 56;
const SYMBOL_BYTES: usize = 24;

/// A checked ELF header and the section table.
pub(crate) struct Elf<'a> {
    pub(crate) data: &'a [u8],
    pub(crate) kind: u16,
    pub(crate) machine: u16,
    pub(crate) flags: u32,
    pub(crate) osabi: u8,
    pub(crate) abi_version: u8,
    pub(crate) sections: Vec<Section<'a>>,
    program_headers: &'a [u8],
}

/// One section header with its name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) kind: u32,
    pub(crate) flags: u64,
    pub(crate) address: u64,
    pub(crate) offset: u64,
    pub(crate) size: u64,
    pub(crate) link: u32,
}

/// One symbol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Symbol<'a> {
    pub(crate) name: &'a [u8],
    /// 1 object, 2 function, 10 kernel of code-object version 2.
    pub(crate) kind: u8,
    pub(crate) section: u16,
    pub(crate) value: u64,
    pub(crate) size: u64,
}

/// One note: owner, type, and contents with their position in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Note<'a> {
    pub(crate) owner: &'a [u8],
    pub(crate) kind: u32,
    pub(crate) contents: &'a [u8],
    pub(crate) position: u64,
}

impl<'a> Elf<'a> {
    /// Checks the header and reads the section table. A damaged table is an error, an absent one is not.
    pub(crate) fn read(data: &'a [u8]) -> Result<Elf<'a>, ReadError> {
        let header = range(data, 0, HEADER_BYTES as u64, "the ELF header")?;
        if !header.starts_with(b"\x7fELF") {
            return Err(ReadError::new(0, "no ELF magic"));
        }
        if header[4] != 2 || header[5] != 1 {
            return Err(ReadError::new(4, "not a 64-bit little-endian ELF file")
                .hint("AMD code objects and the programs that hold them are always 64-bit little-endian"));
        }
        let field = |at: usize| u16_at(header, at).unwrap_or(0);
        let mut elf = Elf {
            data,
            kind: field(16),
            machine: field(18),
            flags: u32_at(header, 48).unwrap_or(0),
            osabi: header[7],
            abi_version: header[8],
            sections: Vec::new(),
            program_headers: &[],
        };
        let program_offset = u64_at(header, 32).unwrap_or(0);
        let (program_size, program_count) = (field(54), field(56));
        if program_offset != 0 && program_count != 0 && u64::from(program_size) == PROGRAM_HEADER_BYTES {
            let length = PROGRAM_HEADER_BYTES * u64::from(program_count);
            elf.program_headers = range(data, program_offset, length, "the program header table")?;
        }
        let section_offset = u64_at(header, 40).unwrap_or(0);
        let (section_size, section_count, names) = (field(58), field(60), field(62));
        if section_offset != 0 {
            elf.read_sections(section_offset, section_size, section_count, names)?;
        }
        Ok(elf)
    }

    fn read_sections(&mut self, offset: u64, size: u16, count: u16, names: u16) -> Result<(), ReadError> {
        if u64::from(size) != SECTION_HEADER_BYTES {
            return Err(ReadError::new(58, format!("section headers of {size} bytes instead of 64")));
        }
        let first = range(self.data, offset, SECTION_HEADER_BYTES, "the first section header")?;
        // Files with more sections than 16 bits can count keep both numbers in the first header.
        let count = if count == 0 { u64_at(first, 32).unwrap_or(0) } else { u64::from(count) };
        let names =
            if names == 0xffff { u64::from(u32_at(first, 40).unwrap_or(0)) } else { u64::from(names) };
        let length = count.saturating_mul(SECTION_HEADER_BYTES);
        let table = range(self.data, offset, length, "the section header table")?;
        let names = table
            .chunks_exact(SECTION_HEADER_BYTES as usize)
            .nth(usize::try_from(names).unwrap_or(usize::MAX))
            .and_then(|header| {
                range(self.data, u64_at(header, 24)?, u64_at(header, 32)?, "section names").ok()
            })
            .unwrap_or_default();
        self.sections = table
            .chunks_exact(SECTION_HEADER_BYTES as usize)
            .map(|header| {
                let word = |at| u32_at(header, at).unwrap_or(0);
                let long = |at| u64_at(header, at).unwrap_or(0);
                Section {
                    name: section_name(names, word(0) as usize),
                    kind: word(4),
                    flags: long(8),
                    address: long(16),
                    offset: long(24),
                    size: long(32),
                    link: word(40),
                }
            })
            .collect();
        Ok(())
    }

    /// Contents of a section; empty for sections that occupy no bytes.
    pub(crate) fn contents(&self, section: &Section<'_>) -> Result<&'a [u8], ReadError> {
        if section.kind == SECTION_NOBITS {
            return Ok(&[]);
        }
        let name = String::from_utf8_lossy(section.name);
        range(self.data, section.offset, section.size, &format!("section `{name}`"))
    }

    /// The first section of a name.
    pub(crate) fn section(&self, name: &[u8]) -> Option<&Section<'a>> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// The symbols of the full table, or of the dynamic one in stripped files.
    pub(crate) fn symbols(&self) -> Result<impl Iterator<Item = Symbol<'a>> + use<'a>, ReadError> {
        let table = [SECTION_SYMTAB, SECTION_DYNSYM]
            .iter()
            .find_map(|&kind| self.sections.iter().find(|section| section.kind == kind && section.size > 0));
        let (entries, names): (&[u8], &[u8]) = match table {
            None => self.dynamic_symbols().unwrap_or_default(),
            Some(table) => {
                let names = self.sections.get(table.link as usize);
                (
                    self.contents(table)?,
                    names.map(|names| self.contents(names)).transpose()?.unwrap_or_default(),
                )
            }
        };
        // Many symbols could share one long name; beyond any honest total they have none.
        let mut budget = self.data.len().saturating_mul(4);
        Ok(entries.chunks_exact(SYMBOL_BYTES).map(move |entry| {
            let start = u32_at(entry, 0).unwrap_or(0) as usize;
            let longest = budget.min(names.len().saturating_sub(start));
            let name =
                names.get(start..start + longest).and_then(|names| c_string(names, 0)).unwrap_or_default();
            budget -= name.len();
            Symbol {
                name,
                kind: entry[4] & 0xf,
                section: u16_at(entry, 6).unwrap_or(0),
                value: u64_at(entry, 8).unwrap_or(0),
                size: u64_at(entry, 16).unwrap_or(0),
            }
        }))
    }

    /// Symbols and their names by way of the dynamic segment, for files without a section table.
    fn dynamic_symbols(&self) -> Option<(&'a [u8], &'a [u8])> {
        const SEGMENT_DYNAMIC: u32 = 2;
        let dynamic = self.segments().find(|segment| segment.kind == SEGMENT_DYNAMIC)?;
        let entries = range(self.data, dynamic.offset, dynamic.file_size, "the dynamic segment").ok()?;
        let tag = |wanted: u64| {
            entries
                .chunks_exact(16)
                .take_while(|entry| u64_at(entry, 0) != Some(0))
                .find(|entry| u64_at(entry, 0) == Some(wanted))
                .and_then(|entry| u64_at(entry, 8))
        };
        let (hash, strings, symbols, string_bytes) = (tag(4)?, tag(5)?, tag(6)?, tag(10)?);
        // The hash table's second word is the number of symbols.
        let count = u32_at(self.data, usize::try_from(self.file_offset(hash)?.checked_add(4)?).ok()?)?;
        let symbol_bytes = u64::from(count) * SYMBOL_BYTES as u64;
        let symbols = range(self.data, self.file_offset(symbols)?, symbol_bytes, "dynamic symbols").ok()?;
        let strings = range(self.data, self.file_offset(strings)?, string_bytes, "dynamic strings").ok()?;
        Some((symbols, strings))
    }

    /// Notes of all note sections, or of the note segments in files without sections. Stops at a damaged
    /// note.
    pub(crate) fn notes(&self) -> Result<Vec<Note<'a>>, ReadError> {
        const SEGMENT_NOTE: u32 = 4;
        let places: Vec<(u64, u64)> = if self.sections.is_empty() {
            let segments = self.segments().filter(|segment| segment.kind == SEGMENT_NOTE);
            segments.map(|segment| (segment.offset, segment.file_size)).collect()
        } else {
            let sections = self.sections.iter().filter(|section| section.kind == SECTION_NOTE);
            sections.map(|section| (section.offset, section.size)).collect()
        };
        let total = places.iter().fold(0u64, |sum, (_, size)| sum.saturating_add(*size));
        if total > self.data.len() as u64 {
            return Err(ReadError::new(
                0,
                format!("{total} bytes of notes in a file of {}", self.data.len()),
            ));
        }
        let mut notes = Vec::new();
        for (offset, size) in places {
            read_notes(range(self.data, offset, size, "the notes")?, offset, &mut notes)?;
        }
        Ok(notes)
    }

    /// Where a virtual address is in the file.
    pub(crate) fn file_offset(&self, address: u64) -> Option<u64> {
        let by_section = self.sections.iter().find_map(|section| {
            let distance = address.checked_sub(section.address)?;
            let mapped = section.address != 0 && section.kind != SECTION_NOBITS && distance < section.size;
            mapped.then(|| section.offset.checked_add(distance)).flatten()
        });
        by_section.or_else(|| {
            self.segments().filter(|segment| segment.kind == SEGMENT_LOAD).find_map(|segment| {
                let distance = address.checked_sub(segment.address)?;
                (distance < segment.file_size).then(|| segment.offset.checked_add(distance)).flatten()
            })
        })
    }

    /// Segments that are loaded into memory.
    pub(crate) fn loads(&self) -> impl Iterator<Item = Segment> + use<'a> {
        self.segments().filter(|segment| segment.kind == SEGMENT_LOAD)
    }

    fn segments(&self) -> impl Iterator<Item = Segment> + use<'a> {
        self.program_headers.chunks_exact(PROGRAM_HEADER_BYTES as usize).map(|header| Segment {
            kind: u32_at(header, 0).unwrap_or(0),
            offset: u64_at(header, 8).unwrap_or(0),
            address: u64_at(header, 16).unwrap_or(0),
            file_size: u64_at(header, 32).unwrap_or(0),
            memory_size: u64_at(header, 40).unwrap_or(0),
        })
    }
}

/// A section's name. Many headers could share one long name; the names that count here are short.
fn section_name(names: &[u8], start: usize) -> &[u8] {
    const LONGEST: usize = 1024;
    let names = names.get(start..).unwrap_or_default();
    c_string(&names[..names.len().min(LONGEST)], 0).unwrap_or_default()
}

const SEGMENT_LOAD: u32 = 1;

/// One program header.
pub(crate) struct Segment {
    pub(crate) kind: u32,
    pub(crate) offset: u64,
    pub(crate) address: u64,
    pub(crate) file_size: u64,
    pub(crate) memory_size: u64,
}

fn read_notes<'a>(bytes: &'a [u8], base: u64, notes: &mut Vec<Note<'a>>) -> Result<(), ReadError> {
    let mut at = 0u64;
    while at < bytes.len() as u64 {
        let header = range(bytes, at, 12, "a note header").map_err(|error| error.within(base))?;
        let word = |offset| u64::from(u32_at(header, offset).unwrap_or(0));
        let (owner_bytes, content_bytes, kind) = (word(0), word(4), word(8) as u32);
        let owner =
            range(bytes, at + 12, owner_bytes, "a note's owner").map_err(|error| error.within(base))?;
        let start = at + 12 + owner_bytes.next_multiple_of(4);
        let contents = range(bytes, start, content_bytes, "a note").map_err(|error| error.within(base))?;
        let owner = owner.split(|&byte| byte == 0).next().unwrap_or_default();
        notes.push(Note { owner, kind, contents, position: base.saturating_add(start) });
        at = start + content_bytes.next_multiple_of(4);
    }
    Ok(())
}

/// Bytes an ELF file occupies according to its own header, when the header can tell.
pub(crate) fn extent(header: &[u8]) -> Option<u64> {
    let sections = u64_at(header, 40)?;
    let count = u64::from(u16_at(header, 60)?);
    (sections != 0 && count != 0).then(|| sections.checked_add(count * SECTION_HEADER_BYTES)).flatten()
}
