//! TIL008: element-wise arithmetic in types other than float.
//!
//! The cost is not the type of the data but every conversion between types: a rounding to bf16 in software, a
//! detour through double.

use crate::gain::Executed;
use crate::sites::Sites;
use crate::{Check, Outcome, Rule, gain};
use analysis::KernelEvidence;
use isa::{Access, Class, Inst, Op, Operand};
use std::sync::LazyLock;
use view::{Finding, Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "TIL008",
    title: "element-wise arithmetic not in float32",
    severity: Severity::Warning,
    page: include_str!("til008.md"),
    checks: &[Check::Code(check)],
    panels: &[11],
};

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    if evidence.mix.count(Class::Mfma) > 0 {
        return Outcome::Silent;
    }
    let mut findings = Vec::new();
    findings.extend(rounding(evidence));
    findings.extend(double_detour(evidence));
    Outcome::from_findings(findings)
}

/// The opcodes looked for in every instruction.
struct Ops {
    /// Extracts the bit to round by.
    extract: Option<Op>,
    /// Adds it and the bias.
    add: Option<Op>,
    widen: Option<Op>,
    narrow: Option<Op>,
}

static OPS: LazyLock<Ops> = LazyLock::new(|| Ops {
    extract: Op::by_name("v_bfe_u32"),
    add: Op::by_name("v_add3_u32"),
    widen: Op::by_name("v_cvt_f64_f32"),
    narrow: Op::by_name("v_cvt_f32_f64"),
});

/// More software roundings to bf16 than stored 16-bit values.
fn rounding(evidence: &KernelEvidence<'_>) -> Option<Finding> {
    // `v_bfe_u32 bit, value, 16, 1` and then `v_add3_u32 _, value, bit, bias` in any order of the sources.
    let mut pending: Vec<(Operand, Operand)> = Vec::new();
    let ops = &*OPS;
    let roundings = Sites::find(evidence, |inst| {
        if Some(inst.op) == ops.extract
            && let [bit, value, Operand::Int(16), Operand::Int(1)] = inst.operands()
        {
            if pending.len() == PENDING {
                pending.remove(0);
            }
            pending.push((*bit, *value));
        } else if Some(inst.op) == ops.add
            && let [_, sources @ ..] = inst.operands()
        {
            let at = pending.iter().position(|(bit, value)| sources.contains(bit) && sources.contains(value));
            return at.map(|at| pending.swap_remove(at)).is_some();
        }
        false
    });
    if roundings.count() < FEWEST {
        return None;
    }
    let stored: usize = evidence.memory.iter().map(|at| halves_stored(&evidence.insts[*at as usize])).sum();
    if roundings.count() < stored + FEWEST {
        return None;
    }
    let severity = match roundings.hottest {
        Some(hot) => {
            let cycles = f64::from(hot.sites * PER_ROUNDING) * VECTOR_CYCLES;
            gain::severity(Executed::of(evidence).cycles(Some(hot.id), cycles))
        }
        None => Severity::Info,
    };
    let mut finding = RULE
        .finding(
            severity,
            format!(
                "{} to bf16 in software for {} stored: intermediate results are rounded",
                counted(roundings.count() as u64, "rounding"),
                counted(stored as u64, "16-bit value")
            ),
            "convert to float after the load, compute in float, round once before the store",
        )
        .with_evidence("roundings to bf16", roundings.count())
        .with_evidence("16-bit values stored per lane", stored)
        .with_places(roundings.places(evidence));
    finding = finding.with_cost(match roundings.hottest {
        Some(hot) => {
            format!("about {} instructions per iteration of loop {}", hot.sites * PER_ROUNDING, hot.number)
        }
        None => format!("about {} instructions", (roundings.count() - stored) as u32 * PER_ROUNDING),
    });
    Some(finding)
}

/// Intermediate roundings worth telling.
const FEWEST: usize = 3;

/// Bit extracts remembered; the addition follows closely.
const PENDING: usize = 64;

/// Instructions of one rounding: extract, add, compare for NaN, quieten, select.
const PER_ROUNDING: u32 = 5;

/// 16-bit values a lane stores with this instruction, to memory or LDS, as many as could be; a
/// compare-and-swap stores the sum that it was made for.
fn halves_stored(inst: &Inst) -> usize {
    match inst.op.info().mem {
        Some(mem) if matches!(mem.access, Access::Store | Access::Atomic) => {
            usize::from(mem.bytes / 2) * usize::from(mem.elements)
        }
        _ => 0,
    }
}

/// Float widened to double, computed on and narrowed in one loop.
fn double_detour(evidence: &KernelEvidence<'_>) -> Option<Finding> {
    let widen = Sites::find(evidence, |inst| Some(inst.op) == OPS.widen);
    if widen.count() == 0 {
        return None;
    }
    let narrow = Sites::find(evidence, |inst| Some(inst.op) == OPS.narrow);
    let arithmetic = Sites::find(evidence, |inst| is_double_arithmetic(inst.op.info().name));
    // The same loop, or the straight code around all loops. Where a narrowing comes first or a widening last,
    // double is the data's type and float the detour.
    let first = |sites: &Sites, scope| sites.all.iter().find(|(_, other)| *other == scope).map(|(at, _)| *at);
    let last = |sites: &Sites, scope| sites.all.iter().rfind(|(_, other)| *other == scope).map(|(at, _)| *at);
    let scope = widen.all.iter().map(|(_, scope)| *scope).find(|scope| {
        let from_float = first(&widen, *scope) < first(&narrow, *scope);
        let to_float = last(&widen, *scope) < last(&narrow, *scope);
        from_float && to_float && first(&arithmetic, *scope).is_some()
    })?;
    let within = |sites: &Sites| sites.all.iter().filter(|(_, other)| *other == scope).count();
    let (widened, narrowed, computed) = (within(&widen), within(&narrow), within(&arithmetic));
    if scope.is_none() && widened + narrowed + computed < FEWEST_OUTSIDE_LOOPS {
        return None;
    }
    let (severity, where_) = match scope {
        Some(id) => {
            let cycles = (widened + narrowed + computed) as f64 * DOUBLE_CYCLES;
            let part = Executed::of(evidence).cycles(Some(id), cycles);
            (gain::severity(part), format!(" in loop {}", id + 1))
        }
        None => (Severity::Info, String::new()),
    };
    let places = widen.all.iter().filter(|(_, other)| *other == scope).take(4);
    let places = places.chain(narrow.all.iter().filter(|(_, other)| *other == scope).take(4));
    Some(
        RULE.finding(
            severity,
            format!(
                "float values go through double{where_}: {widened} widened, {} in double, {narrowed} narrowed",
                counted(computed as u64, "operation")
            ),
            "look for double constants (`0.5` for `0.5f`) and double math functions; keep double only where its precision is wanted",
        )
        .with_cost(format!("{} conversions and {computed} double operations{where_}", widened + narrowed))
        .with_evidence("widened to double", widened)
        .with_evidence("narrowed to float", narrowed)
        .with_evidence("double operations", computed)
        .with_places(places.map(|(at, _)| evidence.place(*at as usize))),
    )
}

/// Cycles of a vector instruction, and extra cycles of a conversion or a double operation over a float one.
const VECTOR_CYCLES: f64 = 4.0;
const DOUBLE_CYCLES: f64 = 8.0;

/// Instructions worth telling of in code that runs once.
const FEWEST_OUTSIDE_LOOPS: usize = 8;

fn is_double_arithmetic(name: &str) -> bool {
    name.ends_with("_f64")
        && !name.starts_with("v_cvt")
        && !name.starts_with("v_cmp")
        && name.starts_with("v_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_opcodes_exist() {
        let Ops { extract, add, widen, narrow } = &*OPS;
        assert!([extract, add, widen, narrow].into_iter().all(Option::is_some));
    }

    #[test]
    fn double_arithmetic_is_told_by_name() {
        for (name, is) in [
            ("v_fma_f64", true),
            ("v_fmac_f64", true),
            ("v_cvt_f64_f32", false),
            ("v_cvt_f32_f64", false),
            ("v_cmp_lt_f64", false),
            ("ds_add_f64", false),
            ("v_add_f32", false),
        ] {
            assert_eq!(is_double_arithmetic(name), is, "{name}");
        }
    }
}
