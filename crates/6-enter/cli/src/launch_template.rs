//! `rockhound launch-template`: a launch file for a kernel, to be filled in.

use crate::args::LaunchTemplate;
use crate::exit::Outcome;
use crate::output;
use anyhow::Result;

/// Writes the template.
pub(crate) fn run(args: &LaunchTemplate) -> Result<Outcome> {
    output::print(&host::launch_template(&args.file, args.arch.as_deref(), args.kernel.as_deref())?)?;
    Ok(Outcome::Fine)
}
