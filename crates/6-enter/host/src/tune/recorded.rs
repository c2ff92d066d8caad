//! A recorded space: configurations whose times are known and only looked up.

use super::evaluation::{Evaluation, Failed, Failure};
use anyhow::{Context, Result, bail};
use tune::{Parameter, Space, Value};
use tunedb::space::{Status, Trial};
use tunedb::{Detail, Tunings};

/// A space in which every configuration was measured.
#[derive(Debug)]
pub struct Recorded {
    /// Kernel and device, as far as the file names them.
    pub name: String,
    /// The measured configurations.
    pub space: Space,
    /// The result of each.
    pub evaluations: Vec<Evaluation>,
}

impl Recorded {
    /// The space of a file of Kernel Tuner or T4.
    ///
    /// # Errors
    /// If no configuration in it was measured.
    pub fn of(tunings: &Tunings<'_>) -> Result<Recorded> {
        let Detail::Space(space) = &tunings.detail else { bail!("it holds no search space") };
        if space.trials.is_empty() {
            bail!("it describes a space and has no results");
        }
        let mut rows = Vec::new();
        let mut evaluations = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for (trial, row) in space.trials.iter().zip(&tunings.rows) {
            if !seen.insert(&trial.values) {
                continue;
            }
            rows.push(trial.values.clone());
            evaluations.push(evaluation(trial, row.time_us));
        }
        // Output of a benchmark has a space for each problem, which alone tells them apart.
        let problem =
            if tunedb::instances::has_instances(tunings.format) { space.problem.as_str() } else { "" };
        let words = [space.kernel.as_str(), space.device.as_str(), problem];
        let name = words.iter().filter(|it| !it.is_empty()).copied().collect::<Vec<_>>().join(", ");
        Ok(Recorded { name, space: Space::listed(parameters(space), rows)?, evaluations })
    }
}

/// The space that a file describes without results; `None` if it has results or is something else.
///
/// # Errors
/// If no configuration is valid, or a constraint cannot be read.
pub fn described(tunings: &Tunings<'_>) -> Result<Option<Space>> {
    let Detail::Space(space) = &tunings.detail else { return Ok(None) };
    if !space.trials.is_empty() {
        return Ok(None);
    }
    let space = Space::new(parameters(space), &space.restrictions, tune::Limits::default());
    Ok(Some(space.with_context(|| format!("`{}`", tunings.name))?))
}

/// The parameters of a file's space.
pub(super) fn parameters(space: &tunedb::space::Space) -> Vec<Parameter> {
    let of = |it: &tunedb::space::Parameter| Parameter {
        name: it.name.clone(),
        values: it.values.iter().map(|text| Value::parse(text)).collect(),
    };
    space.parameters.iter().map(of).collect()
}

fn evaluation(trial: &Trial, time_us: Result<f64, &'static str>) -> Evaluation {
    let kind = match trial.status {
        Status::Correct => None,
        Status::Compile => Some(Failure::Build),
        Status::Runtime | Status::Failed => Some(Failure::Run),
        Status::Wrong => Some(Failure::Wrong),
        Status::Restricted => Some(Failure::Rejected),
    };
    let runs_us = match time_us {
        Ok(time) if trial.runs_ms.is_empty() => vec![time],
        Ok(_) => trial.runs_ms.iter().map(|it| f64::from(*it) * 1000.0).collect(),
        Err(_) => Vec::new(),
    };
    let kind = kind.or(runs_us.is_empty().then_some(Failure::NoTime));
    Evaluation {
        runs_us: if kind.is_some() { Vec::new() } else { runs_us },
        failed: kind.map(|kind| Failed { kind, why: trial.status.words().to_owned() }),
        build_s: trial.compile_ms.map_or(0.0, |it| f64::from(it) / 1000.0),
        ..Evaluation::default()
    }
}
