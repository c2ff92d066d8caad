//! One AMD GPU code object in ELF: from bytes to [`CodeObject`].
//!
//! Metadata names the kernels, symbols give their addresses, descriptors hold the hardware's settings; any of
//! the three may be missing or contradict the others, which is a warning, not an error.

use sorting::Sort;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::bytes::u32_at;
use crate::demangle::Demangler;
use crate::elf::{self, Elf, Note, Symbol};
use crate::metadata::{self, Document};
use crate::msgpack::Msgpack;
use crate::yaml::Yaml;
use crate::{Body, CodeObject, Descriptor, Function, Kernel, Metadata, ReadError, Target, descriptor};

const NOTE_METADATA: u32 = 32;
const NOTE_OLD_VERSION: u32 = 1;
const NOTE_OLD_ISA: u32 = 3;
const NOTE_OLD_METADATA: u32 = 10;

const SYMBOL_OBJECT: u8 = 1;
const SYMBOL_OLD_KERNEL: u8 = 10;

/// Warnings of one kind after which the rest is only counted.
const MOST_WARNINGS: usize = 50;

impl CodeObject {
    /// Reads an AMD GPU code object of any version.
    pub fn read(data: &[u8]) -> Result<CodeObject, ReadError> {
        let elf = Elf::read(data)?;
        if elf.machine != elf::MACHINE_AMDGPU {
            return Err(ReadError::new(
                18,
                format!("ELF file for machine {}, not for AMD GPUs", elf.machine),
            )
            .hint("give a code object, or a program or library that has some in it"));
        }
        let mut reader = Reader { warnings: Warnings::default(), demangler: Demangler::new(), elf };
        let (mut target, version) = reader.target_and_version();
        let mut document = reader.document(&mut target)?;
        let formats = std::mem::take(&mut document.formats);
        let symbols = Symbols::read(&reader.elf)?;
        let mut kernels = reader.kernels(document, &symbols, &target)?;
        kernels.in_order_by_key(|kernel| address_of(&kernel.body));
        let functions = reader.functions(&symbols, &kernels);
        reader.check_overlaps(&kernels, &functions);
        Ok(CodeObject {
            origin: String::new(),
            target,
            version,
            lines: 0..0,
            kernels,
            functions,
            formats,
            warnings: reader.warnings.finish(),
        })
    }
}

fn address_of(body: &Body) -> u64 {
    match body {
        Body::Code { address, .. } => *address,
        Body::Text { .. } | Body::Absent => u64::MAX,
    }
}

/// The function and descriptor symbols of a code object by name.
struct Symbols<'a> {
    code: Vec<Symbol<'a>>,
    code_by_name: HashMap<&'a [u8], usize>,
    descriptors: HashMap<&'a [u8], Symbol<'a>>,
    /// Starts of all code symbols, sorted; where a symbol without a size ends.
    starts: Vec<(u16, u64)>,
    /// Starts of those that have a size, sorted: a symbol without one that begins there too is empty.
    sized: Vec<(u16, u64)>,
}

impl<'a> Symbols<'a> {
    fn read(elf: &Elf<'a>) -> Result<Self, ReadError> {
        let all = elf.symbols()?;
        // Most are a kernel's code or its descriptor.
        let expected = all.size_hint().0 / 2;
        let mut symbols = Symbols {
            code: Vec::with_capacity(expected),
            code_by_name: HashMap::with_capacity(expected),
            descriptors: HashMap::with_capacity(expected),
            starts: Vec::with_capacity(expected),
            sized: Vec::with_capacity(expected),
        };
        for symbol in all.filter(|symbol| symbol.section != 0 && !symbol.name.is_empty()) {
            match symbol.kind {
                elf::SYMBOL_FUNCTION | SYMBOL_OLD_KERNEL => {
                    symbols.starts.push((symbol.section, symbol.value));
                    if symbol.size > 0 {
                        symbols.sized.push((symbol.section, symbol.value));
                    }
                    symbols.code_by_name.entry(symbol.name).or_insert(symbols.code.len());
                    symbols.code.push(symbol);
                }
                SYMBOL_OBJECT => {
                    if let Some(name) = symbol.name.strip_suffix(b".kd") {
                        symbols.descriptors.entry(name).or_insert(symbol);
                    }
                }
                _ => {}
            }
        }
        symbols.starts.in_order();
        symbols.sized.in_order();
        Ok(symbols)
    }

    fn code(&self, name: &[u8]) -> Option<Symbol<'a>> {
        self.code_by_name.get(name).map(|&index| self.code[index])
    }

    fn next_start(&self, symbol: &Symbol<'_>) -> Option<u64> {
        let after = self.starts.partition_point(|&start| start <= (symbol.section, symbol.value));
        self.starts.get(after).filter(|start| start.0 == symbol.section).map(|start| start.1)
    }

    /// Whether the code at a symbol without a size is another function's.
    fn is_empty(&self, symbol: &Symbol<'_>) -> bool {
        symbol.size == 0 && self.sized.binary_search(&(symbol.section, symbol.value)).is_ok()
    }
}

struct Reader<'a> {
    elf: Elf<'a>,
    warnings: Warnings,
    demangler: Demangler,
}

impl<'a> Reader<'a> {
    fn target_and_version(&mut self) -> (Target, u8) {
        let elf = &self.elf;
        let version = match elf.osabi {
            elf::OSABI_HSA => elf.abi_version.saturating_add(2),
            other => {
                self.warnings.add(format!("built for operating-system ABI {other}, not for HSA (64)"));
                0
            }
        };
        if version > 6 {
            self.warnings.add(format!("code-object version {version} is newer than the known ones"));
        }
        (Target::from_elf_flags(elf.flags, elf.abi_version), version)
    }

    /// The metadata, and the target of version 2, which its notes hold.
    fn document(&mut self, target: &mut Target) -> Result<Document, ReadError> {
        let mut found: Option<Document> = None;
        let notes = self.elf.notes().unwrap_or_else(|error| {
            self.warnings.add(error.to_string());
            Vec::new()
        });
        for note in notes {
            let document = match (note.owner, note.kind) {
                (b"AMDGPU", NOTE_METADATA) => {
                    metadata::read(&mut Msgpack::new(note.contents, note.position))?
                }
                (b"AMD", NOTE_OLD_METADATA) => old_metadata(&note)?,
                (b"AMD", NOTE_OLD_ISA) => {
                    if let Some(noted) = old_target(note.contents) {
                        *target = noted;
                    }
                    continue;
                }
                (b"AMD", NOTE_OLD_VERSION) | (_, _) => continue,
            };
            match &mut found {
                // Relocatable links leave one note per input.
                Some(found) => found.kernels.extend(document.kernels),
                None => found = Some(document),
            }
            if found.as_ref().is_some_and(|found| found.kernels.len() > metadata::MOST_KERNELS) {
                let message = format!("more than {} kernels", metadata::MOST_KERNELS);
                return Err(ReadError::new(note.position, message));
            }
        }
        if found.is_none() {
            self.warnings
                .add("no metadata note: register and argument facts come from descriptors only".to_owned());
        }
        let document = found.unwrap_or_default();
        if let Some(named) = document.target.as_deref().and_then(Target::parse)
            && named.processor != target.processor
        {
            if target.processor.starts_with("unknown") {
                *target = named;
            } else {
                self.warnings.add(format!("metadata is for `{named}`, the ELF header for `{target}`"));
            }
        }
        Ok(document)
    }

    fn kernels(
        &mut self,
        document: Document,
        symbols: &Symbols<'a>,
        target: &Target,
    ) -> Result<Vec<Kernel>, ReadError> {
        let mut kernels = Vec::with_capacity(document.kernels.len());
        let mut named: HashSet<Vec<u8>> = HashSet::with_capacity(document.kernels.len());
        for entry in document.kernels {
            let name = entry.linker_name().to_owned();
            if name.is_empty() {
                self.warnings.add("a kernel without a name in the metadata".to_owned());
                continue;
            }
            if !named.insert(name.as_bytes().to_vec()) {
                self.warnings.add(format!("kernel `{name}` is twice in the metadata"));
                continue;
            }
            kernels.push(self.kernel(name, entry.metadata, symbols, target));
        }
        let mut unnamed: Vec<&[u8]> = symbols
            .descriptors
            .keys()
            .copied()
            .chain(
                symbols
                    .code
                    .iter()
                    .filter(|symbol| symbol.kind == SYMBOL_OLD_KERNEL)
                    .map(|symbol| symbol.name),
            )
            .filter(|name| !named.contains(*name))
            .collect();
        unnamed.in_order();
        unnamed.dedup();
        for name in unnamed {
            let name = match std::str::from_utf8(name) {
                Ok(name) => name.to_owned(),
                Err(_) => {
                    let name = String::from_utf8_lossy(name).into_owned();
                    self.warnings.add(format!("kernel name `{name}` is not UTF-8"));
                    if named.contains(name.as_bytes()) {
                        continue;
                    }
                    name
                }
            };
            kernels.push(self.kernel(name, Metadata::default(), symbols, target));
        }
        Ok(kernels)
    }

    fn kernel(&mut self, name: String, metadata: Metadata, symbols: &Symbols<'a>, target: &Target) -> Kernel {
        let code = symbols.code(name.as_bytes());
        let (descriptor, body) = match code {
            Some(symbol) if symbol.kind == SYMBOL_OLD_KERNEL => {
                self.old_kernel(&name, &symbol, symbols, target)
            }
            _ => {
                let descriptor = symbols.descriptors.get(name.as_bytes());
                let descriptor = descriptor.and_then(|symbol| self.descriptor(&name, symbol, target));
                if descriptor.is_none() {
                    self.warnings.add(format!("kernel `{name}` has no descriptor"));
                }
                let body = match code {
                    Some(symbol) => self.body(&name, &symbol, 0, symbols),
                    None => {
                        self.warnings.add(format!("kernel `{name}` has no code"));
                        Body::Absent
                    }
                };
                (descriptor, body)
            }
        };
        Kernel { demangled: self.demangler.name(&name), name, body, descriptor, metadata }
    }

    fn descriptor(&mut self, name: &str, symbol: &Symbol<'_>, target: &Target) -> Option<Descriptor> {
        let start = self.symbol_offset(symbol)?;
        let bytes = self.elf.data.get(usize::try_from(start).ok()?..)?;
        let descriptor = descriptor::read(bytes, &target.processor);
        if descriptor.is_none() {
            self.warnings.add(format!("the descriptor of kernel `{name}` is outside the file"));
        }
        descriptor
    }

    fn old_kernel(
        &mut self,
        name: &str,
        symbol: &Symbol<'_>,
        symbols: &Symbols<'a>,
        target: &Target,
    ) -> (Option<Descriptor>, Body) {
        let header = self
            .symbol_offset(symbol)
            .and_then(|start| self.elf.data.get(usize::try_from(start).ok()?..))
            .and_then(|bytes| descriptor::read_old(bytes, &target.processor));
        match header {
            Some((descriptor, entry)) => (Some(descriptor), self.body(name, symbol, entry, symbols)),
            None => {
                self.warnings.add(format!("kernel `{name}` is outside the file"));
                (None, Body::Absent)
            }
        }
    }

    /// Offset of a symbol in the file.
    fn symbol_offset(&self, symbol: &Symbol<'_>) -> Option<u64> {
        match self.elf.sections.get(usize::from(symbol.section)) {
            Some(section) if section.kind != elf::SECTION_NOBITS => {
                let distance = if self.elf.kind == elf::TYPE_RELOCATABLE {
                    symbol.value
                } else {
                    symbol.value.checked_sub(section.address)?
                };
                (distance < section.size).then(|| section.offset.checked_add(distance)).flatten()
            }
            Some(_) => None,
            None => self.elf.file_offset(symbol.value),
        }
    }

    /// True if a symbol is just past the last byte of its section, as is an empty function's at the end.
    fn is_section_end(&self, symbol: &Symbol<'_>) -> bool {
        let section = self.elf.sections.get(usize::from(symbol.section));
        section.is_some_and(|section| {
            let start = if self.elf.kind == elf::TYPE_RELOCATABLE { 0 } else { section.address };
            section.kind != elf::SECTION_NOBITS && symbol.value == start.wrapping_add(section.size)
        })
    }

    /// The code of a symbol, from `skip` bytes after its start.
    fn body(&mut self, name: &str, symbol: &Symbol<'_>, skip: u64, symbols: &Symbols<'a>) -> Body {
        if symbols.is_empty(symbol) || (symbol.size == 0 && self.is_section_end(symbol)) {
            return Body::Code { address: symbol.value, bytes: 0..0 };
        }
        let place = self.symbol_offset(symbol).and_then(|start| self.bound(name, symbol, start, symbols));
        let Some(range) = place else {
            self.warnings.add(format!("the code of `{name}` is outside its section or the file"));
            return Body::Absent;
        };
        match usize::try_from(skip).ok().and_then(|skip| range.start.checked_add(skip)) {
            Some(start) if start <= range.end => {
                Body::Code { address: symbol.value.wrapping_add(skip), bytes: start..range.end }
            }
            _ => {
                self.warnings.add(format!("the entry of `{name}` is outside its code"));
                Body::Absent
            }
        }
    }

    /// Byte range of a symbol that begins at `start`, kept within its section and the file.
    fn bound(
        &mut self,
        name: &str,
        symbol: &Symbol<'_>,
        start: u64,
        symbols: &Symbols<'a>,
    ) -> Option<Range<usize>> {
        let file_end = self.elf.data.len() as u64;
        let section = self.elf.sections.get(usize::from(symbol.section));
        let section_end =
            section.and_then(|section| section.offset.checked_add(section.size)).unwrap_or(file_end);
        let limit = section_end.min(file_end);
        let size = if symbol.size > 0 {
            symbol.size
        } else {
            self.warnings.add(format!("`{name}` has no size: taken to reach to the next symbol"));
            symbols.next_start(symbol).map_or(u64::MAX, |next| next - symbol.value)
        };
        let mut end = start.saturating_add(size);
        if end > limit {
            if symbol.size > 0 {
                self.warnings.add(format!("`{name}` reaches beyond its section: cut"));
            }
            end = limit;
        }
        (start < end).then(|| Some(usize::try_from(start).ok()?..usize::try_from(end).ok()?)).flatten()
    }

    fn functions(&mut self, symbols: &Symbols<'a>, kernels: &[Kernel]) -> Vec<Function> {
        let kernels: HashMap<&[u8], ()> = kernels.iter().map(|kernel| (kernel.name.as_bytes(), ())).collect();
        let mut functions: Vec<Function> = symbols
            .code
            .iter()
            .filter(|symbol| symbol.kind == elf::SYMBOL_FUNCTION && !kernels.contains_key(symbol.name))
            .map(|symbol| {
                let name = String::from_utf8_lossy(symbol.name).into_owned();
                let body = self.body(&name, symbol, 0, symbols);
                Function { name, body }
            })
            .collect();
        functions.in_order_by_key(|function| address_of(&function.body));
        functions
    }

    /// Warns where two bodies share bytes without being the same; folded identical functions are.
    fn check_overlaps(&mut self, kernels: &[Kernel], functions: &[Function]) {
        let mut ranges: Vec<(&Range<usize>, &str)> = kernels
            .iter()
            .map(|kernel| (&kernel.body, kernel.name.as_str()))
            .chain(functions.iter().map(|function| (&function.body, function.name.as_str())))
            .filter_map(|(body, name)| match body {
                Body::Code { bytes, .. } if !bytes.is_empty() => Some((bytes, name)),
                _ => None,
            })
            .collect();
        ranges.in_order_by_key(|(range, _)| (range.start, range.end));
        for pair in ranges.windows(2) {
            let ((first, one), (second, other)) = (pair[0], pair[1]);
            if second.start < first.end && first != second {
                self.warnings.add(format!("the code of `{one}` and `{other}` overlaps"));
            }
        }
    }
}

fn old_metadata(note: &Note<'_>) -> Result<Document, ReadError> {
    let text = note.contents.split(|&byte| byte == 0).next().unwrap_or_default();
    let text = String::from_utf8_lossy(text);
    metadata::read(&mut Yaml::new(&text, note.position))
}

/// The target in the instruction-set note of version 2: vendor, architecture, major, minor, stepping.
fn old_target(note: &[u8]) -> Option<Target> {
    Target::from_version(u32_at(note, 4)?, u32_at(note, 8)?, u32_at(note, 12)?)
}

/// Warnings, with an end: a hostile file could raise one per symbol.
#[derive(Default)]
struct Warnings {
    list: Vec<String>,
    more: usize,
}

impl Warnings {
    fn add(&mut self, warning: String) {
        if self.list.len() < MOST_WARNINGS {
            self.list.push(warning);
        } else {
            self.more += 1;
        }
    }

    fn finish(mut self) -> Vec<String> {
        if self.more > 0 {
            self.list.push(format!("{} more warnings", self.more));
        }
        self.list
    }
}
