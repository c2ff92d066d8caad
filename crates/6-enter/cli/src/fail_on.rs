//! `--fail-on`: which findings make the exit code 2.

use crate::explain;
use anyhow::Result;
use study::FailOn;

/// Checks the flags.
pub(crate) fn parse(flags: &[String]) -> Result<Vec<FailOn>> {
    flags.iter().map(|flag| FailOn::parse(flag).ok_or_else(|| explain::unknown_rule(flag))).collect()
}
