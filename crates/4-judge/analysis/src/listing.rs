//! The annotated disassembly of one kernel.
//!
//! One line per instruction, in code order; a column that repeats (source position, label) is printed only
//! where it changes.

use crate::{Callee, KernelEvidence};
use isa::{Inst, Liveness, Operand};
use std::collections::{BTreeMap, BTreeSet};
use view::{Finding, Listing, ListingLine, SourceLine};

/// Makes the listing, with the rules of `findings` in the margin.
pub fn listing(evidence: &KernelEvidence<'_>, findings: &[Finding]) -> Listing {
    let margin = margin(findings);
    let targets = targets(&evidence.insts);
    let own = most_live(&evidence.live);
    let called = evidence.callees.iter().map(|callee| most_live(&callee.code.live)).max().unwrap_or(0);
    let peak = evidence.live.peak().map(|peak| peak as usize).filter(|_| own >= called);
    let mut last_source: Option<SourceLine> = None;
    // Labels come in the order of code.
    let mut labels = targets.iter().peekable();
    let lines = (0..evidence.insts.len())
        .map(|at| {
            let address = evidence.address(at);
            let line = evidence.text_line(at);
            let source = evidence.source_line(at);
            let changed = source.is_some() && source != last_source;
            if changed {
                last_source.clone_from(&source);
            }
            let offset = evidence.insts[at].offset;
            while labels.next_if(|(label, _)| **label < offset).is_some() {}
            let live = evidence.live.before.get(at).copied().unwrap_or_default();
            ListingLine {
                address: address.unwrap_or_else(|| u64::from(line.unwrap_or(0))),
                text: with_label(evidence.text(at), &evidence.insts[at], &targets),
                label: labels.next_if(|(label, _)| **label == offset).map(|(_, name)| name.clone()),
                source: source.filter(|_| changed),
                loop_depth: u32::try_from(at).map_or(0, |at| evidence.cfg.depth_of(at)),
                live_vgprs: u32::from(live.vgprs),
                live_agprs: u32::from(live.agprs),
                peak: peak == Some(at),
                findings: match margin.is_empty() {
                    true => Vec::new(),
                    false => margin.get(&(address, line)).into_iter().flatten().copied().collect(),
                },
                run: None,
                samples: None,
                trace: None,
            }
        })
        .chain(evidence.callees.iter().flat_map(|callee| {
            let holds = own < called && most_live(&callee.code.live) == called;
            function(evidence, callee, holds)
        }))
        .collect();
    let text_lines = evidence.text_line(0).is_some();
    let kernel = evidence.kernel.demangled.clone();
    Listing { kernel, text_lines, run: None, samples: None, trace: None, lines }
}

/// Vector registers live at the peak.
fn most_live(live: &Liveness) -> u16 {
    let peak = live.peak().and_then(|at| live.before.get(at as usize));
    peak.map_or(0, |live| live.vectors())
}

/// The lines of a function that is called; its name is the label of the first. `peak`: most registers live in
/// it.
fn function(evidence: &KernelEvidence<'_>, callee: &Callee, peak: bool) -> Vec<ListingLine> {
    let code = &callee.code;
    let targets = targets(&code.insts);
    let mut last_source: Option<SourceLine> = None;
    let line = |at: usize| {
        let inst = &code.insts[at];
        let place = evidence.place_in(callee, at);
        let changed = place.source.is_some() && place.source != last_source;
        if changed {
            last_source.clone_from(&place.source);
        }
        let live = code.live.before.get(at).copied().unwrap_or_default();
        let name = (at == 0).then(|| callee.name.clone());
        ListingLine {
            label: name.or_else(|| targets.get(&inst.offset).cloned()),
            source: place.source.filter(|_| changed),
            loop_depth: u32::try_from(at).map_or(0, |at| code.cfg.depth_of(at)),
            live_vgprs: u32::from(live.vgprs),
            live_agprs: u32::from(live.agprs),
            peak: peak && code.live.peak() == u32::try_from(at).ok(),
            ..ListingLine::new(
                place.address.unwrap_or_else(|| u64::from(place.text_line.unwrap_or(0))),
                with_label(place.instruction.unwrap_or_default(), inst, &targets),
            )
        }
    };
    (0..code.insts.len()).map(line).collect()
}

/// Rules by the place they name.
fn margin(findings: &[Finding]) -> BTreeMap<(Option<u64>, Option<u32>), BTreeSet<&'static str>> {
    let mut margin: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for finding in findings {
        for place in finding.places.iter().filter(|place| place.instruction.is_some()) {
            margin.entry((place.address, place.text_line)).or_default().insert(finding.rule);
        }
    }
    margin
}

/// Labels of branch targets inside the kernel, by code offset, in code order.
fn targets(insts: &[Inst]) -> BTreeMap<u32, String> {
    let offsets: BTreeSet<u32> = insts
        .iter()
        .flat_map(|inst| inst.operands())
        .filter_map(|operand| match operand {
            Operand::Target(offset) => u32::try_from(*offset).ok(),
            _ => None,
        })
        .collect();
    offsets.into_iter().enumerate().map(|(number, offset)| (offset, format!("L{number}"))).collect()
}

/// Text of an instruction; a branch shows the label of its target.
fn with_label(text: String, inst: &Inst, targets: &BTreeMap<u32, String>) -> String {
    let target = inst.operands().iter().find_map(|operand| match operand {
        Operand::Target(offset) => targets.get(&u32::try_from(*offset).ok()?),
        _ => None,
    });
    let Some(label) = target else { return text };
    text.rsplit_once(' ').map_or_else(|| text.clone(), |(before, _)| format!("{before} {label}"))
}
