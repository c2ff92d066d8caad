//! Recordings read and selected for the commands; unreadable ones are reported.

use anyhow::Result;
use host::subjects::{Asked, read_telling};
use study::Measured;

/// Reads every recording; one that cannot be read is reported and the others go on.
pub(crate) fn measured(asked: &Asked) -> Result<Measured<'static>> {
    Ok(Measured::built_in(read_telling(asked, tell)?)?)
}

/// Reports a recording that cannot be read.
pub(crate) fn tell(error: &anyhow::Error) {
    eprintln!("error: {error:#}");
}
