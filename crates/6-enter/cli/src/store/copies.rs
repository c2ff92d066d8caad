//! `rockhound store export` and `import`.

use super::read;
use crate::args::{StoreExport, StoreImport};
use crate::exit::{Outcome, usage};
use anyhow::{Context, Result};
use host::store::Archive;
use host::store::recordings::Selection;
use host::stored;
use std::path::Path;
use view::StoredRecording;

/// Word of `--to` for tables instead of a database.
const PARQUET: &str = "parquet";

/// Writes recordings as folders, or into another database.
pub(super) fn export(args: &StoreExport) -> Result<Outcome> {
    let mut archive = read(&args.place)?;
    let wanted = match &args.ids[..] {
        [] => archive.list(&Selection::default())?,
        ids => ids.iter().map(|id| archive.resolve(id)).collect::<Result<_, _>>()?,
    };
    if wanted.is_empty() {
        return Err(anyhow::anyhow!("`{}` holds no recording", archive.place()));
    }
    match (&args.to, &args.output) {
        (Some(to), Some(folder)) if to == PARQUET => tables(&mut archive, folder, &wanted)?,
        (Some(to), None) if to == PARQUET => {
            let remedy = "name a folder with `-o`; `./parquet` is a database of that name";
            return Err(usage("`--to parquet` writes a folder", remedy));
        }
        (Some(_), Some(_)) => {
            let remedy = "`--to DATABASE` or `-o FOLDER`; both for `--to parquet` alone";
            return Err(usage("two places to write to", remedy));
        }
        (Some(to), _) => copied(&mut archive, &mut Archive::open(to)?, &wanted)?,
        (None, Some(folder)) => written(&mut archive, folder, &wanted)?,
        (None, None) => {
            return Err(usage("nowhere to write", "name a folder with `-o` or a database with `--to`"));
        }
    }
    Ok(Outcome::Fine)
}

/// Adds the recordings of another database.
pub(super) fn import(args: &StoreImport) -> Result<Outcome> {
    let mut from = Archive::open_to_read(&args.from)?;
    let wanted = from.list(&Selection::default())?;
    if wanted.is_empty() {
        return Err(anyhow::anyhow!("`{}` holds no recording", from.place()));
    }
    let mut to = Archive::open(&stored::address(args.place.store.as_deref()))?;
    copied(&mut from, &mut to, &wanted)?;
    Ok(Outcome::Fine)
}

/// Writes Parquet files beside the folder first, so that the folder is there only when they are whole.
fn tables(archive: &mut Archive, folder: &Path, wanted: &[StoredRecording]) -> Result<()> {
    check_absent(folder)?;
    let parent = folder.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent).with_context(|| format!("cannot make `{}`", parent.display()))?;
    let part = stored::Folder::within(parent, ".rockhound-parquet-")?;
    let files = archive.to_parquet(wanted, part.path())?;
    part.rename(folder)?;
    for (name, rows) in files {
        eprintln!("wrote {} to {}", view::counted(rows, "row"), folder.join(name).display());
    }
    Ok(())
}

fn check_absent(folder: &Path) -> Result<()> {
    if folder.exists() {
        return Err(usage(
            format!("`{}` exists already", folder.display()),
            "name a folder that does not exist",
        ));
    }
    Ok(())
}

fn copied(from: &mut Archive, to: &mut Archive, wanted: &[StoredRecording]) -> Result<()> {
    let mut new = 0;
    for it in wanted {
        new += usize::from(from.copy(&it.id.to_string(), to)?.is_new);
    }
    let known = wanted.len() - new;
    eprintln!("{} added to {}, which had {known} already", view::counted(new, "recording"), to.place());
    Ok(())
}

fn written(archive: &mut Archive, folder: &Path, wanted: &[StoredRecording]) -> Result<()> {
    check_absent(folder)?;
    for it in wanted {
        let own = if wanted.len() == 1 { folder.to_owned() } else { folder.join(it.id.to_string()) };
        let files = stored::write(archive, it.id, &own)?;
        eprintln!("wrote {} of store:{} to {}", view::counted(files, "file"), it.id, own.display());
    }
    Ok(())
}
