//! From the shares a kernel reaches to its limiter, other possible limiters, and missing counters that could
//! change the verdict.
//!
//! The decision is a pure function of a few numbers. Limiters within the noise are found by repeating it with
//! numbers that differ by the noise; a counter that was not recorded narrows the answer but does not prevent
//! one.

use super::at_most::{AtMost, at_most};
use super::ceilings::{RATES, Unit};
use super::verdict::{BUSY, Bound, ISSUE, ISSUE_NAME};
use super::{Reached, Share};
use crate::numbers::KernelNumbers;
use view::Missing;

/// Part of a ceiling from which on it is what stops a kernel.
const BOUND_FROM: f64 = 0.5;
/// Part of the cycles with a vector instruction from which on their number stops a kernel.
const ISSUE_BOUND_FROM: f64 = 0.8;
/// Part of the time the compute units hold waves below which starting and ending is what takes the time.
const BUSY_FROM: f64 = 0.5;
/// Least and most that numbers of one kernel differ from run to run, as a part of them.
const NOISE: (f64, f64) = (0.1, 0.25);
/// Part of a ceiling above which a count is not of what the ceiling is of.
const IMPOSSIBLE: f64 = 1.1;

/// Something else that may stop a kernel.
#[derive(Clone, PartialEq, Debug)]
pub struct Rival {
    /// The other limiter.
    pub bound: Bound,
    /// Reason for listing it.
    pub reason: RivalReason,
}

/// Reason why something else may limit a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RivalReason {
    /// The numbers are nearer to each other than dispatches are.
    Noise,
    /// The verdict uses a measured ceiling, and differs with the data-sheet ceiling.
    DataSheet,
}

/// A counter that was not recorded and could change a verdict.
#[derive(Clone, PartialEq, Debug)]
pub struct Lack {
    /// Ceiling, `vector issue`, or the time in which compute units hold waves.
    pub name: &'static str,
    /// Reason why it is missing.
    pub reason: Missing,
}

/// The name of what tells latency from launch.
pub(super) const BUSY_NAME: &str = "the time in which compute units hold waves";

pub(super) struct Verdict {
    pub(super) bound: Result<Bound, Missing>,
    pub(super) rivals: Vec<Rival>,
    pub(super) excluded: Vec<&'static str>,
    pub(super) lacks: Vec<Lack>,
    pub(super) at_most: Vec<AtMost>,
}

/// A ceiling with its reached share.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Part {
    ceiling: Place,
    part: f64,
}

/// Index of a ceiling among the shares of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Level(&'static str),
    Unit(Unit),
}

/// Inputs of the decision.
#[derive(Clone, PartialEq, Debug, Default)]
struct Quantities {
    parts: Vec<Part>,
    issue: Option<f64>,
    busy: Option<f64>,
}

/// Outcome of the decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Ceiling(Place),
    VectorIssue,
    Latency,
    Launch,
    /// No ceiling; whether the compute units hold waves is not known.
    Neither,
}

impl Kind {
    /// Tie-break between two equally near limiters: the one with more to act on leads. It is the same in
    /// repeated runs of a program.
    fn rank(self) -> u8 {
        match self {
            Kind::Ceiling(_) => 0,
            Kind::VectorIssue => 1,
            Kind::Latency | Kind::Neither => 2,
            Kind::Launch => 3,
        }
    }
}

impl Quantities {
    fn nearest(&self) -> Option<Part> {
        self.parts.iter().copied().max_by(|a, b| a.part.total_cmp(&b.part))
    }

    fn decide(&self) -> Kind {
        let nearest = self.nearest();
        let issues = self.issue.filter(|busy| *busy >= ISSUE_BOUND_FROM);
        if let Some(near) = nearest.filter(|near| near.part >= BOUND_FROM) {
            // A unit that issues all the time is full, however few of its instructions are floating-point operations.
            let vector = near.ceiling == Place::Unit(Unit::Vector);
            let fuller = issues.is_some_and(|busy| busy > near.part);
            return if fuller && (!vector || near.part < ISSUE_BOUND_FROM) {
                Kind::VectorIssue
            } else {
                Kind::Ceiling(near.ceiling)
            };
        }
        match (issues, self.busy) {
            (Some(_), _) => Kind::VectorIssue,
            (None, Some(busy)) if busy < BUSY_FROM => Kind::Launch,
            (None, Some(_)) => Kind::Latency,
            (None, None) => Kind::Neither,
        }
    }

    /// Copies in which single numbers, and all shares together, differ by the noise.
    fn varied(&self, noise: f64) -> Vec<Quantities> {
        let mut out = Vec::new();
        for factor in [1.0 + noise, 1.0 - noise] {
            let parts = |chosen: Option<usize>| {
                let scaled = |(at, it): (usize, &Part)| {
                    let factor = if chosen.is_none_or(|chosen| chosen == at) { factor } else { 1.0 };
                    Part { part: it.part * factor, ..*it }
                };
                self.parts.iter().enumerate().map(scaled).collect()
            };
            out.push(Quantities { parts: parts(None), ..self.clone() });
            out.extend((0..self.parts.len()).map(|at| Quantities { parts: parts(Some(at)), ..self.clone() }));
            out.push(Quantities { issue: self.issue.map(|it| it * factor), ..self.clone() });
            out.push(Quantities { busy: self.busy.map(|it| it * factor), ..self.clone() });
        }
        out
    }
}

/// Limiter of the dispatches in `kernel`.
pub(super) fn judge(kernel: &KernelNumbers<'_>, reached: &Reached, noise: f64) -> Verdict {
    let noise = noise.clamp(NOISE.0, NOISE.1);
    let mut lacks = Vec::new();
    let mut bounded = Vec::new();
    // Without times nothing bounds a rate.
    let bounds = |reason: &Missing| matches!(reason, Missing::Columns(_) | Missing::CommonDispatch);
    for (name, reason) in &reached.unknown {
        match bounds(reason).then(|| at_most(kernel, name)).flatten() {
            Some(limit) if limit.part < BOUND_FROM * (1.0 - noise) => bounded.push(limit),
            _ => lacks.push(Lack { name, reason: reason.clone() }),
        }
    }
    for share in reached.judging() {
        let Some(part) = share.part().filter(|part| *part > IMPOSSIBLE) else { continue };
        let times = format!("{:.0} % of the ceiling were counted, which no kernel can reach", 100.0 * part);
        lacks.push(Lack { name: share.name, reason: Missing::Because(times) });
    }
    let percent = |metric: &str| kernel.value(metric).map(|percent| percent / 100.0);
    let issue = match kernel.evaluation.defined(ISSUE).then(|| percent(ISSUE)) {
        None => None,
        Some(Ok(busy)) => Some(busy),
        Some(Err(reason)) => {
            match at_most(kernel, ISSUE_NAME) {
                Some(limit) if limit.part < ISSUE_BOUND_FROM * (1.0 - noise) => bounded.push(limit),
                _ => lacks.push(Lack { name: ISSUE_NAME, reason }),
            }
            None
        }
    };
    let busy = percent(BUSY);
    let quantities =
        Quantities { parts: parts(reached, Share::part), issue, busy: busy.as_ref().ok().copied() };
    let excluded = excluded(reached, &quantities, &lacks, &bounded);
    let none =
        |lacks: &[Lack]| Missing::together(lacks.iter().map(|lack| &lack.reason)).unwrap_or(Missing::Rate);
    if quantities.parts.is_empty() && bounded.is_empty() {
        let bound = Err(none(&lacks));
        return Verdict { bound, rivals: Vec::new(), excluded, lacks, at_most: bounded };
    }
    let decided = quantities.decide();
    // One rival is enough to say that the verdict is not sure.
    let near = quantities.varied(noise).iter().map(Quantities::decide).find(|it| *it != decided);
    let kind = near.filter(|near| near.rank() < decided.rank()).unwrap_or(decided);
    let rival = near.map(|near| if near == kind { decided } else { near });
    let ceiling_lacks = !lacks.is_empty();
    let open = match kind {
        Kind::Ceiling(_) | Kind::VectorIssue | Kind::Launch => false,
        Kind::Latency | Kind::Neither => ceiling_lacks,
    };
    if let (Kind::Latency | Kind::Launch | Kind::Neither, Err(reason)) = (kind, busy) {
        lacks.push(Lack { name: BUSY_NAME, reason });
    }
    let bound = match kind {
        _ if open && excluded.is_empty() => Err(none(&lacks)),
        _ if open => Ok(Bound::open(&excluded)),
        kind => bound_of(kind, reached, &quantities).ok_or_else(|| none(&lacks)),
    };
    let rivals = match &bound {
        Ok(bound) if !open => rivals((kind, rival), bound, reached, &quantities),
        _ => Vec::new(),
    };
    Verdict { bound, rivals, excluded, lacks, at_most: bounded }
}

/// Parts of the ceilings that judge. A count far above its ceiling is not of what the ceiling is of.
fn parts(reached: &Reached, of: impl Fn(&Share) -> Option<f64> + Copy) -> Vec<Part> {
    let levels = reached.judging().filter_map(|share| Some((Place::Level(share.name), of(share)?)));
    let units = [Unit::Vector, Unit::Matrix].into_iter().filter_map(|unit| {
        let sum = reached.of_unit(unit).filter_map(of).reduce(|all, part| all + part)?;
        Some((Place::Unit(unit), sum))
    });
    let parts = levels.chain(units).filter(|(_, part)| part.is_finite() && *part <= IMPOSSIBLE);
    parts.map(|(ceiling, part)| Part { ceiling, part }).collect()
}

/// Other possible limiters of the kernel.
fn rivals(
    (kind, near): (Kind, Option<Kind>),
    bound: &Bound,
    reached: &Reached,
    quantities: &Quantities,
) -> Vec<Rival> {
    let mut out: Vec<Rival> = Vec::new();
    if kind == Kind::Neither {
        let launch = Bound::Launch { busy: None, nearest: quantities.nearest().map(|near| near.part) };
        return vec![Rival { bound: launch, reason: RivalReason::Noise }];
    }
    let mut push = |other: Kind, reason| {
        let Some(rival) = bound_of(other, reached, quantities).filter(|_| other != kind) else { return };
        if rival.name() != bound.name() && out.iter().all(|it: &Rival| it.bound.name() != rival.name()) {
            out.push(Rival { bound: rival, reason });
        }
    };
    if let Some(other) = near {
        push(other, RivalReason::Noise);
    }
    let by_data_sheet = |share: &Share| {
        let rate = share.rate.as_ref().ok()?;
        Some(rate / share.data_sheet.unwrap_or(share.ceiling))
    };
    let other = Quantities { parts: parts(reached, by_data_sheet), ..quantities.clone() };
    push(other.decide(), RivalReason::DataSheet);
    out
}

fn bound_of(kind: Kind, reached: &Reached, quantities: &Quantities) -> Option<Bound> {
    let nearest = quantities.nearest().map(|near| near.part);
    Some(match kind {
        Kind::Ceiling(place) => {
            let part = quantities.parts.iter().find(|it| it.ceiling == place)?.part;
            let share = match place {
                Place::Level(name) => reached.judging().find(|share| share.name == name)?,
                Place::Unit(unit) => reached.main_rate(unit)?,
            };
            let vector = place == Place::Unit(Unit::Vector);
            let full = quantities.issue.filter(|_| vector).map_or(part, |busy| busy.max(part));
            Bound::Ceiling { share: share.clone(), part, full }
        }
        Kind::VectorIssue => Bound::VectorIssue { busy: quantities.issue?, nearest },
        Kind::Latency | Kind::Neither => Bound::Latency { nearest: nearest.unwrap_or(0.0) },
        Kind::Launch => Bound::Launch { busy: quantities.busy, nearest },
    })
}

/// Ceilings of which less than half is reached: all of a unit's types where all are known, its single types
/// otherwise.
fn excluded(
    reached: &Reached,
    quantities: &Quantities,
    lacks: &[Lack],
    bounded: &[AtMost],
) -> Vec<&'static str> {
    let lacking = |name: &str| lacks.iter().any(|lack| lack.name == name);
    let below = |place: Place| quantities.parts.iter().any(|it| it.ceiling == place && it.part < BOUND_FROM);
    let is_bounded = |name: &str| bounded.iter().any(|it| it.ceiling == name);
    let mut out: Vec<&'static str> = reached
        .judging()
        .map(|share| share.name)
        .filter(|name| below(Place::Level(name)) || is_bounded(name))
        .collect();
    for limit in bounded {
        if !limit.ceiling.contains(' ') && !out.contains(&limit.ceiling) {
            out.push(limit.ceiling);
        }
    }
    for (unit, words) in [(Unit::Vector, "vector arithmetic"), (Unit::Matrix, "matrix arithmetic")] {
        let mut types = RATES.iter().filter(|rate| rate.unit == unit).map(|rate| rate.name);
        let known = |name: &str| {
            is_bounded(name) || reached.of_unit(unit).any(|it| it.name == name && it.part().is_some())
        };
        let any = RATES.iter().any(|rate| rate.unit == unit && known(rate.name));
        let above =
            quantities.parts.iter().any(|it| it.ceiling == Place::Unit(unit) && it.part >= BOUND_FROM);
        if any && !above && !types.any(lacking) {
            out.push(words);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantities(parts: &[(&'static str, f64)], vector: f64, issue: f64, busy: Option<f64>) -> Quantities {
        let mut list: Vec<Part> =
            parts.iter().map(|(name, part)| Part { ceiling: Place::Level(name), part: *part }).collect();
        list.push(Part { ceiling: Place::Unit(Unit::Vector), part: vector });
        Quantities { parts: list, issue: Some(issue), busy }
    }

    #[test]
    fn the_nearest_ceiling_then_issue_then_waves_decide() {
        let (hbm, l2) = (Kind::Ceiling(Place::Level("HBM")), Kind::Ceiling(Place::Level("L2")));
        let vector = Kind::Ceiling(Place::Unit(Unit::Vector));
        for (parts, vector_part, issue, busy, kind) in [
            ([("HBM", 0.9), ("L2", 0.6)], 0.1, 0.1, Some(0.9), hbm),
            ([("HBM", 0.5), ("L2", 0.6)], 0.1, 0.1, Some(0.2), l2),
            ([("HBM", 0.4), ("L2", 0.3)], 0.1, 0.1, Some(0.9), Kind::Latency),
            ([("HBM", 0.4), ("L2", 0.3)], 0.1, 0.1, Some(0.4), Kind::Launch),
            ([("HBM", 0.4), ("L2", 0.3)], 0.1, 0.1, None, Kind::Neither),
            ([("HBM", 0.4), ("L2", 0.3)], 0.1, 0.85, Some(0.9), Kind::VectorIssue),
            ([("HBM", 0.6), ("L2", 0.3)], 0.1, 0.85, Some(0.9), Kind::VectorIssue),
            ([("HBM", 0.9), ("L2", 0.3)], 0.1, 0.85, Some(0.9), hbm),
            ([("HBM", 0.1), ("L2", 0.3)], 0.6, 0.85, Some(0.9), Kind::VectorIssue),
            ([("HBM", 0.1), ("L2", 0.3)], 0.9, 0.95, Some(0.9), vector),
        ] {
            assert_eq!(
                quantities(&parts, vector_part, issue, busy).decide(),
                kind,
                "{parts:?} {issue} {busy:?}"
            );
        }
    }

    #[test]
    fn what_is_within_the_noise_is_found() {
        for (hbm, l2, busy, others) in [
            (0.9, 0.1, 0.9, &[][..]),
            (0.9, 0.88, 0.9, &[Kind::Ceiling(Place::Level("L2"))]),
            (0.49, 0.1, 0.9, &[Kind::Ceiling(Place::Level("HBM"))]),
            (0.1, 0.1, 0.51, &[Kind::Launch]),
            (0.1, 0.1, 0.49, &[Kind::Latency]),
        ] {
            let it = quantities(&[("HBM", hbm), ("L2", l2)], 0.0, 0.1, Some(busy));
            let kind = it.decide();
            let mut found: Vec<Kind> =
                it.varied(0.05).iter().map(Quantities::decide).filter(|other| *other != kind).collect();
            found.dedup();
            assert_eq!(found.first(), others.first(), "{hbm} {l2} {busy}");
        }
    }
}
