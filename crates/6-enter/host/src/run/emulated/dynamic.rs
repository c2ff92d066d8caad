//! Entries of a program for the dynamic linker.
//!
//! Only what decides which HIP runtime a program gets is read; a file that is damaged says nothing, and the
//! dynamic linker will say why.

/// Kinds of program headers.
const LOAD: u32 = 1;
const DYNAMIC: u32 = 2;
/// Bytes of an entry of the dynamic section.
const ENTRY: usize = 16;
/// Most entries that are looked at.
const MOST: usize = 10_000;

/// Tags of the dynamic section.
mod tag {
    pub(super) const STRINGS: u64 = 5;
    pub(super) const STRINGS_SIZE: u64 = 10;
    pub(super) const RPATH: u64 = 15;
    pub(super) const RUNPATH: u64 = 29;
}

/// The dynamic section of a 64-bit ELF file.
#[derive(Debug, Default)]
pub(crate) struct Dynamic<'a> {
    /// Folders that the program searches before all others; empty if it also names folders to search later.
    pub(crate) rpath: Option<&'a str>,
    /// Folders that it searches after those of the environment.
    pub(crate) runpath: Option<&'a str>,
    /// Names of symbols, libraries and folders.
    strings: &'a [u8],
}

impl<'a> Dynamic<'a> {
    /// Reads it; `None` if the file is linked statically.
    pub(crate) fn read(data: &'a [u8]) -> Option<Dynamic<'a>> {
        let headers = headers(data)?;
        let section = headers.iter().find(|it| it.kind == DYNAMIC)?;
        let mut dynamic = Dynamic::default();
        let bytes = data.get(section.offset..)?.get(..section.bytes).unwrap_or_default();
        let entries = bytes.as_chunks::<ENTRY>().0.iter().take(MOST);
        let entries: Vec<(u64, u64)> =
            entries.filter_map(|entry| Some((u64_at(entry, 0)?, u64_at(entry, 8)?))).collect();
        let value = |tag: u64| entries.iter().find(|it| it.0 == tag).map(|it| it.1);
        let place = |address: u64| {
            let inside = |it: &&Header| {
                it.kind == LOAD && (it.address..it.address.saturating_add(it.bytes as u64)).contains(&address)
            };
            headers.iter().find(inside).map(|it| it.offset + (address - it.address) as usize)
        };
        if let (Some(start), Some(size)) = (value(tag::STRINGS).and_then(place), value(tag::STRINGS_SIZE)) {
            let rest = data.get(start..).unwrap_or_default();
            dynamic.strings = &rest[..rest.len().min(usize::try_from(size).unwrap_or(usize::MAX))];
        }
        let text = |tag| {
            let text = dynamic.strings.get(usize::try_from(value(tag)?).ok()?..)?;
            std::str::from_utf8(text.split(|byte| *byte == 0).next()?).ok()
        };
        let (rpath, runpath) = (text(tag::RPATH), text(tag::RUNPATH));
        dynamic.rpath = rpath.filter(|_| value(tag::RUNPATH).is_none());
        dynamic.runpath = runpath;
        Some(dynamic)
    }

    /// True if a name occurs.
    pub(crate) fn names(&self, name: &str) -> bool {
        self.strings.split(|byte| *byte == 0).any(|it| it == name.as_bytes())
    }
}

struct Header {
    kind: u32,
    offset: usize,
    address: u64,
    bytes: usize,
}

fn headers(data: &[u8]) -> Option<Vec<Header>> {
    let (start, step, count) = (u64_at(data, 32)?, u16_at(data, 54)?, u16_at(data, 56)?);
    let at = |index: u16| usize::try_from(start.checked_add(u64::from(index) * u64::from(step))?).ok();
    let header = |index: u16| {
        let data = data.get(at(index)?..)?;
        let kind = u32::from_le_bytes(*data.first_chunk()?);
        let number = |at: usize| usize::try_from(u64_at(data, at)?).ok();
        Some(Header { kind, offset: number(8)?, address: u64_at(data, 16)?, bytes: number(32)? })
    };
    Some((0..count).map_while(header).collect())
}

fn u16_at(data: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*data.get(at..)?.first_chunk()?))
}

fn u64_at(data: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*data.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_names_what_it_calls() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let dynamic = Dynamic::read(&own).unwrap();
        assert!(dynamic.names("memcpy") && !dynamic.names("__hipRegisterFatBinary"));
        assert_eq!(dynamic.rpath, None);
    }

    #[test]
    fn damaged_files_say_nothing() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        for length in (0..4096).step_by(7) {
            let _ = Dynamic::read(&own[..length]);
        }
        for at in 0..64 {
            let mut bytes = own[..own.len().min(1 << 16)].to_vec();
            bytes[at] ^= 0xff;
            let _ = Dynamic::read(&bytes);
        }
        assert!(Dynamic::read(b"").is_none());
    }
}
