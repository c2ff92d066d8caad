//! The number that a search makes small: the time, other numbers of a run, or several together.

use super::evaluation::Evaluation;
use super::number::Pattern;
use anyhow::{Result, bail};
use metrics::Definitions;
use serde::Deserialize;
use std::collections::BTreeMap;
use tune::landscape::geometric_mean;
use tune::race::centre;

/// Name of the time among the numbers of a run.
pub const TIME: &str = "time";
/// A smaller value counts as this one: the geometric mean of 0 and others would always be 0.
const LEAST: f64 = 1e-9;

/// `[objective]` as written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObjectiveTable {
    /// Names of numbers that are to be small.
    #[serde(default)]
    minimize: Vec<String>,
    /// Names of numbers that are to be large.
    #[serde(default)]
    maximize: Vec<String>,
    /// Source of each number other than the time: the id of a metric; for commands a pattern, written as `time` is.
    #[serde(default)]
    numbers: BTreeMap<String, String>,
}

/// The number that a search makes small.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Objective {
    /// Names, and whether each is to be large.
    parts: Vec<(String, bool)>,
    /// Source of each number beside the time, by name.
    pub numbers: BTreeMap<String, String>,
}

impl Default for Objective {
    /// The time.
    fn default() -> Objective {
        Objective { parts: vec![(TIME.to_owned(), false)], numbers: BTreeMap::new() }
    }
}

impl Objective {
    /// The objective of a table; `printed`: numbers come from what a command prints, and not from a recording.
    pub(super) fn of(table: &ObjectiveTable, printed: bool) -> Result<Objective> {
        for (name, source) in &table.numbers {
            if name == TIME {
                bail!("`[objective.numbers]` cannot name `{TIME}`, which each run has");
            }
            if printed {
                let error = Pattern::parse(Some(source)).err();
                error.map_or(Ok(()), |it| Err(anyhow::anyhow!("`[objective.numbers]`, `{name}`: {it}")))?;
            } else if Definitions::built_in().metric(source).is_none() {
                bail!(
                    "`[objective.numbers]`, `{name}`: `{source}` is no metric; `rockhound metrics` lists them"
                );
            }
        }
        let small = table.minimize.iter().map(|it| (it.clone(), false));
        let large = table.maximize.iter().map(|it| (it.clone(), true));
        let parts: Vec<(String, bool)> = small.chain(large).collect();
        for (at, (name, _)) in parts.iter().enumerate() {
            if name != TIME && !table.numbers.contains_key(name) {
                bail!("`[objective]` names `{name}`, which is neither `{TIME}` nor in `[objective.numbers]`");
            }
            if parts[..at].iter().any(|it| it.0 == *name) {
                bail!("`[objective]` names `{name}` twice");
            }
        }
        let numbers = table.numbers.clone();
        Ok(if parts.is_empty() {
            Objective { numbers, ..Objective::default() }
        } else {
            Objective { parts, numbers }
        })
    }

    /// Whether it is the time alone.
    pub fn is_time(&self) -> bool {
        matches!(&self.parts[..], [(name, false)] if name == TIME)
    }

    /// Unit of its values: `us` for the time alone, else none.
    pub fn unit(&self) -> &'static str {
        if self.is_time() { "us" } else { "" }
    }

    /// Names of its numbers, and whether each is to be large.
    pub fn parts(&self) -> impl Iterator<Item = (&str, bool)> {
        self.parts.iter().map(|(name, large)| (name.as_str(), *large))
    }

    /// In words; `time` says what the time is.
    pub fn words(&self, time: &str) -> String {
        let part = |(name, large): &(String, bool)| {
            let name = if name == TIME { time } else { name };
            if *large { format!("1/({name})") } else { name.to_owned() }
        };
        match &self.parts[..] {
            [one] => part(one),
            all => format!("geometric mean of {}", all.iter().map(part).collect::<Vec<_>>().join(", ")),
        }
    }

    /// Its value in each run; empty if a number is missing.
    pub fn runs(&self, evaluation: &Evaluation) -> Vec<f64> {
        if evaluation.failed.is_some() {
            return Vec::new();
        }
        if self.is_time() {
            return evaluation.runs_us.clone();
        }
        let value = |(name, large): &(String, bool), at: usize| -> Option<f64> {
            let runs = if name == TIME { &evaluation.runs_us } else { evaluation.numbers.get(name)? };
            let value = runs.get(at)?.max(LEAST);
            Some(if *large { 1.0 / value } else { value })
        };
        if let [one] = &self.parts[..] {
            return (0..evaluation.runs_us.len()).map_while(|at| value(one, at)).collect();
        }
        let run = |at| geometric_mean(&self.parts.iter().map(|it| value(it, at)).collect::<Vec<_>>());
        (0..evaluation.runs_us.len()).map_while(run).collect()
    }

    /// Its value: the median over the runs. `None` if the configuration failed.
    pub fn score(&self, evaluation: &Evaluation) -> Option<f64> {
        centre(&self.runs(evaluation)).map(|it| it.value)
    }

    /// Medians of all numbers of an evaluation, the time first, then by name.
    pub fn medians(&self, evaluation: &Evaluation) -> Vec<(String, f64)> {
        let median = |name: &str, runs: &[f64]| Some((name.to_owned(), centre(runs)?.value));
        let time = median(TIME, &evaluation.runs_us);
        time.into_iter().chain(evaluation.numbers.iter().filter_map(|(name, it)| median(name, it))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> ObjectiveTable {
        toml::from_str(text).unwrap()
    }

    fn evaluation(us: &[f64], energy: &[f64]) -> Evaluation {
        let numbers = BTreeMap::from([("energy".to_owned(), energy.to_vec())]);
        Evaluation { runs_us: us.to_vec(), numbers, ..Evaluation::default() }
    }

    #[test]
    fn several_numbers_are_one() {
        let of = |text: &str| Objective::of(&table(text), true).unwrap();
        let run = evaluation(&[4.0, 6.0, 5.0], &[9.0, 9.0, 9.0]);
        assert_eq!(of("").score(&run), Some(5.0));
        let named = |what: &str| of(&format!("{what}\n[numbers]\nenergy = \"energy: (.*) J\"\n"));
        assert_eq!(named("minimize = [\"energy\"]").score(&run), Some(9.0));
        assert_eq!(named("maximize = [\"energy\"]").score(&run), Some(1.0 / 9.0));
        let both = named("minimize = [\"time\", \"energy\"]");
        assert!((both.score(&run).unwrap() - 45f64.sqrt()).abs() < 1e-12);
        assert_eq!(both.score(&Evaluation::failed(super::super::Failure::Run, "no")), None);
        // A number that a run did not give: no score.
        assert_eq!(both.score(&Evaluation { runs_us: vec![1.0], ..Evaluation::default() }), None);
    }

    #[test]
    fn wrong_objectives_are_refused() {
        for (text, printed, said) in [
            ("minimize = [\"power\"]", true, "`power`"),
            ("minimize = [\"time\", \"time\"]", true, "twice"),
            ("[numbers]\ntime = \"t\"", true, "`time`"),
            ("[numbers]\ne = \"(\"", true, "`e`"),
            ("[numbers]\ne = \"no.such_metric\"", false, "`no.such_metric`"),
        ] {
            let error = Objective::of(&table(text), printed).unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
        assert!(Objective::of(&table("[numbers]\nh = \"l2.hit_rate\""), false).is_ok());
    }

    #[test]
    fn shapes_are_one_run() {
        let run = Evaluation::over_shapes(vec![
            evaluation(&[4.0, 16.0], &[2.0, 2.0]),
            evaluation(&[9.0, 1.0], &[8.0, 2.0]),
        ]);
        assert_eq!((run.runs_us, run.shapes_us), (vec![6.0, 4.0], vec![10.0, 5.0]));
        assert_eq!(run.numbers["energy"], [4.0, 2.0]);
    }
}
