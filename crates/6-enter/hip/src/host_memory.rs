//! Memory of the process that kernels cannot reach; the operating system knows the mappings.

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

/// Mapping of the process that contains an address; `None` if nothing is mapped.
pub(crate) fn place(address: u64) -> Option<String> {
    find(&std::fs::read_to_string("/proc/self/maps").ok()?, address)
}

/// The same, from the system's list of mappings.
fn find(maps: &str, address: u64) -> Option<String> {
    let line = maps.lines().find(|line| {
        let range = line.split(' ').next().and_then(|it| it.split_once('-'));
        let number = |text| u64::from_str_radix(text, 16).ok();
        range.is_some_and(|(from, to)| {
            number(from).is_some_and(|from| from <= address) && number(to).is_some_and(|to| address < to)
        })
    })?;
    // Range, rights, offset, device, inode; then the name, if there is one.
    let name = line.split_whitespace().nth(5).unwrap_or_default();
    Some(match name {
        "" => "memory of `malloc`, `new` or `mmap`, or a thread's stack".to_string(),
        "[heap]" => "memory of `malloc` or `new`".to_string(),
        "[stack]" => "a local variable".to_string(),
        name if name.starts_with('[') => name.to_string(),
        file => format!("a variable or code of `{file}`"),
    })
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
