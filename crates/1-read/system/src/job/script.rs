//! Batch scripts of Slurm and shell scripts: exported variables and the command that starts the job.

use super::{Job, assignment, joined};
use crate::command::{Command, Kind, split};

/// Whether a text is a script: it has lines of `#SBATCH`, or begins with `#!` and a shell.
pub(super) fn is(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let shell = first.starts_with("#!") && first.trim_end().ends_with("sh");
    shell || text.lines().take(200).any(|line| line.starts_with("#SBATCH "))
}

pub(super) fn read(name: &str, text: &str) -> Vec<Job> {
    let mut environment: Vec<(String, String)> = Vec::new();
    let mut commands: Vec<Command> = Vec::new();
    let mut batch: Vec<String> = Vec::new();
    let mut notes = Vec::new();
    let mut exports_all = false;
    for line in joined(text.lines()) {
        if let Some(options) = line.strip_prefix("#SBATCH ") {
            batch.extend(split(options.split(" #").next().unwrap_or(options)));
            continue;
        }
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if ["set -a", "set -o allexport"].contains(&line) {
            exports_all = true;
        } else if let Some(rest) = line.strip_prefix("export ") {
            environment.extend(split(rest).iter().filter_map(|it| assignment(it)));
        } else if let Some(rest) = line.strip_prefix("unset ") {
            environment.retain(|(name, _)| !rest.split_whitespace().any(|it| it == name));
        } else if let Some(file) = line.strip_prefix("source ").or(line.strip_prefix(". ")) {
            notes.push(format!("{name}: variables that `{file}` sets are not known"));
        } else if let Some(pair) = assignment(line).filter(|_| split(line).len() == 1) {
            if exports_all {
                environment.push(pair);
            }
        } else {
            let command = Command::parse(&with_batch(&split(line), &batch));
            if command.stages.iter().any(|it| starts_job(it.kind)) {
                commands.push(command);
            }
        }
    }
    let exported = batch_value(&batch, "--export");
    for pair in exported.iter().flat_map(|it| it.split(',')).filter_map(assignment) {
        environment.insert(0, pair);
    }
    // Of several commands the last that a launcher, a container or a server starts; a Python program if there is none.
    let starts = |it: &&Command| it.stages.iter().any(|stage| stage.kind != Kind::Python);
    let command = commands.iter().rev().find(starts).or(commands.last()).cloned();
    if environment.is_empty() && command.is_none() {
        return Vec::new();
    }
    if commands.len() > 1 {
        notes.push(format!("{name}: the last of {} commands that start a job is checked", commands.len()));
    }
    let kind = if batch.is_empty() { "shell script" } else { "batch script of Slurm" };
    vec![Job { name: name.to_owned(), kind, environment, command, container: None, notes }]
}

fn starts_job(kind: Kind) -> bool {
    kind != Kind::Other && kind != Kind::Numactl
}

/// The value of an option of `#SBATCH`.
fn batch_value(batch: &[String], option: &str) -> Option<String> {
    let of = |(at, word): (usize, &String)| {
        let rest = word.strip_prefix(option)?;
        rest.strip_prefix('=')
            .map(str::to_owned)
            .or_else(|| batch.get(at + 1).filter(|_| rest.is_empty()).cloned())
    };
    batch.iter().enumerate().find_map(of)
}

/// `srun` takes the numbers of tasks from the batch options that it does not have itself.
fn with_batch(words: &[String], batch: &[String]) -> Vec<String> {
    let Some(at) = words.iter().position(|it| it == "srun" || it.ends_with("/srun")) else {
        return words.to_vec();
    };
    let mut out = words[..=at].to_vec();
    for (option, short) in [("--ntasks-per-node", ""), ("--ntasks", "-n"), ("--nodes", "-N")] {
        let given =
            words.iter().any(|it| it.split('=').next() == Some(option) || !short.is_empty() && it == short);
        let value =
            batch_value(batch, option).or_else(|| (!short.is_empty()).then(|| batch_value(batch, short))?);
        if let Some(value) = value.filter(|_| !given) {
            out.push(format!("{option}={value}"));
        }
    }
    out.extend_from_slice(&words[at + 1..]);
    out
}
