//! Versions of the C library that a program or library needs, read from its ELF tables.
//!
//! The linker notes for every library the newest versions of symbols that were used (`.gnu.version_r`); a
//! system with an older one refuses to start the program.

use anyhow::{Context, Result, bail};
use std::path::Path;

/// Newest version of glibc that distributed files may need: RHEL 8 has it, and `manylinux_2_28` is named
/// after it.
pub(crate) const OLDEST_GLIBC: (u32, u32) = (2, 28);

/// Libraries that are on every Linux system with glibc.
const ALLOWED: [&str; 7] = [
    "libc.so.6",
    "libm.so.6",
    "libdl.so.2",
    "libpthread.so.0",
    "librt.so.1",
    "libgcc_s.so.1",
    "ld-linux-x86-64.so.2",
];

/// Type of the section with needed versions, and of the dynamic section.
const VERSIONS: u32 = 0x6fff_fffe;
const DYNAMIC: u32 = 6;

/// Requirements of a file on the system.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Needs {
    /// Libraries by name.
    pub(crate) libraries: Vec<String>,
    /// Versions of symbols: `GLIBC_2.17`.
    pub(crate) versions: Vec<String>,
}

impl Needs {
    /// The newest version of glibc.
    pub(crate) fn glibc(&self) -> Option<(u32, u32)> {
        self.versions.iter().filter_map(|it| glibc_version(it)).max()
    }

    /// Requirements that RHEL 8 does not meet; each is a reason not to distribute the file.
    pub(crate) fn beyond(&self, oldest: (u32, u32)) -> Vec<String> {
        let newer = self.versions.iter().filter(|it| match it.strip_prefix("GLIBC_") {
            Some("PRIVATE") => true,
            Some(_) => glibc_version(it).is_some_and(|version| version > oldest),
            None => it.starts_with("GLIBCXX_") || it.starts_with("CXXABI_"),
        });
        let others = self.libraries.iter().filter(|it| !ALLOWED.contains(&it.as_str()));
        newer.chain(others).cloned().collect()
    }
}

/// `GLIBC_2.17` and `GLIBC_2.2.5` as numbers.
fn glibc_version(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.strip_prefix("GLIBC_")?.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// Reads a file.
pub(crate) fn needs(path: &Path) -> Result<Needs> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    read(&bytes).with_context(|| format!("{} is no 64-bit ELF file with section headers", path.display()))
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(N)?)?;
    Some(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

fn text(bytes: &[u8], at: usize) -> Option<String> {
    let rest = bytes.get(at..)?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    Some(String::from_utf8_lossy(&rest[..end]).into_owned())
}

fn read(bytes: &[u8]) -> Option<Needs> {
    if bytes.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let headers = usize::try_from(number::<8>(bytes, 0x28)?).ok()?;
    let (size, count) = (number::<2>(bytes, 0x3a)? as usize, number::<2>(bytes, 0x3c)? as usize);
    let header = |index: usize| headers.checked_add(index.checked_mul(size)?);
    let contents = |index: usize| {
        let at = header(index)?;
        let start = usize::try_from(number::<8>(bytes, at + 0x18)?).ok()?;
        bytes.get(start..start.checked_add(usize::try_from(number::<8>(bytes, at + 0x20)?).ok()?)?)
    };
    let mut needs = Needs::default();
    for index in 0..count {
        let at = header(index)?;
        let kind = number::<4>(bytes, at + 4)? as u32;
        let names = || contents(number::<4>(bytes, at + 0x28)? as usize);
        if kind == DYNAMIC {
            for entry in contents(index)?.chunks_exact(16) {
                if number::<8>(entry, 0)? == 1 {
                    needs.libraries.push(text(names()?, number::<8>(entry, 8)? as usize)?);
                }
            }
        }
        if kind == VERSIONS {
            let (table, names) = (contents(index)?, names()?);
            let mut library = 0;
            loop {
                let mut version = library + number::<4>(table, library + 8)? as usize;
                for _ in 0..number::<2>(table, library + 2)? {
                    needs.versions.push(text(names, number::<4>(table, version + 8)? as usize)?);
                    version += number::<4>(table, version + 12)? as usize;
                }
                match number::<4>(table, library + 12)? as usize {
                    0 => break,
                    next => library += next,
                }
            }
        }
    }
    (!needs.libraries.is_empty() || !needs.versions.is_empty()).then_some(needs)
}

/// Fails when a file needs what RHEL 8 does not have.
pub(crate) fn check(paths: &[&Path]) -> Result<()> {
    for path in paths {
        let beyond = needs(path)?.beyond(OLDEST_GLIBC);
        if !beyond.is_empty() {
            let (major, minor) = OLDEST_GLIBC;
            bail!("{} needs more than glibc {major}.{minor} has: {}", path.display(), beyond.join(", "));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(libraries: &[&str], versions: &[&str]) -> Needs {
        let owned = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect();
        Needs { libraries: owned(libraries), versions: owned(versions) }
    }

    #[test]
    fn what_is_too_new() {
        for (libraries, versions, beyond) in [
            (&["libc.so.6"][..], &["GLIBC_2.2.5", "GLIBC_2.28"][..], &[][..]),
            (&["libc.so.6"], &["GLIBC_2.17", "GLIBC_2.34"], &["GLIBC_2.34"]),
            (&["libc.so.6", "libstdc++.so.6"], &["GLIBCXX_3.4.9"], &["GLIBCXX_3.4.9", "libstdc++.so.6"]),
            (&["libgcc_s.so.1"], &["GCC_3.0", "GCC_4.2.0"], &[]),
            (&["libc.so.6"], &["GLIBC_PRIVATE"], &["GLIBC_PRIVATE"]),
        ] {
            assert_eq!(of(libraries, versions).beyond(OLDEST_GLIBC), beyond, "{versions:?}");
        }
    }

    #[test]
    fn this_program_needs_what_the_linker_noted() {
        let path = std::env::current_exe().unwrap();
        let needs = needs(&path).unwrap();
        assert!(needs.libraries.iter().any(|it| it == "libc.so.6"), "{needs:?}");
        assert!(needs.glibc().is_some_and(|version| version >= (2, 2)), "{needs:?}");
        let bytes = std::fs::read(path).unwrap();
        for end in [0, 5, 64, 4096] {
            assert_eq!(read(&bytes[..end]), None);
        }
    }
}
