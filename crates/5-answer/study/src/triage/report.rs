//! Parts of a bug report beside its log: the machine, its environment, the command, tables of tests.

use super::{FaultLog, fact};
use crate::{comm, doctor, tunings};
use system::Machine;
use system::Tree;
use system::command::Command;
use system::paste::Paste;
use view::{Answer, HostVerdict, Incidents, NoteKind};

/// Adds what the parts of a report say to the answer on its log.
pub fn add_report(answer: &mut Answer<Incidents>, log: &FaultLog, paste: &Paste) {
    let command = paste.job();
    if !paste.documents.is_empty() || command.is_some() {
        machine(answer, log, paste, command.as_ref());
    }
    let mut not_used = Vec::new();
    for (line, text) in &paste.blocks {
        if !add_block(answer, &log.file, *line, text) {
            let first: String = text.lines().next().unwrap_or_default().chars().take(40).collect();
            not_used.push(format!("the block of line {line} (`{first}`): no kind of input that is known"));
        }
    }
    if let Some(input) = answer.inputs.iter_mut().find(|it| it.path == log.file) {
        let mut kinds: Vec<&str> = paste.documents.iter().map(|it| it.kind).collect();
        kinds.dedup();
        input.kind = "report".to_owned();
        if !kinds.is_empty() {
            input.facts.push(fact("parts", kinds.join(", ")));
        }
        input.not_used.extend(not_used);
    }
    // A log without messages is no news in a report that has other parts.
    let has_others = !(paste.documents.is_empty() && paste.commands.is_empty() && paste.blocks.is_empty());
    if log.is_empty() && has_others {
        answer.notes.retain(|note| !note.text.starts_with(&format!("{}: none of", log.file)));
    }
}

fn machine(answer: &mut Answer<Incidents>, log: &FaultLog, paste: &Paste, command: Option<&Command>) {
    let mut tree = Tree::new("");
    tree.set_name(log.file.clone());
    // A report's environment is that of the job, whatever started it.
    let alone = Machine::read(&tree, &paste.documents);
    let in_job = alone.environment.get().is_some();
    let command = command.map(|it| if in_job { it.in_its_environment() } else { it.clone() });
    let machine = doctor::for_command(&alone, command.as_ref());
    let mut examined = doctor::examine(&machine, command.as_ref(), None);
    if paste.documents.iter().all(system::Document::is_of_program) {
        doctor::keep_environment(&mut examined);
    }
    examined.checks.retain(|it| matches!(it.verdict, HostVerdict::Fail | HostVerdict::Warn));
    let found = examined.checks.iter().filter_map(|check| doctor::finding(&examined, check));
    answer.findings.extend(found);
    answer.part.machines.push(examined);
}

/// Hands a block to the readers of tests and tuning files.
fn add_block(answer: &mut Answer<Incidents>, file: &str, line: u32, text: &str) -> bool {
    let name = format!("{file}:{line}");
    if let Ok(read) = trace::comm::read(text.as_bytes()) {
        let files: Vec<_> = read.into_iter().map(|it| (name.clone(), it)).collect();
        let survey = comm::survey(&files, false, usize::MAX);
        let rows: usize = survey.tables.iter().map(|it| it.rows.len()).sum();
        answer.note(NoteKind::Info, format!("{name}: read as `rockhound comm` does, {rows} rows of tables"));
        answer.findings.extend(survey.findings);
        answer.not_checked.extend(survey.not_checked);
        return true;
    }
    match tunings::check(&name, text.as_bytes()) {
        Ok(()) => {
            answer.note(
                NoteKind::Info,
                format!("{name}: a tuning file; save it and ask `rockhound tunedb lint` and `show`"),
            );
            true
        }
        Err(_) => false,
    }
}
