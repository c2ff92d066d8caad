//! Branches, register access and control instructions, by opcode.

use isa::Op;

/// Condition of a branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Condition {
    Always,
    Scc(bool),
    /// VCC (or EXEC) is zero if true, not zero if false.
    Vcc(bool),
    Exec(bool),
    Never,
}

/// Change of the register indexing by M0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Indexing {
    On,
    Off,
    Index,
    Mode,
}

/// Effect of an instruction that computes no arithmetic result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Control {
    Branch(Condition),
    End,
    Jump,
    JumpAndLink,
    Call,
    GetPc,
    GetReg,
    SetReg,
    /// Reads or writes a scalar register at an offset in M0; 64 or 32 bits.
    MoveIndexed {
        read: bool,
        wide: bool,
    },
    Index(Indexing),
    Skip,
    Trap,
    Message,
    Sleep,
    Invalidate,
    /// Waits, hints, cache control: no effect in the emulator.
    Nothing,
}

/// Control instructions. Caches never differ from memory in the emulator, so most cache control has no effect.
pub(crate) static CONTROL: &[(Op, Control)] = &[
    (Op::named("s_branch"), Control::Branch(Condition::Always)),
    (Op::named("s_cbranch_scc0"), Control::Branch(Condition::Scc(false))),
    (Op::named("s_cbranch_scc1"), Control::Branch(Condition::Scc(true))),
    (Op::named("s_cbranch_vccz"), Control::Branch(Condition::Vcc(true))),
    (Op::named("s_cbranch_vccnz"), Control::Branch(Condition::Vcc(false))),
    (Op::named("s_cbranch_execz"), Control::Branch(Condition::Exec(true))),
    (Op::named("s_cbranch_execnz"), Control::Branch(Condition::Exec(false))),
    (Op::named("s_cbranch_cdbgsys"), Control::Branch(Condition::Never)),
    (Op::named("s_cbranch_cdbguser"), Control::Branch(Condition::Never)),
    (Op::named("s_cbranch_cdbgsys_or_user"), Control::Branch(Condition::Never)),
    (Op::named("s_cbranch_cdbgsys_and_user"), Control::Branch(Condition::Never)),
    (Op::named("s_endpgm"), Control::End),
    (Op::named("s_endpgm_saved"), Control::End),
    (Op::named("s_endpgm_ordered_ps_done"), Control::End),
    (Op::named("s_setpc_b64"), Control::Jump),
    (Op::named("s_swappc_b64"), Control::JumpAndLink),
    (Op::named("s_call_b64"), Control::Call),
    (Op::named("s_getpc_b64"), Control::GetPc),
    (Op::named("s_getreg_b32"), Control::GetReg),
    (Op::named("s_setreg_b32"), Control::SetReg),
    (Op::named("s_setreg_imm32_b32"), Control::SetReg),
    (Op::named("s_movrels_b32"), Control::MoveIndexed { read: true, wide: false }),
    (Op::named("s_movrels_b64"), Control::MoveIndexed { read: true, wide: true }),
    (Op::named("s_movreld_b32"), Control::MoveIndexed { read: false, wide: false }),
    (Op::named("s_movreld_b64"), Control::MoveIndexed { read: false, wide: true }),
    (Op::named("s_set_gpr_idx_on"), Control::Index(Indexing::On)),
    (Op::named("s_set_gpr_idx_off"), Control::Index(Indexing::Off)),
    (Op::named("s_set_gpr_idx_idx"), Control::Index(Indexing::Index)),
    (Op::named("s_set_gpr_idx_mode"), Control::Index(Indexing::Mode)),
    (Op::named("s_setvskip"), Control::Skip),
    (Op::named("s_trap"), Control::Trap),
    (Op::named("s_sendmsg"), Control::Message),
    (Op::named("s_sendmsghalt"), Control::Nothing),
    (Op::named("s_sleep"), Control::Sleep),
    (Op::named("s_nop"), Control::Nothing),
    (Op::named("s_wakeup"), Control::Nothing),
    (Op::named("s_setprio"), Control::Nothing),
    (Op::named("s_icache_inv"), Control::Nothing),
    (Op::named("s_sethalt"), Control::Nothing),
    (Op::named("s_setkill"), Control::Nothing),
    (Op::named("s_incperflevel"), Control::Nothing),
    (Op::named("s_decperflevel"), Control::Nothing),
    (Op::named("s_ttracedata"), Control::Nothing),
    (Op::named("s_dcache_inv"), Control::Nothing),
    (Op::named("s_dcache_wb"), Control::Nothing),
    (Op::named("s_dcache_inv_vol"), Control::Nothing),
    (Op::named("s_dcache_wb_vol"), Control::Nothing),
    (Op::named("s_dcache_discard"), Control::Nothing),
    (Op::named("s_dcache_discard_x2"), Control::Nothing),
    (Op::named("s_atc_probe"), Control::Nothing),
    (Op::named("s_atc_probe_buffer"), Control::Nothing),
    (Op::named("buffer_wbl2"), Control::Nothing),
    (Op::named("buffer_invl2"), Control::Invalidate),
    (Op::named("buffer_inv"), Control::Invalidate),
    (Op::named("buffer_wbinvl1"), Control::Invalidate),
    (Op::named("buffer_wbinvl1_vol"), Control::Invalidate),
];
