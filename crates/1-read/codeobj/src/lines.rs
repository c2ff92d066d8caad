//! Source lines of instructions, from DWARF 4 and 5, with inlining.
//!
//! Debug information is parsed at the first query of an address, unit by unit; a code object without it costs
//! one look at the section table.

use std::collections::HashMap;
use std::ops::Range;

use addr2line::Context;
use gimli::{Dwarf, EndianSlice, LittleEndian, SectionId};

use crate::elf::{self, Elf};
use crate::{ReadError, demangle};

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// File names in debug information share directories; beyond this many bytes once written out they are an
/// attack.
const LONGEST_FILE_NAMES: u64 = 64 << 20;
/// Deepest inlining reported.
const MOST_FRAMES: usize = 256;

/// One level of a source position; the callers of an inlined function follow it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Frame {
    /// Function, demangled; empty where it is unknown.
    pub function: String,
    /// Source file; empty where it is unknown.
    pub file: String,
    /// Line from 1; 0 where the compiler gives none.
    pub line: u32,
    /// Column from 1; 0 where the compiler gives none.
    pub column: u32,
}

/// Source positions of a range of code, without inlining.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lines {
    /// Names of the files that rows refer to.
    pub files: Vec<String>,
    /// Rows in the order of addresses.
    pub rows: Vec<Row>,
}

/// From `address` to `end` the code belongs to one source position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// First address.
    pub address: u64,
    /// Address after the last.
    pub end: u64,
    /// Index into [`Lines::files`].
    pub file: u32,
    /// Line from 1; 0 where the compiler gives none.
    pub line: u32,
    /// Column from 1; 0 where the compiler gives none.
    pub column: u32,
}

impl Lines {
    /// The row an address falls into.
    pub fn at(&self, address: u64) -> Option<&Row> {
        let after = self.rows.partition_point(|row| row.address <= address);
        self.rows[..after].last().filter(|row| address < row.end)
    }

    /// Name of a row's file.
    pub fn file(&self, row: &Row) -> &str {
        self.files.get(row.file as usize).map_or("", String::as_str)
    }
}

/// The source positions of a code object.
pub struct LineTable<'a> {
    context: Option<Context<Slice<'a>>>,
    /// Address after the last, first address and name of each function, by address: debug information
    /// may lack their names or namespaces.
    functions: Vec<(u64, u64, &'a [u8])>,
    absent: &'static str,
}

/// Whether a code object has a line table at all; costs one look at the section table.
pub fn has_lines(data: &[u8]) -> bool {
    Elf::read(data).is_ok_and(|elf| elf.section(b".debug_line").is_some())
}

impl<'a> LineTable<'a> {
    /// Opens the debug information of a code object; one without any gives an empty table.
    pub fn read(data: &'a [u8]) -> Result<LineTable<'a>, ReadError> {
        let none = |absent| Ok(LineTable { context: None, functions: Vec::new(), absent });
        let elf = Elf::read(data)?;
        let Some(lines) = elf.section(b".debug_line") else {
            return none("built without debug information (`-g` or `-gline-tables-only`)");
        };
        let position = lines.offset;
        if elf.kind == elf::TYPE_RELOCATABLE {
            return none("not linked: debug information of object files is incomplete until then");
        }
        if lines.flags & elf::FLAG_COMPRESSED != 0 {
            return none("debug information is compressed (`-gz`)");
        }
        let failed = |error: gimli::Error| ReadError::new(position, format!("debug information: {error}"));
        let dwarf = Dwarf::load(|id: SectionId| -> Result<Slice<'a>, gimli::Error> {
            let section =
                elf.section(id.name().as_bytes()).filter(|section| section.flags & elf::FLAG_COMPRESSED == 0);
            let contents = section.and_then(|section| elf.contents(section).ok()).unwrap_or_default();
            Ok(Slice::new(contents, LittleEndian))
        })
        .map_err(failed)?;
        if written_out_names(&dwarf).map_err(failed)? > LONGEST_FILE_NAMES {
            return Err(ReadError::new(position, "debug information with absurdly long file names"));
        }
        let context = Context::from_dwarf(dwarf).map_err(failed)?;
        let mut functions: Vec<_> = elf
            .symbols()?
            .filter(|symbol| symbol.kind == elf::SYMBOL_FUNCTION)
            .map(|symbol| (symbol.value.saturating_add(symbol.size), symbol.value, symbol.name))
            .collect();
        functions.sort_unstable();
        Ok(LineTable { context: Some(context), functions, absent: "" })
    }

    /// Reason why source lines are missing; `None` if they exist.
    pub fn absent(&self) -> Option<&'static str> {
        self.context.is_none().then_some(self.absent)
    }

    /// The source position of an address, innermost function first. Empty if the address has none.
    pub fn frames(&self, address: u64) -> Vec<Frame> {
        let mut frames = Vec::new();
        // Nothing is at the last address, and the library looks at the one after.
        let Some(context) = self.context.as_ref().filter(|_| address < u64::MAX) else { return frames };
        let Ok(mut found) = context.find_frames(address).skip_all_loads() else { return frames };
        while frames.len() < MOST_FRAMES
            && let Ok(Some(frame)) = found.next()
        {
            let function = frame.function.as_ref().and_then(|name| Some(demangle(&name.raw_name().ok()?)));
            let location = frame.location.as_ref();
            frames.push(Frame {
                function: function.unwrap_or_default(),
                file: location.and_then(|location| location.file).unwrap_or_default().to_owned(),
                line: location.and_then(|location| location.line).unwrap_or(0),
                column: location.and_then(|location| location.column).unwrap_or(0),
            });
        }
        if let Some(outermost) = frames.last_mut()
            && let Some(name) = self.function(address)
        {
            outermost.function = name;
        }
        frames
    }

    fn function(&self, address: u64) -> Option<String> {
        let after = self.functions.partition_point(|&(end, ..)| end <= address);
        let &(_, start, name) = self.functions.get(after)?;
        (start <= address).then(|| demangle(&String::from_utf8_lossy(name)))
    }

    /// The rows of a range of addresses: far cheaper than [`LineTable::frames`] for every instruction.
    pub fn lines(&self, range: Range<u64>) -> Lines {
        let mut lines = Lines::default();
        let Some(context) = &self.context else { return lines };
        let Ok(found) = context.find_location_range(range.start, range.end) else { return lines };
        let mut files: HashMap<&str, u32> = HashMap::new();
        for (address, size, location) in found {
            let name = location.file.unwrap_or_default();
            let next = files.len() as u32;
            let file = *files.entry(name).or_insert_with(|| {
                lines.files.push(name.to_owned());
                next
            });
            lines.rows.push(Row {
                address,
                end: address.saturating_add(size),
                file,
                line: location.line.unwrap_or(0),
                column: location.column.unwrap_or(0),
            });
        }
        lines.rows.sort_by_key(|row| row.address);
        lines
    }
}

/// Bytes that all file names with their directories take. A few bytes per file can each refer to one long
/// directory, so this is counted before any name is built.
fn written_out_names(dwarf: &Dwarf<Slice<'_>>) -> Result<u64, gimli::Error> {
    let mut total = 0u64;
    let mut units = dwarf.units();
    while let Some(header) = units.next()? {
        // A damaged unit is passed over here and again when it is looked at.
        let Ok(unit) = dwarf.unit(header) else { continue };
        let Some(program) = &unit.line_program else { continue };
        let length = |value| dwarf.attr_string(&unit, value).map_or(0, |text| text.len() as u64);
        let base = unit.comp_dir.map_or(0, |text| text.len() as u64);
        let header = program.header();
        let directories: Vec<u64> = header.include_directories().iter().map(|value| length(*value)).collect();
        for file in header.file_names() {
            let directory = directories.get(file.directory_index() as usize).copied().unwrap_or(0);
            total = total.saturating_add(base + directory + length(file.path_name()));
        }
    }
    Ok(total)
}
