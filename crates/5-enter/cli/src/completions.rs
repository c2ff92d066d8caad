//! `rockhound completions` and `rockhound man`: made from the one description in `args.rs`.

use crate::args::{Cli, Completions, Man};
use crate::exit::{Outcome, usage};
use crate::output;
use anyhow::Result;
use clap::CommandFactory;

/// Prints the completion script of a shell.
pub(crate) fn completions(args: &Completions) -> Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "rockhound", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Fine)
}

/// Prints a manual page.
pub(crate) fn man(args: &Man) -> Result<Outcome> {
    let mut program = Cli::command();
    program.build();
    let title = args.command.as_ref().map_or("rockhound".to_owned(), |name| format!("rockhound-{name}"));
    let command = match &args.command {
        None => program,
        Some(name) => {
            let Some(command) = program.find_subcommand(name) else {
                let names: Vec<&str> = program.get_subcommands().map(clap::Command::get_name).collect();
                return Err(usage(
                    format!("there is no command `{name}`"),
                    format!("commands are {}", names.join(", ")),
                ));
            };
            command.clone()
        }
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(command).title(title).render(&mut page)?;
    output::print(&String::from_utf8_lossy(&page))?;
    Ok(Outcome::Fine)
}
