//! MAT001: 32x32 matrix instructions in a single GEMM.
//!
//! This is a rule of thumb from measurements, so it fires only if the loop is clearly one GEMM and nothing
//! else, and only as information.

use crate::sites::Sites;
use crate::{Check, Outcome, Rule};
use analysis::KernelEvidence;
use isa::{Class, Inst, Operand, RegRange};
use view::{Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "MAT001",
    title: "32x32 matrix instructions in a single GEMM",
    severity: Severity::Info,
    page: include_str!("mat001.md"),
    checks: &[Check::Code(check)],
    panels: &[10, 11],
};

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    if evidence.mix.count(Class::Mfma) == 0 {
        return Outcome::Silent;
    }
    let matrix = Sites::find(evidence, |inst| inst.op.info().class == Class::Mfma);
    let Some(hot) = matrix.hottest else {
        return Outcome::Silent;
    };
    let in_loops = matrix.all.iter().filter_map(|(at, innermost)| innermost.map(|id| (*at, id)));
    for (at, id) in in_loops.clone() {
        let inst = &evidence.insts[at as usize];
        let is_32 =
            inst.op.info().matrix.is_some_and(|shape| shape.m == 32 && shape.n == 32 && shape.blocks == 1);
        if id != hot.id || !is_32 || accumulator(inst).is_none() {
            return Outcome::Silent;
        }
    }
    if accumulators_are_read(evidence, hot.id) {
        return Outcome::Silent;
    }
    let shape = in_loops.clone().find_map(|(at, _)| evidence.insts[at as usize].op.info().matrix);
    let Some(shape) = shape else { return Outcome::Silent };
    let assembly = evidence.object.assembly_sign(evidence.kernel);
    let mut finding = RULE
        .finding(
            Severity::Info,
            format!(
                "loop {} is a single GEMM of {}",
                hot.number,
                counted(hot.sites, &format!("32x32x{} matrix instruction", shape.k))
            ),
            match assembly {
                None => "try 16x16 instructions (`matrix_instr_nonkdim=16`) and compare",
                Some(_) => {
                    "compare with a variant of the generator that has 16x16 instructions, if there is one"
                }
            },
        )
        .with_evidence("matrix instructions per iteration", hot.sites)
        .with_evidence("shape", format!("{}x{}x{}", shape.m, shape.n, shape.k))
        .with_places(matrix.places(evidence));
    if let Some(sign) = assembly {
        finding = finding.with_evidence("written in assembly", sign);
    }
    Outcome::Findings(vec![finding])
}

/// The registers a matrix instruction adds to in place.
fn accumulator(inst: &Inst) -> Option<RegRange> {
    match inst.operands() {
        [Operand::Reg(result), _, _, Operand::Reg(addend), ..] if result == addend => Some(*result),
        _ => None,
    }
}

/// Another vector instruction of the loop uses the running sums, or computes an exponential.
fn accumulators_are_read(evidence: &KernelEvidence<'_>, id: u32) -> bool {
    // One bit per register of the two files.
    let mut sums = [[false; 256]; 2];
    let slot = |range: RegRange| match range.file {
        isa::RegFile::Vgpr => Some(0),
        isa::RegFile::Agpr => Some(1),
        _ => None,
    };
    let insts = || evidence.cfg.loop_insts(id).filter_map(|at| evidence.insts.get(at as usize));
    for range in insts().filter(|inst| inst.op.info().class == Class::Mfma).filter_map(accumulator) {
        if let Some(file) = slot(range) {
            for register in range.indices() {
                if let Some(sum) = sums[file].get_mut(usize::from(register)) {
                    *sum = true;
                }
            }
        }
    }
    insts().any(|inst| {
        let info = inst.op.info();
        if info.class == Class::Mfma {
            // Factors that are running sums: a second product.
            return inst.operands().get(1..3).is_some_and(|factors| {
                factors.iter().any(|factor| match factor {
                    Operand::Reg(range) => slot(*range).is_some_and(|file| {
                        range.indices().any(|r| sums[file].get(usize::from(r)).copied().unwrap_or(false))
                    }),
                    _ => false,
                })
            });
        }
        if info.name.starts_with("v_exp_f") {
            return true;
        }
        let mut reads = false;
        inst.visit_reads(|range| {
            if let Some(file) = slot(range) {
                reads |= range.indices().any(|r| sums[file].get(usize::from(r)).copied().unwrap_or(false));
            }
        });
        reads
    })
}
