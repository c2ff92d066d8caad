//! `rockhound completions` and `rockhound man`: made from the one description in `args.rs`.

mod python;

use crate::args::{Cli, Completions, Man};
use crate::exit::{Outcome, usage};
use crate::output::{self, Output};
use anyhow::{Context, Result};
use clap::CommandFactory;
use std::path::Path;

/// Prints the completion script of a shell.
pub(crate) fn completions(args: &Completions) -> Result<Outcome> {
    let Some(shell) = args.shell else {
        let mut program = Cli::command();
        program.build();
        output::print(&python::module(&program))?;
        return Ok(Outcome::Fine);
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "rockhound", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Fine)
}

/// Prints a manual page, or writes all.
pub(crate) fn man(args: &Man) -> Result<Outcome> {
    // `help` prints the help of the others and has no page.
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    let mut all = Vec::new();
    add_commands(&program, "rockhound", &mut all);
    if let Some(folder) = &args.output {
        return write_all(&all, folder);
    }
    let asked = [&["rockhound".to_owned()][..], &args.command].concat().join("-");
    let Some((title, command)) = all.iter().find(|(title, _)| *title == asked) else {
        let names: Vec<&str> = program.get_subcommands().map(clap::Command::get_name).collect();
        return Err(usage(
            format!("there is no command `{}`", args.command.join(" ")),
            format!("commands are {}", names.join(", ")),
        ));
    };
    output::print(&String::from_utf8_lossy(&page(command, title)?))?;
    Ok(Outcome::Fine)
}

/// Adds a command and those below it, each with the title of its page: `rockhound-store-add`.
fn add_commands<'a>(command: &'a clap::Command, title: &str, all: &mut Vec<(String, &'a clap::Command)>) {
    all.push((title.to_owned(), command));
    for inner in command.get_subcommands().filter(|it| it.get_name() != "help") {
        add_commands(inner, &format!("{title}-{}", inner.get_name()), all);
    }
}

/// Writes the manual page of the program and of each command.
fn write_all(all: &[(String, &clap::Command)], folder: &Path) -> Result<Outcome> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
    for (title, command) in all {
        let mut file = Output::open(Some(&folder.join(format!("{title}.1"))))?;
        file.write_bytes(&page(command, title)?)?;
        file.finish()?;
    }
    Ok(Outcome::Fine)
}

fn page(command: &clap::Command, title: &str) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).title(title).render(&mut page)?;
    Ok(page)
}
