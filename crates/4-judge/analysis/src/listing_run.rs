//! Recorded data of each instruction, as columns of a listing.
//!
//! Instructions are matched by address, and their text must be equal: numbers next to code that did not run
//! would be worse than no numbers.

use crate::KernelEvidence;
use sorting::Sort;
use std::collections::BTreeMap;
use view::{LineRun, LineStall, Listing, ListingRun, WaitShare};
use workload::{InstructionRow, KernelRun, STALLS};

/// The code is not what ran.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Mismatch {
    /// Assembly text, where instructions have no address.
    #[error("assembly text has no addresses, by which a recording names instructions")]
    Text,
    /// The file has another instruction, or none, at an address.
    #[error("at {address:#x} the recording has `{recorded}`, and the file has {found}")]
    Instruction {
        /// Address.
        address: u64,
        /// Recorded text.
        recorded: String,
        /// Text in the file, in backticks, or a description.
        found: String,
    },
    /// The file contains none of the sampled instructions.
    #[error("`{recorded}` was sampled, and the file has no sampled instruction")]
    Absent {
        /// An instruction as recorded.
        recorded: String,
    },
}

/// Adds what the recording says to a listing of `evidence`.
pub fn add_run(
    listing: &mut Listing,
    evidence: &KernelEvidence<'_>,
    run: &KernelRun,
) -> Result<(), Mismatch> {
    let Some(start) = evidence.address(0) else { return Err(Mismatch::Text) };
    let body = start..start.saturating_add(evidence.code_bytes);
    let places: BTreeMap<u64, usize> =
        (0..evidence.insts.len()).filter_map(|at| Some((evidence.address(at)?, at))).collect();
    let issued: u64 = run.rows.values().map(|row| row.executions).sum();
    let stalled: u64 = run.rows.values().map(stalled).sum();
    let called: BTreeMap<u64, usize> =
        (evidence.insts.len()..listing.lines.len()).map(|at| (listing.lines[at].address, at)).collect();
    let mut elsewhere = 0;
    for row in run.rows.values() {
        if !body.contains(&row.address) {
            match called.get(&row.address) {
                Some(&at) => listing.lines[at].run = Some(line(row, issued, stalled)),
                None => elsewhere += row.executions,
            }
            continue;
        }
        let found = places.get(&row.address).map(|&at| (at, evidence.text(at)));
        match found {
            Some((at, text)) if text == row.text => listing.lines[at].run = Some(line(row, issued, stalled)),
            found => {
                let found =
                    found.map_or_else(|| "no instruction".to_owned(), |(_, text)| format!("`{text}`"));
                let recorded = row.text.clone();
                return Err(Mismatch::Instruction { address: row.address, recorded, found });
            }
        }
    }
    listing.run =
        Some(ListingRun { dispatches: run.dispatches, issued, elsewhere, waits: waits(run, stalled) });
    Ok(())
}

/// Wait reasons in the whole kernel, called functions included, most first.
fn waits(run: &KernelRun, all: u64) -> Vec<WaitShare> {
    let mut sums = [0u64; STALLS.len()];
    for cycles in run.rows.values().filter_map(|row| row.stalls) {
        sums.iter_mut().zip(cycles).for_each(|(sum, more)| *sum = sum.saturating_add(more));
    }
    let share = |sum: u64| 100.0 * sum as f64 / all.max(1) as f64;
    let mut waits: Vec<WaitShare> = STALLS
        .iter()
        .zip(sums)
        .filter(|(_, sum)| *sum > 0)
        .map(|(why, sum)| WaitShare { why: (*why).to_owned(), share: share(sum) })
        .collect();
    waits.in_order_by(|a, b| b.share.total_cmp(&a.share));
    waits
}

fn line(row: &InstructionRow, issued: u64, all: u64) -> LineRun {
    let per = |sum: u64, count: u64| sum as f64 / count.max(1) as f64;
    LineRun {
        count: row.executions,
        share: 100.0 * per(row.executions, issued),
        lanes: per(row.lanes, row.executions),
        lines_per_access: row.vector.map(|it| per(it.lines, it.accesses)),
        conflict_cycles: row.lds.map(|it| it.conflicts),
        lds_cycles: row.lds.map(|it| it.cycles),
        stall: row.stalls.filter(|_| stalled(row) > 0).map(|cycles| {
            let most = (0..STALLS.len()).max_by_key(|&at| (cycles[at], STALLS.len() - at)).unwrap_or(0);
            LineStall {
                cycles: per(stalled(row), row.executions),
                share: 100.0 * per(stalled(row), all),
                why: STALLS[most].to_owned(),
            }
        }),
    }
}

/// Cycles that waves waited before an instruction.
fn stalled(row: &InstructionRow) -> u64 {
    row.stalls.map_or(0, |cycles| cycles.iter().fold(0, |sum: u64, &more| sum.saturating_add(more)))
}
