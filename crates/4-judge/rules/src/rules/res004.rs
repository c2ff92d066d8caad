//! RES004: accumulation registers without matrix instructions.
//!
//! Without matrix instructions an AGPR only holds spills.

use crate::gain::Executed;
use crate::recorded::lost_to;
use crate::sites::Sites;
use crate::{Check, Outcome, Rule, gain};
use analysis::{KernelEvidence, WorkloadEvidence};
use arch::{Resources, occupancy};
use isa::{Class, RegFile};
use view::{Missing, Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "RES004",
    title: "accumulation registers used without matrix instructions",
    severity: Severity::Warning,
    page: include_str!("res004.md"),
    checks: &[Check::Code(check), Check::Recording(check_recorded)],
    panels: &[6, 7],
};

/// Cycles of a move.
const MOVE_CYCLES: f64 = 4.0;

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    match evidence.resources.agprs {
        None => return Outcome::needs("the AGPR count"),
        Some(0) => return Outcome::Silent,
        Some(_) => {}
    }
    if !evidence.calls.is_empty() || evidence.mix.count(Class::Mfma) > 0 {
        return Outcome::Silent;
    }
    let sites = Sites::find(evidence, |inst| {
        let mut found = false;
        inst.visit_reads(|range| found |= range.file == RegFile::Agpr);
        inst.visit_writes(|range| found |= range.file == RegFile::Agpr);
        found
    });
    if sites.count() == 0 {
        return Outcome::Silent;
    }
    let agprs = evidence.resources.agprs.unwrap_or(0);
    let (severity, detail) = match sites.hottest {
        Some(hot) => {
            let cycles = f64::from(hot.sites) * MOVE_CYCLES;
            let part = Executed::of(evidence).cycles(Some(hot.id), cycles);
            (gain::severity(part), format!("{} moves in loop {}", hot.sites, hot.number))
        }
        None => (Severity::Info, format!("{}, none in a loop", counted(sites.count() as u64, "move"))),
    };
    let mut finding = RULE
        .finding(
            severity,
            format!("{} used without matrix instructions, as spill space: {detail}", counted(agprs, "AGPR")),
            "shorten live ranges: smaller tiles, less unrolling; look for `assert`, `printf` and heavy math on rare paths",
        )
        .with_evidence("AGPRs", agprs)
        .with_evidence("instructions that name AGPRs", sites.count())
        .with_evidence("of these in loops", sites.in_loops())
        .with_places(sites.places(evidence));
    if let Some(vgprs) = evidence.resources.vgprs {
        finding = finding.with_evidence("VGPRs", vgprs);
    }
    if let Some(hot) = sites.hottest {
        finding = finding.with_cost(format!("{} handle AGPRs", hot.per_iteration()));
    }
    Outcome::Findings(vec![finding])
}

fn check_recorded(evidence: &WorkloadEvidence<'_>) -> Result<Outcome, Missing> {
    let agprs = evidence.value("dispatch.agpr_count")?;
    let target = evidence.target.ok_or(Missing::TargetFacts)?;
    // What is allocated beyond the last VGPR up to the next step is counted as AGPRs.
    if agprs < f64::from(target.registers.vgpr_granule.value) || evidence.value("instructions.matrix")? > 0.0
    {
        return Ok(Outcome::Silent);
    }
    let asked = evidence.resources()?;
    let now = occupancy(target, &asked).waves_per_cu;
    let without = occupancy(target, &Resources { agprs: 0, ..asked }).waves_per_cu;
    let finding = RULE
        .finding(
            Severity::Warning,
            format!("{agprs:.0} AGPRs beside {} VGPRs and no matrix instruction: registers spill to them", asked.vgprs),
            "shorten live ranges: smaller tiles, less unrolling; look for `assert`, `printf` and heavy math on rare paths",
        )
        .with_evidence("AGPRs", format!("{agprs:.0}"))
        .with_evidence("VGPRs", asked.vgprs)
        .with_evidence("waves per compute unit", format!("{now}, without AGPRs {without}"));
    let part = 1.0 - f64::from(now) / f64::from(without.max(1));
    Ok(Outcome::Findings(vec![lost_to(evidence, finding, "registers", part)]))
}
