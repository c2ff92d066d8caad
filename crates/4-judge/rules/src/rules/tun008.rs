//! TUN008: rows for another GPU than the machine's.
//!
//! Target and number of compute units are part of the key, so rows for another GPU are never used.

use crate::device_names::sold_as;
use crate::tunings::{TuneMachine, TuningEvidence, at, outcome};
use crate::{Check, Outcome, Rule};
use arch::{Target, Unit};
use std::collections::{BTreeMap, BTreeSet};
use tunedb::{Detail, Format, Row, Tunings};
use view::{Finding, Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "TUN008",
    title: "rows for another GPU than the machine's",
    severity: Severity::Severe,
    page: include_str!("tun008.md"),
    checks: &[Check::Tunings(check)],
    panels: &[],
};

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let Some(machine) = evidence.machine.filter(|it| it.target.is_some() || it.cu_count.is_some()) else {
        return Outcome::needs("the machine: --gpu");
    };
    // AITER joins the tables of a family, so one matching table is enough.
    let families: BTreeSet<&str> =
        evidence.files.iter().filter(|it| fits(it, machine)).filter_map(family).collect();
    let joined = |file: &Tunings<'_>| family(file).is_some_and(|it| families.contains(it));
    // Of configurations for several devices each GPU opens its own.
    let named = evidence.files.iter().any(|file| is_for_device(file, machine) == Some(true));
    let of_file = |file: &Tunings<'_>| match is_for_device(file, machine) {
        Some(true) => None,
        Some(false) => device(file, named),
        None => one(file, machine, joined(file)),
    };
    outcome(evidence.files.iter().filter_map(of_file).collect())
}

/// Operation that a table of AITER tunes.
fn family<'f>(file: &'f Tunings<'_>) -> Option<&'f str> {
    match &file.detail {
        Detail::Columns(columns) if file.format == Format::AiterTuned => Some(&columns.family),
        _ => None,
    }
}

fn fits(file: &Tunings<'_>, machine: &TuneMachine) -> bool {
    file.rows.iter().any(|row| other(row, machine).is_none())
}

fn one(file: &Tunings<'_>, machine: &TuneMachine, joined: bool) -> Option<Finding> {
    // TunableOp rejects a file of another target as a whole; that is another rule's finding.
    if file.format == Format::TunableOp {
        return None;
    }
    let mut others: BTreeMap<String, usize> = BTreeMap::new();
    let (mut fitting, mut first) = (0, None);
    for row in &file.rows {
        match other(row, machine) {
            None => fitting += 1,
            Some(gpu) => {
                *others.entry(gpu).or_default() += 1;
                first = first.or(Some(row.line));
            }
        }
    }
    let words: Vec<String> =
        others.iter().map(|(gpu, rows)| format!("{} for {gpu}", counted(*rows, "row"))).collect();
    let gpu = words_of(machine);
    let (message, severity) = match fitting {
        0 if joined => (
            format!("no row is for {gpu}; other tables of the family have some: {}", words.join(", ")),
            Severity::Info,
        ),
        // The loader opens such a file by the target in its path: beside others it does no harm.
        0 if file.format == Format::AiterJson => {
            (format!("the file is for another target than {gpu}: {}", words.join(", ")), Severity::Info)
        }
        0 if has_no_types(file, machine) => (
            format!("{gpu} has no such types, so the table is not asked: {}", words.join(", ")),
            Severity::Info,
        ),
        0 => {
            (format!("no row is for {gpu}, so the loader finds none: {}", words.join(", ")), Severity::Severe)
        }
        _ => (
            format!("{} for {gpu}, the rest is for others: {}", counted(fitting, "row"), words.join(", ")),
            Severity::Info,
        ),
    };
    let finding = RULE.finding(severity, message, "tune on the GPU that the file is to be used on");
    Some(finding.with_places([at(file, first?)]))
}

/// Whether the matrix units of the machine lack the types of a table: 4-bit types before gfx950.
fn has_no_types(file: &Tunings<'_>, machine: &TuneMachine) -> bool {
    let target = machine.target.as_deref().and_then(Target::by_name);
    let element = file.rows.first().and_then(|row| tunedb::element(row.types.as_deref().ok()?));
    matches!((target, element), (Some(target), Some(element)) if target.peak(Unit::Matrix, element).is_none())
}

/// The GPU of a row, if it differs from the machine's.
fn other(row: &Row<'_>, machine: &TuneMachine) -> Option<String> {
    let target = row.target.as_deref().ok();
    let units = row.cu_count.as_ref().ok().copied();
    let target_differs = matches!((target, &machine.target), (Some(own), Some(wanted)) if own != wanted);
    let units_differ = matches!((units, machine.cu_count), (Some(own), Some(wanted)) if own != wanted);
    if !target_differs && !units_differ {
        return None;
    }
    let target = target.unwrap_or("any target");
    Some(match units {
        Some(units) => format!("{target} with {units} compute units"),
        None => target.to_owned(),
    })
}

fn words_of(machine: &TuneMachine) -> String {
    match (&machine.target, machine.cu_count) {
        (Some(target), Some(units)) => format!("{target} with {units} compute units"),
        (Some(target), None) => target.clone(),
        (None, units) => format!("{} compute units", units.unwrap_or_default()),
    }
}

/// Whether the name of a configuration has a device of the machine's model; `None` for other files, and where the
/// model or the device is not known.
fn is_for_device(file: &Tunings<'_>, machine: &TuneMachine) -> Option<bool> {
    if !matches!(file.format, Format::MoeJson | Format::BlockGemmJson) {
        return None;
    }
    let (Some(name), Some(model)) = (file.version("device_name"), machine.model.as_deref()) else {
        return Some(true);
    };
    Some(sold_as(name).to_ascii_lowercase().contains(model))
}

/// A configuration under the name of another device.
fn device(file: &Tunings<'_>, others_fit: bool) -> Option<Finding> {
    let name = file.version("device_name")?;
    let message = format!("the file is for `{name}`; a device whose name does not spell that never reads it");
    let advice = "compare with `torch.cuda.get_device_name()`, blanks as `_`, and copy the file under that name if it is the same silicon";
    let severity = if others_fit { Severity::Info } else { Severity::Warning };
    Some(RULE.finding(severity, message, advice).with_places([at(file, 0)]))
}
