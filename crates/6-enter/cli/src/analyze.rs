//! `rockhound analyze`: recordings as reports.
//!
//! Reading, selecting, evaluating and writing are separate functions; this module only calls them. A
//! recording that cannot be read is reported and the others go on.

mod write;

use crate::answer;
use crate::args::Analyze;
use crate::args::{AverageKind, Look, Ranks};
use crate::exit::{Outcome, usage};
use crate::fail_on;
use crate::subjects::{self, Asked, Subjects};
use analysis::workload::{Blocks, Condition, Options, Subject, list};
use anyhow::Result;
use host::definitions;
use metrics::{Definitions, Settings};
use view::{Answer, Average, Format, List, Recordings};

/// Kernels listed in a report unless told otherwise.
const TOP_KERNELS: usize = 10;

/// Analyzes.
pub(crate) fn run(args: &Analyze, look: &Look) -> Result<Outcome> {
    // A condition compares; what does not is a rule or a severity.
    let (compares, names): (Vec<String>, Vec<String>) =
        args.fail_on.iter().cloned().partition(|c| c.contains(['<', '>', '=', ' ']));
    // Ranks or runs side by side are several recordings.
    let several = usize::from([args.pick.ranks, args.pick.runs].contains(&Some(Ranks::Each)));
    let recordings = args.path.len() + several;
    let conditions = compares.iter().map(|c| Condition::parse(c, recordings)).collect::<Result<Vec<_>, _>>();
    let conditions = conditions?;
    let mut on_findings = fail_on::parse(&names)?;
    if let Some(percent) = args.threshold
        && !(percent.is_finite() && percent >= 0.0)
    {
        return Err(usage(format!("`--threshold {percent}` is no percentage"), "give a number such as `5`"));
    }
    write::check(args)?;
    let own = definitions::read(&args.definitions)?;
    let definitions = own.as_ref().unwrap_or_else(|| Definitions::built_in());

    let asked = Asked {
        paths: args.path.clone(),
        arch: args.pick.arch.clone(),
        corrections: args.pick.specs_correction.clone(),
        wanted: args.pick.wanted(),
        matches: args.matches.clone(),
        ranks: args.pick.ranks.map(Into::into),
        runs: args.pick.runs.map(Into::into),
    };
    let Subjects { all: subjects, renames, failed } = subjects::read(&asked)?;
    let target = subjects[0].target().to_owned();
    let blocks = shown_blocks(args, definitions, &subjects)?;
    let compiled = subjects::compile(definitions, &subjects)?;
    for condition in &conditions {
        definitions::check_row(definitions, condition.subject(), &target)?;
    }
    let options = Options {
        settings: settings(args),
        top: match (args.top, wanted_list(args)) {
            (Some(0), _) | (None, Some(_)) => usize::MAX,
            (Some(top), _) => top,
            (None, None) => TOP_KERNELS,
        },
        blocks,
        columns: args.cols.clone(),
        time_unit: args.units.time(),
        renames,
        threshold: args.threshold.filter(|_| subjects.len() > 1),
        conditions,
        operators: operators(args, &subjects)?,
    };
    if args.format == Format::Db {
        write::database(args, definitions, &subjects::for_each(&compiled, &subjects), &subjects)?;
        return Ok(Outcome::of(failed, false));
    }
    let report = match wanted_list(args) {
        Some(kind) => list(definitions, &subjects, kind, &options),
        None => {
            let for_each = subjects::for_each(&compiled, &subjects);
            study::report(definitions, &for_each, &subjects, &options, &mut on_findings)?
        }
    };
    write::write(&report, args, look)?;
    Ok(outcome(&report, failed, fail_on::met(&on_findings)))
}

/// The operator of each dispatch, by the trace that was given.
fn operators(args: &Analyze, subjects: &[Subject]) -> Result<Vec<Option<String>>> {
    let Some(path) = &args.trace else { return Ok(Vec::new()) };
    let [subject] = subjects else {
        return Err(usage("`--trace` is of one recording", "give one `-p`"));
    };
    let found = study::operators(subject, &host::traces::file(path, true)?);
    for (kernel, dispatches, spans) in &found.unequal {
        eprintln!(
            "note: `{kernel}` has {dispatches} dispatches and {spans} spans in the trace, so its operators are not known"
        );
    }
    if found.of_row.iter().all(Option::is_none) {
        return Err(usage(
            format!("`{}` names no operator of a recorded kernel", path.display()),
            "it has to be a trace of the same program with operators, as the PyTorch profiler writes them",
        ));
    }
    Ok(found.of_row)
}

/// Averaging and normalisation of values.
fn settings(args: &Analyze) -> Settings {
    let average = match args.average {
        AverageKind::Weighted => Average::Weighted,
        AverageKind::Dispatches => Average::Dispatches,
    };
    Settings { average, norm: args.units.norm(), ..Settings::default() }
}

/// The shown blocks; a report does not begin with blocks that the recording lacks completely.
fn shown_blocks(args: &Analyze, definitions: &Definitions, subjects: &[Subject]) -> Result<Blocks> {
    let machine_readable = args.format.is_for_programs();
    let mut blocks = Blocks::parse(&args.blocks, definitions, subjects[0].target())?;
    if blocks.is_overview() && machine_readable {
        blocks = Blocks::all();
    } else {
        // A recording without times has other things to lead with.
        let timed =
            |s: &Subject| s.rows.iter().any(|row| s.workload.dispatches.duration(*row as usize).is_some());
        if subjects.iter().all(|s| s.workload.machine.emulator().is_some() && !timed(s)) {
            blocks = blocks.without_times();
        }
        if subjects.iter().all(|s| {
            s.workload.counters.is_empty() && (s.workload.samples.is_some() || s.workload.traces.is_some())
        }) {
            blocks = blocks.without_counters();
        }
        if args.short {
            blocks = blocks.without_charts();
        }
    }
    Ok(blocks)
}

fn wanted_list(args: &Analyze) -> Option<List> {
    [
        (args.list_kernels, List::Kernels),
        (args.list_dispatches, List::Dispatches),
        (args.list_metrics, List::Metrics),
        (args.specs, List::Specs),
        (args.list_blocks, List::Blocks),
    ]
    .into_iter()
    .find_map(|(wanted, list)| wanted.then_some(list))
}

/// Prints notes for scripts on standard error.
fn outcome(report: &Answer<Recordings>, failed: bool, mut met: bool) -> Outcome {
    let mut input_error = failed;
    for c in &report.part.conditions {
        match c.met {
            Some(true) => {
                met = true;
                eprintln!("failed: `--fail-on {}`: {}", c.condition, c.detail);
            }
            Some(false) => {}
            None => {
                input_error = true;
                eprintln!("error: `--fail-on {}` cannot be judged: {}", c.condition, c.detail);
            }
        }
    }
    if input_error { Outcome::InputError } else { answer::end(report, met) }
}
