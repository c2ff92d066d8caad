//! MAT002: a GEMM-like loop without matrix instructions.
//!
//! A matrix product is recognized by reuse: every loaded value is multiplied with several others, and every
//! sum stays in its register from iteration to iteration.

mod tile;

use crate::gain::Executed;
use crate::recorded::{lost, percent};
use crate::{Check, Outcome, Rule, gain};
use analysis::{KernelEvidence, WorkloadEvidence};
use arch::{ElementType, Unit};
use isa::{Class, Inst, Op, Operand, RegFile, RegRange};
use sorting::Sort;
use std::sync::LazyLock;
use view::{Finding, Known, Missing, Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "MAT002",
    title: "GEMM-like loop without matrix instructions",
    severity: Severity::Warning,
    page: include_str!("mat002.md"),
    checks: &[Check::Code(check), Check::Recording(check_recorded)],
    panels: &[10, 11],
};

/// A multiply-add instruction.
struct MultiplyAdd {
    name: &'static str,
    /// Element type.
    element: ElementType,
    /// Products per lane.
    products: u32,
}

/// Multiply-add instructions of the vector unit.
const MULTIPLY_ADDS: &[MultiplyAdd] = &[
    MultiplyAdd { name: "v_fma_f64", element: ElementType::F64, products: 1 },
    MultiplyAdd { name: "v_fmac_f64", element: ElementType::F64, products: 1 },
    MultiplyAdd { name: "v_fma_f32", element: ElementType::F32, products: 1 },
    MultiplyAdd { name: "v_fmac_f32", element: ElementType::F32, products: 1 },
    MultiplyAdd { name: "v_mac_f32", element: ElementType::F32, products: 1 },
    MultiplyAdd { name: "v_mad_f32", element: ElementType::F32, products: 1 },
    MultiplyAdd { name: "v_pk_fma_f32", element: ElementType::F32, products: 2 },
    MultiplyAdd { name: "v_fma_f16", element: ElementType::F16, products: 1 },
    MultiplyAdd { name: "v_fmac_f16", element: ElementType::F16, products: 1 },
    MultiplyAdd { name: "v_mac_f16", element: ElementType::F16, products: 1 },
    MultiplyAdd { name: "v_pk_fma_f16", element: ElementType::F16, products: 2 },
    MultiplyAdd { name: "v_fma_mix_f32", element: ElementType::F16, products: 1 },
    MultiplyAdd { name: "v_dot2_f32_f16", element: ElementType::F16, products: 2 },
    MultiplyAdd { name: "v_dot2c_f32_f16", element: ElementType::F16, products: 2 },
    MultiplyAdd { name: "v_dot2_f32_bf16", element: ElementType::Bf16, products: 2 },
    MultiplyAdd { name: "v_dot2c_f32_bf16", element: ElementType::Bf16, products: 2 },
    MultiplyAdd { name: "v_dot4_i32_i8", element: ElementType::I8, products: 4 },
    MultiplyAdd { name: "v_dot4c_i32_i8", element: ElementType::I8, products: 4 },
];

/// Products per iteration at least.
const FEWEST: u32 = 16;
/// Registers of running sums at least.
const FEWEST_SUMS: u32 = 8;
/// Products in which each of the two factors is used at least.
const REUSE: usize = 3;

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    if evidence.mix.count(Class::Mfma) > 0 {
        return Outcome::Silent;
    }
    if evidence.cfg.loops.is_empty() {
        return Outcome::Silent;
    }
    let sums = Sums::of(evidence);
    if sums.by_loop.iter().all(|sums| sums.len() < tile::FEWEST) {
        return Outcome::Silent;
    }
    let in_registers = evidence.cfg.innermost_loops().filter_map(|id| product(evidence, &sums, id));
    let found = in_registers.max_by_key(|product| product.multiply_adds).map(|it| it.finding(evidence));
    let found = found.or_else(|| tile::find(evidence, &sums).map(|it| tile_finding(evidence, &it)));
    Outcome::from_findings(found.into_iter().collect())
}

/// A multiply-add on vector registers.
struct Sum {
    at: u32,
    row: &'static MultiplyAdd,
    parts: Option<Parts>,
}

/// The multiply-adds of a kernel by the innermost loop around them, in code order. Multiply-adds are rare, so
/// checking them first rejects most loops before the loop is walked.
struct Sums {
    by_loop: Vec<Vec<Sum>>,
}

impl Sums {
    fn of(evidence: &KernelEvidence<'_>) -> Sums {
        let rows = rows();
        let mut by_loop: Vec<Vec<Sum>> = Vec::new();
        by_loop.resize_with(evidence.cfg.loops.len(), Vec::new);
        for block in &evidence.cfg.blocks {
            let Some(id) = block.innermost else { continue };
            let insts = &evidence.insts[block.insts.start as usize..block.insts.end as usize];
            for (at, inst) in (block.insts.start..).zip(insts) {
                if let Some(row) = rows[usize::from(inst.op.0).min(rows.len() - 1)] {
                    by_loop[id as usize].push(Sum { at, row, parts: parts(inst, row) });
                }
            }
        }
        Sums { by_loop }
    }

    fn of_loop(&self, id: u32) -> &[Sum] {
        &self.by_loop[id as usize]
    }
}

/// The instructions of a loop, each with its row if it is a multiply-add.
fn with_sums<'a>(
    evidence: &'a KernelEvidence<'_>,
    sums: &'a [Sum],
    id: u32,
) -> impl Iterator<Item = (u32, &'a Inst, Option<&'a Sum>)> {
    let mut sums = sums.iter().peekable();
    evidence
        .cfg
        .loop_insts(id)
        .map(move |at| (at, &evidence.insts[at as usize], sums.next_if(|sum| sum.at == at)))
}

/// Cycles of a vector instruction.
const VECTOR_CYCLES: f64 = 4.0;

const TILE_ADVICE: &str = "use matrix instructions: a library, rocWMMA, `__builtin_amdgcn_mfma_*`, or `tl.dot`; or give each lane a block of sums";
const ADVICE: &str = "use matrix instructions: a library, rocWMMA, `__builtin_amdgcn_mfma_*`, or `tl.dot` with a supported type";
const RECORDED_ADVICE: &str =
    "if it is a product of matrices, call a library or use matrix instructions (`rocwmma`, `tl.dot`)";

fn tile_message(found: &tile::TileProduct) -> String {
    format!(
        "loop {} multiplies tiles that it reads from the LDS: {} of {} in {} per iteration",
        found.id + 1,
        counted(found.products, "product"),
        found.element,
        counted(found.multiply_adds, "vector instruction")
    )
}

/// A product of tiles in LDS by few sums per lane.
fn tile_finding(evidence: &KernelEvidence<'_>, found: &tile::TileProduct) -> Finding {
    let cycles = f64::from(found.multiply_adds) * VECTOR_CYCLES;
    let severity = gain::severity(Executed::of(evidence).cycles(Some(found.id), cycles));
    RULE.finding(severity, tile_message(found), TILE_ADVICE)
        .with_cost(format!(
            "{} per iteration for {}",
            counted(found.reads, "LDS read"),
            counted(found.products, "product")
        ))
        .with_evidence("multiply-adds with both factors from the LDS", found.multiply_adds)
        .with_evidence("LDS reads per iteration", found.reads)
        .with_places([evidence.place(found.at as usize)])
}

/// By opcode, the row of a multiply-add; the last entry is for undecoded instructions.
fn rows() -> &'static [Option<&'static MultiplyAdd>] {
    static BY_OPCODE: LazyLock<Vec<Option<&'static MultiplyAdd>>> = LazyLock::new(|| {
        let row = |op: Op| MULTIPLY_ADDS.iter().find(|row| row.name == op.info().name);
        Op::all().map(row).chain([None]).collect()
    });
    &BY_OPCODE
}

/// A loop of the shape of a matrix product.
struct Product {
    id: u32,
    element: ElementType,
    /// Multiply-add instructions per iteration.
    multiply_adds: u32,
    /// Products of one lane per iteration.
    products: u32,
    /// Registers of running sums.
    sums: u32,
    /// Values the factors take per iteration.
    values: u32,
    /// First multiply-add.
    at: u32,
    instructions: u32,
}

/// Content of a vector register at one point of an iteration.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// A value of the previous iteration.
    Carried,
    /// A running sum: a carried value with products added.
    Sum,
    /// A value made in this iteration.
    Fresh,
}

/// The vector registers during a walk over one iteration, in code order.
struct Registers {
    /// Content of each register, and the number of the value.
    now: [(Holds, u32); 256],
    /// Written in the loop by anything but multiply-adds.
    filled: [bool; 256],
    /// Written in the loop at all.
    written: [bool; 256],
    next_value: u32,
}

impl Registers {
    fn new(evidence: &KernelEvidence<'_>, sums: &[Sum], id: u32) -> Registers {
        let mut registers = Registers {
            now: [(Holds::Carried, 0); 256],
            filled: [false; 256],
            written: [false; 256],
            next_value: 256,
        };
        for (value, now) in (0..).zip(&mut registers.now) {
            now.1 = value;
        }
        for (at, _, sum) in with_sums(evidence, sums, id) {
            for index in evidence.vectors_written(at).flatten() {
                registers.written[index] = true;
                registers.filled[index] |= sum.is_none();
            }
        }
        registers
    }

    fn write(&mut self, indices: impl Iterator<Item = usize>, holds: Holds) {
        for index in indices {
            self.now[index] = (holds, self.next_value);
            self.next_value += 1;
        }
    }

    /// The register is added to from iteration to iteration.
    fn is_running_sum(&self, index: usize) -> bool {
        match self.now[index].0 {
            Holds::Sum => true,
            Holds::Carried => self.written[index],
            Holds::Fresh => false,
        }
    }

    /// True if the loop reloads the register: in this iteration, or in the previous one for this one.
    fn is_fresh(&self, index: usize) -> bool {
        match self.now[index].0 {
            Holds::Fresh => true,
            Holds::Carried => self.filled[index],
            Holds::Sum => false,
        }
    }
}

/// The registers of a run of VGPRs; empty for other files.
fn vector_indices(range: RegRange) -> impl Iterator<Item = usize> {
    let is_vector = range.file == RegFile::Vgpr;
    range.indices().map(usize::from).filter(move |index| is_vector && *index < 256)
}

/// A multiply-add on vector registers: result, addend, and the two factors' registers.
struct Parts {
    result: RegRange,
    addend: RegRange,
    factors: [RegRange; 2],
}

fn is_copy(inst: &Inst) -> bool {
    inst.class() == Class::Valu && inst.op.info().name.starts_with("v_mov_b")
}

fn parts(inst: &Inst, row: &MultiplyAdd) -> Option<Parts> {
    let vector = |operand: &Operand| match operand {
        Operand::Reg(range) if range.file == RegFile::Vgpr => Some(*range),
        _ => None,
    };
    let (result, a, b, addend) = match inst.operands() {
        [sum, a, b] => (vector(sum)?, vector(a)?, vector(b)?, vector(sum)?),
        [result, a, b, addend] => (vector(result)?, vector(a)?, vector(b)?, vector(addend)?),
        _ => return None,
    };
    let halves = |source: u8, range: RegRange| {
        // A packed f32 factor may use one register of its pair for both products.
        let (low, high) = (inst.mods.op_sel >> source & 1, inst.mods.op_sel_hi >> source & 1);
        if row.name == "v_pk_fma_f32" && range.count == 2 && low == high {
            RegRange::new(range.file, range.first + u16::from(low), 1)
        } else {
            range
        }
    };
    Some(Parts { result, addend, factors: [halves(0, a), halves(1, b)] })
}

/// True if too few accumulator registers exist for a matrix product: registers that only multiply-adds write
/// in the iteration.
fn has_few_sums(sums: &[Sum]) -> bool {
    let mut written = [false; 256];
    let mut carried = 0;
    for parts in sums.iter().filter_map(|sum| sum.parts.as_ref()) {
        carried += vector_indices(parts.addend).filter(|index| !written[*index]).count() as u32;
        vector_indices(parts.result).for_each(|index| written[index] = true);
    }
    carried < FEWEST_SUMS
}

fn product(evidence: &KernelEvidence<'_>, sums: &Sums, id: u32) -> Option<Product> {
    let sums = sums.of_loop(id);
    if sums.len() < FEWEST as usize / 2 || sums.iter().map(|sum| sum.row.products).sum::<u32>() < FEWEST {
        return None;
    }
    let copies = |at: u32| is_copy(&evidence.insts[at as usize]);
    if has_few_sums(sums) && !evidence.cfg.loop_insts(id).any(copies) {
        return None;
    }
    let mut registers = Registers::new(evidence, sums, id);
    let mut found = Product {
        id,
        element: ElementType::F32,
        multiply_adds: 0,
        products: 0,
        sums: 0,
        values: 0,
        at: 0,
        instructions: 0,
    };
    // The values multiplied, as pairs.
    let mut pairs: Vec<[u32; 2]> = Vec::new();
    for (at, inst, sum) in with_sums(evidence, sums, id) {
        found.instructions += 1;
        let sum = sum.and_then(|sum| Some((sum.row, sum.parts.as_ref()?)));
        let sum = sum
            .filter(|(_, parts)| vector_indices(parts.addend).all(|index| registers.is_running_sum(index)));
        match (sum, inst.operands()) {
            (Some((row, parts)), _) => {
                let fresh =
                    parts.factors.iter().all(|f| vector_indices(*f).all(|index| registers.is_fresh(index)));
                if fresh && parts.factors[0] != parts.factors[1] {
                    if found.multiply_adds == 0 {
                        (found.element, found.at) = (row.element, at);
                    }
                    found.multiply_adds += 1;
                    found.products += row.products;
                    found.sums += vector_indices(parts.addend)
                        .filter(|index| registers.now[*index].0 == Holds::Carried)
                        .count() as u32;
                    pairs.push(parts.factors.map(|f| registers.now[usize::from(f.first) & 255].1));
                }
                registers.write(vector_indices(parts.result), Holds::Sum);
            }
            (None, [Operand::Reg(to), Operand::Reg(from)]) if is_copy(inst) && to.count == from.count => {
                for (to, from) in vector_indices(*to).zip(vector_indices(*from)) {
                    registers.now[to] = registers.now[from];
                }
                if from.file != RegFile::Vgpr {
                    registers.write(vector_indices(*to), Holds::Fresh);
                }
            }
            (None, _) => registers.write(evidence.vectors_written(at).flatten(), Holds::Fresh),
        }
    }
    let mut values: Vec<u32> = pairs.iter().flatten().copied().collect();
    values.in_order();
    let uses = |value| {
        let first = values.partition_point(|other| *other < value);
        values[first..].iter().take_while(|other| **other == value).count()
    };
    let reused = pairs.iter().filter(|pair| pair.iter().all(|value| uses(*value) >= REUSE)).count();
    found.values = values.chunk_by(|a, b| a == b).count() as u32;
    (found.products >= FEWEST && found.sums >= FEWEST_SUMS && reused * 4 >= pairs.len() * 3).then_some(found)
}

impl Product {
    fn message(&self) -> String {
        let Product { id, element, multiply_adds, products, instructions, .. } = self;
        format!(
            "loop {} multiplies matrices with {multiply_adds} of {instructions} vector instructions per iteration ({products} products of {element} per lane)",
            id + 1
        )
    }

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
        let severity = if gains { Severity::Warning } else { Severity::Info };
        let mut finding = RULE
            .finding(severity, self.message(), ADVICE)
            .with_evidence("multiply-adds per iteration", self.multiply_adds)
            .with_evidence("registers of sums", self.sums)
            .with_evidence("values multiplied per iteration", self.values)
            .with_places([evidence.place(self.at as usize)]);
        if let Some(ratio) = ratio {
            let ratio = crate::text::short_number(ratio);
            finding = finding.with_cost(format!(
                "the matrix unit's peak for {} is {ratio} times the vector unit's",
                self.element
            ));
        }
        finding
    }
}

/// Part of the vector unit's rate from which on it is what the kernel does.
const RATE: f64 = 0.25;
/// Percent of the operations that are multiply-adds.
const MULTIPLY_ADD: f64 = 75.0;
/// Times each byte from memory is loaded by lanes.
const LOADED_AGAIN: f64 = 8.0;

fn check_recorded(evidence: &WorkloadEvidence<'_>) -> Result<Outcome, Missing> {
    if evidence.value("instructions.matrix")? > 0.0 {
        return Ok(Outcome::Silent);
    }
    let memory = evidence.known("roofline.hbm_bytes")?;
    let (l1, lds) = (evidence.known("roofline.l1_bytes")?, evidence.known("roofline.lds_bytes")?);
    let loaded = if l1.value > lds.value { l1 } else { lds };
    let roof = evidence.roof();
    let vectors = roof.reached.rates.iter().filter(|share| share.name.starts_with("vector"));
    let main = vectors.max_by(|a, b| a.part().unwrap_or(0.0).total_cmp(&b.part().unwrap_or(0.0)));
    let Some(main) = main else { return Ok(Outcome::Silent) };
    let rate = main.rate.clone()?;
    let part = Known { value: rate / main.ceiling, trust: main.trust };
    if part.value < RATE || loaded.value < LOADED_AGAIN * memory.value {
        return Ok(Outcome::Silent);
    }
    let multiply_adds = evidence.known("compute.multiply_add_share")?;
    if multiply_adds.value < MULTIPLY_ADD {
        return Ok(Outcome::Silent);
    }
    let element = main.name.trim_start_matches("vector ");
    let target = evidence.target.ok_or(Missing::TargetFacts)?;
    let peak = |unit| {
        ElementType::by_name(element).and_then(|it| target.peak(unit, it)).map(|peak| f64::from(peak.value))
    };
    let ratio = peak(Unit::Matrix).zip(peak(Unit::Vector)).map_or(1.0, |(matrix, vector)| matrix / vector);
    let again = loaded.with(memory, |loaded, memory| loaded / memory.max(1.0));
    let finding = RULE
        .finding(
            if ratio > 1.0 { Severity::Warning } else { Severity::Info },
            format!(
                "{} of the vector unit's {element} rate, {multiply_adds:.0} % multiply-adds on data that is loaded {again:.0} times, and no matrix instruction",
                percent(part)
            ),
            RECORDED_ADVICE,
        )
        .with_evidence("multiply-adds", format!("{multiply_adds:.0} % of the operations"))
        .with_evidence("matrix peak against vector peak", format!("{ratio:.1}"))
        .with_trust([part, multiply_adds, again]);
    let gained = part.map(|part| part * (1.0 - 1.0 / ratio));
    Ok(Outcome::Findings(vec![lost(evidence, finding, gained)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        let product = Product {
            id: 0,
            element: ElementType::F32,
            multiply_adds: 64,
            products: 128,
            sums: 64,
            values: 16,
            at: 0,
            instructions: 90,
        };
        testkit::golden("product", &product.message());
        let tile = tile::TileProduct {
            id: 2,
            element: ElementType::F16,
            multiply_adds: 1,
            products: 2,
            reads: 4,
            at: 0,
        };
        testkit::golden("tile", &tile_message(&tile));
    }
}
