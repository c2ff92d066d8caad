//! Results of a study of a program. A database keeps them, and the next run of the program takes them from it.

use super::super::evaluation::Evaluation;
use super::super::queue::{make_folder, payload};
use super::super::worker::name;
use anyhow::{Result, bail};
use std::collections::HashMap;
use std::time::Duration;
use store::{Finish, Journal, Population, Study, StudyId, Task, Worker};
use tune::{Id, Space};

/// A claim lasts until its result is written, which follows at once.
const LEASE: Duration = Duration::from_secs(10);

/// The results of a study.
pub(super) struct Kept {
    journal: Box<dyn Journal>,
    study: StudyId,
    worker: Worker,
    earlier: HashMap<String, Evaluation>,
    next: u64,
}

impl Kept {
    /// Begins a study, or goes on with the one of this name.
    ///
    /// # Errors
    /// If the database refuses.
    pub(super) fn begin(store: &str, study: &str, gpu: &str) -> Result<Kept> {
        make_folder(store)?;
        let mut journal = store::open(store)?;
        let study = journal.begin(&Study {
            name: study.to_owned(),
            fingerprint: study.to_owned(),
            settings: String::new(),
            population: Population::Only(gpu.to_owned()),
        })?;
        let done = journal.results(study, 0)?;
        let next = done.iter().map(|it| it.sequence + 1).max().unwrap_or(0);
        let known = |it: store::Done| Some((it.payload, serde_json::from_str(&it.result.ok()?).ok()?));
        let earlier = done.into_iter().filter_map(known).collect();
        let worker = Worker { name: name(), population: gpu.to_owned() };
        Ok(Kept { journal, study, worker, earlier, next })
    }

    /// The result of a configuration in an earlier run.
    pub(super) fn earlier(&self, space: &Space, id: Id) -> Option<Evaluation> {
        self.earlier.get(&payload(space, id)).cloned()
    }

    /// Keeps a result.
    ///
    /// # Errors
    /// If the database refuses.
    pub(super) fn keep(&mut self, space: &Space, id: Id, evaluation: &Evaluation) -> Result<()> {
        let payload = payload(space, id);
        self.journal.push(self.study, &[Task { sequence: self.next, payload: payload.clone() }])?;
        self.next += 1;
        let text = serde_json::to_string(evaluation)?;
        // A run that was killed between the two statements has left a task, which ends without a result.
        while let Some(claim) = self.journal.claim(self.study, &self.worker, LEASE)? {
            let ours = claim.payload == payload;
            let kept = self.journal.finish(&claim, if ours { &text } else { "" })?;
            if ours && kept == Finish::Kept {
                return Ok(());
            }
        }
        bail!("the database has lost the task of a result")
    }
}
