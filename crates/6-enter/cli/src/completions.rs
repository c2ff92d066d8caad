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
    let mut program = Cli::command();
    program.build();
    if let Some(folder) = &args.output {
        return write_all(&program, folder);
    }
    let command = match &args.command {
        None => &program,
        Some(name) => match program.find_subcommand(name) {
            Some(command) => command,
            None => {
                let names: Vec<&str> = program.get_subcommands().map(clap::Command::get_name).collect();
                return Err(usage(
                    format!("there is no command `{name}`"),
                    format!("commands are {}", names.join(", ")),
                ));
            }
        },
    };
    output::print(&String::from_utf8_lossy(&page(command, &title(args.command.as_deref()))?))?;
    Ok(Outcome::Fine)
}

/// Writes the manual page of the program and of each command.
fn write_all(program: &clap::Command, folder: &Path) -> Result<Outcome> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
    let commands = program.get_subcommands().map(|command| (command, title(Some(command.get_name()))));
    for (command, title) in std::iter::once((program, title(None))).chain(commands) {
        let mut file = Output::open(Some(&folder.join(format!("{title}.1"))))?;
        file.write_bytes(&page(command, &title)?)?;
        file.finish()?;
    }
    Ok(Outcome::Fine)
}

fn title(command: Option<&str>) -> String {
    command.map_or_else(|| "rockhound".to_owned(), |name| format!("rockhound-{name}"))
}

fn page(command: &clap::Command, title: &str) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).title(title).render(&mut page)?;
    Ok(page)
}
