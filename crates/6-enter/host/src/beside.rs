//! An emulated recording beside a GPU's.

use crate::{Source, recording, usage};
use anyhow::Result;
use std::path::PathBuf;

/// The emulated recording of the same command, in a folder beside the GPU's.
pub fn emulated_beside(gpu: &Source) -> Result<Source> {
    let own = recording::read(gpu)?;
    let command = own.machine.text("command").unwrap_or_default().to_owned();
    let folder = std::path::absolute(gpu.path())?;
    let parent = folder.parent().unwrap_or(&folder).to_owned();
    let folders = std::fs::read_dir(&parent).into_iter().flatten().flatten().map(|it| it.path());
    let is_it = |path: &PathBuf| {
        path.is_dir()
            && *path != folder
            && recording::recordings_in(path).len() == 1
            && recording::read(&path.into()).is_ok_and(|it| {
                it.machine.emulator().is_some()
                    && it.machine.text("command") == Some(&command[..])
                    && it.machine.target() == own.machine.target()
            })
    };
    let found: Vec<PathBuf> = folders.filter(is_it).collect();
    match &found[..] {
        [one] if !command.is_empty() => Ok(one.into()),
        _ => {
            let program = if command.is_empty() { "PROGRAM" } else { &command };
            let model = own.machine.text("gpu_model").or(own.machine.target()).unwrap_or("MODEL");
            Err(usage(
                format!("{} emulated recordings of this command are beside `{}`", found.len(), gpu),
                format!(
                    "give one, or make it: `rockhound profile --on emulator --gpu {} -o {} -- {program}`",
                    model.to_ascii_lowercase(),
                    view::shell_word(&parent.join("emulated").to_string_lossy())
                ),
            ))
        }
    }
}
