//! The `rockhound` command, as a library: a program waits for all of its crates before it is compiled, a library does not.
//!
//! Commands return an [`exit::Outcome`] or an error; only this module prints errors and ends the process.
//! Data goes to standard output, everything else to standard error.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "this layer does the reading, printing and asking for all others"
)]

mod accuracy;
mod analyze;
mod answer;
mod args;
mod breakdown;
mod capture;
mod comm;
mod completions;
mod diff;
mod doctor;
mod exit;
mod explain;
mod export;
mod gate;
mod guide;
mod inspect;
mod judge;
mod kernels;
mod launch_template;
#[cfg(feature = "mcp")]
mod mcp;
mod metrics;
mod occupancy;
mod output;
mod page;
mod picture;
mod profile;
mod progress;
mod report;
mod roofline;
mod run;
mod store;
mod subjects;
mod terminal;
mod tile;
mod trace;
mod triage;
#[cfg(feature = "tui")]
mod tui;
mod tune;
mod tunedb;
mod version;
#[cfg(feature = "server")]
mod view_server;

use args::{Cli, Command};
use clap::error::ErrorKind;
use exit::{Outcome, UsageError};
use std::process::ExitCode;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    output::end_without_stderr();
    let cli = match args::parse() {
        Ok(cli) => cli,
        Err(error)
            if error.kind() == ErrorKind::DisplayVersion && version::is_verbose(std::env::args_os()) =>
        {
            let _ = output::print(&version::describe());
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            // Help and version arrive here too; they are not errors. Neither is a closed pipe.
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(exit::USAGE) } else { ExitCode::SUCCESS };
        }
    };
    match run(&cli) {
        Ok(outcome) => outcome.code(),
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let text = format!("{error:#}");
            eprintln!("error: {text}");
            if let Some(usage) = error.downcast_ref::<UsageError>() {
                if !usage.hint.is_empty() {
                    eprintln!("hint: {}", usage.hint);
                }
                return ExitCode::from(exit::USAGE);
            }
            if !text.contains("`rockhound ") {
                let (command, inputs) = cli.command.inputs();
                inputs
                    .iter()
                    .filter_map(|path| host::kind::hint(path, command))
                    .for_each(|hint| eprintln!("hint: {hint}"));
            }
            Outcome::InputError.code()
        }
    }
}

fn run(cli: &Cli) -> anyhow::Result<Outcome> {
    #[cfg(feature = "mcp")]
    if !cli.within.is_empty() {
        host::confine::confine(&cli.within)?;
    }
    if cli.verbose {
        return Err(exit::usage(
            "`--verbose` goes with `--version`",
            "write `rockhound --version --verbose`",
        ));
    }
    match &cli.command {
        Command::Inspect(args) => inspect::run(args, &cli.look),
        Command::Diff(args) => diff::run(args, &cli.look),
        Command::Analyze(args) => analyze::run(args, &cli.look),
        Command::Accuracy(args) => accuracy::run(args, &cli.look),
        Command::Guide(args) => guide::run(args, &cli.look),
        Command::Roofline(args) => roofline::run(args, &cli.look),
        #[cfg(feature = "tui")]
        Command::Tui(args) => tui::run(args, &cli.look),
        #[cfg(not(feature = "tui"))]
        Command::Tui(_) => Err(exit::left_out("`tui` is", "tui")),
        Command::Report(args) => report::run(args),
        #[cfg(feature = "server")]
        Command::View(args) => view_server::run(args),
        #[cfg(not(feature = "server"))]
        Command::View(_) => Err(exit::left_out("`view` is", "server")),
        Command::Comm(args) => comm::run(args, &cli.look),
        Command::Trace(args) => trace::run(args, &cli.look),
        Command::Metrics(args) => metrics::run(args, &cli.look),
        Command::Run(args) => run::run(args, &cli.look),
        Command::Breakdown(args) => breakdown::run(args, &cli.look),
        Command::Profile(args) => profile::run(args, &cli.look),
        Command::Capture(args) => capture::run(args, &cli.look),
        Command::Judge(args) => judge::run(args, &cli.look),
        #[cfg(feature = "mcp")]
        Command::Mcp(args) => mcp::run(args, &cli.look),
        #[cfg(not(feature = "mcp"))]
        Command::Mcp(_) => Err(exit::left_out("`mcp` is", "mcp")),
        Command::LaunchTemplate(args) => launch_template::run(args),
        Command::Export(args) => export::run(args),
        Command::Explain(args) => explain::run(args, &cli.look),
        Command::Occupancy(args) => occupancy::run(args, &cli.look),
        Command::Doctor(args) => doctor::run(args, &cli.look),
        Command::Triage(args) => triage::run(args, &cli.look),
        Command::Store(args) => store::run(args, &cli.look),
        Command::Tune(args) => tune::run(args, &cli.look),
        Command::Tunedb(args) => tunedb::run(args, &cli.look),
        Command::Tile(args) => tile::run(args, &cli.look),
        Command::Completions(args) => completions::completions(args),
        Command::Man(args) => completions::man(args),
    }
}
