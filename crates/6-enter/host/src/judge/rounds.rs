//! Times of programs on the GPU of this machine: base and candidates in turn, A/B/A/B, so that whatever changes slowly
//! changes all of them.

use super::{Judged, Problem, Question, Quiet, Tried, variant};
use crate::hardware::sensors;
use crate::run::{self, Detail, OnGpu, Place, Recording, Request, Selection, What};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use view::{CandidateVerdict, NoteKind};

/// Counters that are read beside the times: few, of one run.
const SET: &str = "launch_stats";

/// Times on the GPU of this machine.
#[derive(Clone, Debug)]
pub struct Rounds {
    /// Runs of each variant.
    pub count: u32,
    /// Profiler, in place of the one in `PATH`.
    pub profiler: Option<PathBuf>,
}

/// Runs every variant that is right once in each round. Each gets its recordings in the order of the rounds.
pub(super) fn measure(
    question: &Question<'_>,
    rounds: &Rounds,
    quiet: &Quiet<'_>,
    judged: &mut Judged,
) -> Result<()> {
    let mut first = None;
    let mut drifted = false;
    for round in 1..=rounds.count {
        for at in 0..judged.variants.len() {
            if judged.variants[at].problem.is_some() {
                continue;
            }
            let folder = judged.folder.path().join(format!("round{round}-{at}"));
            let recorded = record(question, rounds, quiet, &judged.variants[at], folder);
            quiet.check()?;
            let tried = &mut judged.variants[at];
            match recorded {
                Ok(folder) => tried.recordings.push(folder),
                Err(error) if at == 0 => return Err(error.context("the base on the GPU")),
                Err(error) => {
                    let why = format!("on the GPU: {error:#}");
                    tried.problem = Some(Problem::new(CandidateVerdict::NotRun, why));
                }
            }
            let now = sensors::read(Path::new("/"));
            let drift = sensors::drift(first.get_or_insert_with(|| now.clone()), &now).filter(|_| !drifted);
            if let Some(drift) = drift {
                drifted = true;
                let text = format!(
                    "{drift}: after `{}` in round {round}; rounds differ by more than the variants do",
                    judged.variants[at].name
                );
                judged.note(NoteKind::Warning, text);
            }
        }
    }
    Ok(())
}

fn record(
    question: &Question<'_>,
    rounds: &Rounds,
    quiet: &Quiet<'_>,
    tried: &Tried,
    folder: PathBuf,
) -> Result<PathBuf> {
    let request = Request {
        what: What::Program(variant::command(question, &tried.path)?),
        place: Place::Gpu,
        emulate: super::emulate(question, 0),
        on_gpu: OnGpu { profiler: rounds.profiler.clone(), silent: true, ..OnGpu::default() },
        record: Some(Recording {
            name: Some(tried.name.clone()),
            output: Some(folder),
            overwrite: true,
            select: Selection::default(),
            blocks: Vec::new(),
            set: Some(SET.to_owned()),
            detail: Detail::default(),
            no_results: false,
        }),
    };
    run::run(&request, quiet)?.folders.into_iter().next().context("nothing was recorded")
}
