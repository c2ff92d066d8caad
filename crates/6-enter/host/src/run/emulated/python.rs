//! Start-up code of Python programs: Triton and torch then take the emulated GPU.
//!
//! The files are part of the command and go into the folder of the session, so a wheel, an archive and a
//! build in the workspace need no other place to look for them.

use anyhow::{Context, Result};
use std::ffi::OsString;
use std::path::Path;

/// Folder inside the session's.
const FOLDER: &str = "python";

/// Files by name.
const FILES: [(&str, &str); 19] = [
    ("sitecustomize.py", include_str!("../../../python/sitecustomize.py")),
    ("rockhound_live/__init__.py", include_str!("../../../python/rockhound_live/__init__.py")),
    ("rockhound_live/children.py", include_str!("../../../python/rockhound_live/children.py")),
    ("rockhound_live/hip.py", include_str!("../../../python/rockhound_live/hip.py")),
    ("rockhound_live/imports.py", include_str!("../../../python/rockhound_live/imports.py")),
    ("rockhound_live/libraries.py", include_str!("../../../python/rockhound_live/libraries.py")),
    ("rockhound_live/launch.py", include_str!("../../../python/rockhound_live/launch.py")),
    ("rockhound_live/memory.py", include_str!("../../../python/rockhound_live/memory.py")),
    ("rockhound_live/notes.py", include_str!("../../../python/rockhound_live/notes.py")),
    ("rockhound_live/presence.py", include_str!("../../../python/rockhound_live/presence.py")),
    ("rockhound_live/results.py", include_str!("../../../python/rockhound_live/results.py")),
    ("rockhound_live/timing.py", include_str!("../../../python/rockhound_live/timing.py")),
    ("rockhound_live/torch_cuda.py", include_str!("../../../python/rockhound_live/torch_cuda.py")),
    ("rockhound_live/torch_gradients.py", include_str!("../../../python/rockhound_live/torch_gradients.py")),
    ("rockhound_live/torch_library.py", include_str!("../../../python/rockhound_live/torch_library.py")),
    ("rockhound_live/torch_precision.py", include_str!("../../../python/rockhound_live/torch_precision.py")),
    ("rockhound_live/torch_tensors.py", include_str!("../../../python/rockhound_live/torch_tensors.py")),
    ("rockhound_live/tune.py", include_str!("../../../python/rockhound_live/tune.py")),
    ("rockhound_live/triton_driver.py", include_str!("../../../python/rockhound_live/triton_driver.py")),
];

/// Writes the files; returns the new `PYTHONPATH`, which includes the old one.
pub(super) fn write(session: &Path) -> Result<OsString> {
    let folder = session.join(FOLDER);
    let written = FILES.iter().try_for_each(|(name, text)| {
        let path = folder.join(name);
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(path, text)
    });
    written.with_context(|| format!("cannot write into {}", folder.display()))?;
    let mut path = folder.into_os_string();
    if let Some(others) = std::env::var_os("PYTHONPATH").filter(|it| !it.is_empty()) {
        path.push(":");
        path.push(others);
    }
    Ok(path)
}
