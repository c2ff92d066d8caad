//! Sets of metrics as a list.

use std::fmt::Write as _;
use view::{Sets, counted};

/// All sets with their metrics, and their requirements on each target.
pub(crate) fn sets(sets: &Sets) -> String {
    let mut out = String::new();
    for set in &sets.sets {
        let _ = writeln!(out, "{:<23} {}", set.name, set.title);
        let _ = writeln!(out, "    {}", set.metrics.join(" "));
        for it in &set.targets {
            let runs = match it.passes {
                Some(0) => "no counters: read from the launch".to_owned(),
                Some(runs) => {
                    format!("{} in {}", counted(it.counters.len(), "counter"), counted(runs, "run"))
                }
                None => "not on this target".to_owned(),
            };
            let _ = writeln!(out, "    {:<8} {}, {runs}", it.target, counted(it.metrics.len(), "metric"));
        }
    }
    out
}
