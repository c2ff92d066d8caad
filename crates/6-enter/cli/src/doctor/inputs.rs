//! Inputs of `doctor`: this machine, bundles, outputs of tools, environments.

use crate::answer::unread;
use crate::args::Doctor as Arguments;
use anyhow::Result;
use host::machine::{self, Input};
use system::command::Command;
use system::job::Job;
use system::{Document, Environment, Machine, Tree, recognize};
use view::FileError;

/// One machine to examine.
pub(super) struct Subject {
    /// The machine.
    pub(super) machine: Machine,
    /// Caveats of the input.
    pub(super) notes: Vec<String>,
    /// The command of a running process or a report.
    pub(super) command: Option<Command>,
    /// The inputs say nothing of a machine.
    pub(super) program_only: bool,
}

/// Reads everything; what cannot be read is an error beside the rest.
pub(super) fn subjects(args: &Arguments) -> Result<(Vec<Subject>, Vec<FileError>)> {
    if args.files.is_empty() {
        return Ok((vec![here(args)?], Vec::new()));
    }
    let mut errors = Vec::new();
    let mut job: Option<Command> = None;
    let mut machines: Vec<(Tree, Vec<String>)> = Vec::new();
    let mut documents: Vec<Document> = Vec::new();
    let mut jobs: Vec<Job> = Vec::new();
    for path in &args.files {
        match machine::read_input(path) {
            Ok(Input::Machine(tree, refused)) => machines.push((tree, refused)),
            Ok(Input::Document(document)) => documents.push(document),
            Ok(Input::Jobs(found)) => jobs.extend(found),
            Ok(Input::Report(paste)) => {
                job = job.or(paste.job());
                documents.extend(paste.documents);
            }
            Err(error) => errors.push(unread(path, &error, "doctor")),
        }
    }
    if !jobs.is_empty() {
        let (tree, refused) = machines.pop().unwrap_or_else(|| (Tree::new(""), Vec::new()));
        errors.extend(machines.iter().map(|(tree, _)| FileError {
            file: tree.name().to_owned(),
            error: "of which machine are the jobs? one more is given".to_owned(),
            hint: Some("give one machine with the file of the jobs".to_owned()),
        }));
        let program_only = tree.is_empty() && documents.iter().all(Document::is_of_program);
        let subjects = jobs.iter().map(|job| of_job(job, &tree, &refused, &documents, program_only));
        return Ok((subjects.collect(), errors));
    }
    let has_environment = documents.iter().any(|it| it.environment().is_some() || it.is_report());
    let job = job.map(|it| if has_environment { it.in_its_environment() } else { it });
    let program_only = machines.is_empty() && documents.iter().all(Document::is_of_program);
    // Outputs without a machine form a separate machine; with one they belong to it.
    if machines.is_empty() && (!documents.is_empty() || job.is_some()) {
        let mut tree = Tree::new("");
        tree.set_name(documents.iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join(", "));
        machines.push((tree, Vec::new()));
    }
    let alone = machines.len() == 1;
    let subjects = machines
        .into_iter()
        .map(|(tree, refused)| of_tree(&tree, refused, if alone { &documents } else { &[] }))
        .map(|subject| Subject { program_only, command: job.clone(), ..subject })
        .collect();
    if !alone {
        errors.extend(documents.iter().map(|it| FileError {
            file: it.name.clone(),
            error: format!("{}: {} of which of the machines?", it.name, it.kind),
            hint: Some("give outputs of tools with one bundle, or alone".to_owned()),
        }));
    }
    Ok((subjects, errors))
}

/// A job on the machine of the other inputs, with what its file gives it.
fn of_job(job: &Job, tree: &Tree, refused: &[String], documents: &[Document], program_only: bool) -> Subject {
    let mut documents = documents.to_vec();
    documents.extend(job.documents());
    let mut subject = of_tree(tree, refused.to_vec(), &documents);
    subject.machine.name.clone_from(&job.name);
    subject.notes.extend(job.notes.iter().cloned());
    Subject { command: job.command.clone(), program_only, ..subject }
}

fn of_tree(tree: &Tree, refused: Vec<String>, more: &[Document]) -> Subject {
    let (mut documents, mut notes) = tree.documents();
    documents.extend(more.iter().cloned());
    notes.extend(refused.into_iter().map(|it| format!("refused {it}")));
    let mut machine = Machine::read(tree, &documents);
    if let Some(name) = tree.text("name").get() {
        machine.name.clone_from(name);
    }
    Subject { machine, notes, command: None, program_only: false }
}

/// This machine, with the environment of this shell or of a process.
fn here(args: &Arguments) -> Result<Subject> {
    let mut tree = machine::read_tree(&args.root);
    let is_this = args.root.as_os_str() == "/";
    tree.set_name(if is_this { machine::host_name() } else { args.root.display().to_string() });
    let mut documents = Vec::new();
    let mut notes = Vec::new();
    if is_this && !args.env && args.pid.is_none() {
        for (name, output) in machine::ask_tools() {
            match recognize(&name, &output) {
                Ok(document) => documents.push(document),
                Err(error) => notes.push(format!("{name}: {error}")),
            }
        }
    }
    let mut command = None;
    match args.pid {
        Some(pid) => {
            let bytes = machine::process_environment(&args.root, pid)?;
            documents
                .push(Document::of_environment(format!("/proc/{pid}/environ"), Environment::read(&bytes)));
            command = machine::process_command(&args.root, pid).map(|words| Command::parse(&words));
        }
        None if is_this => {
            let mut environment = Environment::default();
            for (name, value) in std::env::vars_os() {
                environment.set(&name.to_string_lossy(), &value.to_string_lossy());
            }
            documents.push(Document::of_environment("this shell", environment));
        }
        None => {}
    }
    let machine = Machine::read(&tree, &documents);
    Ok(Subject { machine, notes, command, program_only: false })
}
