//! `rockhound triage`: what broke, from logs and dumps.

use crate::answer::{self, DECIMALS, Target, unread};
use crate::args::{Look, Triage as Arguments};
use crate::exit::Outcome;
use crate::kernels::{Selection, each_kernel};
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use study::triage::KernelCode;
use system::fault::{CodeObjectUri, FaultLog, saved_name};
use view::{FileError, NoteKind};

/// Size of a program that is searched without being named, bytes.
const MOST_SEARCHED: u64 = 1 << 28;
/// Kernels whose code is looked at.
const MOST_KERNELS: usize = 64;

/// Answers.
pub(crate) fn run(args: &Arguments, look: &Look) -> Result<Outcome> {
    let mut logs = Vec::new();
    let mut codes = Vec::new();
    let mut reports = Vec::new();
    let mut errors = Vec::new();
    for path in &args.files {
        match read(path) {
            Ok(Input::Log(log)) => logs.push(*log),
            Ok(Input::Report(log, paste)) => {
                reports.push((logs.len(), *paste));
                logs.push(*log);
            }
            Ok(Input::Code(files)) => codes.extend(files),
            Err(error) => errors.push(unread(path, &error, "triage")),
        }
    }
    if logs.is_empty() && errors.is_empty() {
        errors.extend(args.files.iter().map(|path| FileError {
            file: path.display().to_string(),
            error: "code without the log of a failure".to_owned(),
            hint: host::kind::hint(path, "triage").or_else(|| Some("give the log beside it".to_owned())),
        }));
    }
    let mut found = beside(&logs, &codes);
    codes.append(&mut found.files);
    let (code, mut notes) = code_of(&logs, &codes)?;
    notes.append(&mut found.notes);
    let mut triage = study::triage::triage(&logs, &code);
    for (at, paste) in &reports {
        study::triage::add_report(&mut triage, &logs[*at], paste);
    }
    notes.into_iter().for_each(|text| triage.note(NoteKind::Info, text));
    triage.errors = errors;
    let target = Target { format: args.format, output: args.output.as_deref(), decimals: DECIMALS, look };
    answer::write(&triage, &target)?;
    Ok(answer::end(&triage, args.fail_on_fault && !triage.part.incidents.is_empty()))
}

enum Input {
    Log(Box<FaultLog>),
    Report(Box<FaultLog>, Box<system::paste::Paste>),
    Code(Vec<PathBuf>),
}

fn read(path: &Path) -> Result<Input> {
    let name = path.display().to_string();
    if path.is_dir() {
        let entries = std::fs::read_dir(path).with_context(|| format!("cannot read `{name}`"))?;
        let mut files: Vec<PathBuf> =
            entries.flatten().map(|entry| entry.path()).filter(|it| it.is_file()).collect();
        files.sort();
        return Ok(Input::Code(files));
    }
    match host::logs::read(path)? {
        host::logs::Content::Code => Ok(Input::Code(vec![path.to_owned()])),
        host::logs::Content::Log(log) => Ok(Input::Log(log)),
        host::logs::Content::Report(log, paste) => Ok(Input::Report(log, paste)),
    }
}

/// Unnamed code, found from the contents of dumps.
#[derive(Default)]
struct Beside {
    files: Vec<PathBuf>,
    notes: Vec<String>,
}

/// Saved code objects beside a dump, and the programs that it names if they are on this machine.
fn beside(logs: &[FaultLog], given: &[PathBuf]) -> Beside {
    let mut beside = Beside::default();
    for log in logs {
        let folder = Path::new(&log.file).parent().unwrap_or(Path::new(""));
        let waves = log.dumps.iter().flat_map(|dump| &dump.waves);
        let uris: BTreeSet<&str> = waves.filter_map(|wave| wave.code_object.as_deref()).collect();
        for uri in uris.into_iter().take(MOST_KERNELS).filter_map(CodeObjectUri::parse) {
            let saved = saved_name(&uri.uri);
            if given.iter().any(|it| it.file_name().is_some_and(|name| uri.may_be(&name.to_string_lossy()))) {
                continue;
            }
            let program = uri.path.as_ref().map(PathBuf::from);
            let places = [Some(folder.join(&saved)), Some(folder.join("code-objects").join(&saved)), program];
            let place = places.into_iter().flatten().find(|it| it.is_file());
            let Some(place) = place.filter(|it| !given.contains(it) && !beside.files.contains(it)) else {
                continue;
            };
            let size = std::fs::metadata(&place).map_or(0, |it| it.len());
            if size > MOST_SEARCHED {
                beside
                    .notes
                    .push(format!("{}: holds the code; name it to have it searched", place.display()));
                continue;
            }
            beside.notes.push(format!("{}: found by the name of the code object", place.display()));
            beside.files.push(place);
        }
    }
    beside
}

/// The code of the kernels that dumps name, in the files given; and what to know of files that have none.
fn code_of(logs: &[FaultLog], files: &[PathBuf]) -> Result<(Vec<KernelCode>, Vec<String>)> {
    let waves = logs.iter().flat_map(|log| &log.dumps).flat_map(|dump| &dump.waves);
    let emulated = logs.iter().flat_map(|log| &log.emulated).map(|it| it.kernel.as_str());
    let wanted: BTreeSet<&str> = waves.filter_map(|wave| wave.function.as_deref()).chain(emulated).collect();
    if files.is_empty() || wanted.is_empty() {
        let notes = files.iter().map(|file| {
            format!("{}: no report names a kernel, so its code is not looked at", file.display())
        });
        return Ok((Vec::new(), notes.collect()));
    }
    let names: Vec<String> = wanted.iter().take(MOST_KERNELS).map(|name| regex::escape(name)).collect();
    let selection = Selection::new(Some(&format!("^(?:{})(?:[(].*)?$", names.join("|"))), &[])?;
    let mut found: Vec<KernelCode> = Vec::new();
    let mut notes = Vec::new();
    for file in files {
        let before = found.len();
        let size = std::fs::metadata(file).map_or(0, |it| it.len());
        let file_name = file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        each_kernel(
            &[],
            std::slice::from_ref(file),
            &selection,
            |mut judged| {
                judged.findings.clear();
                (judged.evidence.kernel.demangled.clone(), judged.listing())
            },
            |(kernel, listing)| {
                found.push(KernelCode {
                    file: file.display().to_string(),
                    file_name: file_name.clone(),
                    size,
                    kernel,
                    listing,
                });
                Ok(())
            },
        )?;
        if found.len() == before {
            notes.push(format!("{}: has none of the kernels of the report", file.display()));
        }
    }
    Ok((found, notes))
}
