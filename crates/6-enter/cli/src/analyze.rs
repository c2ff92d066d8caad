//! `rockhound analyze`: recordings as reports.
//!
//! Reading, selecting, evaluating and writing are separate functions; this module only calls them. A
//! recording that cannot be read is reported and the others go on.

mod write;

use crate::answer;
use crate::args::{Analyze, Look, Ranks};
use crate::exit::{Outcome, usage};
use crate::gate;
use crate::subjects;
use anyhow::Result;
use host::definitions;
use host::subjects::{Asked, read_telling};
use study::{Judges, Measured, ReportQuestion};
use view::{Answer, Format, List, Recordings};

/// Analyzes.
pub(crate) fn run(args: &Analyze, look: &Look) -> Result<Outcome> {
    // A condition compares; what does not is a rule or a severity.
    let (compares, names): (Vec<String>, Vec<String>) =
        args.fail_on.iter().cloned().partition(|c| c.contains(['<', '>', '=', ' ']));
    // Ranks or runs side by side are several recordings.
    let several = usize::from([args.pick.ranks, args.pick.runs].contains(&Some(Ranks::Each)));
    let recordings = args.sources().len() + several;
    let conditions = study::conditions(&compares, recordings)?;
    let mut gated = gate::open("analyze", Judges::Recordings, &names, &args.memory)?;
    if let Some(percent) = args.threshold
        && !(percent.is_finite() && percent >= 0.0)
    {
        return Err(usage(format!("`--threshold {percent}` is no percentage"), "give a number such as `5`"));
    }
    write::check(args)?;
    let definitions = definitions::read(&args.definitions)?;
    let asked = Asked {
        sources: args.sources().to_vec(),
        arch: args.pick.arch.clone(),
        corrections: args.pick.specs_correction.clone(),
        wanted: args.pick.wanted(),
        matches: args.matches.clone(),
        ranks: args.pick.ranks.map(Into::into),
        runs: args.pick.runs.map(Into::into),
    };
    let measured = Measured::new(read_telling(&asked, subjects::tell)?, &definitions)?;
    let question = ReportQuestion {
        list: wanted_list(args),
        blocks: args.blocks.clone(),
        short: args.short,
        whole: args.format.is_for_programs(),
        units: args.units.into(),
        average: args.average.into(),
        columns: args.cols.clone(),
        top: args.top,
        threshold: args.threshold,
        conditions,
        operators: operators(args, &measured)?,
    };
    if args.format == Format::Db {
        write::database(args, &measured, &question)?;
        return Ok(Outcome::of(measured.failed(), false));
    }
    let mut report = measured.report(question, &mut gated.gate)?;
    report.gate = gated.gate.summary();
    write::write(&report, args, look)?;
    let met = gated.close(measured.failed())?;
    Ok(outcome(&report, measured.failed(), met))
}

/// The operator of each dispatch, by the trace that was given.
fn operators(args: &Analyze, measured: &Measured<'_>) -> Result<Vec<Option<String>>> {
    let Some(path) = &args.trace else { return Ok(Vec::new()) };
    let found = measured.operators(&path.display().to_string(), || host::traces::file(path, true))?;
    for (kernel, dispatches, spans) in &found.unequal {
        eprintln!(
            "note: `{kernel}` has {dispatches} dispatches and {spans} spans in the trace, so its operators are not known"
        );
    }
    Ok(found.of_row)
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
