//! A shared library whose functions all call one function with their own name.
//!
//! Each function loads the address of its name and jumps to code that saves the registers with arguments and
//! calls [`TARGET`]. The file has sections too, so that linkers take it. Its symbols have no version, which the dynamic
//! linker takes for any that a program asks for, but only in a file that has some version: that is why it asks for one of
//! the C library.

/// The function that does all the work, in the HIP runtime library.
const TARGET: &str = "rockhound_library_call";
/// The library with it.
const RUNTIME: &str = "libamdhip64.so";
/// The C library, and its first version.
const C_LIBRARY: (&str, &str) = ("libc.so.6", "GLIBC_2.2.5");

const PAGE: usize = 4096;
const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
const PROGRAM_HEADERS: usize = 4;
const SECTION_HEADER: usize = 64;
const SYMBOL: usize = 24;
const RELOCATION: usize = 24;
/// Bytes of a function.
const FUNCTION: usize = 16;
/// Section of the code, counted from 0.
const TEXT: u16 = 7;
/// Bytes of the list of versions asked for.
const NEEDS: usize = 32;

/// Code that all functions jump to, up to the place of the target's address: saves six integer registers and
/// eight floating-point ones, then calls with the name, the saved registers and the caller's stack.
const COMMON: [u8; 97] = [
    0x55, // push rbp
    0x48, 0x89, 0xe5, // mov rbp, rsp
    0x48, 0x83, 0xec, 0x70, // sub rsp, 112
    0x48, 0x89, 0x3c, 0x24, // mov [rsp], rdi
    0x48, 0x89, 0x74, 0x24, 0x08, // mov [rsp + 8], rsi
    0x48, 0x89, 0x54, 0x24, 0x10, // mov [rsp + 16], rdx
    0x48, 0x89, 0x4c, 0x24, 0x18, // mov [rsp + 24], rcx
    0x4c, 0x89, 0x44, 0x24, 0x20, // mov [rsp + 32], r8
    0x4c, 0x89, 0x4c, 0x24, 0x28, // mov [rsp + 40], r9
    0xf2, 0x0f, 0x11, 0x44, 0x24, 0x30, // movsd [rsp + 48], xmm0
    0xf2, 0x0f, 0x11, 0x4c, 0x24, 0x38, // movsd [rsp + 56], xmm1
    0xf2, 0x0f, 0x11, 0x54, 0x24, 0x40, // movsd [rsp + 64], xmm2
    0xf2, 0x0f, 0x11, 0x5c, 0x24, 0x48, // movsd [rsp + 72], xmm3
    0xf2, 0x0f, 0x11, 0x64, 0x24, 0x50, // movsd [rsp + 80], xmm4
    0xf2, 0x0f, 0x11, 0x6c, 0x24, 0x58, // movsd [rsp + 88], xmm5
    0xf2, 0x0f, 0x11, 0x74, 0x24, 0x60, // movsd [rsp + 96], xmm6
    0xf2, 0x0f, 0x11, 0x7c, 0x24, 0x68, // movsd [rsp + 104], xmm7
    0x48, 0x89, 0xc7, // mov rdi, rax
    0x48, 0x89, 0xe6, // mov rsi, rsp
    0x48, 0x8d, 0x55, 0x10, // lea rdx, [rbp + 16]
    0xff, 0x15, // call [rip + …]
];

/// Offsets of the parts of a file; addresses are the same.
struct Layout {
    hash: usize,
    symbols: usize,
    strings: usize,
    /// Version of each symbol, and the list of those that are asked for.
    versions: usize,
    needs: usize,
    relocations: usize,
    text: usize,
    common: usize,
    text_end: usize,
    dynamic: usize,
    got: usize,
    end: usize,
}

/// Texts of a file, each ending with a zero, with their places.
struct Strings(Vec<u8>);

impl Strings {
    fn add(&mut self, text: &str) -> usize {
        let place = self.0.len();
        self.0.extend(text.as_bytes());
        self.0.push(0);
        place
    }
}

/// A library with a SONAME that defines functions and needs other libraries.
pub(super) fn library(soname: &str, functions: &[&str], needs: &[&str]) -> Vec<u8> {
    let mut strings = Strings(vec![0]);
    let [runtime, soname, target, c_library, version] =
        [RUNTIME, soname, TARGET, C_LIBRARY.0, C_LIBRARY.1].map(|text| strings.add(text));
    let mut needed = vec![runtime, c_library];
    needed.extend(needs.iter().map(|name| strings.add(name)));
    let names: Vec<usize> = functions.iter().map(|name| strings.add(name)).collect();
    let strings = strings.0;
    let symbols = functions.len() + 2;
    let at_hash = HEADER + PROGRAM_HEADERS * PROGRAM_HEADER;
    let at_symbols = (at_hash + 4 * (2 + buckets(symbols) + symbols)).next_multiple_of(8);
    let at_strings = at_symbols + symbols * SYMBOL;
    let versions = (at_strings + strings.len()).next_multiple_of(8);
    let at_needs = (versions + 2 * symbols).next_multiple_of(8);
    let relocations = at_needs + NEEDS;
    let text = (relocations + RELOCATION).next_multiple_of(FUNCTION);
    let common = text + functions.len() * FUNCTION;
    let text_end = common + COMMON.len() + 6;
    let dynamic = text_end.next_multiple_of(PAGE);
    let got = dynamic + 16 * (DYNAMIC + needed.len());
    let layout = Layout {
        hash: at_hash,
        symbols: at_symbols,
        strings: at_strings,
        versions,
        needs: at_needs,
        relocations,
        text,
        common,
        text_end,
        dynamic,
        got,
        end: got + 8,
    };
    let mut file = headers(&layout);
    file.extend(hash_table(functions));
    fill(&mut file, layout.symbols);
    file.extend(symbol_table(&layout, target, &names));
    file.extend(&strings);
    fill(&mut file, layout.versions);
    // The first symbol is none; the others are global and have no version.
    (0..symbols).for_each(|symbol| file.extend(u16::from(symbol > 0).to_le_bytes()));
    fill(&mut file, layout.needs);
    // Format 1, one version, which has number 2.
    halves(&mut file, &[1 << 16 | 1, c_library, 16, 0]);
    halves(&mut file, &[hash(C_LIBRARY.1) as usize, 2 << 16, version, 0]);
    // The target's address goes into the one place for addresses: R_X86_64_GLOB_DAT of symbol 1.
    words(&mut file, &[layout.got, 1 << 32 | 6, 0]);
    fill(&mut file, layout.text);
    code(&mut file, &layout, &names);
    fill(&mut file, layout.dynamic);
    dynamic_section(&mut file, &layout, &needed, soname, strings.len());
    words(&mut file, &[0]);
    sections(&mut file, &layout, strings.len());
    file
}

/// Buckets of the hash table.
fn buckets(symbols: usize) -> usize {
    (symbols / 2).max(1)
}

fn fill(file: &mut Vec<u8>, to: usize) {
    file.resize(to, 0);
}

fn words(file: &mut Vec<u8>, words: &[usize]) {
    words.iter().for_each(|word| file.extend((*word as u64).to_le_bytes()));
}

fn halves(file: &mut Vec<u8>, halves: &[usize]) {
    halves.iter().for_each(|half| file.extend((*half as u32).to_le_bytes()));
}

/// File header and program headers.
fn headers(layout: &Layout) -> Vec<u8> {
    const LOAD: usize = 1;
    const DYNAMIC: usize = 2;
    const STACK: usize = 0x6474_e551;
    const READ: usize = 4;
    const WRITE: usize = 2;
    const EXECUTE: usize = 1;
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    file.extend([3, 0, 62, 0]);
    halves(&mut file, &[1]);
    words(&mut file, &[0, HEADER, section_headers(layout)]);
    halves(&mut file, &[0]);
    for size in [HEADER, PROGRAM_HEADER, PROGRAM_HEADERS, SECTION_HEADER, SECTIONS.len() + 1, SECTIONS.len()]
    {
        file.extend((size as u16).to_le_bytes());
    }
    let mut segment = |kind, flags, at, end: usize, align| {
        halves(&mut file, &[kind, flags]);
        words(&mut file, &[at, at, at, end - at, end - at, align]);
    };
    segment(LOAD, READ + EXECUTE, 0, layout.text_end, PAGE);
    segment(LOAD, READ + WRITE, layout.dynamic, layout.end, PAGE);
    segment(DYNAMIC, READ + WRITE, layout.dynamic, layout.got, 8);
    segment(STACK, READ + WRITE, 0, 0, 16);
    file
}

/// The System V hash of a name.
fn hash(name: &str) -> u32 {
    name.bytes().fold(0, |hash, byte| {
        let hash = (hash << 4).wrapping_add(u32::from(byte));
        let high = hash & 0xf000_0000;
        (hash ^ high >> 24) & !high
    })
}

fn hash_table(functions: &[&str]) -> Vec<u8> {
    let symbols = functions.len() + 2;
    let count = buckets(symbols);
    let (mut first, mut chain) = (vec![0; count], vec![0; symbols]);
    for (index, name) in functions.iter().enumerate() {
        let bucket = hash(name) as usize % count;
        chain[index + 2] = first[bucket];
        first[bucket] = index + 2;
    }
    let mut table = Vec::new();
    halves(&mut table, &[count, symbols]);
    halves(&mut table, &first);
    halves(&mut table, &chain);
    table
}

fn symbol_table(layout: &Layout, target: usize, names: &[usize]) -> Vec<u8> {
    const GLOBAL_FUNCTION: u8 = 1 << 4 | 2;
    let mut table = vec![0; SYMBOL];
    let mut symbol = |name: usize, section: u16, address, bytes| {
        halves(&mut table, &[name]);
        table.extend([GLOBAL_FUNCTION, 0]);
        table.extend(section.to_le_bytes());
        words(&mut table, &[address, bytes]);
    };
    symbol(target, 0, 0, 0);
    for (index, name) in names.iter().enumerate() {
        symbol(*name, TEXT, layout.text + index * FUNCTION, FUNCTION);
    }
    table
}

/// Distance from the end of an instruction to a place.
fn distance(from: usize, to: usize) -> [u8; 4] {
    (to as i64 - from as i64).to_le_bytes()[..4].try_into().unwrap_or_default()
}

fn code(file: &mut Vec<u8>, layout: &Layout, names: &[usize]) {
    for name in names {
        // lea rax, [rip + …]
        file.extend([0x48, 0x8d, 0x05]);
        file.extend(distance(file.len() + 4, layout.strings + name));
        // jmp …
        file.push(0xe9);
        file.extend(distance(file.len() + 4, layout.common));
        // int3
        file.extend([0xcc; 4]);
    }
    file.extend(COMMON);
    file.extend(distance(file.len() + 4, layout.got));
    // leave; ret
    file.extend([0xc9, 0xc3]);
}

/// Entries of the dynamic section besides the names of needed libraries.
const DYNAMIC: usize = 14;

fn dynamic_section(file: &mut Vec<u8>, layout: &Layout, needed: &[usize], soname: usize, strings: usize) {
    needed.iter().for_each(|name| words(file, &[1, *name]));
    let entries: [(usize, usize); DYNAMIC] = [
        (14, soname),
        (4, layout.hash),
        (5, layout.strings),
        (6, layout.symbols),
        (10, strings),
        (11, SYMBOL),
        (7, layout.relocations),
        (8, RELOCATION),
        (9, RELOCATION),
        (0x6fff_fff0, layout.versions),
        (0x6fff_fffe, layout.needs),
        (0x6fff_ffff, 1),
        // Everything is bound when it is loaded.
        (30, 8),
        (0, 0),
    ];
    entries.iter().for_each(|(tag, value)| words(file, &[*tag, *value]));
}

/// Names and kinds of sections behind the empty first one.
const SECTIONS: [(&str, usize); 10] = [
    (".hash", 5),
    (".dynsym", 11),
    (".dynstr", 3),
    (".gnu.version", 0x6fff_ffff),
    (".gnu.version_r", 0x6fff_fffe),
    (".rela.dyn", 4),
    (".text", 1),
    (".dynamic", 6),
    (".got", 1),
    (".shstrtab", 3),
];

/// Bytes of the sections' names.
fn section_names() -> Vec<u8> {
    let mut names = vec![0];
    SECTIONS.iter().for_each(|(name, _)| {
        names.extend(name.as_bytes());
        names.push(0);
    });
    names
}

fn section_headers(layout: &Layout) -> usize {
    (layout.end + section_names().len()).next_multiple_of(8)
}

fn sections(file: &mut Vec<u8>, layout: &Layout, strings: usize) {
    const WRITE: usize = 1;
    const LOADED: usize = 2;
    const CODE: usize = 4;
    let names = section_names();
    file.extend(&names);
    fill(file, section_headers(layout));
    let hash = layout.symbols - layout.hash;
    let symbols = layout.strings - layout.symbols;
    // Flags, offset, bytes, linked section, information, alignment, bytes of an entry.
    let parts: [[usize; 7]; 10] = [
        [LOADED, layout.hash, hash, 2, 0, 4, 4],
        [LOADED, layout.symbols, symbols, 3, 1, 8, SYMBOL],
        [LOADED, layout.strings, strings, 0, 0, 1, 0],
        [LOADED, layout.versions, symbols / SYMBOL * 2, 2, 0, 2, 2],
        [LOADED, layout.needs, NEEDS, 3, 1, 8, 0],
        [LOADED, layout.relocations, RELOCATION, 2, 0, 8, RELOCATION],
        [LOADED + CODE, layout.text, layout.text_end - layout.text, 0, 0, 16, 0],
        [LOADED + WRITE, layout.dynamic, layout.got - layout.dynamic, 3, 0, 8, 16],
        [LOADED + WRITE, layout.got, 8, 0, 0, 8, 8],
        [0, layout.end, names.len(), 0, 0, 1, 0],
    ];
    file.extend([0; SECTION_HEADER]);
    let mut name = 1;
    for ((text, kind), [flags, at, bytes, link, info, align, entry]) in SECTIONS.iter().zip(parts) {
        halves(file, &[name, *kind]);
        words(file, &[flags, if flags == 0 { 0 } else { at }, at, bytes]);
        halves(file, &[link, info]);
        words(file, &[align, entry]);
        name += text.len() + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hash_as_the_linker_has_it() {
        for (name, expected) in [
            ("", 0),
            ("printf", 0x077905a6),
            ("exit", 0x0006cf04),
            ("syscall", 0x0b09985c),
            (C_LIBRARY.1, 0x0969_1a75),
        ] {
            assert_eq!(hash(name), expected, "{name}");
        }
    }
}
