//! MAT002: a GEMM-like loop without matrix instructions.
//!
//! The one idea to keep in mind: a product of matrices is told by reuse: every loaded value is multiplied
//! with several others, and every sum stays in its register from iteration to iteration.

use crate::{Outcome, Rule};
use analysis::KernelEvidence;
use arch::Unit;
use isa::{Class, Inst, Operand, RegFile, RegRange};
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "MAT002",
    title: "GEMM-like loop without matrix instructions",
    severity: Severity::Warning,
    page: PAGE,
    check,
};

const PAGE: &str = r"## What it does
Fires on a kernel without matrix instructions when an innermost loop has the shape of a matrix product:

* at least 16 multiply-adds per iteration add to sums that stay in their registers and are touched by nothing else in the loop;
* both factors are vector registers that the loop fills anew, and each value is used in three products or more on average.

Warning where the matrix unit has a higher peak than the vector unit for the type, with the ratio. Info where it has not.

Polynomials, filters with constant coefficients and matrix-vector products do not fire: their factors are not reused, or not
loaded in the loop.

## Why it is slow
The matrix unit does the same products with a multiple of the vector unit's rate (for f16 and bf16 many times, for f64
twice), with one instruction for thousands of multiply-adds, so that the wave's issue slots are free for loads and addresses.

## Evidence
The multiply-adds of the loop, their sums and factors, how often each factor is defined and used, and the peak
rates of the target's vector and matrix units for the type.

## What to do
Call a library (hipBLASLt, rocBLAS, composable kernel), use `rocwmma` or the `__builtin_amdgcn_mfma_*` intrinsics, or `tl.dot`
in Triton with a type and tile that the matrix unit has.

## Source
Seed document 000 (matrix instructions for GEMM), 003 (matrix instructions per kernel and their share of the peak).
";

/// A multiply-add instruction.
struct MultiplyAdd {
    name: &'static str,
    /// Element type as the peak rates name it.
    element: &'static str,
    /// Products per lane.
    products: u32,
}

/// What the vector unit multiplies and adds with.
const MULTIPLY_ADDS: &[MultiplyAdd] = &[
    MultiplyAdd { name: "v_fma_f64", element: "f64", products: 1 },
    MultiplyAdd { name: "v_fmac_f64", element: "f64", products: 1 },
    MultiplyAdd { name: "v_fma_f32", element: "f32", products: 1 },
    MultiplyAdd { name: "v_fmac_f32", element: "f32", products: 1 },
    MultiplyAdd { name: "v_mac_f32", element: "f32", products: 1 },
    MultiplyAdd { name: "v_mad_f32", element: "f32", products: 1 },
    MultiplyAdd { name: "v_pk_fma_f32", element: "f32", products: 2 },
    MultiplyAdd { name: "v_fma_f16", element: "f16", products: 1 },
    MultiplyAdd { name: "v_fmac_f16", element: "f16", products: 1 },
    MultiplyAdd { name: "v_mac_f16", element: "f16", products: 1 },
    MultiplyAdd { name: "v_pk_fma_f16", element: "f16", products: 2 },
    MultiplyAdd { name: "v_fma_mix_f32", element: "f16", products: 1 },
    MultiplyAdd { name: "v_dot2_f32_f16", element: "f16", products: 2 },
    MultiplyAdd { name: "v_dot2c_f32_f16", element: "f16", products: 2 },
    MultiplyAdd { name: "v_dot2_f32_bf16", element: "bf16", products: 2 },
    MultiplyAdd { name: "v_dot2c_f32_bf16", element: "bf16", products: 2 },
    MultiplyAdd { name: "v_dot4_i32_i8", element: "i8", products: 4 },
    MultiplyAdd { name: "v_dot4c_i32_i8", element: "i8", products: 4 },
];

/// Sums an iteration adds to at least.
const FEWEST: u32 = 16;
/// Products per loaded value at least, on average.
const REUSE: u32 = 3;

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    let has_multiply_add = |inst: &Inst| multiply_add(inst).is_some();
    if evidence.insts.iter().any(|inst| inst.op.info().class == Class::Mfma) {
        return Outcome::Silent;
    }
    if evidence.cfg.loops.is_empty() || !evidence.insts.iter().any(has_multiply_add) {
        return Outcome::Silent;
    }
    let found = evidence.cfg.innermost_loops().filter_map(|id| product(evidence, id));
    match found.max_by_key(|product| product.multiply_adds) {
        Some(product) => Outcome::Findings(vec![product.finding(evidence)]),
        None => Outcome::Silent,
    }
}

/// The row of a multiply-add.
fn multiply_add(inst: &Inst) -> Option<&'static MultiplyAdd> {
    let name = inst.op.info().name;
    if inst.op.info().class != Class::Valu {
        return None;
    }
    MULTIPLY_ADDS.iter().find(|row| row.name == name)
}

/// A loop of the shape of a matrix product.
struct Product {
    id: u32,
    element: &'static str,
    /// Multiply-add instructions per iteration.
    multiply_adds: u32,
    /// Products of one lane per iteration.
    products: u32,
    /// Sums kept.
    sums: u32,
    /// Values the factors take per iteration.
    values: u32,
    /// First multiply-add.
    at: u32,
    instructions: u32,
}

/// What happens to one vector register in the loop.
#[derive(Clone, Copy, Default)]
struct Register {
    /// Multiply-adds that add to it.
    sums: u16,
    /// Other instructions that read or write it.
    others: u16,
    /// Writes by anything but those multiply-adds.
    writes: u16,
    /// Multiply-adds that use it as a factor.
    factors: u16,
}

/// In-place multiply-add: its sum and its two factors, all in vector registers.
fn parts(inst: &Inst) -> Option<(RegRange, RegRange, RegRange)> {
    let vector = |operand: &Operand| match operand {
        Operand::Reg(range) if range.file == RegFile::Vgpr => Some(*range),
        _ => None,
    };
    match inst.operands() {
        [sum, a, b] => Some((vector(sum)?, vector(a)?, vector(b)?)),
        [sum, a, b, addend] if sum == addend => Some((vector(sum)?, vector(a)?, vector(b)?)),
        _ => None,
    }
}

fn product(evidence: &KernelEvidence<'_>, id: u32) -> Option<Product> {
    let insts = || {
        let positions = evidence.cfg.loop_insts(id);
        positions.filter_map(|at| evidence.insts.get(at as usize).map(|inst| (at, inst)))
    };
    if insts().filter(|(_, inst)| multiply_add(inst).is_some()).count() < FEWEST as usize {
        return None;
    }
    let mut registers = [Register::default(); 256];
    let mut at_register = |range: RegRange, change: &mut dyn FnMut(&mut Register)| {
        if range.file == RegFile::Vgpr {
            for index in range.indices() {
                if let Some(register) = registers.get_mut(usize::from(index)) {
                    change(register);
                }
            }
        }
    };
    let mut instructions = 0;
    for (_, inst) in insts() {
        instructions += 1;
        match multiply_add(inst).and_then(|_| parts(inst)) {
            Some((sum, a, b)) => {
                at_register(sum, &mut |r| r.sums += 1);
                at_register(a, &mut |r| r.factors += 1);
                at_register(b, &mut |r| r.factors += 1);
            }
            None => {
                inst.visit_reads(|range| at_register(range, &mut |r| r.others += 1));
                inst.visit_writes(|range| {
                    at_register(range, &mut |r| {
                        r.others += 1;
                        r.writes += 1;
                    });
                });
            }
        }
    }
    let is_sum = |range: RegRange| {
        range.indices().all(|index| {
            registers.get(usize::from(index)).is_some_and(|r| r.sums > 0 && r.others == 0 && r.factors == 0)
        })
    };
    let is_fresh = |range: RegRange| {
        range.indices().all(|index| registers.get(usize::from(index)).is_some_and(|r| r.writes > 0))
    };

    let mut result =
        Product { id, element: "", multiply_adds: 0, products: 0, sums: 0, values: 0, at: 0, instructions };
    let mut used = [false; 256];
    let mut uses = 0u32;
    for (at, inst) in insts() {
        let Some((row, (sum, a, b))) = multiply_add(inst).zip(parts(inst)) else { continue };
        if !is_sum(sum) || !is_fresh(a) || !is_fresh(b) || a == b {
            continue;
        }
        if result.multiply_adds == 0 {
            (result.element, result.at) = (row.element, at);
        }
        result.multiply_adds += 1;
        result.products += row.products;
        for factor in [a, b] {
            uses += u32::from(factor.count);
            for index in factor.indices() {
                if let Some(used) = used.get_mut(usize::from(index)) {
                    *used = true;
                }
            }
        }
    }
    result.sums = registers.iter().filter(|r| r.sums > 0 && r.others == 0 && r.factors == 0).count() as u32;
    result.values =
        registers.iter().zip(used).filter(|(_, used)| *used).map(|(r, _)| u32::from(r.writes)).sum();
    (result.products >= FEWEST && result.values > 0 && uses >= REUSE * result.values).then_some(result)
}

impl Product {
    fn finding(&self, evidence: &KernelEvidence<'_>) -> Finding {
        let peak = |unit| {
            let rate = evidence.target.and_then(|target| target.peak(unit, self.element));
            rate.map(|rate| f64::from(rate.value))
        };
        let ratio = match (peak(Unit::Matrix), peak(Unit::Vector)) {
            (Some(matrix), Some(vector)) if vector > 0.0 => Some(matrix / vector),
            _ => None,
        };
        let gains = ratio.is_none_or(|ratio| ratio > 1.01);
        let number = self.id + 1;
        let mut finding = RULE
            .finding(
                if gains { Severity::Warning } else { Severity::Info },
                format!(
                    "loop {number} multiplies matrices with {} of {} vector instructions per iteration ({} products of {} per lane)",
                    self.multiply_adds, self.instructions, self.products, self.element
                ),
                "use matrix instructions: a library, rocWMMA, `__builtin_amdgcn_mfma_*`, or `tl.dot` with a supported type",
            )
            .with_evidence("multiply-adds per iteration", self.multiply_adds)
            .with_evidence("registers of sums", self.sums)
            .with_evidence("factor registers filled per iteration", self.values)
            .with_places([evidence.place(self.at as usize)]);
        if let Some(ratio) = ratio {
            let ratio = super::res002::number(ratio);
            finding = finding.with_cost(format!(
                "the matrix unit's peak for {} is {ratio} times the vector unit's",
                self.element
            ));
        }
        finding
    }
}
