//! `rockhound store add`.

use crate::args::StoreAdd;
use crate::trace::inputs;
use anyhow::Result;
use host::provenance::{self, Provenance};
use host::store::recordings::NewRecording;
use host::store::{Address, Archive, StoreError};
use host::subjects::{Asked, read};
use host::{Source, recording, storable, stored};
use rayon::prelude::*;
use std::collections::BTreeMap;
use study::trace::{Options, PAGE_ROWS, Wanted, survey};
use study::{Measured, Summarized};
use view::{Answer, FileError, NoteKind, Stored, StoredFinding, StoredRecording};

/// Recordings per core that are read while others are added.
const AHEAD: usize = 2;

/// Adds recordings, and reports those that cannot be read.
pub(super) fn run(args: &StoreAdd) -> Result<Answer<Stored>> {
    let mut database = Database::of(stored::address(args.place.store.as_deref()))?;
    let provenance = if args.no_provenance { Provenance::default() } else { provenance::provenance() };
    let sources: Vec<Source> = args.paths.iter().flat_map(recording::each).collect();
    let mut told = Told::default();
    let mut times = CommitTimes::default();
    each(&sources, args, |source, made| {
        match made {
            Ok(all) => {
                let archive = database.archive()?;
                for mut new in all {
                    told.older += usize::from(!labelled(&mut new, args, &provenance, &mut times));
                    let ended = archive.add(&new)?;
                    told.again += usize::from(!ended.is_new);
                    told.added.push(archive.resolve(&ended.id.to_string())?);
                }
            }
            Err(error) => told.errors.push(FileError {
                file: source.to_string(),
                error: format!("{error:#}"),
                hint: host::kind::hint(source.path(), "store add"),
            }),
        }
        Ok(())
    })?;
    let Told { added, again, older, errors } = told;
    let unknown = added.iter().filter(|it| it.gpu.is_none() && it.sort.is_recording()).count();
    let mut answer = study::stored::list("add", &database.place, added);
    answer.errors = errors;
    if again > 0 {
        let is = if again == 1 { "is" } else { "are" };
        answer.note(
            NoteKind::Info,
            format!(
                "{} {is} there already, with the same files and commit",
                view::counted(again, "recording")
            ),
        );
    }
    if unknown > 0 {
        let unknown = view::counted(unknown, "recording");
        let remedy = "`rockhound store remove` and add again with `--arch GPU`";
        answer.note(
            NoteKind::Info,
            format!("most metrics are missing where the GPU is n/a ({unknown}): {remedy}"),
        );
    }
    if older > 0 {
        let commit = provenance.labels.get("commit").map_or("", String::as_str);
        answer.note(
            NoteKind::Info,
            format!(
                "older than commit {commit}, so without labels from git: {}; `--label commit=…` names the commit",
                view::counted(older, "recording")
            ),
        );
    }
    Ok(answer)
}

/// The database, which is made when there is a recording to add: a command that reads none leaves no empty file.
struct Database {
    address: String,
    /// The address without password.
    place: String,
    archive: Option<Archive>,
}

impl Database {
    fn of(address: String) -> Result<Database> {
        let place = Address::parse(&address)?.shown();
        let archive = match Archive::open_existing(&address) {
            Err(StoreError::NoDatabase { .. }) => None,
            opened => Some(opened?),
        };
        Ok(Database { address, place, archive })
    }

    fn archive(&mut self) -> Result<&mut Archive> {
        let archive = match self.archive.take() {
            Some(it) => it,
            None => Archive::open(&self.address)?,
        };
        Ok(self.archive.insert(archive))
    }
}

/// Outcome of each recording.
#[derive(Default)]
struct Told {
    added: Vec<StoredRecording>,
    again: usize,
    older: usize,
    errors: Vec<FileError>,
}

/// Reads recordings on all cores, and calls `take` for each in order; `take` works on some while the next are read.
fn each(
    sources: &[Source],
    args: &StoreAdd,
    mut take: impl FnMut(&Source, Result<Vec<NewRecording>>) -> Result<()> + Send,
) -> Result<()> {
    let mut ready: Vec<(&Source, Result<Vec<NewRecording>>)> = Vec::new();
    for next in sources.chunks(AHEAD * rayon::current_num_threads()).chain([&[][..]]) {
        let before = std::mem::take(&mut ready);
        let (read, taken) = rayon::join(
            || next.par_iter().map(|source| (source, entries(source, args.arch.as_deref()))).collect(),
            || before.into_iter().try_for_each(|(source, made)| take(source, made)),
        );
        taken?;
        ready = read;
    }
    Ok(())
}

/// Times of commits that git was asked for, seconds since 1970: it is asked once for all recordings of a commit.
type CommitTimes = BTreeMap<String, Option<i64>>;

/// Labels a recording. False if it is older than the commit of the current folder, so that it does not belong to it.
fn labelled(
    new: &mut NewRecording,
    args: &StoreAdd,
    provenance: &Provenance,
    times: &mut CommitTimes,
) -> bool {
    let measured = new.measured_ms;
    let after_commit = provenance.commit_time.is_none_or(|it| measured.is_none_or(|ms| ms >= it * 1000));
    let takes = !provenance.from_git || after_commit;
    if takes {
        new.labels.extend(provenance.labels.clone());
    }
    new.labels.extend(args.label.iter().cloned());
    // The time of a commit orders recordings of a branch, whenever they were made.
    if let Some(commit) = new.labels.get("commit")
        && let Some(time) = *times.entry(commit.clone()).or_insert_with(|| provenance::commit_time(commit))
    {
        new.measured_ms = Some(time * 1000);
    }
    takes || provenance.labels.is_empty()
}

/// Entries for a path: a recording, else a timeline or a tuning. Answers and the tuner's studies are known
/// by their first bytes.
fn entries(source: &Source, arch: Option<&str>) -> Result<Vec<NewRecording>> {
    let path = source.open()?;
    if let Some(told) = storable::told(path)? {
        return Ok(told);
    }
    let error = match made(source, arch) {
        Ok(new) => return Ok(vec![new]),
        Err(error) => error,
    };
    let other = match timeline(source)? {
        Some(new) => Some(new),
        None => storable::tuning(path)?,
    };
    let read_as = "read as a recording, since it is neither a timeline, a tuning nor an answer of a command";
    other.map(|new| vec![new]).ok_or_else(|| error.context(read_as))
}

/// The answer of `trace` on a timeline; `None` for a path that is none.
fn timeline(source: &Source) -> Result<Option<NewRecording>> {
    let (all, errors) = inputs::read(None, [source], &Wanted::default(), true);
    let is_empty = |it: &host::traces::Trace| {
        it.timeline.gpu.is_empty() && it.timeline.host.is_empty() && it.timeline.calls.is_empty()
    };
    if all.iter().all(is_empty) {
        return Ok(None);
    }
    // A summary without one of the ranks would be wrong.
    if let Some(error) = errors.first() {
        anyhow::bail!("{}", error.message());
    }
    let every = ["all".to_owned()];
    let options = Options { tunings: &[], top: PAGE_ROWS, blocks: &every, compared: false };
    let answer = survey(&inputs::inputs(&all), &options);
    storable::timeline(source.path(), render::json::answer(&answer)).map(Some)
}

/// Reads and summarizes a recording.
pub(super) fn made(source: &Source, arch: Option<&str>) -> Result<NewRecording> {
    let files = storable::files(source)?;
    let asked = Asked { sources: vec![source.clone()], arch: arch.map(str::to_owned), ..Asked::default() };
    let mut errors = Vec::new();
    let measured = Measured::built_in(read(&asked, &mut errors)?)?;
    if let Some(error) = errors.pop() {
        return Err(error);
    }
    let short = measured.summarized().pop().ok_or_else(|| anyhow::anyhow!("no recording"))?;
    let Summarized { kind, gpu, facts, emulated_by, dispatches, .. } = short;
    let Summarized { quantities, normal_quantities, ceilings, kernels, findings, .. } = short;
    let finding = |it: view::Finding| StoredFinding {
        kernel: it.kernel,
        rule: it.rule.to_owned(),
        severity: it.severity.as_str().to_owned(),
        time_lost_ns: it.time_lost_ns,
    };
    Ok(NewRecording {
        name: files.name,
        path: source.to_string(),
        opened: files.opened,
        kind: kind.to_owned(),
        gpu,
        facts,
        emulated_by,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        dispatches,
        measured_ms: files.newest.map(|it| it * 1000),
        files: files.files,
        code: files.code,
        quantities,
        normal_quantities,
        ceilings,
        kernels,
        findings: findings.into_iter().map(finding).collect(),
        ..NewRecording::default()
    })
}
