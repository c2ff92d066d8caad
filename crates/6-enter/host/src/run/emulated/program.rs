//! Facts about a program before it is started.
//!
//! Problems that the dynamic linker would refuse or silently ignore are reported here.

use super::dynamic::Dynamic;
use super::is_executable;
use crate::{Contents, usage};
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

/// Facts of a program file; empty for scripts.
#[derive(Debug, Default)]
pub(crate) struct Program {
    /// Targets of its GPU code; empty if its libraries have the code.
    pub(crate) targets: Vec<String>,
    /// Folders it takes libraries from before all others (`DT_RPATH`).
    pub(crate) rpath: Option<String>,
    /// Folders of either kind that it takes libraries from.
    pub(crate) folders: Option<String>,
}

/// Looks at a program.
pub(crate) fn read(path: &Path) -> Result<Program> {
    let Ok(contents) = Contents::open(path) else { return Ok(Program::default()) };
    let data = contents.bytes();
    if !data.starts_with(b"\x7fELF") {
        return Ok(Program::default());
    }
    let name = path.display();
    if data.get(4) == Some(&1) {
        return Err(usage(
            format!("`{name}` is a 32-bit program"),
            "the HIP runtime exists for 64 bits only",
        ));
    }
    let Some(dynamic) = Dynamic::read(data) else {
        return Err(usage(
            format!("`{name}` is statically linked, so no other runtime can be put in its place"),
            "link the HIP runtime dynamically (`-lamdhip64`)",
        ));
    };
    let mut targets = BTreeSet::new();
    if let Ok(found) = scan(data, &Wanted::all()) {
        let found = found.take(MOST_OBJECTS).filter_map(Result::ok).filter(|it| it.is_registered());
        targets.extend(found.map(|it| it.target.to_string()));
    }
    // Code of a program is registered by the program itself.
    if !targets.is_empty() && !dynamic.names("__hipRegisterFatBinary") {
        return Err(usage(
            format!("`{name}` has the HIP runtime linked into itself, so no other can be put in its place"),
            "link it dynamically (`-lamdhip64`)",
        ));
    }
    Ok(Program {
        targets: targets.into_iter().collect(),
        rpath: dynamic.rpath.map(str::to_owned),
        folders: dynamic.runpath.or(dynamic.rpath).map(str::to_owned),
    })
}
