//! MEM005: the non-temporal hint is absent where data is used once, or present where it is used again.
//!
//! The one idea to keep in mind: one kernel's code shows use within the kernel only, so this is information,
//! and only the two patterns that need no guess are named.

use crate::access::{self, is_global, lanes_are_contiguous, memory_access};
use crate::{Check, Outcome, Rule};
use analysis::KernelEvidence;
use analysis::affine::Step;
use isa::{Access, Bits};
use std::collections::{BTreeMap, HashMap};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "MEM005",
    title: "non-temporal hint absent on streamed or present on reused data",
    severity: Severity::Info,
    page: PAGE,
    check: Check::Code(check),
};

const PAGE: &str = r"## What it does
Names two patterns:

* a grid-stride loop that is in no other loop: an access starts at a position given by the workgroup id, lanes are
  contiguous, every iteration advances by a multiple of the grid's or workgroup's size, and no other access of the kernel
  uses the same array, yet the access carries no non-temporal hint;
* an access with the non-temporal hint whose addresses a surrounding loop repeats: nothing in the address changes with
  that loop.

## Why it is slow
Data that is used once displaces data that is used again from the caches. The non-temporal hint lets it pass through.
The reverse costs more: data marked non-temporal leaves the caches early and is fetched again in every pass.

## Evidence
The hint bit of each access (`nt`, on older targets `slc`), and how its address moves with the loops around it. Whether
a later kernel reads the data from the cache cannot be seen here, so the finding is for information.

## What to do
Streamed once: `__builtin_nontemporal_load` and `__builtin_nontemporal_store`, in Triton `cache_modifier=.cs` or
`eviction_policy=evict_first`, unless the next kernel reads the data soon. Reused: drop the hint.

## Source
The IREE AMDGPU guide: non-temporal accesses for data that is streamed and need not be cached.
";

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    let cfg = &evidence.cfg;
    if cfg.loops.is_empty() {
        return Outcome::Silent;
    }
    let accesses: Vec<(u32, Access)> = evidence
        .insts
        .iter()
        .zip(0u32..)
        .filter_map(|(inst, at)| {
            let kind =
                [Access::Load, Access::Store].into_iter().find(|kind| is_global(evidence, inst, *kind))?;
            Some((at, kind))
        })
        .collect();
    let hinted = |at: u32| evidence.insts[at as usize].mods.bits.contains(Bits::NT);
    let in_loop = |at: u32| cfg.loop_of(at);
    if !accesses.iter().any(|(at, _)| in_loop(*at).is_some()) {
        return Outcome::Silent;
    }
    let addresses = evidence.addresses();
    let mut arrays: HashMap<_, u32> = HashMap::new();
    for (at, _) in &accesses {
        if let Some(address) = addresses.of(*at) {
            *arrays.entry(addresses.array(address)).or_default() += 1;
        }
    }
    let mut streamed: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut repeated: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (at, _) in accesses {
        let Some(id) = in_loop(at) else { continue };
        let Some(access) = memory_access(evidence, addresses, at) else { continue };
        if hinted(at) {
            let mut around = Some(id);
            while let Some(outer) = around {
                if addresses.repeats(access.address, cfg, outer) {
                    repeated.entry(outer).or_default().push(at);
                    break;
                }
                around = cfg.loops[outer as usize].parent;
            }
        } else if cfg.loops[id as usize].parent.is_none()
            && matches!(addresses.step(access.address, cfg, id), Some(Step::Uniform(marks)) if marks.grid && !marks.loaded)
            && addresses.marks(access.address).workgroup
            && lanes_are_contiguous(addresses, &access)
            && arrays.get(&addresses.array(access.address)) == Some(&1)
        {
            streamed.entry(id).or_default().push(at);
        }
    }
    let streamed = streamed.into_values().map(|insts| {
        RULE.finding(
            Severity::Info,
            format!("{} of a grid-stride loop without non-temporal hint to data touched once", access::count(insts.len(), "access")),
            "use non-temporal loads and stores, unless the next kernel reads the data while it is in the caches",
        )
        .with_evidence("accesses without hint", insts.len())
        .with_places(access::places(evidence, insts))
    });
    let repeated = repeated.into_iter().map(|(id, insts)| {
        RULE.finding(
            Severity::Info,
            format!(
                "{} to the same addresses in every iteration of loop {}",
                access::count(insts.len(), "non-temporal access"),
                id + 1
            ),
            "drop the non-temporal hint: the data is used again",
        )
        .with_evidence("non-temporal accesses", insts.len())
        .with_places(access::places(evidence, insts))
    });
    Outcome::from_findings(repeated.chain(streamed).collect())
}
