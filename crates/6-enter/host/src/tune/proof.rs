//! The proof that a winner is right, and faster than the start.

use super::child::{JobResult, difference_of};
use super::evaluate::Evaluator;
use super::search::Found;
use anyhow::Result;
use std::path::Path;
use tune::{Id, Space};
use view::{Gain, ProofOutcome, ProofStep};

/// A winner that passed.
#[derive(Clone, Default, Debug)]
pub struct Proof {
    /// The configuration.
    pub winner: Option<Id>,
    /// It compared with the start.
    pub gain: Option<Gain>,
    /// What was looked at, of it and of those that failed.
    pub steps: Vec<ProofStep>,
}

/// Most configurations whose results are checked: after so many wrong ones the search is at fault.
const MOST_CHECKED: usize = 5;

/// Checks the fastest configurations in turn until one passes, and compares it with the start.
///
/// # Errors
/// If the folder for results cannot be made.
pub fn proof(
    evaluator: &Evaluator,
    space: &Space,
    found: &Found,
    start: Option<Id>,
    repeatable: bool,
) -> Result<Proof> {
    let mut proof = Proof::default();
    let time = |id: Id| {
        let attempt = found.attempts.iter().find(|it| it.id == id);
        attempt.and_then(|it| it.evaluation.time_us())
    };
    let mut fastest: Vec<(f64, Id)> =
        found.attempts.iter().filter_map(|it| Some((it.evaluation.time_us()?, it.id))).collect();
    fastest.sort_by(|a, b| a.0.total_cmp(&b.0));
    fastest.dedup_by_key(|it| it.1);
    let folder = evaluator.folder()?;
    let reference =
        start.and_then(|id| checked(evaluator, space, id, &folder.path().join("start")).ok().flatten());
    for (at, (_, id)) in fastest.into_iter().take(MOST_CHECKED).enumerate() {
        let steps = steps(evaluator, space, id, reference.as_ref(), &folder.path().join(at.to_string()));
        let passed = steps.iter().all(|it| it.outcome != ProofOutcome::Failed);
        proof.steps.extend(steps);
        if passed {
            proof.winner = Some(id);
            break;
        }
    }
    let times = |id: Option<Id>| id.and_then(time);
    if let (Some(before), Some(after), true) = (times(start), times(proof.winner), repeatable) {
        proof.gain = Some(Gain {
            speedup: before / after,
            low: None,
            high: None,
            method: "modelled: equal runs give equal times".to_owned(),
        });
    }
    Ok(proof)
}

fn checked(evaluator: &Evaluator, space: &Space, id: Id, folder: &Path) -> Result<Option<JobResult>> {
    std::fs::create_dir_all(folder)?;
    let names = space.parameters().iter().map(|it| it.name.as_str());
    let configuration: Vec<_> = names.zip(space.values(id)).collect();
    evaluator.check(&configuration, folder)
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
        Ok(None) => {
            return vec![step(
                "results",
                ProofOutcome::NotDone,
                "only launch files are checked on the emulator".into(),
            )];
        }
        Err(error) => return vec![step("results", ProofOutcome::Failed, format!("{error:#}"))],
    };
    let mut steps = Vec::new();
    steps.push(match reference {
        None => step("results", ProofOutcome::NotDone, "no start whose results could be compared".into()),
        Some(start) => {
            let tolerance = evaluator.spec.check.as_ref().map_or(0.0, |it| it.tolerance);
            match difference_of(start, &result, tolerance) {
                Ok(elements) => step(
                    "results",
                    ProofOutcome::Passed,
                    format!("{} elements as of the start (tolerance {tolerance})", view::thousands(elements)),
                ),
                Err(why) => step("results", ProofOutcome::Failed, why),
            }
        }
    });
    steps.push(match result.mistakes.first() {
        None => step("races, unwritten memory", ProofOutcome::Passed, "none found on the emulator".into()),
        Some(first) => step("races, unwritten memory", ProofOutcome::Failed, first.clone()),
    });
    steps
}
