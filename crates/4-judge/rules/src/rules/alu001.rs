//! ALU001: a loop divides by a value that it does not change.
//!
//! GPUs have no instruction for division, so each division is a sequence whose end names the divisor; if no
//! instruction of the loop writes it, a reciprocal computed before the loop, or a running quotient, gives the
//! same result.

use crate::access::places;
use crate::gain::{self, Executed};
use crate::{Check, Outcome, Rule};
use analysis::KernelEvidence;
use foldhash::{HashSet, HashSetExt};
use isa::{Inst, Op, Operand};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use view::{Finding, Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "ALU001",
    title: "a loop divides by a value that does not change in it",
    severity: Severity::Warning,
    page: PAGE,
    checks: &[Check::Code(check)],
    panels: &[10, 11],
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

/// Kinds of division.
const FLOAT: Kind = ("float", 44.0);
const DOUBLE: Kind = ("double", 100.0);
const INTEGER: Kind = ("32-bit integer", 44.0);
const LONG: Kind = ("64-bit integer", 400.0);

/// Factor of the reciprocal of a 64-bit divisor: a little less than 2 to the 64th.
const LONG_FACTOR: u32 = 0x5f7f_fffc;
/// Instructions between the steps of a sequence that is looked for.
const NEAR: usize = 12;

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    // By loop: what may end a division, and whether a division of 64 bits is made in it.
    let mut candidates: BTreeMap<u32, Vec<(u32, Kind)>> = BTreeMap::new();
    let mut long = HashSet::new();
    let roles = roles();
    for block in &evidence.cfg.blocks {
        let Some(id) = block.innermost else { continue };
        let insts = &evidence.insts[block.insts.start as usize..block.insts.end as usize];
        for (at, inst) in (block.insts.start..).zip(insts) {
            match roles.get(usize::from(inst.op.0)).copied().flatten() {
                None => {}
                Some(Role::Ends(kind)) => candidates.entry(id).or_default().push((at, kind)),
                Some(Role::Scales) if inst.operands().contains(&Operand::Literal(LONG_FACTOR)) => {
                    long.insert(id);
                }
                Some(Role::Scales) => {}
            }
        }
    }
    let mut found: BTreeMap<u32, Vec<(u32, Kind)>> = BTreeMap::new();
    for (id, candidates) in candidates {
        for (at, kind) in candidates {
            let start = (at as usize).saturating_sub(NEAR);
            let end = (at as usize + NEAR).min(evidence.insts.len());
            let Some(divisor) = divisor(&evidence.insts[start..end], at as usize - start, kind) else {
                continue;
            };
            if is_unchanged(evidence, divisor, id) {
                // If both values fit into 32 bits, a 64-bit division takes the short path.
                let kind = if long.contains(&id) && kind == INTEGER { LONG } else { kind };
                found.entry(id).or_default().push((at, kind));
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

/// Words for a division, and what one takes in cycles.
type Kind = (&'static str, f64);

/// Role of an instruction in a division.
#[derive(Clone, Copy)]
enum Role {
    /// Near the end of a division.
    Ends(Kind),
    /// It may scale the reciprocal of a 64-bit divisor.
    Scales,
}

/// Roles by opcode.
fn roles() -> &'static [Option<Role>] {
    static BY_OPCODE: LazyLock<Vec<Option<Role>>> = LazyLock::new(|| {
        let role = |name| match name {
            "v_div_fixup_f32" => Some(Role::Ends(FLOAT)),
            "v_div_fixup_f64" => Some(Role::Ends(DOUBLE)),
            "v_mul_hi_u32" => Some(Role::Ends(INTEGER)),
            "v_mul_f32" => Some(Role::Scales),
            _ => None,
        };
        Op::all().map(|op| role(op.info().name)).collect()
    });
    &BY_OPCODE
}

/// The divisor, given the instructions around one that ends a division.
fn divisor(insts: &[Inst], at: usize, kind: Kind) -> Option<Operand> {
    let inst = &insts[at];
    if kind == FLOAT || kind == DOUBLE {
        return inst.operands().get(2).copied();
    }
    let named = |name: &'static str| move |inst: &&Inst| inst.op.info().name == name;
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

/// A register that the loop does not write; a constant divisor is cheap already, or cannot be helped.
fn is_unchanged(evidence: &KernelEvidence<'_>, divisor: Operand, id: u32) -> bool {
    let Operand::Reg(range) = divisor else { return false };
    evidence.loop_writes(id, range) == Some(false)
}

fn finding(evidence: &KernelEvidence<'_>, executed: &Executed<'_>, id: u32, all: &[(u32, Kind)]) -> Finding {
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
            counted(all.len(), "division"),
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
