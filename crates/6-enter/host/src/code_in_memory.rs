//! Length of GPU code that a program hands over as a bare pointer: the header of bundle or file has it. The oldest
//! compressed bundles do not record it, so they end at the end of the mapping.

/// Bytes that a bundle or ELF file says it has.
pub fn length(data: &[u8]) -> Option<usize> {
    let u16_at = |at: usize| Some(u16::from_le_bytes(*data.get(at..)?.first_chunk()?));
    let u32_at = |at: usize| Some(u32::from_le_bytes(*data.get(at..)?.first_chunk()?));
    let u64_at = |at: usize| Some(u64::from_le_bytes(*data.get(at..)?.first_chunk()?));
    let length = if data.starts_with(b"__CLANG_OFFLOAD_BUNDLE__") {
        let mut at = 32;
        let mut end = 0;
        for _ in 0..u64_at(24)?.min(1000) {
            end = end.max(u64_at(at)?.checked_add(u64_at(at + 8)?)?);
            at = at.checked_add(24)?.checked_add(usize::try_from(u64_at(at + 16)?).ok()?)?;
        }
        end
    } else if data.starts_with(b"CCOB") {
        match u16_at(4)? {
            2 => u64::from(u32_at(8)?),
            3 => u64_at(8)?,
            _ => return None,
        }
    } else if data.starts_with(b"\x7fELF") {
        // The section table is last.
        let sections = u64_at(40)?;
        sections.checked_add(u64::from(u16_at(58)?) * u64::from(u16_at(60)?))?
    } else {
        return None;
    };
    usize::try_from(length).ok()
}

/// End of the readable memory that holds an address; mappings that follow each other count as one.
pub fn mapping_end(address: usize) -> Option<usize> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let mut end = None;
    for line in maps.lines() {
        let mut words = line.split_ascii_whitespace();
        let (from, to) = words.next()?.split_once('-')?;
        let (from, to) = (usize::from_str_radix(from, 16).ok()?, usize::from_str_radix(to, 16).ok()?);
        let readable = words.next()?.starts_with('r');
        match end {
            None if readable && (from..to).contains(&address) => end = Some(to),
            Some(so_far) if readable && from == so_far => end = Some(to),
            Some(_) => break,
            None => {}
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths() {
        let mut bundle = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
        for number in [2u64, 4096, 0, 4] {
            bundle.extend(number.to_le_bytes());
        }
        bundle.extend(b"host");
        for number in [4096u64, 100, 3] {
            bundle.extend(number.to_le_bytes());
        }
        bundle.extend(b"gpu");
        let compressed =
            |version: u16, size: &[u8]| [b"CCOB", &version.to_le_bytes()[..], &[0, 0], size].concat();
        for (data, expected) in [
            (bundle.clone(), Some(4196)),
            (bundle[..60].to_vec(), None),
            (compressed(2, &77u32.to_le_bytes()), Some(77)),
            (compressed(3, &78u64.to_le_bytes()), Some(78)),
            (compressed(1, &79u64.to_le_bytes()), None),
            (b"something else".to_vec(), None),
            (Vec::new(), None),
        ] {
            assert_eq!(length(&data), expected);
        }
    }

    #[test]
    fn the_mapping_of_a_static_ends_behind_it() {
        static BYTES: [u8; 100] = [7; 100];
        let end = mapping_end(BYTES.as_ptr().addr()).unwrap();
        assert!(end >= BYTES.as_ptr().addr() + 100);
        assert_eq!(mapping_end(1), None);
    }
}
