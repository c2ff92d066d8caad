//! ALU001: a loop divides by a value that it does not change.
//!
//! The one idea to keep in mind: GPUs have no instruction for division, so each is a sequence whose end names the divisor; where
//! no instruction of the loop writes it, a reciprocal made before the loop, or a running quotient, does the same.

use crate::access::{count, places};
use crate::gain::{self, Executed};
use crate::{Check, Outcome, Rule};
use analysis::KernelEvidence;
use isa::{Inst, Operand, RegFile};
use std::collections::{BTreeMap, HashSet};
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "ALU001",
    title: "a loop divides by a value that does not change in it",
    severity: Severity::Warning,
    page: PAGE,
    check: Check::Code(check),
};

const PAGE: &str = r"## What it does
Fires on a loop with divisions or remainders whose divisor no instruction of the loop writes, and which is no constant that the
compiler knew: those of `float` and `double` by `v_div_fixup`, of 32-bit integers by their multiplication with a reciprocal and the
correction after it, of 64-bit integers by the short way they take where both values fit into 32 bits.

## Why it is slow
A division is a sequence: about 10 instructions for `float` and 32-bit integers, 10 of four times the cost for `double`, more than
100 with branches for 64-bit integers. In address arithmetic and element-wise loops it takes longer than everything else.

## Evidence
The instructions that end each sequence, their divisor, and what the loop writes. It is a warning where the sequences take a
twentieth of what the busiest of vector units, memory path and LDS does for the kernel, loops taken to run 16 times; otherwise it is
for information.

## What to do
Floats: multiply by `1.0f / d`, made once before the loop; `-freciprocal-math` or `__fdividef` where the last bit does not matter.
Integers: keep row and column as two counters that the loop advances, use 32 bits where the range allows, a shift where the
divisor is a power of two, or make it a template argument. A divisor that is known for long is worth a magic number
(multiplication and shift, as `FastDivmod` in CUTLASS and composable kernel).

## Source
The IREE AMDGPU guide and the ROCm workload guides count vector instructions of address arithmetic; the sequences are those of the LLVM
AMDGPU backend (`AMDGPUCodeGenPrepare`, `SIISelLowering`).
";

/// Kinds of division: words, and what one takes in cycles.
const FLOAT: (&str, f64) = ("float", 44.0);
const DOUBLE: (&str, f64) = ("double", 100.0);
const INTEGER: (&str, f64) = ("32-bit integer", 44.0);
const LONG: (&str, f64) = ("64-bit integer", 400.0);

/// Factor of the reciprocal of a 64-bit divisor: a little less than 2 to the 64th.
const LONG_FACTOR: u32 = 0x5f7f_fffc;
/// Instructions between the steps of a sequence that is looked for.
const NEAR: usize = 12;

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    let cfg = &evidence.cfg;
    let mut found: BTreeMap<u32, Vec<(u32, (&'static str, f64))>> = BTreeMap::new();
    for id in 0..cfg.loops.len() as u32 {
        let own: Vec<u32> = cfg.loop_own_insts(id).collect();
        let candidates: Vec<(usize, (&'static str, f64))> = own
            .iter()
            .enumerate()
            .filter_map(|(at, inst)| Some((at, ends_division(&evidence.insts[*inst as usize])?)))
            .collect();
        if candidates.is_empty() {
            continue;
        }
        let written = written(evidence, id);
        // Where both values fit into 32 bits, a division of 64 takes the short way.
        let is_long = own.iter().any(|inst| makes_long_reciprocal(&evidence.insts[*inst as usize]));
        for (at, kind) in candidates {
            let insts: Vec<&Inst> = own[at.saturating_sub(NEAR)..(at + NEAR).min(own.len())]
                .iter()
                .map(|inst| &evidence.insts[*inst as usize])
                .collect();
            let divisor = divisor(&insts, at - at.saturating_sub(NEAR), kind);
            if divisor.is_some_and(|divisor| is_unchanged(divisor, &written)) {
                let kind = if is_long && kind == INTEGER { LONG } else { kind };
                found.entry(id).or_default().push((own[at], kind));
            }
        }
    }
    if found.is_empty() {
        return Outcome::Silent;
    }
    let executed = Executed::of(evidence);
    Outcome::from_findings(
        found.into_iter().map(|(id, all)| finding(evidence, &executed, id, &all)).collect(),
    )
}

/// The kind of division whose sequence has this instruction.
fn ends_division(inst: &Inst) -> Option<(&'static str, f64)> {
    match inst.op.info().name {
        "v_div_fixup_f32" => Some(FLOAT),
        "v_div_fixup_f64" => Some(DOUBLE),
        "v_mul_hi_u32" => Some(INTEGER),
        _ => None,
    }
}

fn makes_long_reciprocal(inst: &Inst) -> bool {
    inst.op.info().name == "v_mul_f32" && inst.operands().contains(&Operand::Literal(LONG_FACTOR))
}

/// What is divided by, given the instructions around one that ends a division.
fn divisor(insts: &[&Inst], at: usize, kind: (&str, f64)) -> Option<Operand> {
    let inst = insts[at];
    if kind == FLOAT || kind == DOUBLE {
        return inst.operands().get(2).copied();
    }
    let named = |name: &'static str| move |inst: &&&Inst| inst.op.info().name == name;
    // Quotient times divisor, taken from the dividend.
    let quotient = inst.operands().first()?;
    let product = insts[at + 1..].iter().find(named("v_mul_lo_u32"))?;
    let [result, a, b] = product.operands() else { return None };
    let divisor = match (a == quotient, b == quotient) {
        (true, false) => *b,
        (false, true) => *a,
        _ => return None,
    };
    let dividend = inst.operands()[1..].iter();
    let mut rest = insts[at + 1..].iter().filter(|inst| inst.op.info().name.starts_with("v_sub"));
    let subtracts = rest.any(|inst| {
        inst.operands().contains(result) && dividend.clone().any(|it| inst.operands().contains(it))
    });
    subtracts.then_some(divisor)
}

/// Registers that a loop writes, those inside it too.
fn written(evidence: &KernelEvidence<'_>, id: u32) -> HashSet<(RegFile, u16)> {
    let mut written = HashSet::new();
    for inst in evidence.cfg.loop_insts(id).filter_map(|at| evidence.insts.get(at as usize)) {
        inst.visit_writes(|range| written.extend(range.indices().map(|index| (range.file, index))));
    }
    written
}

/// A register that the loop does not write; a constant divisor is cheap already, or cannot be helped.
fn is_unchanged(divisor: Operand, written: &HashSet<(RegFile, u16)>) -> bool {
    match divisor {
        Operand::Reg(range) => range.indices().all(|index| !written.contains(&(range.file, index))),
        _ => false,
    }
}

fn finding(
    evidence: &KernelEvidence<'_>,
    executed: &Executed<'_>,
    id: u32,
    all: &[(u32, (&'static str, f64))],
) -> Finding {
    let cycles: f64 = all.iter().map(|(_, (_, cycles))| cycles).sum();
    let mut kinds: Vec<&str> = all.iter().map(|(_, (kind, _))| *kind).collect();
    kinds.dedup();
    let advice = if kinds.iter().all(|kind| *kind == FLOAT.0 || *kind == DOUBLE.0) {
        "multiply by the reciprocal, made once before the loop"
    } else {
        "advance quotient and remainder with the loop, use 32 bits or a power of two, or a magic number made before the loop"
    };
    RULE.finding(
        gain::severity(executed.cycles(Some(id), cycles)),
        format!(
            "{} per iteration by a value that loop {} does not change ({})",
            count(all.len(), "division"),
            id + 1,
            kinds.join(", ")
        ),
        advice,
    )
    .with_cost(format!("about {cycles:.0} cycles of a wave per iteration"))
    .with_evidence("divisions per iteration", all.len())
    .with_evidence("kinds", kinds.join(", "))
    .with_places(places(evidence, all.iter().map(|(at, _)| *at)))
}
