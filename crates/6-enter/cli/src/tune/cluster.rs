//! Workers of a study: this process, or the file that starts them on a cluster.

use crate::args::{ClusterForm, Tune};
use crate::exit::Outcome;
use crate::output;
use anyhow::{Context, Result};
use host::tune::emit::Cluster;
use host::tune::worker::{WorkerEnd, told_to_end};
use host::tune::{self};

/// Works until the study is closed.
pub(super) fn worker(args: &Tune) -> Result<Outcome> {
    let (store, study) = address(args);
    let command = std::env::current_exe().context("the command cannot be found")?;
    let worked = tune::serve(store, study, command, &told_to_end()?)?;
    let why = match worked.end {
        WorkerEnd::Closed => "the study is closed",
        WorkerEnd::Stopped => "the study was interrupted",
        WorkerEnd::Told => "it was told to end and gave its task back",
        WorkerEnd::Idle => "it had no work",
    };
    let late = match worked.late {
        0 => String::new(),
        it => format!(", {it} too late: the task had gone to another worker"),
    };
    eprintln!("tune: worker ended: {why}; {} kept{late}", view::counted(worked.kept, "result"));
    Ok(Outcome::Fine)
}

/// Writes the file that starts workers.
pub(super) fn emit(args: &Tune, form: ClusterForm) -> Result<Outcome> {
    let (store, study) = address(args);
    let command = std::env::current_exe().context("the command cannot be found")?;
    let cluster = Cluster {
        study: study.to_owned(),
        store: store.to_owned(),
        workers: args.workers,
        per_node: args.per_node,
        time: args.time.clone(),
        partition: args.partition.clone(),
        image: args.image.clone(),
        command: vec![match form {
            ClusterForm::Slurm => command.to_string_lossy().into_owned(),
            ClusterForm::Kubernetes => "rockhound".to_owned(),
        }],
    };
    let text = match form {
        ClusterForm::Slurm => cluster.slurm()?,
        ClusterForm::Kubernetes => cluster.kubernetes()?,
    };
    match &args.output {
        Some(path) => {
            std::fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))?
        }
        None => output::print(&text)?,
    }
    Ok(Outcome::Fine)
}

/// Database and study, which the command line has with these options.
fn address(args: &Tune) -> (&str, &str) {
    (args.store.as_deref().unwrap_or_default(), args.study.as_deref().unwrap_or_default())
}
