//! Recordings read and selected, as every command on them needs it.
//!
//! A recording that cannot be read is reported and the others go on; kernels are resolved on the first
//! recording and the others follow by name.

use crate::usage;
use crate::{Source, names, recording, renames};
use analysis::workload::{Renames, Subject, Subjects, complete};
use anyhow::Result;
use std::path::PathBuf;
use view::Wanted;
use workload::Workload;

/// Recordings, and the selection from them.
#[derive(Clone, Default)]
pub struct Asked {
    /// Their addresses; the first of several is the base of a comparison.
    pub sources: Vec<Source>,
    /// GPU where a recording does not say.
    pub arch: Option<String>,
    /// Facts of the machine in place of recorded ones.
    pub corrections: Option<String>,
    /// Kernels, dispatches, GPUs.
    pub wanted: Wanted,
    /// Kernels under other names, `OLD=NEW`.
    pub matches: Vec<String>,
    /// Treatment of the recordings below a folder.
    pub ranks: Option<Ranks>,
    /// Treatment of the runs in one folder.
    pub runs: Option<Ranks>,
}

/// Treatment of the recordings of ranks, or of runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ranks {
    /// One merged recording.
    Merged,
    /// Side by side.
    Each,
}

impl Asked {
    /// Refuses ranks side by side where one recording is wanted, perhaps with its base.
    pub fn one(self, command: &str) -> Result<Asked> {
        if self.ranks == Some(Ranks::Each) {
            return Err(usage(
                format!("`{command}` looks at one recording"),
                "`--ranks` takes all ranks as one; `rockhound analyze --ranks=each` shows them side by side",
            ));
        }
        if self.runs == Some(Ranks::Each) {
            return Err(usage(
                format!("`{command}` looks at one recording"),
                "`--runs=merged` takes all runs as one; `rockhound analyze --runs` shows them side by side",
            ));
        }
        Ok(self)
    }
}

/// Reads every recording. The errors of those that cannot be read go to `errors`, the last one is returned
/// when none can be.
pub fn read(asked: &Asked, errors: &mut Vec<anyhow::Error>) -> Result<Subjects> {
    let pairs = renames::parse(&asked.matches)?;
    let read = each(asked);
    let names: Vec<PathBuf> = read.iter().map(|one| one.called.clone()).collect();
    let names = names::of(&names);
    let mut all = Vec::new();
    for (one, name) in read.into_iter().zip(names) {
        match one.read {
            Ok((mut workload, unread)) => {
                errors.extend(unread);
                let filled = complete(&mut workload, asked.arch.as_deref(), asked.corrections.as_deref())?;
                all.push(Subject {
                    name,
                    path: one.source.to_string(),
                    rows: Vec::new(),
                    filled,
                    workload,
                    selection: String::new(),
                    wanted: Wanted::default(),
                });
            }
            Err(error) => errors.push(error),
        }
    }
    if all.is_empty() {
        return Err(errors.pop().unwrap_or_else(|| anyhow::anyhow!("no recording")));
    }
    let renames = Renames::new(&pairs, &all)?;
    let mut subjects = Subjects { all, renames, failed: !errors.is_empty() };
    subjects.select(&asked.wanted)?;
    Ok(subjects)
}

/// Reads every recording; errors of those that cannot be read are told, unless none can be.
pub fn read_telling(asked: &Asked, tell: impl FnMut(&anyhow::Error)) -> Result<Subjects> {
    let mut errors = Vec::new();
    let subjects = read(asked, &mut errors);
    errors.iter().for_each(tell);
    subjects
}

/// A recording that is shown as one.
struct One {
    source: Source,
    /// Origin of its name: the address, and for a run in a folder its name.
    called: PathBuf,
    /// It, and the errors of parts that cannot be read.
    read: Result<(Workload, Vec<anyhow::Error>)>,
}

/// Reads the recordings at the addresses.
fn each(asked: &Asked) -> Vec<One> {
    let sources: Vec<Source> = match asked.ranks {
        Some(Ranks::Each) => asked.sources.iter().flat_map(recording::each).collect(),
        Some(Ranks::Merged) | None => asked.sources.clone(),
    };
    let alone = |workload: Workload| (workload, Vec::new());
    let mut all = Vec::new();
    for source in sources {
        let path = source.called().to_owned();
        let mut add = |source: Source, called: PathBuf, read| all.push(One { source, called, read });
        match (asked.ranks, asked.runs) {
            (Some(_), _) => add(source.clone(), path, recording::read_ranks(&source)),
            (None, Some(Ranks::Merged)) => {
                add(source.clone(), path, recording::read_merged_runs(&source).map(alone));
            }
            (None, Some(Ranks::Each)) => match recording::read_runs(&source) {
                Ok(runs) => runs
                    .into_iter()
                    .for_each(|run| add(run.source, path.join(run.name), Ok(alone(run.workload)))),
                Err(error) => add(source, path, Err(error)),
            },
            (None, None) => add(source.clone(), path, recording::read(&source).map(alone)),
        }
    }
    all
}
