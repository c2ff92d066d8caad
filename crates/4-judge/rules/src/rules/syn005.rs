//! SYN005: a loop overwrites LDS that other waves may not have loaded yet.
//!
//! The barrier between a store and the loads of it shows that waves exchange values; without a barrier
//! between those loads and the next store, a fast wave overwrites data that a slow one has still to load.

use crate::access::{memory_access, places};
use crate::{Check, Outcome, Rule};
use analysis::KernelEvidence;
use analysis::affine::{Addresses, FirstWave, LANES};
use isa::{Access, Class, Space};
use view::{Finding, Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "SYN005",
    title: "stores to the LDS after other waves' loads, no barrier between",
    severity: Severity::Warning,
    page: include_str!("syn005.md"),
    checks: &[Check::Code(check)],
    panels: &[7, 10],
};

/// An LDS access in a loop whose bytes are known except for the wave's number.
struct Known {
    at: u32,
    lanes: [u32; LANES],
    bytes: u32,
    /// Bytes from one wave to the next.
    by_wave: u32,
    all_lanes: bool,
}

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    let resources = &evidence.resources;
    let lanes = resources.wavefront_size.unwrap_or(LANES as u32);
    let waves =
        resources.waves_per_workgroup.or_else(|| resources.max_workgroup.map(|size| size.div_ceil(lanes)));
    if waves == Some(1) || evidence.mix.count(Class::Barrier) == 0 || evidence.mix.count(Class::Lds) == 0 {
        return Outcome::Silent;
    }
    let findings = evidence.cfg.innermost_loops().filter_map(|id| in_loop(evidence, id));
    Outcome::from_findings(findings.collect())
}

fn in_loop(evidence: &KernelEvidence<'_>, id: u32) -> Option<Finding> {
    let cfg = &evidence.cfg;
    let (mut barriers, mut loads, mut stores) = (Vec::new(), Vec::new(), Vec::new());
    for at in cfg.loop_insts(id) {
        let inst = &evidence.insts[at as usize];
        match (inst.class(), inst.mem()) {
            (Class::Barrier, _) => barriers.push(at),
            (_, Some(mem)) if mem.space == Space::Lds && mem.elements == 1 => match mem.access {
                Access::Load => loads.push(at),
                Access::Store => stores.push(at),
                _ => {}
            },
            _ => {}
        }
    }
    let latches = &cfg.loops[id as usize].latches;
    let always = |at: &u32| latches.iter().all(|latch| cfg.dominates(cfg.block_of(*at), *latch));
    let calls = evidence.calls.iter().any(|call| cfg.loop_of(call.inst as u32) == Some(id));
    if barriers.is_empty() || loads.is_empty() || stores.is_empty() || calls || !barriers.iter().all(always) {
        return None;
    }
    // Waves on one side of a branch exchange no data with waves on the other.
    loads.retain(always);
    let addresses = evidence.addresses();
    let known = |at: &u32| known(evidence, addresses, id, *at);
    let loads: Vec<Known> =
        loads.iter().filter_map(known).filter(|it| it.all_lanes && it.by_wave == 0).collect();
    let stores: Vec<Known> = stores.iter().filter_map(known).collect();
    let pairs = stores.iter().flat_map(|store| loads.iter().map(move |load| (store, load)));
    let mut found = pairs.filter(|(store, load)| {
        reaches(evidence, id, load.at, store.at)
            && !reaches(evidence, id, store.at, load.at)
            && overlap(store, load)
    });
    let (store, load) = found.next()?;
    Some(
        RULE.finding(
            Severity::Warning,
            format!(
                "loop {} stores to LDS that other waves may still have to load: no barrier between the load and the next store",
                id + 1
            ),
            "add a barrier between the load and the next store, or use two LDS buffers in turn",
        )
        .with_evidence("barriers per iteration", counted(barriers.len(), "barrier"))
        .with_evidence("bytes stored per lane", store.bytes)
        .with_evidence("bytes loaded per lane", load.bytes)
        .with_places(places(evidence, [store.at, load.at])),
    )
}

fn known(evidence: &KernelEvidence<'_>, addresses: &Addresses, id: u32, at: u32) -> Option<Known> {
    let access = memory_access(evidence, addresses, at)?;
    if !addresses.is_invariant(access.address, &evidence.cfg, id) {
        return None;
    }
    let FirstWave { lanes, by_wave } = addresses.first_wave(access.address)?;
    let offset = evidence.insts[at as usize].mods.offset as u32;
    Some(Known {
        at,
        lanes: lanes.map(|lane| lane.wrapping_add(offset)),
        bytes: access.bytes,
        by_wave,
        all_lanes: access.address.has_all_lanes(),
    })
}

/// The first wave stores to what all waves load. Which lanes do a store that some do is not known: all of
/// them must hit.
fn overlap(store: &Known, load: &Known) -> bool {
    let meet = |(a, bytes_a): (u32, u32), (b, bytes_b): (u32, u32)| {
        u64::from(a) < u64::from(b) + u64::from(bytes_b) && u64::from(b) < u64::from(a) + u64::from(bytes_a)
    };
    let hits = |lane: &u32| load.lanes.iter().any(|other| meet((*lane, store.bytes), (*other, load.bytes)));
    if store.all_lanes { store.lanes.iter().any(hits) } else { store.lanes.iter().all(hits) }
}

/// True if a path without a barrier leads from one instruction of a loop to another.
fn reaches(evidence: &KernelEvidence<'_>, id: u32, from: u32, to: u32) -> bool {
    let cfg = &evidence.cfg;
    let stops = |at: u32| evidence.insts[at as usize].class() == Class::Barrier;
    let mut seen = vec![false; cfg.blocks.len()];
    let mut open = vec![(cfg.block_of(from), from + 1)];
    while let Some((block, start)) = open.pop() {
        let end = cfg.blocks[block as usize].insts.end;
        let stop = (start..end).find(|at| *at == to || stops(*at));
        match stop {
            Some(at) if at == to => return true,
            Some(_) => continue,
            None => {}
        }
        for &next in cfg.succs(block) {
            if cfg.loop_contains(id, next) && !std::mem::replace(&mut seen[next as usize], true) {
                open.push((next, cfg.blocks[next as usize].insts.start));
            }
        }
    }
    false
}
