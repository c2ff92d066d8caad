//! Why a candidate cannot be used: its launches beside the base's on the same inputs.

use super::{Problem, compare};
use crate::run::{LeftBuffer, Results};
use view::{CandidateVerdict, Finding, Severity};

/// The launches of a variant on one set of inputs: as it is, with other contents of its output buffers, and with the
/// workgroups from the last to the first. The last two only once for each shape.
pub(super) struct Launches {
    /// The GPU that the launch file names.
    pub(super) gpu: Option<String>,
    pub(super) plain: Results,
    pub(super) others: Option<Others>,
}

/// Launches with other contents of output buffers, and in another order.
pub(super) enum Others {
    /// With both at a time the results are the same bits: so they are with either.
    Same,
    /// One after the other.
    Apart(Box<[Results; 2]>),
}

impl Launches {
    /// The launches with other contents of output buffers, and in another order.
    fn others(&self) -> Option<(&Results, &Results)> {
        match self.others.as_ref()? {
            Others::Same => Some((&self.plain, &self.plain)),
            Others::Apart(both) => Some((&both[0], &both[1])),
        }
    }
}

/// Result of a candidate's launches on one set of inputs.
#[derive(Default)]
pub(super) struct Shown {
    pub(super) problem: Option<Problem>,
    /// Largest relative difference from the base.
    pub(super) largest: f64,
    /// Its results depend on the order of workgroups, as the base's do.
    pub(super) by_order: bool,
}

/// Why the base cannot be compared with.
pub(super) fn fault_of_base(base: &Results) -> Option<String> {
    let stopped = base.stopped.as_ref().map(|it| it.text.clone());
    stopped
        .or_else(|| base.unexpected.clone())
        .or_else(|| (base.buffers.is_empty()).then(|| "it has no buffer".to_owned()))
}

/// Why a candidate cannot be used, from its launches and the base's on the same inputs.
pub(super) fn problem(
    base: &Launches,
    own: &Launches,
    tolerance: Option<f64>,
    shown: &mut Shown,
) -> Option<Problem> {
    if let Some(stopped) = &own.plain.stopped {
        let verdict = if stopped.hangs { CandidateVerdict::Hangs } else { CandidateVerdict::Unsafe };
        return Some(Problem::new(verdict, one_line(&stopped.text)));
    }
    if let Some(finding) = new_finding(&base.plain.findings, &own.plain.findings) {
        return Some(Problem::new(CandidateVerdict::Unsafe, finding));
    }
    let pairs = match pairs(&base.plain, &own.plain) {
        Ok(pairs) => pairs,
        Err(why) => return Some(Problem::new(CandidateVerdict::NotRun, why)),
    };
    left_over(base, own)
        .or_else(|| {
            pairs.into_iter().find_map(|(base, other)| {
                if base.before == base.after && base.is_input && other.before != other.after {
                    return Some(Problem::new(
                        CandidateVerdict::Unsafe,
                        format!("it writes its input `{}`", base.name),
                    ));
                }
                let compared = compare::compared(base, other, tolerance);
                shown.largest = shown.largest.max(compared.largest);
                compared.problem.map(|why| Problem::new(CandidateVerdict::Wrong, why))
            })
        })
        .or_else(|| by_order(base, own, shown))
}

/// Whether two launches leave the same bits.
pub(super) fn leave_the_same(one: &Results, other: &Results) -> bool {
    one.buffers.len() == other.buffers.len()
        && one.buffers.iter().zip(&other.buffers).all(|(one, other)| one.after == other.after)
}

/// Buffers of the same name in the base and a candidate.
fn pairs<'a>(base: &'a Results, own: &'a Results) -> Result<Vec<(&'a LeftBuffer, &'a LeftBuffer)>, String> {
    let pair = |it: &'a LeftBuffer| {
        let Some(other) = own.buffers.iter().find(|other| other.name == it.name) else {
            return Err(format!("its launch file has no buffer `{}`", it.name));
        };
        if other.after.len() != it.after.len() || other.element != it.element {
            return Err(format!("its launch file has another type or size of `{}`", it.name));
        }
        if other.before != it.before {
            return Err(format!("its launch file fills `{}` with other contents than the base's", it.name));
        }
        Ok((it, other))
    };
    base.buffers.iter().map(pair).collect()
}

/// The first mistake of a kind that the base does not have.
pub(super) fn new_finding(base: &[Finding], own: &[Finding]) -> Option<String> {
    let new = |it: &&Finding| it.severity >= Severity::Warning && !base.iter().any(|old| old.rule == it.rule);
    let found = own.iter().find(new)?;
    let place = found.places.first().and_then(|it| it.source.as_ref());
    let place = place.map_or_else(String::new, |it| format!(" ({}:{})", it.file, it.line));
    Some(format!("{}: {}{place}", found.rule, found.message))
}

/// Elements that the base computes, and the candidate leaves as they were.
fn left_over(base: &Launches, own: &Launches) -> Option<Problem> {
    let ((base_filled, _), (own_filled, _)) = (base.others()?, own.others()?);
    if base_filled.stopped.is_some() {
        return None;
    }
    if let Some(stopped) = &own_filled.stopped {
        let why = format!("with other contents of its outputs it stops: {}", one_line(&stopped.text));
        return Some(Problem::new(CandidateVerdict::Unsafe, why));
    }
    let of = |it: &'_ Results, name: &str| it.buffers.iter().position(|it| it.name == name);
    base.plain.buffers.iter().find_map(|it| {
        let buffer = |results: &'_ Results| of(results, &it.name);
        let (filled, plain, after) = (buffer(base_filled)?, buffer(&own.plain)?, buffer(own_filled)?);
        let at = compare::first_left(
            (it, &base_filled.buffers[filled]),
            (&own.plain.buffers[plain], &own_filled.buffers[after]),
        )?;
        let why = format!(
            "element {at} of `{}` depends on what the buffer held before: it is not written, or read first",
            it.name
        );
        Some(Problem::new(CandidateVerdict::Unsafe, why))
    })
}

/// Results that depend on the order of workgroups, unless the base's do.
fn by_order(base: &Launches, own: &Launches, shown: &mut Shown) -> Option<Problem> {
    let ((_, base_reversed), (_, own_reversed)) = (base.others()?, own.others()?);
    if let Some(stopped) = &own_reversed.stopped {
        let why = format!("with workgroups from the last to the first it stops: {}", one_line(&stopped.text));
        return Some(Problem::new(CandidateVerdict::Unsafe, why));
    }
    let first = |a: &Results, b: &Results| {
        let pairs = a.buffers.iter().zip(&b.buffers);
        pairs.map(|(a, b)| Some((a.name.clone(), compare::first_bits(a, b)?))).find_map(|it| it)
    };
    let (name, (at, one, other)) = first(&own.plain, own_reversed)?;
    if base_reversed.stopped.is_none() && first(&base.plain, base_reversed).is_some() {
        shown.by_order = true;
        return None;
    }
    let why = format!(
        "its results depend on the order of workgroups: element {at} of `{name}` is {one}, and {other} if they run from the last to the first"
    );
    Some(Problem::new(CandidateVerdict::Unsafe, why))
}

/// A message of several lines as one, without its hints.
pub(super) fn one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).take_while(|it| !it.starts_with("hint:"));
    lines.filter(|it| !it.is_empty()).collect::<Vec<_>>().join("; ")
}
