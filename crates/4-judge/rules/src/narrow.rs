//! Vector memory accesses that move fewer than 16 bytes per lane though their addresses allow more.
//!
//! Three proofs, tried in this order: adjacent bytes of one lane in one block, contiguous lanes, contiguous
//! iterations.

use crate::access::{MemoryAccess, WIDEST, is_global, lanes_are_contiguous, memory_access};
use crate::merge::{self, Run};
use analysis::KernelEvidence;
use analysis::affine::{Addresses, Step};
use isa::{Access, Class};
use sorting::Sort;
use std::collections::{BTreeMap, HashSet};

/// Widest access that contiguous lanes or iterations make narrow: 8 bytes reach full bandwidth with enough
/// waves.
const NARROW_ALONE: u32 = 4;

/// Minimum number of accesses of a block outside loops to be checked.
const MERGED_OUTSIDE: u32 = 4;

/// Reason why a wider access is possible.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Kind {
    /// Adjacent to others of its block.
    Merge,
    /// Neighbouring lanes are contiguous.
    Lanes,
    /// Neighbouring iterations are contiguous in each lane.
    Iterations,
}

/// Narrow accesses of one loop, or of the code outside loops.
pub(crate) struct Narrow {
    pub(crate) in_loop: Option<u32>,
    /// Number of all accesses of this kind in the loop, or outside loops.
    pub(crate) all: u32,
    /// Instruction, bytes per lane, proof; those to merge first.
    pub(crate) accesses: Vec<(u32, u32, Kind)>,
    pub(crate) runs: Vec<Run>,
    /// An access of the other kind is between accesses that could be merged.
    pub(crate) interrupted: bool,
    /// The loop has matrix instructions.
    pub(crate) has_matrix: bool,
    /// Accesses that merging saves where all lanes go to one address: few bytes, whatever their width.
    pub(crate) saved_of_one_address: u32,
    /// Accesses of other kinds by which all lanes store to one address.
    to_one_address: HashSet<u32>,
}

impl Narrow {
    /// Accesses that merging saves.
    pub(crate) fn saved(&self) -> u32 {
        self.runs.iter().map(Run::saved).sum()
    }

    /// Accesses per iteration that wide accesses save, including contiguous lanes and iterations and
    /// excluding accesses of all lanes to one address.
    pub(crate) fn saved_in_all(&self) -> f64 {
        let alone = self
            .accesses
            .iter()
            .filter(|(at, _, kind)| *kind != Kind::Merge && !self.to_one_address.contains(at));
        let saved = alone.map(|(_, bytes, _)| 1.0 - f64::from(*bytes) / f64::from(WIDEST));
        f64::from(self.saved() - self.saved_of_one_address) + saved.sum::<f64>()
    }

    /// Count by bytes per lane.
    pub(crate) fn widths(&self) -> BTreeMap<u32, u32> {
        let mut widths = BTreeMap::new();
        for (_, bytes, _) in &self.accesses {
            *widths.entry(*bytes).or_insert(0) += 1;
        }
        widths
    }

    /// Number of 16-byte accesses per iteration that move the same bytes: "1", "1/4".
    pub(crate) fn needed_text(&self) -> String {
        let whole: u32 = self.runs.iter().map(|run| run.needed).sum();
        let alone: u32 = self
            .accesses
            .iter()
            .filter(|(_, _, kind)| *kind != Kind::Merge)
            .map(|(_, bytes, _)| *bytes)
            .sum();
        let number = f64::from(whole) + f64::from(alone) / f64::from(WIDEST);
        format!("{number:.2}").trim_end_matches('0').trim_end_matches('.').to_owned()
    }

    /// Fact that the addresses prove.
    pub(crate) fn proof(&self) -> String {
        let count = |kind: Kind| self.accesses.iter().filter(|(_, _, k)| *k == kind).count();
        let mut parts = Vec::new();
        if count(Kind::Merge) > 0 {
            let needed: u32 = self.runs.iter().map(|run| run.needed).sum();
            parts.push(format!(
                "{} touch adjacent bytes of their lane and fit in {needed}",
                count(Kind::Merge)
            ));
        }
        if count(Kind::Lanes) > 0 {
            parts.push(format!("{} contiguous from lane to lane", count(Kind::Lanes)));
        }
        if count(Kind::Iterations) > 0 {
            parts.push(format!("{} contiguous from iteration to iteration", count(Kind::Iterations)));
        }
        parts.join(", ")
    }
}

/// Narrow accesses of a kernel, per innermost loop around them; those outside loops last.
pub(crate) fn find(evidence: &KernelEvidence<'_>, kind: Access) -> Vec<Narrow> {
    let cfg = &evidence.cfg;
    let mut by_loop: BTreeMap<u32, Narrow> = BTreeMap::new();
    let outside = cfg.loops.len() as u32;
    let mut insts: Vec<u32> = Vec::new();
    for block in &cfg.blocks {
        insts.clear();
        insts.extend(
            evidence
                .memory_in(block.insts.clone())
                .iter()
                .copied()
                .filter(|at| is_global(evidence, &evidence.insts[*at as usize], kind)),
        );
        let all = insts.len() as u32;
        // Outside loops nothing but merging counts, and that takes several accesses.
        if all == 0 || (block.innermost.is_none() && all < MERGED_OUTSIDE) {
            continue;
        }
        let addresses = evidence.addresses();
        let accesses: Vec<MemoryAccess<'_>> =
            insts.iter().filter_map(|at| memory_access(evidence, addresses, *at)).collect();
        let narrow = by_loop.entry(block.innermost.unwrap_or(outside)).or_insert_with(|| Narrow {
            in_loop: block.innermost,
            all: 0,
            accesses: Vec::new(),
            runs: Vec::new(),
            interrupted: false,
            has_matrix: false,
            saved_of_one_address: 0,
            to_one_address: HashSet::new(),
        });
        narrow.all += all;
        let runs = merge::runs(&accesses, WIDEST);
        let mut merged: HashSet<u32> = HashSet::new();
        for run in &runs {
            merged.extend(&run.insts);
            let widths = run.bytes.iter().copied();
            narrow
                .accesses
                .extend(run.insts.iter().copied().zip(widths).map(|(at, bytes)| (at, bytes, Kind::Merge)));
            narrow.interrupted |= has_between(evidence, run, kind);
            if addresses.of(run.insts[0]).is_some_and(|access| addresses.is_uniform(access)) {
                narrow.saved_of_one_address += run.saved();
            }
        }
        narrow.runs.extend(runs);
        let Some(id) = block.innermost else { continue };
        for access in accesses.iter().filter(|access| !merged.contains(&access.inst)) {
            if let Some(reason) = alone(evidence, addresses, access, id) {
                narrow.accesses.push((access.inst, access.bytes, reason));
                if kind == Access::Store && addresses.is_uniform(access.address) {
                    narrow.to_one_address.insert(access.inst);
                }
            }
        }
    }
    let mut found: Vec<Narrow> = by_loop.into_values().filter(|narrow| !narrow.accesses.is_empty()).collect();
    for narrow in &mut found {
        narrow.accesses.in_order_by_key(|(inst, _, kind)| (*kind, *inst));
        narrow.has_matrix = narrow.in_loop.is_some_and(|id| {
            cfg.loop_own_insts(id).any(|inst| evidence.insts[inst as usize].class() == Class::Mfma)
        });
    }
    found
}

/// True if an access of the opposite kind is between the first and the last of a run.
fn has_between(evidence: &KernelEvidence<'_>, run: &Run, kind: Access) -> bool {
    let opposite = if kind == Access::Load { Access::Store } else { Access::Load };
    let (Some(first), Some(last)) = (run.insts.first(), run.insts.last()) else { return false };
    evidence.insts[*first as usize..*last as usize].iter().any(|inst| is_global(evidence, inst, opposite))
}

/// Reason why one access by itself can be wider.
fn alone(
    evidence: &KernelEvidence<'_>,
    addresses: &Addresses,
    access: &MemoryAccess<'_>,
    id: u32,
) -> Option<Kind> {
    if access.bytes > NARROW_ALONE {
        return None;
    }
    let step = addresses.step(access.address, &evidence.cfg, id);
    // An access to a fixed address is not a stream.
    if step == Some(Step::Bytes(0)) {
        return None;
    }
    if lanes_are_contiguous(addresses, access) {
        return Some(Kind::Lanes);
    }
    match step {
        Some(Step::Bytes(bytes)) if bytes.unsigned_abs() == access.bytes => Some(Kind::Iterations),
        _ => None,
    }
}
