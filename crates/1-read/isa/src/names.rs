//! Names of immediate values, as the assembly language writes and reads them.

/// Hardware registers of `s_getreg` and `s_setreg`.
pub(crate) const HARDWARE_REGISTERS: [(&str, i64); 17] = [
    ("HW_REG_MODE", 1),
    ("HW_REG_STATUS", 2),
    ("HW_REG_TRAPSTS", 3),
    ("HW_REG_HW_ID", 4),
    ("HW_REG_GPR_ALLOC", 5),
    ("HW_REG_LDS_ALLOC", 6),
    ("HW_REG_IB_STS", 7),
    ("HW_REG_SH_MEM_BASES", 15),
    ("HW_REG_TBA_LO", 16),
    ("HW_REG_TBA_HI", 17),
    ("HW_REG_TMA_LO", 18),
    ("HW_REG_TMA_HI", 19),
    ("HW_REG_XCC_ID", 20),
    ("HW_REG_SQ_PERF_SNAPSHOT_DATA", 21),
    ("HW_REG_SQ_PERF_SNAPSHOT_DATA1", 22),
    ("HW_REG_SQ_PERF_SNAPSHOT_PC_LO", 23),
    ("HW_REG_SQ_PERF_SNAPSHOT_PC_HI", 24),
];

/// Messages of `s_sendmsg`.
pub(crate) const MESSAGES: [(&str, i64); 11] = [
    ("MSG_INTERRUPT", 1),
    ("MSG_GS", 2),
    ("MSG_GS_DONE", 3),
    ("MSG_SAVEWAVE", 4),
    ("MSG_STALL_WAVE_GEN", 5),
    ("MSG_HALT_WAVES", 6),
    ("MSG_ORDERED_PS_DONE", 7),
    ("MSG_EARLY_PRIM_DEALLOC", 8),
    ("MSG_GS_ALLOC_REQ", 9),
    ("MSG_GET_DOORBELL", 10),
    ("MSG_SYSMSG", 15),
];

/// Operations of messages: of the geometry shader, then of system messages. Number 3 of the latter has a name before the
/// targets read here only.
pub(crate) const MESSAGE_OPERATIONS: [(&str, i64); 7] = [
    ("GS_OP_NOP", 0),
    ("GS_OP_CUT", 1),
    ("GS_OP_EMIT", 2),
    ("GS_OP_EMIT_CUT", 3),
    ("SYSMSG_OP_ECC_ERR_INTERRUPT", 1),
    ("SYSMSG_OP_REG_RD", 2),
    ("SYSMSG_OP_TTRACE_PC", 4),
];

/// Operand roles of `s_set_gpr_idx_on`.
pub(crate) const INDEX_MODES: [(&str, i64); 4] = [("SRC0", 1), ("SRC1", 2), ("SRC2", 4), ("DST", 8)];

/// The name of a value in a table.
pub(crate) fn name_of(table: &[(&'static str, i64)], value: u32) -> Option<&'static str> {
    table.iter().find(|(_, known)| *known == i64::from(value)).map(|(name, _)| *name)
}
