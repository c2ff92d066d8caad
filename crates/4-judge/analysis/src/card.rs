//! The card of one kernel, made from its evidence.
//!
//! A card states facts and judges nothing.

use crate::{Code, KernelEvidence};
use codeobj::Body;
use isa::{Access, Class, Inst, Space};
use std::collections::{BTreeMap, BTreeSet};
use view::{
    ArgumentCard, Finding, KernelCard, LoopCard, Mix, NotChecked, OccupancyCard, OccupancyStep, Place,
    Pressure,
};

/// Makes the card of a kernel read from `file`.
pub fn card(
    evidence: &KernelEvidence<'_>,
    file: &str,
    findings: Vec<Finding>,
    not_checked: Vec<NotChecked>,
) -> KernelCard {
    let kernel = evidence.kernel;
    let has_code = kernel.body != Body::Absent;
    let mut widths = Widths::default();
    widths.add(&evidence.insts, 0..evidence.insts.len());
    for callee in &evidence.callees {
        widths.add(&callee.code.insts, 0..callee.code.insts.len());
    }
    let called: usize = evidence.callees.iter().map(|callee| callee.code.insts.len()).sum();
    let mut warnings = evidence.warnings.clone();
    let name = format!("`{}`", kernel.name);
    warnings.extend(evidence.object.warnings.iter().filter(|w| w.contains(&name)).cloned());
    KernelCard {
        file: file.to_owned(),
        origin: evidence.object.origin.clone(),
        target: evidence.object.target.to_string(),
        code_object_version: evidence.object.version,
        name: kernel.name.clone(),
        demangled: kernel.demangled.clone(),
        source: evidence.kernel_line(0).or_else(|| evidence.built.and_then(|it| it.source.clone())),
        resources: evidence.resources.clone(),
        occupancy: evidence.occupancy.as_ref().map(|occupancy| occupancy_card(occupancy, evidence)),
        code_bytes: Some(evidence.code_bytes + called_bytes(evidence)).filter(|bytes| *bytes > 0),
        instructions: has_code.then(|| count(evidence.insts.len() + called)),
        unknown_instructions: has_code.then(|| evidence.mix.count(Class::Unknown)),
        mix: has_code.then(|| whole_mix(evidence)),
        load_widths: widths.loads,
        store_widths: widths.stores,
        lds_widths: widths.lds,
        pressure: pressure(evidence),
        loops: loops(evidence),
        compiler: evidence.built.map(|built| built.said.clone()),
        triton: evidence.ir.map(|ir| crate::triton::card(ir, evidence)),
        arguments: arguments(evidence),
        hidden_arguments: kernel
            .metadata
            .arguments
            .iter()
            .filter(|argument| argument.is_hidden() && argument.kind != "hidden_none")
            .map(|argument| argument.kind.clone())
            .collect(),
        calls: callees(evidence),
        findings,
        not_checked,
        warnings,
    }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn callees(evidence: &KernelEvidence<'_>) -> Vec<String> {
    let names: BTreeSet<&str> =
        evidence.calls.iter().map(|call| call.callee.as_deref().unwrap_or("(through a pointer)")).collect();
    names.into_iter().map(str::to_owned).collect()
}

/// Arguments; Triton's code does not name them, its IR does.
fn arguments(evidence: &KernelEvidence<'_>) -> Vec<ArgumentCard> {
    let mut cards: Vec<ArgumentCard> = evidence.kernel.metadata.given().map(argument_card).collect();
    let named = evidence.ir.map(|ir| ir.kernel.parameters.as_slice()).unwrap_or_default();
    for (card, (name, ty, _)) in cards.iter_mut().zip(named) {
        if card.name.is_empty() {
            card.name.clone_from(name);
        }
        if card.type_name.is_empty() {
            card.type_name.clone_from(ty);
        }
    }
    cards
}

fn argument_card(argument: &codeobj::Argument) -> ArgumentCard {
    ArgumentCard {
        name: argument.name.clone(),
        type_name: argument.type_name.clone(),
        offset: argument.offset,
        size: argument.size,
        kind: argument.kind.clone(),
    }
}

fn occupancy_card(occupancy: &arch::Occupancy, evidence: &KernelEvidence<'_>) -> OccupancyCard {
    OccupancyCard {
        waves_per_simd: occupancy.waves_per_simd,
        waves_per_cu: occupancy.waves_per_cu,
        max_waves_per_simd: occupancy.max_waves_per_simd,
        limiter: occupancy.limiter.name().to_owned(),
        assumptions: evidence.assumptions.clone(),
        reasons: evidence.occupancy_reasons(),
        next: occupancy
            .next
            .iter()
            .filter(|step| step.waves_per_simd > occupancy.waves_per_simd)
            .map(step_card)
            .collect(),
        together: occupancy.together.iter().map(step_card).collect(),
    }
}

fn step_card(step: &arch::Step) -> OccupancyStep {
    OccupancyStep {
        resource: step.resource.name().to_owned(),
        shed: step.shed,
        unit: step.resource.unit().to_owned(),
        waves_per_simd: step.waves_per_simd,
    }
}

fn mix_card(mix: &isa::Mix) -> Mix {
    Mix {
        valu: mix.count(Class::Valu),
        mfma: mix.count(Class::Mfma),
        salu: mix.count(Class::Salu),
        smem: mix.count(Class::Smem),
        vmem_load: mix.count(Class::VmemLoad),
        vmem_store: mix.count(Class::VmemStore),
        vmem_atomic: mix.count(Class::VmemAtomic),
        lds: mix.count(Class::Lds),
        branch: mix.count(Class::Branch),
        wait: mix.count(Class::Wait),
        barrier: mix.count(Class::Barrier),
        message: mix.count(Class::Message),
        control: mix.count(Class::Control),
        unknown: mix.count(Class::Unknown),
    }
}

/// Bytes of the functions called; 0 for text.
fn called_bytes(evidence: &KernelEvidence<'_>) -> u64 {
    let bytes = |callee: &crate::Callee| {
        callee.address(0)?;
        callee.code.insts.last().map(|last| u64::from(last.offset) + u64::from(last.size))
    };
    evidence.callees.iter().filter_map(bytes).sum()
}

/// The instructions of the kernel and of the functions it calls, each function once.
fn whole_mix(evidence: &KernelEvidence<'_>) -> Mix {
    if evidence.callees.is_empty() {
        return mix_card(&evidence.mix);
    }
    let called = evidence.callees.iter().flat_map(|callee| &callee.code.insts);
    mix_card(&isa::Mix::of(evidence.insts.iter().chain(called)))
}

fn pressure(evidence: &KernelEvidence<'_>) -> Option<Pressure> {
    let at_peak = |code: &Code| -> Option<(usize, isa::Live)> {
        let peak = code.live.peak()? as usize;
        Some((peak, *code.live.before.get(peak)?))
    };
    let own = at_peak(evidence).map(|(at, live)| (live, evidence.place(at)));
    // What the kernel holds while a function runs is not seen from inside it: the count stays a lower bound.
    let called = evidence.callees.iter().filter_map(|callee| {
        let (at, live) = at_peak(&callee.code)?;
        Some((live, evidence.place_in(callee, at)))
    });
    let (live, at) = own
        .into_iter()
        .chain(called)
        .reduce(|most, other| if other.0.vectors() > most.0.vectors() { other } else { most })?;
    Some(Pressure { live_vgprs: u32::from(live.vgprs), live_agprs: u32::from(live.agprs), at })
}

/// Loops of the kernel, then loops of the functions it calls.
fn loops(evidence: &KernelEvidence<'_>) -> Vec<LoopCard> {
    let place = |inst| evidence.place(inst);
    let text = |inst| evidence.text(inst);
    let mut cards = Vec::with_capacity(evidence.cfg.loops.len());
    for id in 0..count(evidence.cfg.loops.len()) {
        cards.push(loop_card(evidence, id, 0, place, text));
    }
    for callee in &evidence.callees {
        let before = count(cards.len());
        for id in 0..count(callee.code.cfg.loops.len()) {
            let place = |inst| evidence.place_in(callee, inst);
            let text = |inst| callee.text(evidence.isa, inst);
            let card = loop_card(&callee.code, id, before, place, text);
            cards.push(LoopCard { function: Some(callee.name.clone()), ..card });
        }
    }
    cards
}

/// One loop; loops of a function are numbered after `before` others.
fn loop_card(
    code: &Code,
    id: u32,
    before: u32,
    place: impl Fn(usize) -> Place,
    text: impl Fn(usize) -> String,
) -> LoopCard {
    let cfg = &code.cfg;
    let found = &cfg.loops[id as usize];
    let own = || cfg.loop_own_insts(id).map(|inst| inst as usize);
    let mut widths = Widths::default();
    widths.add(&code.insts, own());
    let header = cfg.blocks[found.header as usize].insts.start as usize;
    LoopCard {
        id: before + id + 1,
        depth: found.depth,
        parent: found.parent.map(|parent| before + parent + 1),
        function: None,
        place: place(header),
        instructions: count(own().count()),
        mix: mix_card(&isa::Mix::of(own().map(|inst| &code.insts[inst]))),
        load_widths: widths.loads,
        store_widths: widths.stores,
        lds_widths: widths.lds,
        waits: own().filter(|i| code.insts[*i].class() == Class::Wait).map(|i| wait(&text(i))).collect(),
    }
}

/// Counters that a wait waits for: its operands as printed.
fn wait(text: &str) -> String {
    text.split_once(' ').map_or(text, |(_, operands)| operands).trim().to_owned()
}

/// Accesses by bytes per lane.
#[derive(Default)]
struct Widths {
    loads: BTreeMap<u32, u32>,
    stores: BTreeMap<u32, u32>,
    lds: BTreeMap<u32, u32>,
}

impl Widths {
    fn add(&mut self, code: &[Inst], insts: impl Iterator<Item = usize>) {
        let widths = self;
        for inst in insts {
            let Some(mem) = code[inst].mem() else { continue };
            let bytes = u32::from(mem.bytes) * u32::from(mem.elements);
            let table = match (mem.space, mem.access) {
                (Space::Lds, Access::Load | Access::Store) => &mut widths.lds,
                (Space::Global | Space::Flat | Space::Buffer, Access::Load | Access::LoadToLds) => {
                    &mut widths.loads
                }
                (Space::Global | Space::Flat | Space::Buffer, Access::Store) => &mut widths.stores,
                _ => continue,
            };
            *table.entry(bytes).or_default() += 1;
        }
    }
}
