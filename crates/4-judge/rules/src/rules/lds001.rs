//! LDS001: LDS accesses in a loop narrower than 8 bytes per lane.
//!
//! Adjacent accesses can certainly be merged; a loop full of narrow ones is a reason to check the layout.

use crate::access::{self, MemoryAccess, WIDEST, memory_access};
use crate::gain::Executed;
use crate::remainder::is_remainder;
use crate::waits::wait;
use crate::{Check, Outcome, Rule, gain, merge};
use analysis::KernelEvidence;
use isa::{Access, Class, Space};
use std::collections::BTreeMap;
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "LDS001",
    title: "LDS accesses narrower than 8 bytes per lane in a loop",
    severity: Severity::Warning,
    page: include_str!("lds001.md"),
    checks: &[Check::Code(check)],
    panels: &[12],
};

/// Narrower than this is narrow.
const NARROW: u32 = 8;
/// LDS accesses per iteration from which a loop is busy with them.
const BUSY: usize = 8;

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    let cfg = &evidence.cfg;
    let mut by_loop: BTreeMap<u32, InLoop> = BTreeMap::new();
    for block in &cfg.blocks {
        let Some(id) = block.innermost else { continue };
        let mut accesses: [Vec<MemoryAccess<'_>>; 2] = Default::default();
        let mut company = Company::default();
        for &at in evidence.memory_in(block.insts.clone()) {
            let inst = &evidence.insts[at as usize];
            if inst.class() != Class::Lds {
                continue;
            }
            let Some(mem) = inst.mem().filter(|mem| mem.space == Space::Lds) else { continue };
            let list = match mem.access {
                Access::Load => &mut accesses[0],
                Access::Store => &mut accesses[1],
                _ => continue,
            };
            let bytes = u32::from(mem.bytes) * u32::from(mem.elements);
            let found = by_loop.entry(id).or_default();
            found.all += 1;
            if bytes < NARROW {
                found.narrow.push((at, bytes));
                company.narrow(evidence, at, mem.access);
                let addresses = evidence.addresses();
                let Some(access) = memory_access(evidence, addresses, at) else { continue };
                found.regular += usize::from(addresses.lanes(access.address).is_some());
                if mem.elements == 1 {
                    list.push(access);
                }
            }
        }
        if let Some(found) = by_loop.get_mut(&id) {
            found.in_company += company.count;
            for list in &accesses {
                found.runs.extend(merge::runs(list, NARROW));
            }
        }
    }
    if by_loop.is_empty() {
        return Outcome::Silent;
    }
    let executed = Executed::of(evidence);
    let findings = by_loop.into_iter().filter_map(|(id, found)| finding(evidence, &executed, id, &found));
    Outcome::from_findings(findings.collect())
}

/// LDS accesses of one loop.
#[derive(Default)]
struct InLoop {
    all: usize,
    /// Instruction and bytes per lane.
    narrow: Vec<(u32, u32)>,
    /// Narrow ones whose addresses do not depend on data.
    regular: usize,
    /// Narrow accesses in runs of one kind without a wait, see [`Company`].
    in_company: usize,
    runs: Vec<merge::Run>,
}

/// Counts accesses in runs of at least two of one kind without a wait between them: only those can be merged.
/// A lane that writes, waits and reads again exchanges one element each time.
#[derive(Default)]
struct Company {
    before: Option<(u32, Access)>,
    /// The one before is counted.
    is_counted: bool,
    count: usize,
}

impl Company {
    fn narrow(&mut self, evidence: &KernelEvidence<'_>, at: u32, access: Access) {
        let is_near = self.before.is_some_and(|(before, kind)| {
            let between = &evidence.insts[before as usize..at as usize];
            kind == access && !between.iter().any(|inst| wait(inst).is_some_and(|wait| wait.lds.is_some()))
        });
        if is_near {
            self.count += if self.is_counted { 1 } else { 2 };
        }
        (self.before, self.is_counted) = (Some((at, access)), is_near);
    }
}

fn finding(
    evidence: &KernelEvidence<'_>,
    executed: &Executed<'_>,
    id: u32,
    found: &InLoop,
) -> Option<Finding> {
    let cfg = &evidence.cfg;
    let saved: u32 = found.runs.iter().map(merge::Run::saved).sum();
    let is_innermost = cfg.loops[id as usize].nested_end == id + 1;
    let busy = is_innermost
        && found.all >= BUSY
        && found.regular * 2 >= found.all
        && found.in_company * 2 >= found.narrow.len();
    if saved == 0 && !busy {
        return None;
    }
    let has_matrix = cfg.loop_own_insts(id).any(|at| evidence.insts[at as usize].class() == Class::Mfma);
    let tiny = found.narrow.iter().filter(|(_, bytes)| *bytes <= 2).count();
    let wide: f64 = found.narrow.iter().map(|(_, bytes)| 1.0 - f64::from(*bytes) / f64::from(NARROW)).sum();
    let severity = if saved >= 2 && !is_remainder(evidence, id) {
        gain::severity(executed.accesses(Some(id), f64::from(saved)))
    } else if busy && !is_remainder(evidence, id) && (has_matrix || tiny * 2 >= found.all) {
        gain::severity(executed.accesses(Some(id), wide))
    } else {
        Severity::Info
    };
    let mut widths = BTreeMap::new();
    for (_, bytes) in &found.narrow {
        *widths.entry(*bytes).or_insert(0) += 1;
    }
    let count = found.narrow.len();
    let base = format!(
        "{count} of {} LDS accesses per iteration are narrower than {NARROW} bytes per lane",
        found.all
    );
    let merged: u32 = found.runs.iter().map(|run| run.insts.len() as u32).sum();
    let (message, places) = if saved > 0 {
        let needed: u32 = found.runs.iter().map(|run| run.needed).sum();
        let insts: Vec<u32> = found.runs.iter().flat_map(|run| run.insts.iter().copied()).collect();
        (
            format!("{base}; {merged} of them touch adjacent bytes and fit in {needed} of up to {WIDEST}"),
            access::places(evidence, insts),
        )
    } else {
        (base, access::places(evidence, found.narrow.iter().map(|(at, _)| *at)))
    };
    let total = cfg.loop_own_insts(id).count();
    let mut finding = RULE
        .finding(
            severity,
            message,
            "lay the tile out so that each lane reads and writes 8 or 16 contiguous, aligned bytes at a time",
        )
        .with_evidence("narrow accesses", access::widths(&widths))
        .with_places(places);
    if saved > 0 {
        finding = finding.with_cost(format!("{saved} of {total} instructions per iteration"));
    }
    Some(finding)
}
