//! What is to be known of a program before it is started.
//!
//! The one idea to keep in mind: what the dynamic linker would refuse or pass over in silence is said here.

use super::is_executable;
use crate::contents::Contents;
use crate::exit::usage;
use anyhow::Result;
use codeobj::{Wanted, scan};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Most code objects whose target is looked at.
const MOST_OBJECTS: usize = 64;

/// The file a shell would start.
pub(crate) fn find(program: &OsStr) -> Result<PathBuf> {
    let path = Path::new(program);
    if path.components().count() > 1 || program.to_string_lossy().contains('/') {
        return match (path.exists(), is_executable(path)) {
            (_, true) => Ok(path.to_owned()),
            (true, false) => Err(usage(
                format!("`{}` is not an executable file", path.display()),
                "give a program behind `--`",
            )),
            (false, _) => {
                Err(usage(format!("`{}` does not exist", path.display()), "give a program behind `--`"))
            }
        };
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|folder| folder.join(path)).find(|it| is_executable(it));
    found.ok_or_else(|| {
        let hint = if path.exists() {
            format!("`./{}` names the file in this folder", path.display())
        } else {
            String::new()
        };
        usage(format!("no program `{}` in PATH", path.display()), hint)
    })
}

/// Targets of the GPU code in a program; none for scripts and programs whose libraries have the code.
pub(crate) fn targets(path: &Path) -> Result<Vec<String>> {
    let Ok(contents) = Contents::open(path) else { return Ok(Vec::new()) };
    let data = contents.bytes();
    if !data.starts_with(b"\x7fELF") {
        return Ok(Vec::new());
    }
    let name = path.display();
    if data.get(4) == Some(&1) {
        return Err(usage(
            format!("`{name}` is a 32-bit program"),
            "the HIP runtime exists for 64 bits only",
        ));
    }
    if is_static(data) {
        return Err(usage(
            format!("`{name}` is statically linked, so no other runtime can be put in its place"),
            "link the HIP runtime dynamically (`-lamdhip64`)",
        ));
    }
    let mut targets = BTreeSet::new();
    if let Ok(found) = scan(data, &Wanted::all()) {
        targets.extend(found.take(MOST_OBJECTS).filter_map(Result::ok).map(|it| it.target.to_string()));
    }
    Ok(targets.into_iter().collect())
}

/// Whether an ELF program has no dynamic linker.
fn is_static(data: &[u8]) -> bool {
    const DYNAMIC: u32 = 2;
    let u16_at = |at: usize| Some(u16::from_le_bytes(*data.get(at..)?.first_chunk()?));
    let u32_at = |at: usize| Some(u32::from_le_bytes(*data.get(at..)?.first_chunk()?));
    let u64_at = |at: usize| Some(u64::from_le_bytes(*data.get(at..)?.first_chunk()?));
    let kinds = || {
        let (start, step, count) = (u64_at(32)?, u16_at(54)?, u16_at(56)?);
        let at = |index: u16| start.checked_add(u64::from(index) * u64::from(step));
        Some((0..count).filter_map(|index| u32_at(usize::try_from(at(index)?).ok()?)).collect::<Vec<_>>())
    };
    kinds().is_some_and(|kinds| !kinds.is_empty() && !kinds.contains(&DYNAMIC))
}
