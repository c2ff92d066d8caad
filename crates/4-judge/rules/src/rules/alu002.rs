//! ALU002: lanes of each wave take both sides of a branch.
//!
//! Most branches may be uniform within a wave, which code does not tell; a branch on the low bits of the
//! work-item's number never is.

use crate::access::places;
use crate::gain::{self, Executed};
use crate::lanes::written_at;
use crate::work::Work;
use crate::{Check, Outcome, Rule};
use analysis::KernelEvidence;
use isa::{Inst, Op, OpFlags, Operand, RegFile, RegRange};
use std::ops::Range;
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "ALU002",
    title: "lanes of each wave take both sides of a branch with work on each",
    severity: Severity::Warning,
    page: include_str!("alu002.md"),
    checks: &[Check::Code(check)],
    panels: &[10, 11],
};

/// Turns to the lanes that do not pass a branch's condition.
const OTHER_LANES: Op = Op::named("s_andn2_saveexec_b64");
/// Turns off the lanes that do not pass it.
const BRANCHES: Op = Op::named("s_and_saveexec_b64");
/// Keeps those for later.
const KEEPS: Op = Op::named("s_xor_b64");
/// Instructions of a first side that are looked through.
const LONGEST: usize = 4096;
/// Cycles of the shorter side below which the branch is not reported.
const LITTLE: f64 = 64.0;
/// Work-items of a row that workgroups of two dimensions have at least.
const SHORT_ROW: i64 = 8;

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    let mut findings = Vec::new();
    let mut work = None;
    for (at, inst) in evidence.insts.iter().enumerate().filter(|(_, inst)| inst.op == OTHER_LANES) {
        // It names the mask that was kept where the branch began.
        let [Operand::Reg(kept), Operand::Reg(mask)] = inst.operands() else { continue };
        let at = at as u32;
        let Some(branch) = Branch::of(evidence, at, *kept, *mask) else { continue };
        let work = work.get_or_insert_with(|| Work::of(evidence));
        let executed = Executed::of(evidence);
        let loop_of = evidence.cfg.loop_of(branch.start);
        let sides = [branch.first.clone(), branch.second.clone()]
            .map(|side| cycles(evidence, &executed, work, side, loop_of));
        let shorter = sides[0].min(sides[1]);
        if shorter >= LITTLE {
            findings.push(finding(evidence, &executed, &branch, sides));
        }
    }
    Outcome::from_findings(findings)
}

/// A branch of which lanes of each wave take both sides.
struct Branch {
    /// First instruction with lanes disabled.
    start: u32,
    compare: u32,
    first: Range<u32>,
    second: Range<u32>,
}

impl Branch {
    fn of(evidence: &KernelEvidence<'_>, turn: u32, kept: RegRange, mask: RegRange) -> Option<Branch> {
        // `s_and_saveexec mask, condition`, then `s_xor mask, exec, mask`.
        let keeps = |inst: &Inst| inst.op == KEEPS && inst.operands().first() == Some(&Operand::Reg(mask));
        let before = &evidence.insts[(turn as usize).saturating_sub(LONGEST)..turn as usize];
        let xor = turn - (before.len() - before.iter().rposition(keeps)?) as u32;
        let start = xor.checked_sub(1)?;
        let save = &evidence.insts[start as usize];
        let [Operand::Reg(saved), Operand::Reg(condition)] = save.operands() else { return None };
        if save.op != BRANCHES || *saved != mask {
            return None;
        }
        let compare = written_at(evidence, start, *condition)?;
        if !splits_waves(evidence, compare) {
            return None;
        }
        // The point of reconvergence may precede it in the code.
        let end = (turn + 1..evidence.insts.len() as u32).find(|at| {
            let inst = &evidence.insts[*at as usize];
            let joins = inst.op.info().name == "s_or_b64"
                && matches!(inst.operands(), [Operand::Reg(exec), _, Operand::Reg(back)]
                    if exec.file == RegFile::Exec && *back == kept);
            joins || inst.op.info().flags.intersects(OpFlags::JUMP | OpFlags::END)
        })?;
        Some(Branch { start, compare, first: xor + 1..turn, second: turn + 1..end })
    }
}

/// Lanes of each wave differ in a comparison: of low bits of the work-item's number with a constant that some
/// of their values pass.
fn splits_waves(evidence: &KernelEvidence<'_>, compare: u32) -> bool {
    let inst = &evidence.insts[compare as usize];
    let name = inst.op.info().name;
    let (constant, value, flipped) = match inst.operands() {
        [_, Operand::Int(constant), Operand::Reg(value)] => (i64::from(*constant), *value, false),
        [_, Operand::Reg(value), Operand::Int(constant)] => (i64::from(*constant), *value, true),
        _ => return false,
    };
    if value.file != RegFile::Vgpr || !(name.ends_with("_u32") || name.ends_with("_i32")) {
        return false;
    }
    let passes = |bits: i64| {
        let (a, b) = if flipped { (bits, constant) } else { (constant, bits) };
        match name.trim_start_matches("v_cmp_").trim_end_matches(['u', 'i', '3', '2']).trim_end_matches('_') {
            "eq" => Some(a == b),
            "ne" => Some(a != b),
            "lt" => Some(a < b),
            "le" => Some(a <= b),
            "gt" => Some(a > b),
            "ge" => Some(a >= b),
            _ => None,
        }
    };
    let Some(mask) = low_bits(evidence, compare, value) else { return false };
    // Rows of a workgroup of two dimensions may be short.
    if mask >= SHORT_ROW && !evidence.usual_shapes().is_empty() {
        return false;
    }
    let taken = (0..64).filter(|lane| passes(lane & mask) == Some(true)).count();
    // Few lanes are leaders of the others, which wait for them.
    (16..=48).contains(&taken)
}

/// Bits of the lane's number that a register holds before an instruction.
fn low_bits(evidence: &KernelEvidence<'_>, at: u32, register: RegRange) -> Option<i64> {
    let made = written_at(evidence, at, register)?;
    let inst = &evidence.insts[made as usize];
    match (inst.op.info().name, inst.operands()) {
        ("v_and_b32", [_, Operand::Int(mask), Operand::Reg(source)])
        | ("v_and_b32", [_, Operand::Reg(source), Operand::Int(mask)])
            if (1..64).contains(mask) && is_number(evidence, made, *source) =>
        {
            Some(i64::from(*mask))
        }
        _ => None,
    }
}

/// True if the register holds the work-item's number, alone or with the numbers of other dimensions above it.
fn is_number(evidence: &KernelEvidence<'_>, at: u32, register: RegRange) -> bool {
    if register.file != RegFile::Vgpr {
        return false;
    }
    let Some(made) = written_at(evidence, at, register) else { return register.first == 0 };
    let inst = &evidence.insts[made as usize];
    match (inst.op.info().name, inst.operands()) {
        ("v_and_b32", [_, Operand::Literal(0x3ff), Operand::Reg(source)])
        | ("v_mov_b32", [_, Operand::Reg(source)]) => source.first == 0 && is_number(evidence, made, *source),
        _ => false,
    }
}

/// Issue cycles of instructions for each time that the loop around the branch runs.
fn cycles(
    evidence: &KernelEvidence<'_>,
    executed: &Executed<'_>,
    work: &Work,
    side: Range<u32>,
    around: Option<u32>,
) -> f64 {
    let of = |at: u32| {
        let times = executed.times(evidence.cfg.loop_of(at)) / executed.times(around);
        f64::from(work.cycles(&evidence.insts[at as usize])) * times
    };
    side.map(of).sum()
}

fn finding(
    evidence: &KernelEvidence<'_>,
    executed: &Executed<'_>,
    branch: &Branch,
    sides: [f64; 2],
) -> Finding {
    let [first, second] = sides;
    let in_loop = evidence.cfg.loop_of(branch.start);
    let place = in_loop.map_or_else(String::new, |id| format!(" in loop {}", id + 1));
    RULE.finding(
        gain::severity(executed.cycles(in_loop, first.min(second))),
        format!("lanes of each wave take both sides of a branch{place}: {first:.0} and {second:.0} cycles"),
        "let whole waves take one side (`threadIdx.x / 64`), or choose values instead of code",
    )
    .with_cost(format!("{:.0} cycles of a wave where {:.0} would do", first + second, first.max(second)))
    .with_evidence("cycles of the sides", format!("{first:.0}, {second:.0}"))
    .with_places(places(evidence, [branch.compare, branch.start, branch.second.start - 1]))
}
