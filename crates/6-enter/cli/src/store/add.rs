//! `rockhound store add`.

use super::open;
use crate::args::StoreAdd;
use anyhow::Result;
use host::provenance::{self, Provenance};
use host::store::recordings::{KernelRun, NewRecording, Quantity, QuantityKind};
use host::subjects::{Asked, read};
use host::{Source, recording, storable};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;
use study::{Measured, Summarized, SummarizedKind};
use view::{Answer, FileError, NoteKind, Stored, StoredFinding, StoredRecording};

/// Recordings that each thread reads ahead of the one that is to be added.
const AHEAD: usize = 4;
/// Pause of a thread that is that far ahead.
const PAUSE: Duration = Duration::from_millis(1);

/// Adds recordings; one that cannot be read is reported and the others are added.
pub(super) fn run(args: &StoreAdd) -> Result<Answer<Stored>> {
    let mut archive = open(&args.place)?;
    let provenance = if args.no_provenance { Provenance::default() } else { provenance::provenance() };
    let sources: Vec<Source> = args.paths.iter().flat_map(recording::each).collect();
    let mut told = Told::default();
    each(&sources, args, |source, made| {
        match made {
            Ok(mut new) => {
                told.older += usize::from(!labelled(&mut new, args, &provenance));
                let ended = archive.add(&new)?;
                told.again += usize::from(!ended.is_new);
                told.added.push(archive.resolve(&ended.id.to_string())?);
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
    let mut answer = study::stored::list("add", archive.place(), added);
    answer.errors = errors;
    if again > 0 {
        answer.note(NoteKind::Info, format!("{} there already, with the same files and commit", are(again)));
    }
    if older > 0 {
        let commit = provenance.labels.get("commit").map_or("", String::as_str);
        answer.note(
            NoteKind::Info,
            format!(
                "{} older than commit {commit}, and not labelled with it: `--label commit=…` names theirs",
                are(older)
            ),
        );
    }
    Ok(answer)
}

/// What became of the recordings.
#[derive(Default)]
struct Told {
    added: Vec<StoredRecording>,
    again: usize,
    older: usize,
    errors: Vec<FileError>,
}

/// Reads recordings on all cores, and gives them to `take` in their order.
fn each(
    sources: &[Source],
    args: &StoreAdd,
    mut take: impl FnMut(&Source, Result<NewRecording>) -> Result<()>,
) -> Result<()> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(sources.len());
    let (next, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel(threads);
        for _ in 0..threads {
            let (sender, next, taken) = (sender.clone(), &next, &taken);
            scope.spawn(move || {
                let following =
                    || Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, sources.get(at)?)));
                while let Some((at, source)) = following() {
                    // One that takes long does not make the others wait in memory.
                    while at > taken.load(Ordering::Acquire).saturating_add(AHEAD * threads) {
                        std::thread::sleep(PAUSE);
                    }
                    // Nobody receives any more after an error.
                    if sender.send((at, made(source, args))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let mut expected = 0;
        let mut ended = Ok(());
        'all: for (at, made) in receiver {
            early.insert(at, made);
            while let Some(made) = early.remove(&expected) {
                ended = take(&sources[expected], made);
                if ended.is_err() {
                    break 'all;
                }
                expected += 1;
                taken.store(expected, Ordering::Release);
            }
        }
        taken.store(usize::MAX, Ordering::Release);
        ended
    })
}

fn are(count: usize) -> String {
    format!("{} {}", view::counted(count, "recording"), if count == 1 { "is" } else { "are" })
}

/// Labels a recording. False: it is older than the commit here, so it is not of this commit.
fn labelled(new: &mut NewRecording, args: &StoreAdd, provenance: &Provenance) -> bool {
    let measured = new.measured_ms;
    let after_commit = provenance.commit_time.is_none_or(|it| measured.is_none_or(|ms| ms >= it * 1000));
    let takes = !provenance.from_git || after_commit;
    if takes {
        new.labels.extend(provenance.labels.clone());
    }
    new.labels.extend(args.label.iter().cloned());
    // The time of a commit orders recordings of a branch, whenever they were made.
    if let Some(commit) = new.labels.get("commit")
        && let Some(time) = provenance::commit_time(commit)
    {
        new.measured_ms = Some(time * 1000);
    }
    takes || provenance.labels.is_empty()
}

/// Reads a recording and sums it up.
fn made(source: &Source, args: &StoreAdd) -> Result<NewRecording> {
    let files = storable::files(source)?;
    let asked = Asked { sources: vec![source.clone()], arch: args.arch.clone(), ..Asked::default() };
    let mut errors = Vec::new();
    let measured = Measured::built_in(read(&asked, &mut errors)?)?;
    if let Some(error) = errors.pop() {
        return Err(error);
    }
    let short = measured.summarized().pop().ok_or_else(|| anyhow::anyhow!("no recording"))?;
    let Summarized { kind, gpu, facts, emulated_by, dispatches, quantities, kernels, findings } = short;
    let quantity = |it: study::SummarizedQuantity| Quantity {
        kind: match it.kind {
            SummarizedKind::Counter => QuantityKind::Counter,
            SummarizedKind::Metric => QuantityKind::Metric,
            SummarizedKind::Peak => QuantityKind::Peak,
        },
        name: it.name,
        unit: it.unit,
    };
    let run = |it: study::SummarizedKernel| KernelRun {
        name: it.name,
        base_name: it.base_name,
        dispatches: it.dispatches as u64,
        grid: it.grid,
        workgroup: it.workgroup,
        times: it.times,
        numbers: it.numbers,
    };
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
        dispatches: dispatches as u64,
        measured_ms: files.newest.map(|it| it * 1000),
        files: files.files,
        code: files.code,
        quantities: quantities.into_iter().map(quantity).collect(),
        kernels: kernels.into_iter().map(run).collect(),
        findings: findings.into_iter().map(finding).collect(),
        labels: Default::default(),
    })
}
