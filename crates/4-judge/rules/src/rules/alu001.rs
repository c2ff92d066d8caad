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
    page: include_str!("alu001.md"),
    checks: &[Check::Code(check)],
    panels: &[10, 11],
};

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
