//! `--fail-on`: which findings make the exit code 2.

use crate::explain;
use anyhow::Result;
use study::FailOn;

/// Prints the conditions that are met, and returns whether any is.
pub(crate) fn met(conditions: &[FailOn]) -> bool {
    conditions.iter().filter_map(FailOn::verdict).inspect(|verdict| eprintln!("{verdict}")).count() > 0
}

/// Checks the flags.
pub(crate) fn parse(flags: &[String]) -> Result<Vec<FailOn>> {
    flags.iter().map(|flag| FailOn::parse(flag).ok_or_else(|| explain::unknown_rule(flag))).collect()
}
