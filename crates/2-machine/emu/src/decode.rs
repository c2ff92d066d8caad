//! Resolution of instructions to actions.
//!
//! The one idea to keep in mind: an action holds everything its handler needs. The function of an opcode is
//! looked up by name in the tables of `vector`, `scalar` and `access`, so a new opcode is one line there.

use crate::access::{Access, ScalarAccess};
use crate::control::{CONTROL, Condition, Control, Indexing};
use crate::in_place::InPlace;
use crate::kernels::Kernels;
use crate::lanes::Mode;
use crate::lanes_cross::LaneOp;
use crate::matrix;
use crate::modifiers::{self, Modifiers};
use crate::operand::{EXEC, Files, NONE, Pool, Src, VCC, scalar_index, source};
use crate::quad_sums::QuadSums;
use crate::scalar::{EXEC_OPERATIONS, ExecOp, OPERATIONS, ScalarOp, find};
use crate::scaled::Conversion;
use crate::valu::Valu;
use crate::vector::Variant;
use codeobj::Descriptor;
use isa::{Bits, Class, Field, Inst, Isa, Lane, Op, OpFlags, Operand, RegFile, Role, Space, Ty};

/// Message of `s_sendmsg` that interrupts the host.
const MESSAGE_INTERRUPT: u16 = 1;

/// Cycles of a unit of `s_sleep`.
const SLEEP_UNIT: u32 = 64;

/// A scalar ALU instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Salu {
    pub(crate) op: ScalarOp,
    pub(crate) src: [Src; 2],
    pub(crate) dst: u8,
    /// Operands of 64 bits: bits 0 and 1 for the sources, bit 2 for the destination.
    pub(crate) wide: u8,
}

/// An instruction resolved for execution.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// One result row, no mask, no modifiers.
    Valu(Valu),
    /// One or two result rows, written in place; the number is an argument of the kernel.
    InPlace(Valu, InPlace, u32),
    /// Any other vector ALU instruction without modifiers.
    ValuAny(Valu),
    /// A vector ALU instruction with modifiers.
    Modified(Box<(Valu, Modifiers)>),
    /// An exchange between lanes, or between lanes and scalars.
    Lane(Box<LaneOp>),
    Matrix(Box<matrix::Instruction>),
    /// Conversion from or to small formats with a scale.
    Scaled(Box<Conversion>),
    QuadSums(Box<QuadSums>),
    Salu(Salu),
    /// EXEC manipulation: function, source, destination; true if the destination gets the new EXEC instead of the
    /// old.
    Exec {
        op: ExecOp,
        src: Src,
        dst: u8,
        new: bool,
    },
    Branch {
        condition: Condition,
        target: usize,
    },
    /// Jump to the address in a scalar pair; the return address goes to `link`.
    Jump {
        target: Src,
        link: u8,
    },
    /// Direct call.
    Call {
        target: usize,
        link: u8,
    },
    GetPc {
        dst: u8,
    },
    GetReg {
        dst: u8,
        spec: u16,
    },
    SetReg {
        src: Src,
        spec: u16,
    },
    /// Reads (destination, base) or writes a scalar register at an offset in M0.
    MoveIndexed {
        dst: u8,
        src: Src,
        wide: bool,
        read: bool,
    },
    /// Register indexing by M0.
    Index {
        what: Indexing,
        src: Src,
        mode: u8,
    },
    /// Skips vector instructions while a bit of a number is set.
    Skip {
        src: [Src; 2],
    },
    ScalarMemory(Box<ScalarAccess>),
    Memory(Box<Access>),
    Time {
        dst: u8,
    },
    Barrier,
    /// Waits until at most this many vector memory instructions are outstanding; only in programs that load into
    /// the LDS.
    Wait(u8),
    /// Waits until one wave more than the number in a lane has reached this barrier.
    GridBarrier {
        waves: Src,
    },
    /// Lets other waves run; the clock moves on.
    Sleep {
        cycles: u32,
    },
    End,
    Trap(u16),
    /// Interrupts the host, which then answers the requests in memory.
    Interrupt,
    /// Invalidates caches: later loads see the writes of other waves.
    Invalidate,
    /// Waits, hints, cache control: no effect.
    Nothing,
    /// Not emulated.
    Unsupported,
}

impl Action {
    /// True if the instruction may write EXEC, may jump, or depends on the number of issued instructions.
    pub(crate) fn ends_run(&self) -> bool {
        let is_exec = |register: u8, wide: bool| {
            register != NONE && (register | 1 == EXEC | 1 || (wide && register + 1 == EXEC))
        };
        let vector = |valu: &Valu| valu.writes_exec || is_exec(valu.mask_out, true);
        match self {
            Action::Valu(valu) | Action::ValuAny(valu) | Action::InPlace(valu, ..) => vector(valu),
            Action::Modified(both) => vector(&both.0),
            Action::Lane(op) => op.scalar_destination().is_some_and(|register| is_exec(register, false)),
            Action::Salu(salu) => is_exec(salu.dst, true),
            Action::ScalarMemory(access) => access.may_write(EXEC) || access.may_write(EXEC + 1),
            Action::Matrix(_) | Action::Memory(_) | Action::Invalidate | Action::Nothing => false,
            _ => true,
        }
    }
}

pub(crate) struct Resolver<'a> {
    isa: Isa,
    pub(crate) files: Files,
    kernels: Kernels,
    index: &'a [u32],
    pub(crate) pool: Pool,
    pub(crate) rows: u16,
    /// Memory instructions so far.
    pub(crate) accesses: u32,
    pub(crate) ordered: bool,
    /// Some instruction calls the host.
    pub(crate) interrupts: bool,
    /// MODE may differ from the host's arithmetic, so floating-point instructions check it.
    watches_mode: bool,
    /// MODE may alter instructions, so the registers that an instruction writes are unknown at decode.
    pub(crate) alters: bool,
    /// Some instruction loads straight into the LDS.
    pub(crate) lds_dma: bool,
}

impl<'a> Resolver<'a> {
    pub(crate) fn new(isa: Isa, descriptor: &Descriptor, index: &'a [u32], insts: &[Inst]) -> Self {
        let uses = |prefix: &str| insts.iter().any(|inst| inst.info().name.starts_with(prefix));
        Resolver {
            isa,
            files: Files::of(descriptor),
            kernels: crate::kernels::kernels(),
            index,
            pool: Pool::default(),
            rows: (descriptor.vgprs_allocated.min(512) as u16).max(4) + 2,
            accesses: 0,
            ordered: false,
            interrupts: false,
            watches_mode: !initial_mode(descriptor).is_host() || descriptor.fp16_overflow || uses("s_setreg"),
            alters: uses("s_set_gpr_idx") || uses("s_setvskip") || uses("s_setreg"),
            lds_dma: insts.iter().any(Inst::loads_to_lds),
        }
    }

    /// Resolves an instruction; [`Action::Unsupported`] if that fails.
    pub(crate) fn action(&mut self, inst: &Inst) -> Action {
        let info = inst.info();
        for operand in inst.operands() {
            if let Operand::Reg(range) = operand
                && let Some(row) = self.files.row(*range)
            {
                // Room for a pair that begins at the last register.
                self.rows = self.rows.max(row + u16::from(range.count) + 2);
            }
        }
        let action = match info.class {
            Class::Valu => self.vector(inst),
            Class::Mfma => matrix::resolve(inst, self.isa, self.files, &mut self.pool)
                .map(|it| Action::Matrix(Box::new(it))),
            Class::Salu | Class::Branch | Class::Control | Class::Message => self.scalar(inst),
            Class::Wait => match inst.waits_for_vector_memory() {
                Some(outstanding) if self.lds_dma => Some(Action::Wait(outstanding)),
                _ => Some(Action::Nothing),
            },
            Class::Barrier => Some(Action::Barrier),
            Class::Smem => self.scalar_memory(inst),
            Class::VmemLoad | Class::VmemStore | Class::VmemAtomic | Class::Lds => self.memory(inst),
            Class::Unknown => None,
        };
        action.unwrap_or(Action::Unsupported)
    }

    fn source(&mut self, operand: Operand, ty: Ty) -> Option<Src> {
        source(operand, ty, self.files, &mut self.pool)
    }

    fn target(&self, operand: Operand) -> Option<usize> {
        let Operand::Target(offset) = operand else { return None };
        let index = *self.index.get(usize::try_from(offset).ok()? / 4)?;
        (index != u32::MAX).then_some(index as usize)
    }

    fn vector(&mut self, inst: &Inst) -> Option<Action> {
        if let Some(op) = LaneOp::resolve(inst, self.files, &mut self.pool) {
            return op.map(|op| Action::Lane(Box::new(op)));
        }
        if let Some(conversion) = Conversion::resolve(inst, self.files, &mut self.pool) {
            return conversion.map(|it| Action::Scaled(Box::new(it)));
        }
        if let Some(sums) = QuadSums::resolve(inst, self.files, &mut self.pool) {
            return sums.map(|it| Action::QuadSums(Box::new(it)));
        }
        let info = inst.info();
        if matches!(info.name, "v_nop" | "v_clrexcp") {
            return Some(Action::Nothing);
        }
        let clamp = inst.mods.bits.contains(Bits::CLAMP);
        let saturating = clamp && !info.flags.contains(OpFlags::FLOAT);
        let variant = if saturating { Variant::Clamp } else { Variant::Plain };
        let kernel = self.kernels.get(inst.op, variant)?;
        let mut valu = Valu {
            kernel,
            src: [Src::None; 3],
            dst: 0,
            rows: 0,
            mask_out: NONE,
            mask_in: Src::None,
            writes_exec: info.name.starts_with("v_cmpx_"),
            kept: 0,
            accumulator: NONE,
            immediate: match info.flags.contains(OpFlags::TRUTH_TABLE) {
                true => u32::from(inst.mods.blgp),
                false => u32::from(inst.mods.op_sel) | u32::from(self.isa.has_ocp_fp8()) << 8,
            },
        };
        let (count, accumulate) = self.vector_operands(inst, &mut valu)?;
        valu.kept = valu.dst;
        // With three sources the old value serves only the parts of a partial write that are kept.
        if let (Some(old), Some(slot)) = (accumulate, valu.src.get_mut(count)) {
            *slot = old;
            valu.accumulator = count as u8;
        }
        if info.reads.contains(isa::Implicit::VCC) && valu.mask_in == Src::None {
            valu.mask_in = Src::Scalar(VCC);
        }
        let modifiers = Modifiers::of(inst, &valu, saturating, &self.kernels);
        let watched = self.watches_mode && info.flags.contains(OpFlags::FLOAT);
        if let (false, Some((kernel, number))) =
            (watched, modifiers::in_place(&modifiers, &valu, inst, &self.kernels))
        {
            return Some(Action::InPlace(valu, kernel, number));
        }
        if watched || !modifiers.is_plain() {
            return Some(Action::Modified(Box::new((valu, modifiers))));
        }
        let simple = valu.rows == 1 && valu.mask_out == NONE && valu.mask_in == Src::None;
        Some(if simple { Action::Valu(valu) } else { Action::ValuAny(valu) })
    }

    /// Fills in registers and sources; returns the number of sources, and the old destination if it is read.
    fn vector_operands(&mut self, inst: &Inst, valu: &mut Valu) -> Option<(usize, Option<Src>)> {
        let mut count = 0;
        let mut accumulate = None;
        for (operand, spec) in inst.operands_with_specs() {
            match (spec.role, spec.ty) {
                (Role::Dst, Ty::Mask64) => {
                    let Operand::Reg(range) = *operand else { return None };
                    valu.mask_out = scalar_index(range)?;
                }
                (Role::Dst | Role::DstSrc, _) => {
                    let Operand::Reg(range) = *operand else { return None };
                    valu.dst = self.files.row(range)?;
                    valu.rows = range.count;
                    if spec.role == Role::DstSrc {
                        accumulate = Some(Src::Row(valu.dst));
                    }
                }
                (Role::Src, Ty::Mask64) => valu.mask_in = self.source(*operand, spec.ty)?,
                _ => {
                    *valu.src.get_mut(count)? = self.source(*operand, constant_type(inst, count, spec.ty))?;
                    count += 1;
                }
            }
        }
        if valu.rows > 2 {
            return None;
        }
        Some((count, accumulate))
    }

    fn scalar(&mut self, inst: &Inst) -> Option<Action> {
        if let Some(op) = find(OPERATIONS, inst.op) {
            return self.scalar_alu(inst, op);
        }
        if let Some(op) = find(EXEC_OPERATIONS, inst.op) {
            let (dst, src) = (scalar_operand(inst, 0)?, self.source(operand(inst, 1)?, Ty::B64)?);
            let new = inst.info().name.ends_with("wrexec_b64");
            return Some(Action::Exec { op, src, dst, new });
        }
        self.control(inst, find(CONTROL, inst.op)?)
    }

    fn control(&mut self, inst: &Inst, control: Control) -> Option<Action> {
        Some(match control {
            Control::Branch(condition) => {
                Action::Branch { condition, target: self.target(operand(inst, 0)?)? }
            }
            Control::End => Action::End,
            Control::Jump => Action::Jump { target: self.source(operand(inst, 0)?, Ty::B64)?, link: NONE },
            Control::JumpAndLink => {
                let target = self.source(operand(inst, 1)?, Ty::B64)?;
                Action::Jump { target, link: scalar_operand(inst, 0)? }
            }
            Control::Call => {
                Action::Call { target: self.target(operand(inst, 1)?)?, link: scalar_operand(inst, 0)? }
            }
            Control::GetPc => Action::GetPc { dst: scalar_operand(inst, 0)? },
            Control::GetReg => Action::GetReg { dst: scalar_operand(inst, 0)?, spec: immediate(inst, 1)? },
            Control::SetReg => {
                Action::SetReg { src: self.source(operand(inst, 1)?, Ty::B32)?, spec: immediate(inst, 0)? }
            }
            Control::MoveIndexed { read, wide } => {
                let src = self.source(operand(inst, 1)?, Ty::B64)?;
                Action::MoveIndexed { dst: scalar_operand(inst, 0)?, src, wide, read }
            }
            Control::Index(what) => self.index_mode(inst, what)?,
            Control::Skip => {
                let value = self.source(operand(inst, 0)?, Ty::B32)?;
                let bit = self.source(operand(inst, 1)?, Ty::B32)?;
                Action::Skip { src: [value, bit] }
            }
            Control::Trap => Action::Trap(immediate(inst, 0)?),
            Control::Message if immediate(inst, 0)? & 0xf == MESSAGE_INTERRUPT => {
                // Output of the host follows the order of workgroups.
                self.ordered = true;
                self.interrupts = true;
                Action::Interrupt
            }
            Control::Sleep => Action::Sleep { cycles: SLEEP_UNIT * u32::from(immediate(inst, 0)? & 0x7f) },
            Control::Invalidate => Action::Invalidate,
            Control::Message | Control::Nothing => Action::Nothing,
        })
    }

    fn index_mode(&mut self, inst: &Inst, what: Indexing) -> Option<Action> {
        let src = match what {
            Indexing::On | Indexing::Index => self.source(operand(inst, 0)?, Ty::B32)?,
            Indexing::Off | Indexing::Mode => Src::None,
        };
        let mode = match what {
            Indexing::On => immediate(inst, 1)? as u8,
            Indexing::Mode => immediate(inst, 0)? as u8,
            Indexing::Off | Indexing::Index => 0,
        };
        Some(Action::Index { what, src, mode })
    }

    fn scalar_alu(&mut self, inst: &Inst, op: ScalarOp) -> Option<Action> {
        let mut salu = Salu { op, src: [Src::None; 2], dst: NONE, wide: 0 };
        let mut count = 0;
        for (operand, spec) in inst.operands_with_specs() {
            match spec.role {
                Role::Dst | Role::DstSrc => {
                    let Operand::Reg(range) = *operand else { return None };
                    salu.dst = scalar_index(range)?;
                    salu.wide |= if spec.dwords == 2 { 4 } else { 0 };
                }
                _ => {
                    let mut operand = *operand;
                    // 16-bit immediates are signed, except for unsigned comparisons.
                    if let (Operand::Imm(value), false) = (operand, inst.info().name.ends_with("_u32")) {
                        operand = Operand::Imm(i32::from(value as i16));
                    }
                    *salu.src.get_mut(count)? = self.source(operand, spec.ty)?;
                    salu.wide |= if spec.dwords == 2 { 1 << count } else { 0 };
                    count += 1;
                }
            }
        }
        Some(Action::Salu(salu))
    }

    fn scalar_memory(&mut self, inst: &Inst) -> Option<Action> {
        let name = inst.info().name;
        if matches!(name, "s_memtime" | "s_memrealtime") {
            let Some(Operand::Reg(range)) = inst.operands().first() else { return None };
            return Some(Action::Time { dst: scalar_index(*range)? });
        }
        let access = ScalarAccess::resolve(inst, self.files, &mut self.pool)?;
        self.ordered |= access.atomic.is_some();
        Some(Action::ScalarMemory(Box::new(access)))
    }

    fn memory(&mut self, inst: &Inst) -> Option<Action> {
        match inst.info().name {
            // The barrier instruction also carries the number of waves.
            "ds_nop" | "ds_gws_init" => return Some(Action::Nothing),
            "ds_gws_barrier" => {
                let operand = inst.operands().first().copied()?;
                return Some(Action::GridBarrier { waves: self.source(operand, Ty::B32)? });
            }
            _ => {}
        }
        if let Some(op) = LaneOp::resolve(inst, self.files, &mut self.pool) {
            return op.map(|op| Action::Lane(Box::new(op)));
        }
        let access = Access::resolve(inst, self.accesses, self.files, &mut self.pool)?;
        self.accesses += 1;
        if access.space != Space::Lds {
            self.ordered |= access.depends_on_order() && !access.can_wait();
        }
        Some(Action::Memory(Box::new(access)))
    }
}

/// An operand by its index.
fn operand(inst: &Inst, index: usize) -> Option<Operand> {
    inst.operands().get(index).copied()
}

/// An immediate operand.
fn immediate(inst: &Inst, index: usize) -> Option<u16> {
    match operand(inst, index) {
        Some(Operand::Imm(value)) => Some(value as u16),
        _ => None,
    }
}

/// A scalar register operand.
fn scalar_operand(inst: &Inst, index: usize) -> Option<u8> {
    match operand(inst, index) {
        Some(Operand::Reg(range)) => scalar_index(range),
        _ => None,
    }
}

/// True if the emulator executes the plain form of an opcode of a target.
pub fn executes(isa: Isa, op: Op) -> bool {
    let info = op.info();
    let descriptor = Descriptor { vgprs_allocated: 512, accum_offset: 256, ..Descriptor::default() };
    let Some(encoding) = isa.encodings(op).next() else { return false };
    let mut operands = [Operand::Off; 6];
    let mut count = 0;
    for ((slot, spec), field) in operands.iter_mut().zip(info.operands).zip(info.fields) {
        *slot = sample(info.class, spec, *field);
        count += 1;
    }
    let inst =
        Inst { offset: 0, size: 8, encoding, op, operand_count: count, operands, mods: Default::default() };
    let mut mods = inst.mods;
    mods.op_sel_hi = 7;
    if info.name.starts_with("tbuffer_") {
        // Format: one component of 32 bits, uint.
        (mods.cbsz, mods.abid) = (4, 4);
    }
    mods.lane = Lane::None;
    let index = [0u32];
    let mut resolver = Resolver::new(isa, &descriptor, &index, &[]);
    !matches!(resolver.action(&Inst { mods, ..inst }), Action::Unsupported)
}

/// A valid operand for the opcode.
fn sample(class: Class, spec: &isa::OperandSpec, field: Field) -> Operand {
    let scalar = matches!(class, Class::Salu | Class::Smem | Class::Branch | Class::Control | Class::Message)
        || matches!(field, Field::Srsrc | Field::Soffset | Field::Sdst)
        || spec.ty == Ty::Mask64;
    if spec.role == Role::None {
        return if class == Class::Branch { Operand::Target(0) } else { Operand::Imm(0) };
    }
    let file = if scalar { RegFile::Sgpr } else { RegFile::Vgpr };
    Operand::Reg(isa::RegRange::new(file, 0, spec.dwords.max(1)))
}

/// The MODE register at the start of a wave.
pub(crate) fn initial_mode(descriptor: &Descriptor) -> Mode {
    Mode(
        u32::from(descriptor.float_mode)
            | u32::from(descriptor.dx10_clamp) << 8
            | u32::from(descriptor.ieee_mode) << 9
            | u32::from(descriptor.fp16_overflow) << 23,
    )
}
/// Type that an inline constant has as a source: of mixed-precision multiply-adds each source says for itself whether it is an f16.
fn constant_type(inst: &Inst, source: usize, ty: Ty) -> Ty {
    match inst.info().name.starts_with("v_fma_mix") {
        true if inst.mods.op_sel_hi >> source & 1 != 0 => Ty::F16,
        true => Ty::F32,
        false => ty,
    }
}
