//! `rockhound analyze`: recordings as reports.
//!
//! The one idea to keep in mind: reading, selecting, evaluating and writing are functions of their own; here they
//! only meet. A recording that cannot be read is reported and the others go on.

mod judge;
mod names;
mod write;

use crate::args::Analyze;
use crate::args::{AverageKind, Look, NormalUnit, ReportFormat, TimeUnits};
use crate::exit::{Outcome, usage};
use crate::{definitions, fail_on, recording, renames};
use analysis::workload::{
    Blocks, Condition, Filled, KernelFilter, List, Options, Renames, SelectError, Subject, TimeUnit, Wanted,
    fill, list, report, select,
};
use anyhow::Result;
use metrics::{Average, Compiled, Definitions, Norm, Settings};
use std::collections::BTreeMap;
use view::{NoteKind, Report};
use workload::Workload;

/// Kernels listed in a report unless told otherwise.
const TOP_KERNELS: usize = 10;

/// Analyzes.
pub(crate) fn run(args: &Analyze, look: &Look) -> Result<Outcome> {
    // A condition compares; what does not is a rule or a severity.
    let (compares, names): (Vec<String>, Vec<String>) =
        args.fail_on.iter().cloned().partition(|c| c.contains(['<', '>', '=', ' ']));
    let conditions =
        compares.iter().map(|c| Condition::parse(c, args.path.len())).collect::<Result<Vec<_>, _>>();
    let conditions = conditions.map_err(refuse)?;
    let mut on_findings = fail_on::parse(&names)?;
    let pairs = renames::parse(&args.matches)?;
    if let Some(percent) = args.threshold
        && !(percent.is_finite() && percent >= 0.0)
    {
        return Err(usage(format!("`--threshold {percent}` is no percentage"), "give a number such as `5`"));
    }
    let own = definitions::read(&args.definitions)?;
    let definitions = own.as_ref().unwrap_or_else(|| Definitions::built_in());

    let (mut subjects, failed) = subjects(args)?;
    let renames = Renames::new(&pairs, &subjects).map_err(refuse)?;
    select_in(args, &mut subjects, &renames)?;
    let target = subjects[0].target().to_owned();
    let machine_readable = matches!(args.format, ReportFormat::Json | ReportFormat::Csv);
    let mut blocks = Blocks::parse(&args.blocks, definitions, &target).map_err(refuse)?;
    if blocks.is_overview() && machine_readable {
        blocks = Blocks::all();
    } else if subjects.iter().all(|s| s.workload.machine.emulator().is_some()) {
        blocks = blocks.without_times();
    }
    let mut compiled: BTreeMap<&str, Compiled> = BTreeMap::new();
    for s in &subjects {
        if !compiled.contains_key(s.target()) {
            compiled.insert(s.target(), definitions::compile(definitions, s.target())?);
        }
    }
    for condition in &conditions {
        definitions::check_row(definitions, condition.subject(), &target)?;
    }
    let options = Options {
        settings: Settings {
            average: match args.average {
                AverageKind::Weighted => Average::Weighted,
                AverageKind::Dispatches => Average::Dispatches,
            },
            norm: match args.normal_unit {
                NormalUnit::Kernel => Norm::Kernel,
                NormalUnit::Wave => Norm::Wave,
                NormalUnit::Cycle => Norm::Cycle,
                NormalUnit::Second => Norm::Second,
            },
        },
        top: match (args.top, wanted_list(args)) {
            (Some(0), _) | (None, Some(_)) => usize::MAX,
            (Some(top), _) => top,
            (None, None) => TOP_KERNELS,
        },
        blocks,
        columns: args.cols.clone(),
        time_unit: match args.time_unit {
            TimeUnits::Ns => TimeUnit::Nanoseconds,
            TimeUnits::Us => TimeUnit::Microseconds,
            TimeUnits::Ms => TimeUnit::Milliseconds,
            TimeUnits::S => TimeUnit::Seconds,
        },
        renames,
        threshold: args.threshold.filter(|_| subjects.len() > 1),
        conditions,
    };
    let report = match wanted_list(args) {
        Some(kind) => list(definitions, &subjects, kind, &options),
        None => {
            let for_each: Vec<&Compiled> = subjects.iter().map(|s| &compiled[s.target()]).collect();
            let mut report = report(definitions, &for_each, &subjects, &options).map_err(refuse)?;
            judge::judge(&mut report, &for_each, &subjects, &options, &mut on_findings);
            report
        }
    };
    write::write(&report, args, look)?;
    let met = on_findings.iter().filter_map(fail_on::FailOn::verdict).inspect(|v| eprintln!("{v}")).count();
    Ok(outcome(&report, failed, met > 0))
}

fn refuse(error: SelectError) -> anyhow::Error {
    usage(error.message, error.hint)
}

fn wanted_list(args: &Analyze) -> Option<List> {
    [
        (args.list_kernels, List::Kernels),
        (args.list_dispatches, List::Dispatches),
        (args.list_metrics, List::Metrics),
    ]
    .into_iter()
    .find_map(|(wanted, list)| wanted.then_some(list))
}

/// Reads every recording; whether one failed.
fn subjects(args: &Analyze) -> Result<(Vec<Subject>, bool)> {
    let names = names::of(&args.path);
    let mut subjects = Vec::new();
    let mut errors = Vec::new();
    for (path, name) in args.path.iter().zip(names) {
        match recording::read(path) {
            Ok(mut workload) => {
                let filled = machine(&mut workload, args.arch.as_deref())?;
                subjects.push(Subject {
                    name,
                    path: path.display().to_string(),
                    rows: Vec::new(),
                    filled,
                    workload,
                    selection: String::new(),
                });
            }
            Err(error) => errors.push(error),
        }
    }
    if subjects.is_empty() {
        let last = errors.pop();
        errors.iter().for_each(|error| eprintln!("error: {error:#}"));
        return Err(last.unwrap_or_else(|| anyhow::anyhow!("no recording")));
    }
    errors.iter().for_each(|error| eprintln!("error: {error:#}"));
    Ok((subjects, !errors.is_empty()))
}

/// Fills in what is not recorded of the machine; the GPU given counts where the recording names none.
fn machine(workload: &mut Workload, arch: Option<&str>) -> Result<Vec<Filled>> {
    let mut given = Vec::new();
    if let Some(name) = arch {
        let (target, model) = definitions::gpu(name)?;
        let facts = &mut workload.machine;
        for (fact, value) in [("gpu_arch", Some(target)), ("gpu_model", model)] {
            if let (None, Some(value)) = (facts.text(fact), value) {
                facts.facts.insert(fact.to_owned(), value.clone());
                given.push(Filled { fact, value, source: "command line".to_owned() });
            }
        }
    }
    given.extend(fill(&mut workload.machine));
    Ok(given)
}

/// Selects in each recording. Kernels are resolved on the base; the others follow by name.
fn select_in(args: &Analyze, subjects: &mut [Subject], renames: &Renames) -> Result<()> {
    let wanted =
        Wanted { kernels: args.kernel.clone(), dispatches: args.dispatch.clone(), gpus: args.gpu_id.clone() };
    let mut filter = KernelFilter::new(&subjects[0].workload, &wanted.kernels).map_err(refuse)?;
    if let Some(filter) = &mut filter {
        let base = &subjects[0].workload;
        for kernel in &base.kernels {
            if filter.admits(kernel) {
                let others: Vec<&str> = renames.others(workload::plain_kernel_name(kernel)).collect();
                others.into_iter().for_each(|name| filter.admit(name));
            }
        }
    }
    for s in subjects {
        (s.rows, s.selection) = select(&s.workload, filter.as_ref(), &wanted).map_err(refuse)?;
    }
    Ok(())
}

/// Says on standard error what a script must not miss.
fn outcome(report: &Report, failed: bool, mut met: bool) -> Outcome {
    let mut input_error = failed;
    for note in report.notes.iter().filter(|n| n.kind == NoteKind::Error) {
        input_error = true;
        eprintln!("error: {}", note.text);
    }
    for c in &report.conditions {
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
    Outcome::of(input_error, met)
}
