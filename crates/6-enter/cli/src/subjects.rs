//! Recordings read, selected and compiled for the commands; unreadable ones are reported.

use anyhow::Result;
#[cfg(feature = "tui")]
pub(crate) use host::subjects::select_in;
pub(crate) use host::subjects::{Asked, Subjects, compile, for_each};

/// Reads every recording; one that cannot be read is reported and the others go on.
pub(crate) fn read(asked: &Asked) -> Result<Subjects> {
    let mut errors = Vec::new();
    let subjects = host::subjects::read(asked, &mut errors);
    errors.iter().for_each(|error| eprintln!("error: {error:#}"));
    subjects
}
