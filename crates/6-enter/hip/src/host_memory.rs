//! Memory that the process has without HIP; the operating system knows the mappings.

use std::ops::Range;

/// Bytes of a page.
const PAGE: usize = 4096;

/// True if the process has memory at all addresses of a range.
pub(crate) fn is_mapped(address: usize, bytes: usize) -> bool {
    let start = address / PAGE * PAGE;
    let Some(end) = address.checked_add(bytes).and_then(|it| it.checked_next_multiple_of(PAGE)) else {
        return false;
    };
    let pointer = std::ptr::with_exposed_provenance_mut(start);
    // SAFETY: with this flag the call only looks whether the range is mapped.
    unsafe { libc::msync(pointer, end - start, libc::MS_ASYNC) == 0 }
}

/// A mapping of the process.
struct Mapping<'a> {
    range: Range<usize>,
    rights: &'a str,
    /// Name of a file, or of what the system has there.
    name: &'a str,
}

/// Mappings in the system's list.
fn mappings(maps: &str) -> impl Iterator<Item = Mapping<'_>> {
    maps.lines().filter_map(|line| {
        // Range, rights, offset, device, inode; then the name, if there is one.
        let mut fields = line.split_whitespace();
        let (from, to) = fields.next()?.split_once('-')?;
        let number = |text| usize::from_str_radix(text, 16).ok();
        let rights = fields.next()?;
        Some(Mapping { range: number(from)?..number(to)?, rights, name: fields.nth(3).unwrap_or_default() })
    })
}

impl Mapping<'_> {
    /// The memory as messages name it.
    fn place(&self) -> String {
        match self.name {
            "" => "memory of `malloc`, `new` or `mmap`, or a thread's stack".to_string(),
            "[heap]" => "memory of `malloc` or `new`".to_string(),
            "[stack]" => "a local variable".to_string(),
            name if name.starts_with('[') => name.to_string(),
            file => format!("a variable or code of `{file}`"),
        }
    }
}

fn maps() -> Option<String> {
    std::fs::read_to_string("/proc/self/maps").ok()
}

/// Mapping of the process that contains an address; `None` if nothing is mapped.
pub(crate) fn place(address: u64) -> Option<String> {
    find(&maps()?, usize::try_from(address).ok()?)
}

/// The same, from the system's list of mappings.
fn find(maps: &str, address: usize) -> Option<String> {
    mappings(maps).find(|it| it.range.contains(&address)).map(|it| it.place())
}

/// Memory of the process that is readable and writable, with its name for messages. Mappings without a gap are one.
pub(crate) fn writable() -> Vec<(Range<usize>, String)> {
    maps().map_or_else(Vec::new, |it| all_writable(&it))
}

/// The same, from the system's list of mappings.
fn all_writable(maps: &str) -> Vec<(Range<usize>, String)> {
    let mut all: Vec<(Range<usize>, String)> = Vec::new();
    for mapping in mappings(maps).filter(|it| it.rights.starts_with("rw") && !it.name.starts_with("/dev/")) {
        match all.last_mut() {
            Some((last, _)) if last.end == mapping.range.start => last.end = mapping.range.end,
            _ => all.push((mapping.range.clone(), mapping.place())),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_process_are_named() {
        let maps = "1000-2000 r-xp 00000000 08:01 7   /usr/bin/app\n2000-3000 rw-p 00000000 00:00 0    [heap]\n\
                    5000-6000 rw-p 00000000 00:00 0\n7000-8000 rw-p 00000000 00:00 0    [stack]\n";
        for (address, expected) in [
            (0x1000, Some("a variable or code of `/usr/bin/app`")),
            (0x2fff, Some("memory of `malloc` or `new`")),
            (0x3000, None),
            (0x5001, Some("memory of `malloc`, `new` or `mmap`, or a thread's stack")),
            (0x7fff, Some("a local variable")),
        ] {
            assert_eq!(find(maps, address).as_deref(), expected, "{address:#x}");
        }
        let writable = all_writable(&format!(
            "{maps}8000-9000 rw-s 00000000 08:01 7   /dev/kfd\na000-b000 rw-p 0 0:0 0\nb000-c000 rw-s 0 0:0 0\n"
        ));
        let ranges: Vec<_> = writable.into_iter().map(|it| it.0).collect();
        assert_eq!(ranges, [0x2000..0x3000, 0x5000..0x6000, 0x7000..0x8000, 0xa000..0xc000]);
        let own = Box::new(1u8);
        let address = (&raw const *own).addr();
        assert!(
            is_mapped(address, 1)
                && !is_mapped(0, 1)
                && !is_mapped(address, 1 << 50)
                && !is_mapped(address, usize::MAX)
        );
        assert!(place((&raw const *own).addr() as u64).is_some() && place(0).is_none());
    }
}
