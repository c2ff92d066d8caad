//! Verdicts on variants of a kernel, from the results of their launches and the recordings of the right ones.

use crate::Measured;
use analysis::WorkloadEvidence;
use analysis::workload::Subject;
use metrics::{Evaluation, Settings};
use rules::CandidateEvidence;
use sorting::Sort;
use tune::race::Comparison;
use view::{
    Answer, Candidate, CandidateVerdict, Cell, Column, ColumnKind, Input, JUDGE_SCHEMA, Mark, NamedValue,
    NoteKind, Row, Table, Verdicts, WorkChange, counted, duration,
};

/// Work of a launch: metrics with their names. Less of each is better.
const WORK: [(&str, &str); 9] = [
    ("instructions.valu_and_matrix", "vector instructions"),
    ("instructions.matrix", "matrix instructions"),
    ("instructions.salu", "scalar instructions"),
    ("instructions.smem", "scalar loads"),
    ("instructions.vmem", "vector memory instructions"),
    ("instructions.lds", "LDS instructions"),
    ("lds.bank_conflict_cycles", "cycles of LDS bank conflicts"),
    ("l2.requests", "L2 requests"),
    ("roofline.hbm_bytes", "bytes of HBM"),
];
/// Bytes of HBM among them, which depend on what the caches hold.
const HBM: (&str, &str) = ("roofline.hbm_bytes", "HBM");
/// Factor from which on work or time differs.
const DIFFERS: f64 = 1.02;
/// Factor of measured times from which on a difference matters to anybody.
const MATTERS: f64 = 1.005;
/// Probability of the interval of measured times.
const CONFIDENCE: f64 = 0.95;
/// Error of a modelled time that was compared with no measured one, percent.
const UNKNOWN: f64 = 50.0;

/// A variant that was run.
pub struct TriedVariant {
    /// Name.
    pub name: String,
    /// Path as given.
    pub path: String,
    /// Form.
    pub kind: &'static str,
    /// Why it cannot be used: verdict, grounds, inputs that show it.
    pub problem: Option<(CandidateVerdict, String, Option<String>)>,
    /// Largest relative difference from the base.
    pub largest: f64,
    /// Its results depend on the order of workgroups, as the base's do.
    pub by_order: bool,
    /// Recordings of a launch of each shape, or of each round on a GPU: the base's, then its own; for the base itself twice
    /// the same.
    pub recordings: Vec<Measured<'static>>,
    /// Time claimed for it, us.
    pub claim_us: Option<f64>,
}

/// A launch of a shape, in the base and in a candidate.
struct Pair {
    before_us: f64,
    after_us: f64,
    trust: Option<Mark>,
    bound: Option<(String, String)>,
    changes: Vec<WorkChange>,
    /// Least time of the work of the candidate, us, and what needs it.
    least: Option<(f64, &'static str)>,
    gpu: String,
    emulated: bool,
}

/// The answer of `judge` on a base and candidates that ran on this many input sets. `shapes` are the names of the shapes.
pub fn verdicts(
    base: &TriedVariant,
    tried: &[TriedVariant],
    cases: u64,
    shapes: &[String],
) -> Answer<Verdicts> {
    let of_base: Vec<Pair> = base.recordings.iter().filter_map(pair).collect();
    let part = Verdicts {
        gpu: of_base.first().map(|it| it.gpu.clone()).unwrap_or_default(),
        cases,
        base: base.name.clone(),
        base_us: typical(&of_base, |it| it.before_us),
        candidates: Vec::new(),
    };
    let mut answer = Answer::new(JUDGE_SCHEMA, part);
    answer.inputs.push(Input::new(&base.name, &base.path, base.kind));
    let mut times = Vec::new();
    for it in tried {
        let pairs: Vec<Pair> = it.recordings.iter().filter_map(pair).collect();
        let candidate = candidate(it, &pairs);
        let evidence = CandidateEvidence {
            name: &candidate.name,
            verdict: candidate.verdict,
            because: &candidate.because,
            inputs: candidate.inputs.as_deref(),
        };
        answer.findings.extend(rules::check_candidate(&evidence));
        let mut input = Input::new(&it.name, &it.path, it.kind);
        if candidate.verdict == CandidateVerdict::NotRun {
            input.not_used.push("not launched".to_owned());
            answer.note(NoteKind::Error, format!("{}: {}", it.name, candidate.because));
        }
        answer.inputs.push(input);
        answer.part.candidates.push(candidate);
        times.push(pairs);
    }
    if shapes.len() > 1 {
        answer.tables.extend(of_shapes(tried, &times, shapes));
    }
    answer
}

fn candidate(it: &TriedVariant, pairs: &[Pair]) -> Candidate {
    // The times of some shapes say nothing where another shape is wrong.
    let pairs = if it.problem.is_some() { &[] } else { pairs };
    let first = pairs.first();
    let trust = first.and_then(|it| it.trust);
    let logs: f64 = pairs.iter().map(|it| (it.before_us / it.after_us).ln()).sum();
    let mut speedup = (!pairs.is_empty()).then(|| (logs / pairs.len() as f64).exp());
    let measured = measured(pairs);
    let (verdict, because, inputs) = match (&it.problem, first, speedup) {
        (Some((verdict, why, inputs)), ..) => (*verdict, why.clone(), inputs.clone()),
        (None, Some(first), Some(modelled)) => match (impossible(it.claim_us, first), measured) {
            (Some(why), _) => (CandidateVerdict::Impossible, why, None),
            (None, Some(found)) => {
                speedup = Some(found.speedup);
                let (verdict, why) = timed(&found);
                (verdict, why, None)
            }
            (None, None) => {
                let (verdict, why) = compared(modelled, trust, &first.changes);
                (verdict, why, None)
            }
        },
        _ => (CandidateVerdict::NotRun, "it has no time".to_owned(), None),
    };
    let mut facts = Vec::new();
    if it.largest > 0.0 && it.problem.is_none() {
        facts
            .push(NamedValue::new("largest difference", format!("{:.1e}, within the tolerance", it.largest)));
    }
    if it.by_order {
        facts.push(NamedValue::new(
            "order",
            "the last bits depend on the order of workgroups, as in the base",
        ));
    }
    let bound = first.and_then(|it| it.bound.clone());
    Candidate {
        name: it.name.clone(),
        verdict,
        because,
        inputs,
        time_us: typical(pairs, |it| it.after_us),
        trust,
        speedup,
        bound_by: bound.map(|(before, after)| vec![before, after]).unwrap_or_default(),
        changes: first.map(|it| it.changes.clone()).unwrap_or_default(),
        facts,
    }
}

/// A modelled time of the first shape, or the median of the rounds on a GPU, us.
fn typical(pairs: &[Pair], time: fn(&Pair) -> f64) -> Option<f64> {
    let first = pairs.first()?;
    if first.emulated {
        return Some(time(first));
    }
    history::median(pairs.iter().map(time).collect())
}

/// The rounds on a GPU compared; `None` for modelled times.
fn measured(pairs: &[Pair]) -> Option<Comparison> {
    if pairs.iter().any(|it| it.emulated) {
        return None;
    }
    let rounds: Vec<_> = pairs.iter().map(|it| (vec![it.before_us], vec![it.after_us])).collect();
    tune::race::compare(&rounds, CONFIDENCE)
}

/// Whether a candidate is faster on a GPU, and why.
fn timed(found: &Comparison) -> (CandidateVerdict, String) {
    let verdict = match found.verdict {
        _ if found.speedup.max(1.0 / found.speedup) < MATTERS => CandidateVerdict::NotFaster,
        tune::race::Verdict::Faster => CandidateVerdict::Faster,
        tune::race::Verdict::Slower => CandidateVerdict::Slower,
        tune::race::Verdict::Equal => CandidateVerdict::NotFaster,
    };
    let why = format!(
        "{:.3}x, {:.0} % interval {:.3}x to {:.3}x, of {} in turn",
        found.speedup,
        100.0 * found.confidence,
        found.low,
        found.high,
        counted(found.rounds, "round")
    );
    (verdict, why)
}

/// Why a claimed time cannot be.
fn impossible(claim_us: Option<f64>, pair: &Pair) -> Option<String> {
    let claim = claim_us?;
    if claim <= 0.0 {
        return Some(format!("a time of {claim} us is impossible"));
    }
    let (least, what) = pair.least.filter(|it| claim < it.0)?;
    let words = |us: f64| duration(us * 1e3);
    Some(format!("{} is impossible: {what} alone needs {} at its peak", words(claim), words(least)))
}

/// Whether a right candidate is faster, and why.
fn compared(speedup: f64, trust: Option<Mark>, changes: &[WorkChange]) -> (CandidateVerdict, String) {
    let error = match trust {
        Some(Mark::Modelled(error)) => error.unwrap_or(UNKNOWN),
        Some(Mark::Sampled) => UNKNOWN,
        Some(Mark::Exact) | None => 0.0,
    };
    let beyond = 1.0 + error / 100.0;
    let words = changes.iter().take(3).map(change_words).collect::<Vec<_>>();
    let work = if words.is_empty() { "the counted work is equal".to_owned() } else { words.join(", ") };
    let all = |less: fn(&WorkChange) -> bool| !changes.is_empty() && changes.iter().all(less);
    let percent = 100.0 * (1.0 / speedup - 1.0);
    let time = format!("{percent:+.1} % time");
    if speedup >= beyond.max(DIFFERS) {
        return (CandidateVerdict::Faster, format!("{time}, beyond the error of {error:.0} %; {work}"));
    }
    if speedup >= DIFFERS && all(|it| it.after < it.before) {
        let why = format!("{time}, and less of all work that changed; {work}");
        return (CandidateVerdict::Faster, why);
    }
    if speedup <= 1.0 / beyond.max(DIFFERS) {
        return (CandidateVerdict::Slower, format!("{time}, beyond the error of {error:.0} %; {work}"));
    }
    if speedup <= 1.0 / DIFFERS && all(|it| it.after > it.before) {
        let why = format!("{time}, and more of all work that changed; {work}");
        return (CandidateVerdict::Slower, why);
    }
    (CandidateVerdict::NotFaster, format!("{time}, within the error of {error:.0} %; {work}"))
}

fn change_words(it: &WorkChange) -> String {
    match it.percent() {
        None => format!("{} {} (none before)", it.name, view::thousands(it.after as u64)),
        Some(percent) => format!("{} {percent:+.0} %", it.name),
    }
}

/// Both recordings: time and work of all their kernels, limits of the longest one.
fn pair(measured: &Measured<'static>) -> Option<Pair> {
    let recordings = measured.recordings();
    let [(compiled, base), (_, own)] = recordings[..] else { return None };
    let of_base = WorkloadEvidence::gather(compiled, &base.workload, &base.rows);
    let of_own = WorkloadEvidence::gather(compiled, &own.workload, &own.rows);
    let (before, after) = (of_base.first()?, of_own.first()?);
    let total = |all: &[WorkloadEvidence<'_>]| all.iter().map(|it| it.time.clone().ok()).sum::<Option<f64>>();
    let (before_ns, after_ns) = (total(&of_base)?, total(&of_own)?);
    let longest_ns = after.time.clone().ok()?;
    let value = |it: &Subject, metric: &str| {
        Evaluation::new(compiled, &it.workload, it.rows.to_vec(), Settings::default()).value(metric).ok()
    };
    let change = |(metric, name): &(&str, &str)| {
        let (before, after) = (value(base, metric)?, value(own, metric)?);
        let differs = before.max(after) > DIFFERS * before.min(after);
        let (metric, name) = ((*metric).to_owned(), (*name).to_owned());
        differs.then_some(WorkChange { metric, name, before, after })
    };
    let mut changes: Vec<WorkChange> = WORK.iter().filter_map(change).collect();
    let factor = |it: &WorkChange| (it.after.max(1.0) / it.before.max(1.0)).ln().abs();
    changes.in_order_by(|a, b| factor(b).total_cmp(&factor(a)));
    let bound = |it: &WorkloadEvidence<'_>| it.roof().bound.as_ref().ok().map(|it| it.name().to_owned());
    let trust = before.timed(before_ns).with(after.timed(after_ns), |before, after| before / after).trust;
    let gpu = arch::Model::by_name(own.workload.machine.text("gpu_model").unwrap_or_default());
    let emulated = own.workload.machine.emulator().is_some();
    let cached =
        gpu.is_none_or(|gpu| value(own, HBM.0).is_none_or(|bytes| bytes <= gpu.last_cache_bytes() as f64));
    let shares = after.roof().all.judging().chain(&after.roof().all.rates);
    let parts = shares.filter(|it| !(cached && it.name == HBM.1)).filter_map(|it| {
        let rate = it.rate.as_ref().ok()?;
        Some((rate / it.data_sheet.unwrap_or(it.ceiling), it.name))
    });
    let nearest = parts.filter(|it| it.0.is_finite() && it.0 <= 1.0).max_by(|a, b| a.0.total_cmp(&b.0));
    Some(Pair {
        before_us: before_ns / 1e3,
        after_us: after_ns / 1e3,
        trust,
        bound: bound(before).zip(bound(after)),
        changes,
        least: nearest.map(|(part, name)| (part * longest_ns / 1e3, name)),
        gpu: format!(
            "{}, {}",
            gpu.map_or("an unknown GPU", |it| it.short()),
            if emulated { "emulated" } else { "measured" }
        ),
        emulated,
    })
}

/// Times by shape.
fn of_shapes(tried: &[TriedVariant], times: &[Vec<Pair>], shapes: &[String]) -> Option<Table> {
    let us = |name: &str| Column::new(name, ColumnKind::Number, "us");
    let mut columns = vec![Column::new("shape", ColumnKind::Word, ""), us("base")];
    let timed: Vec<_> = tried.iter().zip(times).filter(|(_, pairs)| pairs.len() == shapes.len()).collect();
    columns.extend(timed.iter().map(|(it, _)| us(&it.name)));
    let row = |(at, shape): (usize, &String)| {
        let base = timed.first().map_or(Cell::Empty, |(_, pairs)| Cell::from(pairs[at].before_us));
        let mut cells = vec![Cell::text(shape.clone()), base];
        cells.extend(timed.iter().map(|(_, pairs)| Cell::from(pairs[at].after_us)));
        Row::of(cells)
    };
    let rows = shapes.iter().enumerate().map(row).collect();
    let title = "Modelled time of a launch by shape".to_owned();
    (!timed.is_empty()).then(|| Table { title, columns, rows, ..Table::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faster_beyond_the_error_or_with_less_of_all_work() {
        let change = |before: f64, after: f64| WorkChange {
            metric: "l2.requests".into(),
            name: "L2 requests".into(),
            before,
            after,
        };
        let mark = Some(Mark::Modelled(Some(13.0)));
        for (speedup, changes, verdict) in [
            (1.2, vec![], CandidateVerdict::Faster),
            (1.1, vec![], CandidateVerdict::NotFaster),
            (1.1, vec![change(2.0, 1.0)], CandidateVerdict::Faster),
            (1.1, vec![change(2.0, 1.0), change(1.0, 2.0)], CandidateVerdict::NotFaster),
            (1.01, vec![change(2.0, 1.0)], CandidateVerdict::NotFaster),
            (0.95, vec![change(1.0, 2.0)], CandidateVerdict::Slower),
            (0.95, vec![], CandidateVerdict::NotFaster),
            (0.8, vec![change(2.0, 1.0)], CandidateVerdict::Slower),
        ] {
            assert_eq!(compared(speedup, mark, &changes).0, verdict, "{speedup} {changes:?}");
        }
    }
}
