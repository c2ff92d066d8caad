//! Thread-trace data of each instruction, as columns of a listing; and measured stalls of findings.
//!
//! A stall is charged to the instruction that could not issue, mostly an `s_waitcnt`; its cause is the memory
//! instruction whose completion the wait needs.

use crate::KernelEvidence;
use crate::listing_run::Mismatch;
use crate::listing_samples::{percent, recorded_lines, same_mnemonic};
use crate::waits::wait;
use isa::Class;
use sorting::Sort;
use std::collections::{BTreeMap, BTreeSet};
use view::{Finding, LineTrace, Listing, ListingLine, ListingTrace};
use workload::{KernelTrace, TracedCounts};

/// Instructions searched backwards from a wait for its cause.
const LOOKED_BACK: usize = 4096;

/// Adds the thread trace of a kernel to the listing of `evidence`. `sources` are the files it was read from.
pub fn add_trace(
    listing: &mut Listing,
    evidence: &KernelEvidence<'_>,
    trace: &KernelTrace,
    sources: &[String],
) -> Result<(), Mismatch> {
    let Some(start) = evidence.address(0) else { return Err(Mismatch::Text) };
    let body = start..start.saturating_add(evidence.code_bytes);
    let places: BTreeMap<u64, usize> =
        (0..evidence.insts.len()).filter_map(|at| Some((evidence.address(at)?, at))).collect();
    let causes = causes(evidence);
    let mut elsewhere = 0;
    for (instruction, counts) in &trace.rows {
        let Some(address) = instruction.address.filter(|address| body.contains(address)) else {
            elsewhere += counts.hits;
            continue;
        };
        match places.get(&address).map(|&at| (at, evidence.text(at))) {
            Some((at, text)) if same_mnemonic(&instruction.text, &text) => {
                listing.lines[at].trace = line(counts, &trace.total, causes.get(&address).copied());
            }
            found => {
                let found =
                    found.map_or_else(|| "no instruction".to_owned(), |(_, text)| format!("`{text}`"));
                return Err(Mismatch::Instruction { address, recorded: instruction.text.clone(), found });
            }
        }
    }
    listing.trace = Some(ListingTrace { elsewhere, ..of_kernel(trace, sources, false) });
    Ok(())
}

/// A listing of the instructions of a trace, for want of the code object.
pub fn traced_listing(trace: &KernelTrace, sources: &[String]) -> Listing {
    let lines = recorded_lines(&trace.rows, |line_of, counts| {
        line_of.trace = line(counts, &trace.total, None);
    });
    Listing {
        lines,
        kernel: workload::plain_kernel_name(&trace.kernel.name).to_owned(),
        text_lines: false,
        run: None,
        samples: None,
        trace: Some(of_kernel(trace, sources, true)),
    }
}

fn of_kernel(trace: &KernelTrace, sources: &[String], traced_only: bool) -> ListingTrace {
    let TracedCounts { hits, latency, stall, idle } = trace.total;
    ListingTrace {
        sources: sources.to_vec(),
        dispatches: trace.dispatches,
        waves: trace.waves,
        hits,
        latency,
        stall,
        idle,
        elsewhere: 0,
        traced_only,
    }
}

fn line(counts: &TracedCounts, total: &TracedCounts, cause: Option<u64>) -> Option<LineTrace> {
    let TracedCounts { hits, latency, stall, idle } = *counts;
    (hits > 0).then(|| LineTrace { hits, latency, stall, share: percent(stall, total.stall), idle, cause })
}

/// Counter that a memory instruction increments: true for vector memory, false for LDS and scalar memory.
fn is_vector(class: Class) -> Option<bool> {
    match class {
        Class::VmemLoad | Class::VmemStore | Class::VmemAtomic => Some(true),
        Class::Lds | Class::Smem => Some(false),
        _ => None,
    }
}

/// For each wait, the memory instruction it waits for, by address: the youngest that must have completed.
///
/// Searches backwards in program order, wrapping at loop ends. Scalar loads return out of order, so the
/// youngest is charged.
pub(crate) fn causes(evidence: &KernelEvidence<'_>) -> BTreeMap<u64, u64> {
    let waits = (0..evidence.insts.len()).filter_map(|at| {
        let wait = wait(&evidence.insts[at])?;
        let vector = wait.vector.and_then(|count| before(evidence, at, true, count));
        let lds = wait.lds.and_then(|count| before(evidence, at, false, count));
        Some((evidence.address(at)?, evidence.address(vector.or(lds)?)?))
    });
    waits.collect()
}

/// The memory instruction before `at` after which `count` more were issued.
fn before(evidence: &KernelEvidence<'_>, at: usize, vector: bool, count: u32) -> Option<usize> {
    let mut left = count;
    let number = u32::try_from(at).ok()?;
    // The end of a loop precedes its begin in this search.
    let around = evidence.cfg.loop_of(number).map(|id| {
        let mut own: Vec<usize> =
            evidence.cfg.loop_insts(id).map(|it| it as usize).filter(|it| *it > at).collect();
        own.in_order();
        (evidence.cfg.loop_insts(id).min().map_or(0, |it| it as usize), own)
    });
    let (begin, rest) = around.unwrap_or((0, Vec::new()));
    let outside = if rest.is_empty() { 0..0 } else { 0..begin };
    let order = (begin..at).rev().chain(rest.into_iter().rev()).chain(outside.rev());
    for place in order.take(LOOKED_BACK) {
        let inst = &evidence.insts[place];
        if let Some(wait) = wait(inst)
            && (if vector { wait.vector } else { wait.lds }).is_some_and(|earlier| earlier <= left)
        {
            // What is older has ended there.
            return None;
        }
        if is_vector(inst.op.info().class) == Some(vector) {
            if left == 0 {
                return Some(place);
            }
            left -= 1;
        }
    }
    None
}

/// Rules whose places stall where the cost arises.
const STALLING: [&str; 4] = ["SYN", "MEM", "LDS", "MAT"];

/// Gives findings on the code what was measured at their places: cycles that waves stalled there, or samples
/// of waves that were there. A wait for one of the places counts as that place.
pub fn measure_findings(findings: &mut [Finding], listing: &Listing, evidence: &KernelEvidence<'_>) {
    if listing.trace.is_none() && listing.samples.is_none() && listing.run.is_none() {
        return;
    }
    let causes = causes(evidence);
    for finding in findings.iter_mut().filter(|it| STALLING.iter().any(|start| it.rule.starts_with(start))) {
        let places: BTreeSet<u64> = finding.places.iter().filter_map(|place| place.address).collect();
        if places.is_empty() {
            continue;
        }
        let here = |line: &&ListingLine| {
            places.contains(&line.address)
                || causes.get(&line.address).is_some_and(|cause| places.contains(cause))
        };
        let lines = || listing.lines.iter().filter(here);
        if let Some(trace) = listing.trace.as_ref().filter(|it| it.stall > 0) {
            let stall: u64 = lines().filter_map(|line| Some(line.trace.as_ref()?.stall)).sum();
            let share = percent(stall, trace.stall);
            put(
                finding,
                "stalled there (thread trace)",
                format!("{stall} of {} cycles, {share:.0} %", trace.stall),
            );
        }
        if let Some(samples) = listing.samples.as_ref().filter(|it| it.count > 0) {
            let count: u64 = lines().filter_map(|line| Some(line.samples.as_ref()?.count)).sum();
            let share = percent(count, samples.count);
            put(
                finding,
                "waves there (PC samples)",
                format!("{count} of {} samples, {share:.0} %", samples.count),
            );
        }
        if listing.run.as_ref().is_some_and(|run| !run.waits.is_empty()) {
            let share: f64 = lines().filter_map(|line| Some(line.run.as_ref()?.stall.as_ref()?.share)).sum();
            put(finding, "waited there (modelled)", format!("{share:.0} % of the cycles that waves waited"));
        }
    }
}

fn put(finding: &mut Finding, what: &str, value: String) {
    if finding.cost.is_none() {
        finding.cost = Some(format!("{what}: {value}"));
    }
    finding.evidence.push(view::Evidence { what: what.to_owned(), value });
}
