//! Triton's part of a card: the IR, joined with the code by source line.
//!
//! IR and code are two compilations of one kernel; what they share is the Python line. A line of a library
//! function counts for the line of the kernel that calls it, in both.

use crate::KernelEvidence;
use crate::ir::{TritonIr, ir_place};
use isa::{Access, Class, Space};
use std::collections::BTreeMap;
use tritonir::{At, Direction, Exchange, KernelIr, Loop};
use view::{IrAccess, IrBuffer, IrConversion, IrLds, IrLine, IrLoop, IrProduct, SourceLine, TritonCard};

/// Makes the section.
pub(crate) fn card(ir: &TritonIr, evidence: &KernelEvidence<'_>) -> TritonCard {
    let it = &ir.kernel;
    let code = CodeLines::of(evidence);
    let moving = it.conversions.iter().filter(|it| it.exchange != Exchange::Nothing);
    TritonCard {
        form: it.form.name(),
        file: ir.file.clone(),
        waves: it.waves,
        products: products(it),
        loops: it.loops.iter().enumerate().map(|(at, found)| loop_card(at, found)).collect(),
        accesses: it.accesses.iter().map(|access| access_card(access, &code)).collect(),
        free_conversions: count(it.conversions.len() - moving.clone().count()),
        conversions: moving
            .map(|it| IrConversion {
                at: ir_place(&it.at),
                shape: it.shape.clone(),
                kinds: [it.kinds.0.clone(), it.kinds.1.clone()],
                how: it.exchange.phrase(),
                lds_bytes: match it.exchange {
                    Exchange::Lds(bytes) => bytes,
                    _ => None,
                },
            })
            .collect(),
        lds: lds(it),
        lines: code.joined(it),
    }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn products(it: &KernelIr) -> Vec<IrProduct> {
    it.dots
        .iter()
        .map(|dot| IrProduct {
            at: ir_place(&dot.at),
            mnk: dot.mnk,
            elements: dot.elements.clone(),
            instruction: dot.instruction.as_ref().map(tritonir::Instruction::shape),
            transposed: dot.instruction.as_ref().is_some_and(|it| it.transposed),
            k_width: dot.k_width,
            per_wave: dot.instructions_per_wave(),
        })
        .collect()
}

fn loop_card(at: usize, found: &Loop) -> IrLoop {
    IrLoop {
        at: ir_place(&found.at),
        id: count(at + 1),
        depth: found.depth,
        last_ir_line: found.lines.1,
        counts: found
            .bounds
            .as_ref()
            .map(|[from, to, step]| format!("{} to {} step {}", from.text(), to.text(), step.text())),
        iterations: found.trips(),
        loads: count(found.loads.len()),
        loads_to_lds: count(found.loads.iter().filter(|it| it.to_lds).count()),
        prefetch: found.loads.iter().filter_map(tritonir::LoopLoad::distance).collect(),
        lds_stores: found.local_stores,
        lds_loads: found.local_loads,
        products: found.dots,
        async_waits: found.async_waits.clone(),
        ping_pong: found.ping_pong,
    }
}

fn access_card(access: &tritonir::Access, code: &CodeLines) -> IrAccess {
    IrAccess {
        at: ir_place(&access.at),
        direction: access.direction.name(),
        shape: access.shape.clone(),
        bytes: access.bytes,
        width: access.width,
        reached: code.widths(&access.at, access.direction),
        masked: access.masked,
        buffer: access.buffer,
        indirect: access.indirect,
        base: access.base.clone(),
    }
}

fn lds(it: &KernelIr) -> IrLds {
    let (bytes, unknown) = match &it.lds.total {
        Ok(bytes) => (Some(*bytes), None),
        Err(reason) => (None, Some(reason.clone())),
    };
    let buffer = |buffer: &tritonir::LdsBuffer| IrBuffer {
        at: ir_place(&buffer.at),
        purpose: buffer.purpose.name(),
        shape: buffer.shape.clone(),
        bytes: buffer.bytes,
        offset: buffer.offset,
        ir_lines: [buffer.lines.0, buffer.lines.1],
    };
    IrLds { bytes, unknown, buffers: it.lds.buffers.iter().map(buffer).collect() }
}

/// The instructions of each source line.
#[derive(Default)]
pub(crate) struct CodeLines {
    lines: BTreeMap<(String, u32), OfLine>,
}

#[derive(Default)]
struct OfLine {
    units: BTreeMap<&'static str, u32>,
    /// Global loads (true: stores) by bytes per lane.
    widths: BTreeMap<(bool, u32), u32>,
}

/// Units in the order they are shown.
const UNITS: &[&str] =
    &["load", "store", "atomic", "LDS", "MFMA", "VALU", "SALU", "SMEM", "wait", "barrier", "other"];

impl CodeLines {
    pub(crate) fn of(evidence: &KernelEvidence<'_>) -> Self {
        let mut lines = CodeLines::default();
        for (at, inst) in evidence.insts.iter().enumerate() {
            let Some(source) = evidence.kernel_line(at) else { continue };
            let line = lines.lines.entry(key(&source.file, source.line)).or_default();
            let unit = match inst.class() {
                Class::Valu => "VALU",
                Class::Mfma => "MFMA",
                Class::Salu => "SALU",
                Class::Smem => "SMEM",
                Class::VmemLoad => "load",
                Class::VmemStore => "store",
                Class::VmemAtomic => "atomic",
                Class::Lds => "LDS",
                Class::Wait => "wait",
                Class::Barrier => "barrier",
                _ => "other",
            };
            *line.units.entry(unit).or_default() += 1;
            if let Some(mem) = inst.mem()
                && matches!(mem.space, Space::Global | Space::Flat | Space::Buffer)
                && matches!(mem.access, Access::Load | Access::LoadToLds | Access::Store)
            {
                let bytes = u32::from(mem.bytes) * u32::from(mem.elements);
                *line.widths.entry((mem.access == Access::Store, bytes)).or_default() += 1;
            }
        }
        lines
    }

    /// Least and most bytes per lane of the accesses at a line.
    pub(crate) fn widths(&self, at: &At, direction: Direction) -> Option<[u32; 2]> {
        let line = self.lines.get(&key(&at.file, at.source_line))?;
        let store = direction == Direction::Store;
        let of = || line.widths.keys().filter(|(stored, _)| *stored == store).map(|(_, bytes)| *bytes);
        Some([of().min()?, of().max()?])
    }

    /// Lines with IR operations, each with its instructions.
    fn joined(&self, it: &KernelIr) -> Vec<IrLine> {
        it.lines
            .iter()
            .filter(|line| line.source_line > 0)
            .map(|line| IrLine {
                source: SourceLine { file: line.file.clone(), line: line.source_line, function: None },
                operations: line.operations.clone(),
                instructions: self.lines.get(&key(&line.file, line.source_line)).map_or_else(
                    Vec::new,
                    |of| {
                        let unit = |name: &&str| Some(((*name).to_owned(), *of.units.get(name)?));
                        UNITS.iter().filter_map(unit).collect()
                    },
                ),
            })
            .collect()
    }
}

/// Files are compared by file name: the IR has Python's path, the debug information a different folder.
fn key(file: &str, line: u32) -> (String, u32) {
    (file.rsplit(['/', '\\']).next().unwrap_or(file).to_owned(), line)
}
