//! MEM008: a loop loads from addresses that do not change, because its stores might.
//!
//! A load of an unchanging address stays in a loop only if something in the loop may write there.

use crate::access::{self, is_global, is_plain};
use crate::gain::Executed;
use crate::recorded::{bytes, lost};
use crate::{Check, Outcome, Rule, gain};
use analysis::{KernelEvidence, WorkloadEvidence};
use isa::{Access, Class, Space};
use view::{Missing, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "MEM008",
    title: "a loop reloads addresses that do not change",
    severity: Severity::Warning,
    page: include_str!("mem008.md"),
    checks: &[Check::Code(check), Check::Recording(check_recorded)],
    panels: &[16, 17],
};

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    let cfg = &evidence.cfg;
    let mut findings = Vec::new();
    for (id, _) in (0u32..).zip(&cfg.loops) {
        let mut loads: Vec<u32> = Vec::new();
        let mut stores: Vec<u32> = Vec::new();
        let mut ordered = false;
        for at in cfg.loop_own_insts(id) {
            let inst = &evidence.insts[at as usize];
            match inst.class() {
                Class::VmemLoad if is_global(evidence, inst, Access::Load) => loads.push(at),
                Class::VmemStore if is_global(evidence, inst, Access::Store) => stores.push(at),
                Class::VmemLoad | Class::VmemStore if is_plain(inst) => {}
                Class::VmemLoad | Class::VmemStore | Class::VmemAtomic | Class::Barrier => ordered = true,
                Class::Lds if inst.mem().is_some_and(|mem| mem.access == Access::Atomic) => ordered = true,
                Class::Control => ordered |= orders_memory(inst.op.info().name),
                _ => {}
            }
        }
        if ordered || loads.is_empty() || stores.is_empty() {
            continue;
        }
        let addresses = evidence.addresses();
        let unchanged =
            |at: &u32| addresses.of(*at).is_some_and(|access| addresses.is_invariant(access, cfg, id));
        loads.retain(unchanged);
        if loads.is_empty() {
            continue;
        }
        let kept: Vec<u32> = stores.iter().copied().filter(unchanged).collect();
        let total = cfg.loop_own_insts(id).count();
        let flat = loads
            .iter()
            .any(|at| evidence.insts[*at as usize].mem().is_some_and(|mem| mem.space == Space::Flat));
        let message = if kept.is_empty() {
            format!(
                "{} per iteration from addresses that do not change in the loop, which also stores",
                view::counted(loads.len(), "load")
            )
        } else {
            format!(
                "{} and {} per iteration at addresses that do not change in the loop",
                view::counted(loads.len(), "load"),
                view::counted(kept.len(), "store")
            )
        };
        let severity =
            gain::severity(Executed::of(evidence).accesses(Some(id), (loads.len() + kept.len()) as f64));
        let finding = RULE
            .finding(
                severity,
                message,
                "declare the pointers `__restrict__`, or keep the values in local variables and store them after the loop",
            )
            .with_cost(format!("{} of {total} instructions per iteration", loads.len() + kept.len()))
            .with_evidence("repeated loads", loads.len())
            .with_evidence("stores in the loop", stores.len());
        let finding = if flat { finding.with_evidence("by flat instructions", "yes") } else { finding };
        findings.push(finding.with_places(access::places(evidence, loads.into_iter().chain(kept))));
    }
    Outcome::from_findings(findings)
}

/// Writes back or drops cached lines, or waits for others.
fn orders_memory(name: &str) -> bool {
    ["buffer_inv", "buffer_wb", "s_sleep", "s_dcache"].iter().any(|start| name.starts_with(start))
}

/// Times each byte is stored from which on it is repetition.
const REPEATED: f64 = 4.0;
/// Accesses per look-up of contiguous lanes, at least.
const CONTIGUOUS: f64 = 3.0;
/// Times the L2 that the stores fill at least.
const BEYOND_L2: f64 = 8.0;

fn check_recorded(evidence: &WorkloadEvidence<'_>) -> Result<Outcome, Missing> {
    let written = evidence.known("vl1d.l2_write_bytes")?;
    let kept = evidence.known("fabric.write_bytes")?;
    let reads = evidence.known("vl1d.reads")?;
    let writes = evidence.known("vl1d.writes")?;
    if kept.value <= 0.0
        || written.value < REPEATED * kept.value
        || written.value < BEYOND_L2 * evidence.l2_bytes()?
        || 2.0 * reads.value < writes.value
    {
        return Ok(Outcome::Silent);
    }
    if evidence.value("access.per_lookup")? < CONTIGUOUS {
        return Ok(Outcome::Silent);
    }
    let times = written.over(kept);
    let finding = RULE
        .finding(
            Severity::Warning,
            format!(
                "{} are stored to L2 of which {} reach memory: each address is stored {times:.0} times",
                bytes(written),
                bytes(kept)
            ),
            "declare the pointers `__restrict__`, or keep the values in local variables and store them after the loop",
        )
        .with_evidence("stored to L2", bytes(written))
        .with_evidence("written to memory", bytes(kept))
        .with_evidence("vector L1 reads and writes", format!("{reads:.0} and {writes:.0} per dispatch"))
        .with_trust([written, kept, times, reads, writes]);
    Ok(Outcome::Findings(vec![lost(evidence, finding, times.map(|times| 1.0 - 1.0 / times))]))
}
