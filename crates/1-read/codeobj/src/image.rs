//! The memory image of a linked code object: segments, symbols and relocations for a loader.
//!
//! An image is position independent; the loader chooses the address of virtual address 0, copies the segments
//! there and adds that address at each relocation.

use crate::ReadError;
use crate::bytes::{range, u32_at, u64_at};
use crate::elf::{Elf, MACHINE_AMDGPU, Segment, TYPE_RELOCATABLE};

const SECTION_RELA: u32 = 4;
const RELA_BYTES: usize = 24;
const FLAG_ALLOCATED: u64 = 2;
const SYMBOL_BYTES: usize = 24;

/// Images larger than this are refused: device code with its variables is far smaller.
const MOST_BYTES: u64 = 1 << 34;

/// A linked code object as a loader sees it.
#[derive(Clone, Debug)]
pub struct Image<'a> {
    /// Bytes from virtual address 0 to the end of the last segment.
    pub bytes: u64,
    /// Parts with contents; all other bytes are zero.
    pub segments: Vec<Part<'a>>,
    /// Variables and kernel descriptors that are visible from outside.
    pub symbols: Vec<ImageSymbol>,
    relocations: Vec<Relocation>,
}

/// Contents of a segment.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// Virtual address.
    pub address: u64,
    /// Contents.
    pub contents: &'a [u8],
}

/// A symbol of the image.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImageSymbol {
    /// Name.
    pub name: String,
    /// Virtual address.
    pub address: u64,
    /// Size in bytes.
    pub size: u64,
    /// It is a variable, and no function or kernel descriptor.
    pub is_variable: bool,
}

#[derive(Clone, Copy, Debug)]
struct Relocation {
    place: u64,
    kind: u32,
    /// Symbol value plus addend, or the addend alone.
    value: u64,
}

impl<'a> Image<'a> {
    /// Reads the image of a linked code object.
    pub fn read(data: &'a [u8]) -> Result<Image<'a>, ReadError> {
        let elf = Elf::read(data)?;
        if elf.machine != MACHINE_AMDGPU || elf.kind == TYPE_RELOCATABLE {
            return Err(ReadError::new(16, "not a linked code object").hint("link it with `ld.lld -shared`"));
        }
        let mut segments = Vec::new();
        let mut bytes = 0u64;
        for Segment { offset, address, file_size, memory_size, .. } in elf.loads() {
            let contents = range(data, offset, file_size, "a segment")?;
            let end = address.checked_add(memory_size.max(file_size)).filter(|end| *end <= MOST_BYTES);
            bytes = bytes.max(end.ok_or_else(|| ReadError::new(offset, "a segment is beyond 16 GiB"))?);
            segments.push(Part { address, contents });
        }
        let mut symbols = Vec::new();
        for symbol in elf.symbols()? {
            if symbol.section != 0 && matches!(symbol.kind, 1 | 2 | 10) && !symbol.name.is_empty() {
                let name = String::from_utf8_lossy(symbol.name).into_owned();
                let is_variable = symbol.kind == 1 && symbol.size > 0 && !name.ends_with(".kd");
                symbols.push(ImageSymbol { name, address: symbol.value, size: symbol.size, is_variable });
            }
        }
        let relocations = relocations(&elf)?;
        Ok(Image { bytes, segments, symbols, relocations })
    }

    /// A symbol by its name.
    pub fn symbol(&self, name: &str) -> Option<&ImageSymbol> {
        self.symbols.iter().find(|symbol| symbol.name == name)
    }

    /// Variables that are visible from outside.
    pub fn variables(&self) -> impl Iterator<Item = &ImageSymbol> {
        self.symbols.iter().filter(|symbol| symbol.is_variable)
    }

    /// Writes the image into `memory`, whose first byte has the address `base`. At most `bytes` are written.
    pub fn place(&self, memory: &mut [u8], base: u64) {
        self.place_with(base, memory.len(), |start, bytes| {
            if let Some(place) = memory.get_mut(start..start + bytes.len()) {
                place.copy_from_slice(bytes);
            }
        });
    }

    /// Writes the image through a function that gets byte offsets from `base` and bytes, all of them below
    /// `length`. Only the contents of the file and the relocated words are written; the rest must be zero.
    pub fn place_with(&self, base: u64, length: usize, mut write: impl FnMut(usize, &[u8])) {
        let mut put = |address: u64, bytes: &[u8]| {
            let start = usize::try_from(address).unwrap_or(usize::MAX);
            if start.checked_add(bytes.len()).is_some_and(|end| end <= length) {
                write(start, bytes);
            }
        };
        for Part { address, contents } in &self.segments {
            put(*address, contents);
        }
        for Relocation { place, kind, value } in &self.relocations {
            let address = base.wrapping_add(*value).to_le_bytes();
            // The numbers come from the back-end's user guide.
            let (bytes, count) = match kind {
                3 | 13 => (address, 8),
                1 | 6 => (address, 4),
                2 => ((base.wrapping_add(*value) >> 32).to_le_bytes(), 4),
                _ => continue,
            };
            put(*place, &bytes[..count]);
        }
    }
}

fn relocations(elf: &Elf<'_>) -> Result<Vec<Relocation>, ReadError> {
    let mut relocations = Vec::new();
    let tables = elf.sections.iter().filter(|it| it.kind == SECTION_RELA && it.flags & FLAG_ALLOCATED != 0);
    // Tables that lie over each other would be read again and again.
    let mut budget = elf.data.len();
    for table in tables {
        let symbols = match elf.sections.get(table.link as usize) {
            Some(symbols) => elf.contents(symbols)?,
            None => &[],
        };
        let entries = elf.contents(table)?;
        budget = budget
            .checked_sub(entries.len())
            .ok_or_else(|| ReadError::new(table.offset, "relocation tables are longer than the file"))?;
        for entry in entries.chunks_exact(RELA_BYTES) {
            let (place, addend) = (u64_at(entry, 0).unwrap_or(0), u64_at(entry, 16).unwrap_or(0));
            let (kind, index) = (u32_at(entry, 8).unwrap_or(0), u32_at(entry, 12).unwrap_or(0) as usize);
            let symbol = match index {
                0 => 0,
                _ => index.checked_mul(SYMBOL_BYTES).and_then(|at| u64_at(symbols, at + 8)).unwrap_or(0),
            };
            relocations.push(Relocation { place, kind, value: symbol.wrapping_add(addend) });
        }
    }
    Ok(relocations)
}
