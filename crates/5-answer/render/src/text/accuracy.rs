//! A recording of a GPU beside an emulated one, in short.

use std::fmt::Write as _;
use view::{Accuracy, AccuracyError, AccuracyVerdict};

/// Modelled quantities that are listed.
const LISTED: usize = 12;

/// The comparison as text of `width` columns.
pub(crate) fn accuracy(it: &Accuracy, width: usize) -> String {
    let (equal, wrong) = (it.count(AccuracyVerdict::Equal), it.count(AccuracyVerdict::NotEqual));
    let mut out = format!(
        "{} kernels that both ran{}\n\n  follow from execution: {equal} of {} counters are equal\n",
        it.kernels.len(),
        match it.kernels_left_out {
            0 => String::new(),
            n => format!(", {n} that only one ran or not equally often"),
        },
        equal + wrong
    );
    for kernel in &it.kernels {
        for quantity in kernel.quantities.iter().filter(|it| it.verdict == AccuracyVerdict::NotEqual) {
            let [measured, emulated] = quantity.sums;
            let head = format!("    {} ", quantity.name);
            let tail = format!(": {measured} on the GPU, {emulated} emulated");
            let room = width.saturating_sub(head.chars().count() + tail.chars().count() + 2).max(8);
            let name: String = kernel.shown_name.chars().take(room).collect();
            let cut = if name.len() < kernel.shown_name.len() { "…" } else { "" };
            let _ = writeln!(out, "{head}{name}{cut}{tail}");
        }
    }
    let near = it.modelled.iter().filter(|error| error.mean <= 0.1).count();
    let _ = writeln!(
        out,
        "  modelled: {} quantities, {near} within 10 % on average{}",
        it.modelled.len(),
        if it.modelled.is_empty() { "" } else { "; the farthest:" }
    );
    for AccuracyError { name, mean, kernels } in it.modelled.iter().take(LISTED) {
        let _ = writeln!(out, "    {name:<34} {:>8.1} %  in {kernels} kernels", 100.0 * mean);
    }
    let lists = [
        ("counted by the GPU, not emulated", &it.only_measured),
        ("emulated, not counted by the GPU", &it.only_emulated),
    ];
    for (what, names) in lists {
        if !names.is_empty() {
            let _ = writeln!(out, "  {what}: {}", names.len());
        }
    }
    out
}
