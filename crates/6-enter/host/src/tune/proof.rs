//! The proof that a winner is right, and faster than the start.

use super::child::{JobResult, difference_of};
use super::evaluate::Evaluator;
use super::evaluation::Evaluation;
use super::search::Attempt;
use anyhow::Result;
use sorting::Sort;
use std::path::Path;
use tune::race::{Comparison, RaceSettings, Verdict, centre, compare, drift, race};
use tune::{Id, Space, Value};
use view::{Gain, ProofOf, ProofOutcome, ProofStep};

/// A winner that passed.
#[derive(Clone, Default, Debug)]
pub struct Proof {
    /// The configuration.
    pub winner: Option<Id>,
    /// It compared with the start.
    pub gain: Option<Gain>,
    /// Steps for the winner and for candidates that failed.
    pub steps: Vec<ProofStep>,
}

/// Most configurations whose results are checked: after this number of wrong ones the search is at fault.
const MOST_CHECKED: usize = 5;

/// Most configurations that are run again because one of them may be the fastest.
const MOST_RACING: usize = 8;
/// Times within this factor of the best may be the fastest.
const NEAR: f64 = 1.15;
/// Most further runs of a race.
const MOST_AGAIN: usize = 60;
/// Runs of start and winner, in turn.
const ROUNDS: usize = 12;

/// A search whose winner is to be proven.
pub struct Proving<'a> {
    /// Who runs configurations.
    pub evaluator: &'a Evaluator,
    /// The space.
    pub space: &'a Space,
    /// Configurations that were run; times of further runs are added.
    pub attempts: &'a mut [Attempt],
    /// The configuration in use.
    pub start: Option<Id>,
    /// Equal runs give equal times.
    pub repeatable: bool,
}

/// Races the fastest configurations, checks them in turn until one passes, and compares it with the start.
///
/// # Errors
/// If the folder for results cannot be made.
pub fn proof(proving: Proving<'_>) -> Result<Proof> {
    let Proving { evaluator, space, attempts, start, repeatable } = proving;
    let mut proof = Proof::default();
    let objective = &evaluator.spec.objective;
    if !repeatable {
        proof.steps.extend(raced(evaluator, space, attempts));
    }
    let mut fastest: Vec<(f64, Id)> =
        attempts.iter().filter_map(|it| Some((objective.score(&it.evaluation)?, it.id))).collect();
    fastest.in_order_by(|a, b| a.0.total_cmp(&b.0));
    fastest.dedup_by_key(|it| it.1);
    let folder = evaluator.folder()?;
    let reference = match start.map(|id| checked(evaluator, space, id, &folder.path().join("start"))) {
        None => None,
        Some(Ok(it)) => it,
        Some(Err(error)) => {
            let text = format!("the start itself is wrong or does not run: {error:#}");
            proof.steps.push(ProofStep { what: ProofOf::Start, outcome: ProofOutcome::Failed, text });
            None
        }
    };
    for (at, (_, id)) in fastest.iter().take(MOST_CHECKED).enumerate() {
        let steps = steps(evaluator, space, *id, reference.as_ref(), &folder.path().join(at.to_string()));
        let passed = steps.iter().all(|it| it.outcome != ProofOutcome::Failed);
        proof.steps.extend(steps);
        if passed {
            proof.winner = Some(*id);
            break;
        }
    }
    let (Some(start), Some(winner)) = (start, proof.winner) else { return Ok(proof) };
    let time = |id: Id| fastest.iter().find(|it| it.1 == id).map(|it| it.0);
    if repeatable || start == winner {
        if let (Some(before), Some(after)) = (time(start), time(winner)) {
            let method =
                if repeatable { "modelled: equal runs give equal times" } else { "the start is the fastest" };
            proof.gain =
                Some(Gain { speedup: before / after, low: None, high: None, method: method.to_owned() });
        }
        return Ok(proof);
    }
    let before = attempts.iter().find(|it| it.id == start).map(|it| objective.runs(&it.evaluation));
    match compared(evaluator, space, (start, winner)) {
        Ok((found, starts)) => {
            proof.steps.extend(steady(&before.unwrap_or_default(), &starts));
            let faster = found.verdict == Verdict::Faster;
            let text = format!("{} rounds of start and winner in turn", found.rounds);
            let outcome = if faster { ProofOutcome::Passed } else { ProofOutcome::Failed };
            proof.steps.push(ProofStep { what: ProofOf::Faster, outcome, text });
            let method = format!("{}, {:.0} %", Comparison::METHOD, 100.0 * found.confidence);
            let (low, high) = (Some(found.low), Some(found.high));
            proof.gain = Some(Gain { speedup: found.speedup, low, high, method });
            if !faster {
                proof.winner = Some(start);
            }
        }
        Err(why) => {
            proof.steps.push(ProofStep { what: ProofOf::Faster, outcome: ProofOutcome::NotDone, text: why })
        }
    }
    Ok(proof)
}

/// Runs those again that may be the fastest, until one is or the runs are used.
fn raced(evaluator: &Evaluator, space: &Space, attempts: &mut [Attempt]) -> Option<ProofStep> {
    let objective = &evaluator.spec.objective;
    let score = |at: usize| objective.score(&attempts[at].evaluation);
    let mut order: Vec<usize> = (0..attempts.len()).filter(|at| score(*at).is_some()).collect();
    let time = |at: usize| score(at).unwrap_or(f64::INFINITY);
    order.in_order_by(|a, b| time(*a).total_cmp(&time(*b)));
    let best = time(*order.first()?);
    order.retain(|at| time(*at) <= NEAR * best);
    order.truncate(MOST_RACING);
    if order.len() < 2 {
        return None;
    }
    let configurations: Vec<_> = order.iter().map(|at| named(space, attempts[*at].id)).collect();
    let built: Vec<_> = configurations.iter().map(|it| evaluator.built(it)).collect();
    let mut runs: Vec<Vec<f64>> = order.iter().map(|at| objective.runs(&attempts[*at].evaluation)).collect();
    let mut again = 0;
    let settings = RaceSettings::default();
    let ended = loop {
        let race = race(&runs, &settings);
        let Some(next) = race.next.filter(|_| again < MOST_AGAIN) else { break race };
        again += 1;
        let ran = match &built[next] {
            Ok(built) => built.run(1),
            Err(failed) => failed.clone(),
        };
        let evaluation = &mut attempts[order[next]].evaluation;
        evaluation.add(ran);
        runs[next] = objective.runs(evaluation);
    };
    let text = match ended.contenders.len() {
        0 | 1 => {
            format!("{} near the best, {} more: one is the fastest", order.len(), view::counted(again, "run"))
        }
        left => format!(
            "{} near the best, {} more: {left} cannot be told apart",
            order.len(),
            view::counted(again, "run")
        ),
    };
    Some(ProofStep { what: ProofOf::Fastest, outcome: ProofOutcome::Passed, text })
}

/// Change of the start's times, as a share, that is worth a word.
const STEADY: f64 = 0.05;

/// Whether the start takes as long now as when the search began, and does not change meanwhile.
fn steady(before: &[f64], now: &[f64]) -> Option<ProofStep> {
    let step = |outcome, text| Some(ProofStep { what: ProofOf::Steady, outcome, text });
    let runs: Vec<(f64, f64)> = now.iter().enumerate().map(|(at, it)| (at as f64, *it)).collect();
    let trend = drift(&runs).filter(|it| it.is_trend() && it.change.abs() > STEADY);
    if let Some(trend) = trend {
        let text =
            format!("the start's times changed by {:+.1} % in {} runs", 100.0 * trend.change, trend.runs);
        return step(ProofOutcome::Failed, text);
    }
    let (before, now) = (centre(before)?, centre(now)?);
    let change = now.value / before.value - 1.0;
    let than = if change < 0.0 { "less" } else { "more" };
    let text = format!("the start takes {:.1} % {than} than when the search began", 100.0 * change.abs());
    let is_steady = change.abs() <= STEADY.max(3.0 * now.spread / now.value);
    step(if is_steady { ProofOutcome::Passed } else { ProofOutcome::Failed }, text)
}

/// Start and winner in turn, and the start's runs.
fn compared(
    evaluator: &Evaluator,
    space: &Space,
    (start, winner): (Id, Id),
) -> Result<(Comparison, Vec<f64>), String> {
    let why = |it: Evaluation| it.failed.map_or_else(|| "it has no time".to_owned(), |it| it.why);
    let (a, b) = (named(space, start), named(space, winner));
    let (a, b) = (evaluator.built(&a).map_err(why)?, evaluator.built(&b).map_err(why)?);
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let (first, second) = (a.run(1), b.run(1));
        for it in [&first, &second] {
            if it.failed.is_some() {
                return Err(why(it.clone()));
            }
        }
        let objective = &evaluator.spec.objective;
        rounds.push((objective.runs(&first), objective.runs(&second)));
    }
    let found = compare(&rounds, 0.95).ok_or_else(|| "too few rounds".to_owned())?;
    Ok((found, rounds.into_iter().flat_map(|it| it.0).collect()))
}

fn named(space: &Space, id: Id) -> Vec<(&str, &Value)> {
    space.parameters().iter().map(|it| it.name.as_str()).zip(space.values(id)).collect()
}

fn checked(evaluator: &Evaluator, space: &Space, id: Id, folder: &Path) -> Result<Option<JobResult>> {
    std::fs::create_dir_all(folder)?;
    evaluator.check(&named(space, id), folder)
}

/// Results of commands and programs, by the check command.
fn by_command(evaluator: &Evaluator, space: &Space, id: Id) -> ProofStep {
    let configuration = named(space, id);
    let checked = match evaluator.built(&configuration) {
        Ok(built) => evaluator.check_command(&built),
        Err(failed) => Some(Err(failed.failed.map_or_else(String::new, |it| it.why))),
    };
    let (outcome, text) = match checked {
        None => (
            ProofOutcome::NotDone,
            "`[check]` has no `command`, and only launch files are compared".to_owned(),
        ),
        Some(Ok(())) => (ProofOutcome::Passed, "by the check command".to_owned()),
        Some(Err(why)) => (ProofOutcome::Failed, why),
    };
    ProofStep { what: ProofOf::Results, outcome, text }
}

fn steps(
    evaluator: &Evaluator,
    space: &Space,
    id: Id,
    reference: Option<&JobResult>,
    folder: &Path,
) -> Vec<ProofStep> {
    let step = |what, outcome, text: String| ProofStep { what, outcome, text };
    let result = match checked(evaluator, space, id, folder) {
        Ok(Some(it)) => it,
        Ok(None) => return vec![by_command(evaluator, space, id)],
        Err(error) => return vec![step(ProofOf::Results, ProofOutcome::Failed, format!("{error:#}"))],
    };
    let mut steps = Vec::new();
    steps.push(match reference {
        None => {
            step(ProofOf::Results, ProofOutcome::NotDone, "no start whose results could be compared".into())
        }
        Some(start) => {
            let tolerance = evaluator.spec.check.as_ref().map_or(0.0, |it| it.tolerance);
            match difference_of(start, &result, tolerance) {
                Ok(elements) => step(
                    ProofOf::Results,
                    ProofOutcome::Passed,
                    format!("{} elements as of the start (tolerance {tolerance})", view::thousands(elements)),
                ),
                Err(why) => step(ProofOf::Results, ProofOutcome::Failed, why),
            }
        }
    });
    steps.push(match result.mistakes.first() {
        None => step(ProofOf::Mistakes, ProofOutcome::Passed, "none found on the emulator".into()),
        Some(first) => step(ProofOf::Mistakes, ProofOutcome::Failed, first.clone()),
    });
    steps
}
