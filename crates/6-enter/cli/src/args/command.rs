//! The commands, of which a start builds the one that was asked for.

use super::*;
use clap::{ArgMatches, Error, FromArgMatches};
use std::cell::RefCell;
use std::ffi::{OsStr, OsString};

thread_local! {
    /// The only command that [`Command::augment_subcommands`] builds; `None` for all.
    static ONLY: RefCell<Option<OsString>> = const { RefCell::new(None) };
}

/// Reads the command line of the program. If its first word is a command, no option of any other is built: all of them together
/// take a millisecond.
pub(crate) fn parse() -> Result<Cli, Error> {
    ONLY.set(std::env::args_os().nth(1).filter(|word| NAMES.iter().any(|name| word == name)));
    let cli = Cli::try_parse();
    ONLY.set(None);
    cli
}

/// True if a command is built.
fn is_asked(name: &str) -> bool {
    ONLY.with_borrow(|only| only.as_deref().is_none_or(|only| only == OsStr::new(name)))
}

/// The commands with their options, and what clap derives from an enum with one command in each variant.
macro_rules! commands {
    ($($variant:ident($options:ident) = $name:literal,)*) => {
        pub(crate) enum Command {
            $($variant($options),)*
        }

        const NAMES: &[&str] = &[$($name),*];

        impl Subcommand for Command {
            fn augment_subcommands(mut program: clap::Command) -> clap::Command {
                // Options that all commands have are shown behind those of a command, by the number of commands.
                $(
                    let command = clap::Command::new($name);
                    program = program.subcommand(match is_asked($name) {
                        true => $options::augment_args(command),
                        false => command,
                    });
                )*
                program
            }

            fn augment_subcommands_for_update(program: clap::Command) -> clap::Command {
                Self::augment_subcommands(program)
            }

            fn has_subcommand(name: &str) -> bool {
                NAMES.contains(&name)
            }
        }

        impl FromArgMatches for Command {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
                Self::from_arg_matches_mut(&mut matches.clone())
            }

            fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
                let Some((name, mut options)) = matches.remove_subcommand() else {
                    return Err(Error::new(clap::error::ErrorKind::MissingSubcommand));
                };
                match &*name {
                    $($name => Ok(Command::$variant($options::from_arg_matches_mut(&mut options)?)),)*
                    _ => Err(Error::new(clap::error::ErrorKind::InvalidSubcommand)),
                }
            }

            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
                let Some((name, options)) = matches.subcommand() else { return Ok(()) };
                match self {
                    $(Command::$variant(it) if name == $name => it.update_from_arg_matches(options)?,)*
                    _ => *self = Self::from_arg_matches(matches)?,
                }
                Ok(())
            }
        }
    };
}

commands! {
    Inspect(Inspect) = "inspect",
    Diff(Diff) = "diff",
    Analyze(Analyze) = "analyze",
    Guide(Guide) = "guide",
    Roofline(Roofline) = "roofline",
    Tui(Tui) = "tui",
    Report(Report) = "report",
    View(View) = "view",
    Trace(Trace) = "trace",
    Comm(Comm) = "comm",
    Metrics(Metrics) = "metrics",
    Run(Run) = "run",
    Profile(Profile) = "profile",
    Judge(Judge) = "judge",
    Capture(Capture) = "capture",
    Mcp(Mcp) = "mcp",
    Breakdown(Breakdown) = "breakdown",
    Export(ExportRecording) = "export",
    Accuracy(Accuracy) = "accuracy",
    LaunchTemplate(LaunchTemplate) = "launch-template",
    Explain(Explain) = "explain",
    Occupancy(Occupancy) = "occupancy",
    Doctor(Doctor) = "doctor",
    Triage(Triage) = "triage",
    Store(Store) = "store",
    Tune(Tune) = "tune",
    Tunedb(Tunedb) = "tunedb",
    Tile(Tile) = "tile",
    Completions(Completions) = "completions",
    Man(Man) = "man",
}

impl Command {
    /// Its name, and the paths that it was given to read.
    pub(crate) fn inputs(&self) -> (&'static str, Vec<&Path>) {
        fn of(files: &[PathBuf]) -> Vec<&Path> {
            files.iter().map(PathBuf::as_path).collect()
        }
        fn sources<'a>(all: &'a [Source], base: &'a Option<Source>) -> Vec<&'a Path> {
            all.iter().chain(base).map(Source::path).collect()
        }
        match self {
            Command::Inspect(it) => ("inspect", of(&it.files)),
            Command::Diff(it) => ("diff", vec![it.old.path(), it.new.path()]),
            Command::Analyze(it) => ("analyze", sources(&it.path, &None)),
            Command::Guide(it) => {
                ("guide", sources(std::slice::from_ref(&it.subject.path), &it.subject.base))
            }
            Command::Tui(it) => ("tui", sources(std::slice::from_ref(&it.subject.path), &it.subject.base)),
            Command::Roofline(it) => ("roofline", sources(&it.paths, &None)),
            Command::Report(it) => ("report", sources(&it.paths, &it.base)),
            Command::View(it) => ("view", sources(&it.paths, &it.base)),
            Command::Trace(it) => ("trace", sources(&it.files, &it.base)),
            Command::Comm(it) => ("comm", of(&it.files)),
            Command::Profile(it) => ("profile", of(it.file.as_slice())),
            Command::Judge(it) => {
                ("judge", std::iter::once(&it.base).chain(&it.candidates).map(PathBuf::as_path).collect())
            }
            Command::Breakdown(it) => ("breakdown", vec![it.path.path()]),
            Command::Export(it) => ("export", vec![it.path.path()]),
            Command::Accuracy(it) => ("accuracy", sources(std::slice::from_ref(&it.gpu), &it.emulated)),
            Command::LaunchTemplate(it) => ("launch-template", vec![&it.file]),
            Command::Doctor(it) => ("doctor", of(&it.files)),
            Command::Triage(it) => ("triage", of(&it.files)),
            Command::Store(it) => ("store add", it.question.inputs()),
            Command::Tune(it) => ("tune", of(it.space.as_slice())),
            Command::Tunedb(it) => ("tunedb", it.question.inputs()),
            Command::Metrics(_)
            | Command::Run(_)
            | Command::Explain(_)
            | Command::Mcp(_)
            | Command::Capture(_)
            | Command::Occupancy(_)
            | Command::Tile(_)
            | Command::Completions(_)
            | Command::Man(_) => ("", Vec::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn one_command_is_as_among_all() {
        for name in NAMES {
            let help = |program: &mut clap::Command| {
                program.build();
                program.find_subcommand_mut(name).map(|it| it.render_long_help().to_string())
            };
            let among_all = help(&mut Cli::command());
            ONLY.set(Some(name.into()));
            let mut alone = Cli::command();
            ONLY.set(None);
            let built = alone
                .get_subcommands()
                .filter(|it| it.get_arguments().next().is_some() || it.has_subcommands());
            assert_eq!(built.map(clap::Command::get_name).collect::<Vec<_>>(), [*name]);
            assert_eq!(help(&mut alone), among_all);
        }
    }
}
