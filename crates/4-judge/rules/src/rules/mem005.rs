//! MEM005: the non-temporal hint is absent for data used once, or present for data used again.
//!
//! One kernel's code shows use within the kernel only, so this is information, and only the two patterns that
//! need no guess are named.

use crate::access::{self, is_global, lanes_are_contiguous, memory_access};
use crate::recorded::bytes;
use crate::{Check, Outcome, Rule};
use analysis::affine::Step;
use analysis::{KernelEvidence, WorkloadEvidence};
use foldhash::{HashMap, HashMapExt};
use isa::{Access, Bits};
use std::collections::BTreeMap;
use view::{Missing, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "MEM005",
    title: "non-temporal hint absent on streamed or present on reused data",
    severity: Severity::Info,
    page: include_str!("mem005.md"),
    checks: &[Check::Code(check), Check::Recording(check_recorded)],
    panels: &[16, 17],
};

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    let cfg = &evidence.cfg;
    if cfg.loops.is_empty() {
        return Outcome::Silent;
    }
    let accesses: Vec<(u32, Access)> = evidence
        .memory
        .iter()
        .filter_map(|at| {
            let inst = &evidence.insts[*at as usize];
            let kind =
                [Access::Load, Access::Store].into_iter().find(|kind| is_global(evidence, inst, *kind))?;
            Some((*at, kind))
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
            format!("{} of a grid-stride loop without non-temporal hint to data touched once", view::counted(insts.len(), "access")),
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
                view::counted(insts.len(), "non-temporal access"),
                id + 1
            ),
            "drop the non-temporal hint: the data is used again",
        )
        .with_evidence("non-temporal accesses", insts.len())
        .with_places(access::places(evidence, insts))
    });
    Outcome::from_findings(repeated.chain(streamed).collect())
}

/// Times the L2 that streamed stores fill at least.
const BEYOND_L2: f64 = 8.0;
/// Bytes stored to L2 for each that reaches memory, up to which each is stored once.
const ONCE: f64 = 1.1;
/// Bytes that L2 returns per byte it reads: high with streamed stores, and with the hint.
const OFTEN: f64 = 3.0;
const TWICE: f64 = 2.0;
/// Percent of requests with the hint that are none, and many.
const NONE: f64 = 1.0;
const MANY: f64 = 50.0;

fn check_recorded(evidence: &WorkloadEvidence<'_>) -> Result<Outcome, Missing> {
    let stored = evidence.known("vl1d.l2_write_bytes")?;
    let kept = evidence.known("fabric.write_bytes")?;
    let served = evidence.known("vl1d.l2_read_bytes")?;
    let read = evidence.known("fabric.read_bytes")?;
    if evidence.value("l2.requests")? <= 0.0 || read.value <= 0.0 {
        return Ok(Outcome::Silent);
    }
    let hinted = evidence.known("access.streaming_share")?;
    let reuse = served.over(read);
    let streams = stored.value >= BEYOND_L2 * evidence.l2_bytes()? && stored.value <= ONCE * kept.value;
    let (message, advice) = if hinted.value < NONE && streams && reuse.value >= OFTEN {
        (
            format!(
                "{} are stored without non-temporal hint, through an L2 that serves what is read {reuse:.1} times",
                bytes(stored)
            ),
            "use non-temporal stores for results that this kernel does not read again",
        )
    } else if hinted.value >= MANY && reuse.value >= TWICE {
        (
            format!(
                "{hinted:.0} % of the L2 requests have the non-temporal hint, and L2 serves each byte {reuse:.1} times"
            ),
            "drop the non-temporal hint where the data is used again",
        )
    } else {
        return Ok(Outcome::Silent);
    };
    let finding = RULE
        .finding(Severity::Info, message, advice)
        .with_evidence("stored to L2 and to memory", format!("{} and {}", bytes(stored), bytes(kept)))
        .with_evidence("read from L2 and from memory", format!("{} and {}", bytes(served), bytes(read)))
        .with_evidence("requests with the hint", format!("{hinted:.1} %"))
        .with_trust([stored, kept, served, read, hinted, reuse]);
    Ok(Outcome::Findings(vec![finding]))
}
