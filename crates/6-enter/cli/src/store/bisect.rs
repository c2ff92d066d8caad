//! `rockhound store bisect`.

use super::{add, finish, history, read};
use crate::args::{Look, StoreBisect};
use crate::exit::Outcome;
use anyhow::{Context, Result, anyhow, bail};
use host::Source;
use host::store::recordings::{NewRecording, TIME};
use host::stored::Folder;
use std::process::{Command, Stdio};
use study::history::{Bisected, bisected, judge};
use view::{History, KernelRun, QuantityKind};

/// Variable with the folder that the command writes a recording into.
const FOLDER: &str = "ROCKHOUND_RECORDING";
/// Exit codes of `git bisect run`: good, bad, to be skipped, and the end of the bisection.
const GOOD: u8 = 0;
const BAD: u8 = 1;
const SKIP: u8 = 125;
const END: u8 = 128;

/// Makes a recording of what is checked out, and compares it with the levels of a change.
pub(super) fn run(args: &StoreBisect, look: &Look) -> Result<Outcome> {
    let (place, history, levels) = match levels(args) {
        Ok(it) => it,
        Err(error) => return Ok(told(&error, END)),
    };
    let value = match value(args, &history) {
        Ok(it) => it,
        Err(error) => return Ok(told(&error, SKIP)),
    };
    let (mut answer, outcome) = bisected(&place, &history, value, levels);
    match finish(&mut answer, &args.write, look) {
        Ok(_) => Ok(Outcome::Program(if outcome == Bisected::Good { GOOD } else { BAD })),
        // An exit code for an error would tell git that the commit is bad.
        Err(error) => Ok(told(&error, END)),
    }
}

fn told(error: &anyhow::Error, code: u8) -> Outcome {
    eprintln!("error: {error:#}");
    Outcome::Program(code)
}

/// The database, the kernel's history, and its good and bad level.
fn levels(args: &StoreBisect) -> Result<(String, History, (f64, f64))> {
    let mut archive = read(&args.series.place)?;
    let mut number =
        |id: &Option<String>| id.as_ref().map(|id| archive.resolve(id).map(|it| it.id)).transpose();
    let (good, bad) = (number(&args.good)?, number(&args.bad)?);
    let (chains, _) = history::chains(&mut archive, &args.series)?;
    let mut found: Vec<(History, (f64, f64))> = Vec::new();
    for chain in chains {
        let mut history = chain.history;
        let levels = match (good, bad) {
            (Some(good), Some(bad)) => {
                let of = |id: i64| history.points.iter().find(|it| it.recording == id).map(|it| it.value);
                of(good).zip(of(bad))
            }
            _ => {
                judge(&mut history);
                history.changes.last().map(|it| (it.before, it.since))
            }
        };
        found.extend(levels.filter(|(good, bad)| good != bad).map(|it| (history, it)));
    }
    if found.len() > 1 {
        bail!("{} kernels changed\nhint: name one with `-k`", found.len());
    }
    let (history, levels) = found.pop().ok_or_else(|| {
        anyhow!(
            "no change of `{}` to bisect\nhint: `rockhound store history` shows changes; `--good ID --bad ID` names recordings on both sides",
            args.series.metric
        )
    })?;
    Ok((archive.place().to_owned(), history, levels))
}

/// Runs the command and reads the kernel's value from its recording.
fn value(args: &StoreBisect, history: &History) -> Result<f64> {
    let folder = Folder::new("rockhound-bisect-")?;
    let path = folder.path().join("recording");
    let (program, arguments) = args.command.split_first().context("no command")?;
    let name = program.to_string_lossy();
    // The command's output is not the answer.
    let ended = Command::new(program)
        .args(arguments)
        .env(FOLDER, &path)
        .stdin(Stdio::null())
        .stdout(std::io::stderr())
        .status()
        .with_context(|| format!("cannot run `{name}`"))?;
    if !ended.success() {
        bail!("`{name}` failed ({ended}), so this commit is skipped");
    }
    if !path.exists() {
        bail!("`{name}` wrote no recording into the folder of the variable {FOLDER}");
    }
    let recording = add::made(&Source::Path(path), args.arch.as_deref())?;
    if recording.gpu != history.gpu || recording.emulated_by.is_some() != history.is_emulated {
        let of = |gpu: &Option<String>, is_emulated| {
            let made = if is_emulated { "emulated" } else { "measured" };
            format!("{} {made}", gpu.as_deref().unwrap_or("GPU not recorded,"))
        };
        bail!(
            "the levels are of {}, and this recording of {}",
            of(&history.gpu, history.is_emulated),
            of(&recording.gpu, recording.emulated_by.is_some())
        );
    }
    let kernel = kernel(&recording, &history.kernel)?;
    of_kernel(&recording, kernel, &history.metric)
        .ok_or_else(|| anyhow!("the recording has no `{}` of `{}`", history.metric, kernel.name))
}

/// The kernel of a name, or the only one of that name without arguments.
fn kernel<'a>(recording: &'a NewRecording, name: &str) -> Result<&'a KernelRun> {
    if let Some(it) = recording.kernels.iter().find(|it| it.name == name) {
        return Ok(it);
    }
    let base = study::base_name(name);
    let mut same = recording.kernels.iter().filter(|it| it.base_name == base);
    match (same.next(), same.next()) {
        (Some(it), None) => Ok(it),
        (Some(_), Some(_)) => bail!("several kernels are named `{base}`, and none is `{name}`"),
        (None, _) => bail!("the recording has no kernel `{name}`"),
    }
}

fn of_kernel(recording: &NewRecording, kernel: &KernelRun, metric: &str) -> Option<f64> {
    if metric == TIME {
        return study::history::median_time(&kernel.times);
    }
    // As in a series: a metric before a counter.
    [QuantityKind::Metric, QuantityKind::Counter].iter().find_map(|kind| {
        let at = recording.quantities.iter().position(|it| it.kind == *kind && it.name == metric)?;
        *kernel.numbers.get(at)?
    })
}
