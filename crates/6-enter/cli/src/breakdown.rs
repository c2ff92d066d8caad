//! `rockhound breakdown`: predictions of a recording that keeps what its waves did.

use crate::analyze;
use crate::args::{Analyze, Breakdown, Look};
use crate::exit::Outcome;
use anyhow::Result;
use host::breakdown::{self, predict};

/// Tables of predictions.
const BLOCKS: [&str; 3] = ["0.1", "0.3", "0.4"];

/// Predicts.
pub(crate) fn run(args: &Breakdown, look: &Look) -> Result<Outcome> {
    let wanted = args.part.wanted();
    let asked = breakdown::Breakdown {
        source: &args.path,
        wanted: &wanted,
        limits: args.limits || args.what_if.is_empty(),
        what_if: &args.what_if,
        threads: args.threads,
    };
    let folder = predict(&asked, |line| eprintln!("{line}"))?;
    let mut report = Analyze::of_recording(&folder, &BLOCKS.map(str::to_owned))?;
    report.pick.part.clone_from(&args.part);
    report.format = args.format;
    analyze::run(&report, look)
}
