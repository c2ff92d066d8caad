//! Effect of a kernel's fault on the program.
//!
//! The one idea to keep in mind: on the hardware a fault ends the program. Python programs ask for an error instead,
//! which becomes an exception, so that a test run goes on; the command repeats what the program may have hidden.

use crate::codes::Code;
use crate::message::say;
use host::session;
use std::path::{Path, PathBuf};

/// Effect of a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum After {
    /// The program ends.
    #[default]
    Abort,
    /// The launch returns an error, and the command repeats the message.
    Error,
    /// The launch returns an error; the program passes the message on itself.
    QuietError,
}

/// Faults of this process.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    pub(crate) after: After,
    /// Folder of the session.
    session: Option<PathBuf>,
    /// The command's standard error is this process's too.
    is_seen: bool,
    /// Message of the last fault, until the program takes it.
    last: Option<String>,
}

impl After {
    /// By the number that Python gives.
    pub(crate) fn of(number: i32) -> Option<After> {
        [After::Abort, After::Error, After::QuietError].get(usize::try_from(number).ok()?).copied()
    }
}

impl Faults {
    /// Faults of a session in a folder, whose command has that standard error.
    pub(crate) fn new(folder: &Path, stderr: Option<(u64, u64)>) -> Faults {
        let is_seen = stderr.is_some() && stderr == session::stderr_file();
        Faults { session: Some(folder.to_owned()), is_seen, ..Faults::default() }
    }

    /// Ends the program, or makes the fault an error of the launch. `asserts` is what failed asserts printed; a kernel that
    /// would run for ever `hangs`.
    pub(crate) fn end(&mut self, asserts: &str, stopped: &str, hangs: bool) -> Result<(), Code> {
        let message = format!("{asserts}{stopped}");
        if let (true, Some(folder)) = (hangs, &self.session) {
            // Without it the fault is one like others.
            let _ = std::fs::write(folder.join(session::HANGS), "");
        }
        let repeats = match self.after {
            After::Abort => !self.is_seen,
            After::Error => true,
            After::QuietError => false,
        };
        if repeats
            && let Some(folder) = &self.session
            && let Err(error) = session::add_fault(folder, &message)
        {
            say(&format!("cannot write into {}: {error}", folder.display()));
        }
        if self.after == After::Abort {
            say(stopped);
            std::process::abort();
        }
        self.last = Some(message);
        Err(Code::hipErrorLaunchFailure)
    }

    /// Takes the message of the last fault.
    pub(crate) fn take(&mut self) -> Option<String> {
        self.last.take()
    }
}
