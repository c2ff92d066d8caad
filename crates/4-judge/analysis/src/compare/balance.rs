//! All changes of a kernel weighed against each other, in one line.
//!
//! Waves, spills, widths and work count; code size does not, nor does the number of registers if the waves
//! stay the same.

use view::{Balance, Change, Verdict};

/// Values that count, in the order they are named.
const COUNTED: [&str; 9] = [
    "occupancy",
    "vgpr_spills",
    "sgpr_spills",
    "scratch_bytes",
    "work_per_mfma",
    "work_per_byte",
    "load_width",
    "store_width",
    "lds_width",
];

/// Maximum number of values named on each side.
const NAMED: usize = 3;

pub(super) fn of(changes: &[Change]) -> Balance {
    let counted = |verdict: Verdict| -> Vec<&Change> {
        let find = |key: &&str| changes.iter().find(|change| change.metric == **key);
        COUNTED.iter().filter_map(find).filter(|change| change.verdict == verdict).collect()
    };
    let (better, worse) = (counted(Verdict::Better), counted(Verdict::Worse));
    let names = |changes: &[&Change]| {
        let named: Vec<String> = changes.iter().take(NAMED).map(|change| words(change)).collect();
        named.join(", ")
    };
    let (verdict, mut text) = match (better.is_empty(), worse.is_empty()) {
        (true, true) => (Verdict::Neutral, "nothing that counts: same waves, widths and work".to_owned()),
        (false, true) => (Verdict::Better, format!("better: {}", names(&better))),
        (true, false) => (Verdict::Worse, format!("worse: {}", names(&worse))),
        (false, false) => {
            (Verdict::Neutral, format!("undecided: better: {}; worse: {}", names(&better), names(&worse)))
        }
    };
    let waves = changes.iter().any(|change| change.metric == "occupancy");
    if !waves && verdict_counts(&better, &worse) {
        text.push_str("; waves unchanged");
    }
    Balance { verdict, words: text }
}

/// Something that counts changed.
fn verdict_counts(better: &[&Change], worse: &[&Change]) -> bool {
    !better.is_empty() || !worse.is_empty()
}

/// "width of loads executed 16 → 4 bytes per lane"
fn words(change: &Change) -> String {
    let number = |value: Option<f64>| {
        let text = format!("{:.2}", value.unwrap_or(0.0));
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    let unit = if change.unit.is_empty() { String::new() } else { format!(" {}", change.unit) };
    format!("{} {} → {}{unit}", change.label, number(change.old), number(change.new))
}
