//! What the rules on recordings share: how lost time and parts are written.
//!
//! The one idea to keep in mind: the time a finding costs is at most the time the kernel takes beyond its nearest roof,
//! since nothing below the roof can be gained without changing the work.

use analysis::WorkloadEvidence;
use view::Finding;

/// States that a finding costs `part` of the kernel's time, as time where it is known.
pub(crate) fn lost(evidence: &WorkloadEvidence<'_>, finding: Finding, part: f64) -> Finding {
    let part = part.clamp(0.0, 1.0);
    let Some(ns) = evidence.time_of(part) else {
        return finding.with_cost(format!("up to {} of the kernel's time", percent(part)));
    };
    let total = evidence.time_of(1.0).unwrap_or(ns);
    finding
        .with_cost(format!("up to {} of {} ({})", duration(ns), duration(total), percent(part)))
        .with_time_lost(Some(ns))
}

/// `0.4 %`, `35 %`.
pub(crate) fn percent(part: f64) -> String {
    let value = 100.0 * part;
    if value < 9.95 { format!("{value:.1} %") } else { format!("{value:.0} %") }
}

/// `870 ns`, `17.4 us`, `3.36 ms`: three digits.
pub(crate) fn duration(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => return format!("{ns:.0} ns"),
        ns if ns < 1e6 => (ns / 1e3, "us"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        for (ns, text) in [
            (870.0, "870 ns"),
            (1234.0, "1.23 us"),
            (17_440.0, "17.4 us"),
            (3_356_652.0, "3.36 ms"),
            (2e9, "2.00 s"),
        ] {
            assert_eq!(duration(ns), text);
        }
        for (part, text) in [(0.004, "0.4 %"), (0.349, "35 %"), (1.0, "100 %")] {
            assert_eq!(percent(part), text);
        }
    }
}
