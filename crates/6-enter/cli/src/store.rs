//! `rockhound store`: recordings over time in a database.

mod add;
mod bisect;
mod copies;
mod grafana;
pub(crate) mod history;

use crate::answer::{self, DECIMALS, Target};
use crate::args::{Look, Place, Store, StoreQuestion, StoreSchema, StoreWrite};
use crate::exit::Outcome;
use crate::gate::Gated;
use anyhow::Result;
use host::store::Archive;
use host::store::recordings::Selection;
use host::stored;
use std::collections::BTreeMap;
use view::{Answer, NoteKind, Stored, StoredSort};

/// Answers.
pub(crate) fn run(args: &Store, look: &Look) -> Result<Outcome> {
    let (mut answer, write) = match &args.question {
        StoreQuestion::Add(args) => (add::run(args)?, &args.write),
        StoreQuestion::List(args) => {
            let mut archive = read(&args.place)?;
            // One more than is shown tells whether there are more.
            let newest = (args.top > 0).then_some(args.top.saturating_add(1));
            let mut all = archive.list(&Selection { labels: args.label.clone(), newest, sort: None })?;
            let is_cut = args.top > 0 && all.len() as u64 > args.top;
            if is_cut {
                all.remove(0);
            }
            let mut answer = study::stored::list("list", archive.place(), all);
            if is_cut {
                answer.note(NoteKind::Info, format!("the newest {}; `--top 0` shows all", args.top));
            }
            (answer, &args.write)
        }
        StoreQuestion::Show(args) => {
            let mut archive = read(&args.place)?;
            (shown(&mut archive, &args.id)?, &args.write)
        }
        StoreQuestion::Label(args) => {
            let mut archive = open(&args.place)?;
            let labels: BTreeMap<String, String> = args.labels.iter().cloned().collect();
            let id = archive.resolve(&args.id)?.id;
            archive.label(id, &labels)?;
            let changed = archive.resolve(&id.to_string())?;
            (study::stored::list("label", archive.place(), vec![changed]), &args.write)
        }
        StoreQuestion::Remove(args) => {
            let mut archive = open(&args.place)?;
            // An address that names nothing stops the command before it removes anything.
            let found = args.ids.iter().map(|id| archive.resolve(id)).collect::<Result<Vec<_>, _>>()?;
            for it in &found {
                archive.remove(&it.id.to_string())?;
            }
            let mut answer = study::stored::list("remove", archive.place(), found);
            answer.note(NoteKind::Info, "removed; `rockhound store compact` frees the space of their files");
            (answer, &args.write)
        }
        StoreQuestion::Compact(args) => (compact(&mut open(&args.place)?)?, &args.write),
        StoreQuestion::Query(args) => {
            let mut archive = read(&args.place)?;
            let most = if args.top == 0 { usize::MAX } else { args.top };
            let mut found = archive.query(&args.sql, most.saturating_add(1))?;
            let more = found.rows.len() > most;
            found.rows.truncate(most);
            (study::stored::queried(archive.place(), &found.columns, &found.rows, more), &args.write)
        }
        StoreQuestion::History(args) => (history::run(args)?, &args.write),
        StoreQuestion::Check(args) => {
            let (mut answer, outcome) = history::check(args)?;
            let written = finish(&mut answer, &args.write, look)?;
            return Ok(if written == Outcome::Fine { outcome } else { written });
        }
        StoreQuestion::Changes(args) => (history::write_changes(args)?, &args.write),
        StoreQuestion::Bisect(args) => return bisect::run(args, look),
        StoreQuestion::Summary(args) => {
            let mut answer = history::summary(args)?;
            let write = StoreWrite { format: args.format, output: args.output.clone() };
            return finish(&mut answer, &write, look);
        }
        StoreQuestion::Grafana(args) => return grafana::run(args),
        StoreQuestion::Schema(args) => return schema(args),
        StoreQuestion::Export(args) => return copies::export(args),
        StoreQuestion::Import(args) => return copies::import(args),
    };
    finish(&mut answer, write, look)
}

fn finish(answer: &mut Answer<Stored>, write: &StoreWrite, look: &Look) -> Result<Outcome> {
    let target = Target { format: write.format, output: write.output.as_deref(), decimals: DECIMALS, look };
    answer::finish(answer, &target, &mut Gated::none())
}

/// Prints the tables as SQL.
#[cfg(feature = "postgres")]
fn schema(args: &StoreSchema) -> Result<Outcome> {
    let mut output = crate::output::Output::open(None)?;
    output.write(&host::store::script(args.scale.into()))?;
    output.finish()?;
    Ok(Outcome::Fine)
}

#[cfg(not(feature = "postgres"))]
fn schema(args: &StoreSchema) -> Result<Outcome> {
    anyhow::bail!("`--for {:?}`: {}", args.scale, host::store::StoreError::NotBuilt)
}

/// The database, to change it. Only commands that add recordings make one.
fn open(place: &Place) -> Result<Archive> {
    Ok(Archive::open_existing(&stored::address(place.store.as_deref()))?)
}

/// An entry with all its parts; an answer as its document says it.
pub(crate) fn shown(archive: &mut Archive, id: &str) -> Result<Answer<Stored>> {
    let found = archive.show(id)?;
    let entry = found.entry;
    let mut document = None;
    if matches!(entry.sort, StoredSort::Answer | StoredSort::Timeline) {
        archive.files(entry.id, |_, bytes| -> Result<()> {
            document = document.take().or_else(|| serde_json::from_slice(&bytes).ok());
            Ok(())
        })?;
    }
    let shown = study::stored::Shown {
        recording: entry,
        kernels: found.kernels,
        files: found.files,
        findings: found.findings,
        configurations: found.configurations,
        cells: found.cells,
        document,
    };
    Ok(study::stored::show(archive.place(), shown))
}

/// The database, to read it.
fn read(place: &Place) -> Result<Archive> {
    Ok(Archive::open_to_read(&stored::address(place.store.as_deref()))?)
}

fn compact(archive: &mut Archive) -> Result<Answer<Stored>> {
    let before = archive.size()?;
    let removed = archive.compact()?;
    let after = archive.size()?;
    let mut answer = study::stored::answer("compact", archive.place());
    answer.note(
        NoteKind::Info,
        format!(
            "removed {} that belonged to no recording; the database has {} bytes, before {}",
            view::counted(removed, "file"),
            view::thousands(after),
            view::thousands(before)
        ),
    );
    Ok(answer)
}
