//! `rockhound store add`.

use super::open;
use crate::args::StoreAdd;
use anyhow::Result;
use host::store::recordings::{KernelRun, NewRecording, Quantity, QuantityKind};
use host::stored::{self, Provenance};
use host::subjects::{Asked, read};
use host::{Source, recording};
use study::{Measured, Summarized, SummarizedKind};
use view::{Answer, FileError, NoteKind, Stored, StoredFinding};

/// Adds recordings; one that cannot be read is reported and the others are added.
pub(super) fn run(args: &StoreAdd) -> Result<Answer<Stored>> {
    let mut archive = open(&args.place)?;
    let provenance = if args.no_provenance { Provenance::default() } else { stored::provenance() };
    let sources: Vec<Source> = args.paths.iter().flat_map(recording::each).collect();
    let (mut added, mut again, mut older) = (Vec::new(), 0, 0);
    let mut errors = Vec::new();
    for source in &sources {
        let mut new = match made(source, args) {
            Ok(new) => new,
            Err(error) => {
                errors.push(FileError {
                    file: source.to_string(),
                    error: format!("{error:#}"),
                    hint: host::kind::hint(source.path(), "store add"),
                });
                continue;
            }
        };
        older += usize::from(!labelled(&mut new, args, &provenance));
        let ended = archive.add(&new)?;
        again += usize::from(!ended.is_new);
        added.push(archive.resolve(&ended.id.to_string())?);
    }
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
        && let Some(time) = stored::commit_time(commit)
    {
        new.measured_ms = Some(time * 1000);
    }
    takes || provenance.labels.is_empty()
}

/// Reads a recording and sums it up.
fn made(source: &Source, args: &StoreAdd) -> Result<NewRecording> {
    let files = stored::files(source)?;
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
