//! Limiter of a kernel without recorded counters, from a thread trace or samples of the program counter.
//!
//! A stall is charged to the instruction that waits. Its cause follows from the instruction: `s_waitcnt
//! vmcnt` waits for vector memory, a load that cannot issue waits for the unit that takes loads.

use crate::WorkloadEvidence;
use crate::workload::{selected_samples, selected_traces};
use sorting::Sort;
use view::{GuideVerdict, Missing, Number, counted, listed};
use workload::{SampledInstruction, is_sampled_kernel};

/// Cause of the waits of instructions.
struct Wait {
    /// After "waves wait for".
    what: &'static str,
    /// Name, as in the verdict's `bound_by`.
    name: &'static str,
    meaning: &'static str,
}

const VECTOR_MEMORY: Wait = Wait {
    what: "vector memory",
    name: "latency",
    meaning: "issue loads earlier, keep more of them in flight, or let more waves hide them",
};
const LDS_OR_SCALAR: Wait = Wait {
    what: "LDS or scalar memory",
    name: "latency",
    meaning: "put independent work between LDS or scalar loads and their use; look for bank conflicts",
};
const MEMORY: Wait = Wait {
    what: "memory",
    name: "latency",
    meaning: "issue loads earlier, keep more of them in flight, or let more waves hide them",
};

/// Prefixes of instructions, and the unit that they wait for when they cannot issue; the first match counts.
const WAITS: &[(&[&str], Wait)] = &[
    (
        &["s_barrier"],
        Wait {
            what: "other waves at a barrier",
            name: "barriers",
            meaning: "let waves depend on fewer others: smaller workgroups, fewer phases, work between arrival and need",
        },
    ),
    (
        &["v_mfma", "v_smfmac"],
        Wait {
            what: "matrix units",
            name: "matrix units",
            meaning: "put independent matrix instructions between dependent ones; otherwise compute less",
        },
    ),
    (
        &["v_"],
        Wait {
            what: "vector units",
            name: "vector issue",
            meaning: "spend fewer vector instructions, and put independent ones between dependent ones",
        },
    ),
    (
        &["ds_"],
        Wait {
            what: "the LDS to take instructions",
            name: "LDS",
            meaning: "make fewer and wider LDS accesses, and look for bank conflicts",
        },
    ),
    (
        &["s_"],
        Wait {
            what: "scalar instructions and branches",
            name: "scalar issue",
            meaning: "keep loops short of control: unroll, and move scalar work out of them",
        },
    ),
    (
        &[""],
        Wait {
            what: "the memory units to take instructions",
            name: "vL1D look-ups",
            meaning: "make fewer and wider memory accesses, with neighbouring lanes on neighbouring addresses",
        },
    ),
];

fn wait_of(text: &str) -> &'static Wait {
    let text = text.trim_start();
    if text.starts_with("s_waitcnt") {
        return match (text.contains("vmcnt"), text.contains("lgkmcnt")) {
            (true, false) => &VECTOR_MEMORY,
            (false, true) => &LDS_OR_SCALAR,
            _ => &MEMORY,
        };
    }
    let fits = WAITS.iter().find(|(starts, _)| starts.iter().any(|start| text.starts_with(start)));
    fits.map_or(&MEMORY, |(_, wait)| wait)
}

/// Instructions named.
const NAMED: usize = 2;

/// An instruction and how much of the kernel waits at it.
type Stall<'a> = (&'a SampledInstruction, u64);

/// A verdict from a thread trace or samples of the kernel; `None` if it has neither.
pub(super) fn verdict(kernel: &WorkloadEvidence<'_>) -> Option<GuideVerdict> {
    let rows = kernel.evaluation.rows();
    let w = kernel.workload;
    let is_kernel = |name: &workload::SampledKernel| is_sampled_kernel(name, kernel.kernel);
    if let Some(trace) = selected_traces(w, rows).into_iter().find(|it| is_kernel(&it.kernel)) {
        let stalls = trace.rows.iter().map(|(at, counts)| (at, counts.stall)).collect();
        let cycles = trace.total.latency.saturating_add(trace.total.idle);
        let waves =
            trace.waves.map_or_else(String::new, |waves| format!("; {} traced", counted(waves, "wave")));
        return said(kernel, stalls, (cycles, "traced cycles"), &waves);
    }
    let samples = selected_samples(w, rows).into_iter().find(|it| is_kernel(&it.kernel))?;
    let stalled = samples.total.says_issued();
    let stalls: Vec<Stall<'_>> = samples
        .rows
        .iter()
        .map(|(at, counts)| (at, if stalled { counts.stalled } else { counts.samples }))
        .collect();
    said(kernel, stalls, (samples.total.samples, "samples"), "")
}

fn said(
    kernel: &WorkloadEvidence<'_>,
    mut stalls: Vec<Stall<'_>>,
    (all, unit): (u64, &str),
    more: &str,
) -> Option<GuideVerdict> {
    // Without the text of instructions, the cause of their waits is unknown.
    stalls.retain(|(at, count)| *count > 0 && !at.text.is_empty());
    stalls.in_order_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let stalled: u64 = stalls.iter().map(|it| it.1).sum();
    let percent = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
    let of = |wait: &Wait| -> u64 {
        stalls.iter().filter(|(at, _)| wait_of(&at.text).what == wait.what).map(|it| it.1).sum()
    };
    let first = stalls.iter().map(|(at, _)| wait_of(&at.text)).max_by_key(|wait| of(wait))?;
    let most: Vec<String> = stalls
        .iter()
        .take(NAMED)
        .map(|(at, count)| {
            let place = match (&at.source[..], at.address) {
                ("", Some(address)) => format!(" ({address:#x})"),
                ("", None) => String::new(),
                (source, _) => format!(" ({source})"),
            };
            format!("{:.0} % at `{}`{place}", percent(*count, stalled), at.text)
        })
        .collect();
    let no_rate = Missing::because("no counters were recorded");
    Some(GuideVerdict {
        kernel: kernel.kernel.to_owned(),
        time_percent: Number::from(kernel.time_percent.clone()),
        headline: format!("waves wait for {} in {:.0} % of the {unit}", first.what, percent(of(first), all)),
        bound_by: Some(first.name.to_owned()),
        because: format!("of all stalls {}{more}", listed(&most, "and")),
        meaning: first.meaning.to_owned(),
        ..GuideVerdict::unknown(kernel.kernel, no_rate)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_say_what_they_wait_for() {
        for (text, what) in [
            ("s_waitcnt vmcnt(4)", "vector memory"),
            ("s_waitcnt lgkmcnt(1)", "LDS or scalar memory"),
            ("s_waitcnt vmcnt(0) lgkmcnt(0)", "memory"),
            ("s_barrier", "other waves at a barrier"),
            ("v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]", "matrix units"),
            ("v_add_f32 v0, v1, v2", "vector units"),
            ("ds_read_b128 v[0:3], v4", "the LDS to take instructions"),
            ("global_load_dwordx4 v[0:3], v[4:5], off", "the memory units to take instructions"),
            ("s_cbranch_scc1 12", "scalar instructions and branches"),
        ] {
            assert_eq!(wait_of(text).what, what, "{text}");
        }
    }
}
