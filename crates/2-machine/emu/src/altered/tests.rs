//! Compares instructions that MODE alters with the equivalent plain instructions, on the same registers.

use crate::engine;
use crate::execute::{Executor, run};
use crate::instruction_counts::InstructionCounts;
use crate::lanes::{LANES, Mode};
use crate::memory::Memory;
use crate::operand::M0;
use crate::program::Program;
use crate::wave::WaveId;
use crate::wave::{Wave, WaveState};
use codeobj::Descriptor;
use isa::Isa;
use isa::text::{Statement, parse_line};

/// Registers `v0` to `v63`; the rows of accumulation registers follow.
const VECTORS: u32 = 64;

/// Everything a program can change, except the program counter.
#[derive(PartialEq)]
struct After {
    scalars: Vec<u32>,
    vectors: Vec<[u32; LANES]>,
    scc: bool,
    lds: Vec<u8>,
}

/// Runs lines of assembly on a wave whose registers all differ; M0 and MODE do not count.
fn after(isa: Isa, lines: &[&str]) -> (After, InstructionCounts) {
    let (mut insts, mut offset) = (Vec::new(), 0);
    for text in lines.iter().chain(&["s_endpgm"]) {
        let line = parse_line(isa, text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        let Statement::Inst(parsed) = line.statement else { panic!("{text}") };
        let mut inst = parsed.inst;
        inst.offset = offset;
        offset += u32::from(inst.size);
        insts.push(inst);
    }
    let descriptor =
        Descriptor { vgprs_allocated: 2 * VECTORS, accum_offset: VECTORS, ..Descriptor::default() };
    let program = Program::of(isa, descriptor, insts);
    assert_eq!(program.unsupported(), [""; 0], "{lines:?}");
    let id = WaveId { workgroup: [0; 3], workgroup_index: 0, wave: 0 };
    let mut wave = Wave::new(id, program.rows.max(2 * VECTORS as usize + 2), Mode(0xf0), 0);
    for (number, row) in wave.v.iter_mut().enumerate() {
        for lane in 0..LANES {
            // The first registers hold LDS addresses, the others floating-point numbers.
            let value = ((number * 7 + lane) % 61) as f32 - 20.5;
            row.0[lane] = if number < 5 { 4 * lane as u32 } else { value.to_bits() };
        }
    }
    for (number, register) in (0..).zip(&mut wave.s[..100]) {
        *register = number;
    }
    wave.set_pair(crate::operand::EXEC, 0xffff_0fff_ffff_fff0);
    let memory = Memory::new();
    let mut executor = Executor::new(&program, &memory, 0, 1024, engine::portable());
    let mut counts = InstructionCounts::new(&program);
    run(&mut executor, &mut wave, &mut counts, 1000).unwrap_or_else(|stop| panic!("{lines:?}: {stop:?}"));
    assert_eq!(wave.state, WaveState::Ended, "{lines:?}");
    wave.s[usize::from(M0)] = 0;
    let vectors = wave.v[..2 * VECTORS as usize].iter().map(|row| row.0).collect();
    let after = After { scalars: wave.s.to_vec(), vectors, scc: wave.scc, lds: executor.machine.lds.clone() };
    (after, counts)
}

#[track_caller]
fn same(isa: Isa, lines: &[&str], expected: &[&str]) {
    let (found, wanted) = (after(isa, lines).0, after(isa, expected).0);
    let differing = |found: &[u32], wanted: &[u32]| found.iter().zip(wanted).position(|(a, b)| a != b);
    assert_eq!(differing(&found.scalars, &wanted.scalars), None, "scalar register after {lines:?}");
    let row = found.vectors.iter().zip(&wanted.vectors).position(|(a, b)| a != b);
    assert_eq!(row, None, "vector row after {lines:?}");
    assert!(found == wanted, "{lines:?}");
}

#[test]
fn registers_are_indexed_as_their_place_says() {
    use Isa::{Gfx90a, Gfx942, Gfx950};
    let all = "SRC0,SRC1,SRC2,DST";
    let cases: &[(Isa, &str, &str, &[&str])] = &[
        // One operand at a time.
        (Gfx942, "SRC0", "v_mov_b32 v12, v20", &["v_mov_b32 v12, v25"]),
        (Gfx942, "DST", "v_mov_b32 v12, v20", &["v_mov_b32 v17, v20"]),
        (Gfx942, "SRC0,DST", "v_mov_b32 v12, v20", &["v_mov_b32 v17, v25"]),
        (Gfx942, "SRC1,SRC2", "v_mov_b32 v12, v20", &["v_mov_b32 v12, v20"]),
        (Gfx942, "SRC1", "v_add_u32 v12, v20, v30", &["v_add_u32 v12, v20, v35"]),
        (Gfx942, "SRC0", "v_add_u32 v12, v20, v30", &["v_add_u32 v12, v25, v30"]),
        (Gfx942, "SRC2", "v_add3_u32 v12, v20, v30, v40", &["v_add3_u32 v12, v20, v30, v45"]),
        (Gfx942, "", "v_add3_u32 v12, v20, v30, v40", &["v_add3_u32 v12, v20, v30, v40"]),
        // Scalars and constants are not indexed.
        (Gfx942, all, "v_add_u32 v12, s20, v30", &["v_add_u32 v17, s20, v35"]),
        (Gfx942, all, "v_fma_f32 v12, 2.0, v20, s30", &["v_fma_f32 v17, 2.0, v25, s30"]),
        // Pairs, masks, comparisons.
        (
            Gfx942,
            all,
            "v_fma_f64 v[12:13], v[20:21], v[30:31], v[40:41]",
            &["v_fma_f64 v[17:18], v[25:26], v[35:36], v[45:46]"],
        ),
        (Gfx942, all, "v_add_co_u32 v12, vcc, v20, v30", &["v_add_co_u32 v17, vcc, v25, v35"]),
        (Gfx942, all, "v_cndmask_b32 v12, v20, v30, vcc", &["v_cndmask_b32 v17, v25, v35, vcc"]),
        (Gfx942, all, "v_cmp_lt_f32 s[10:11], v20, v30", &["v_cmp_lt_f32 s[10:11], v25, v35"]),
        (Gfx942, "SRC1", "v_cmp_lt_f32 vcc, v20, v30", &["v_cmp_lt_f32 vcc, v20, v35"]),
        // Shifts with reversed operands.
        (Gfx942, "SRC0", "v_lshlrev_b32 v12, v20, v30", &["v_lshlrev_b32 v12, v25, v30"]),
        (Gfx942, "SRC1", "v_lshlrev_b32 v12, v20, v30", &["v_lshlrev_b32 v12, v20, v35"]),
        // The old value of an accumulator is src2.
        (Gfx942, "DST", "v_fmac_f32 v12, v20, v30", &["v_mov_b32 v17, v12", "v_fmac_f32 v17, v20, v30"]),
        (Gfx942, "SRC2", "v_fmac_f32 v12, v20, v30", &["v_mov_b32 v12, v17", "v_fmac_f32 v12, v20, v30"]),
        (Gfx942, all, "v_fmac_f32 v12, v20, v30", &["v_fmac_f32 v17, v25, v35"]),
        (Gfx90a, "DST", "v_mac_f32 v12, v20, v30", &["v_mov_b32 v17, v12", "v_mac_f32 v17, v20, v30"]),
        (
            Gfx942,
            "DST",
            "v_dot4c_i32_i8 v12, v20, v30",
            &["v_mov_b32 v17, v12", "v_dot4c_i32_i8 v17, v20, v30"],
        ),
        (
            Gfx942,
            "SRC1,DST",
            "v_fmac_f64 v[12:13], v[20:21], v[30:31]",
            &["v_mov_b32 v17, v12", "v_mov_b32 v18, v13", "v_fmac_f64 v[17:18], v[20:21], v[35:36]"],
        ),
        // A constant takes the place of src1 or of src2.
        (Gfx942, "SRC1", "v_fmamk_f32 v12, v20, 0x41200000, v30", &["v_fmamk_f32 v12, v20, 0x41200000, v30"]),
        (Gfx942, "SRC2", "v_fmamk_f32 v12, v20, 0x41200000, v30", &["v_fmamk_f32 v12, v20, 0x41200000, v35"]),
        (Gfx942, "SRC1", "v_fmaak_f32 v12, v20, v30, 0x41200000", &["v_fmaak_f32 v12, v20, v35, 0x41200000"]),
        (Gfx90a, "SRC2", "v_madmk_f32 v12, v20, 0x41200000, v30", &["v_madmk_f32 v12, v20, 0x41200000, v35"]),
        // SDWA that preserves reads the rest of the destination as src2; SDWA that pads reads nothing.
        (
            Gfx90a,
            "DST",
            "v_mov_b32_sdwa v12, v20 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE",
            &["v_mov_b32 v17, v12", "v_mov_b32_sdwa v17, v20 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE"],
        ),
        (
            Gfx90a,
            "SRC0,SRC2,DST",
            "v_mov_b32_sdwa v12, v20 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE",
            &["v_mov_b32_sdwa v17, v25 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE"],
        ),
        (
            Gfx942,
            all,
            "v_add_u32_sdwa v12, v20, v30 dst_sel:WORD_1 dst_unused:UNUSED_PAD src1_sel:BYTE_2",
            &["v_add_u32_sdwa v17, v25, v35 dst_sel:WORD_1 dst_unused:UNUSED_PAD src1_sel:BYTE_2"],
        ),
        // A result in one half: the other half of the indexed destination is kept.
        (
            Gfx942,
            "DST",
            "v_mad_u16 v12, v20, v30, v40 op_sel:[0,0,0,1]",
            &["v_mad_u16 v17, v20, v30, v40 op_sel:[0,0,0,1]"],
        ),
        (Gfx942, all, "v_fma_mixhi_f16 v12, v20, v30, v40", &["v_fma_mixhi_f16 v17, v25, v35, v45"]),
        (Gfx942, all, "v_cvt_pk_fp8_f32 v12, v20, v30", &["v_cvt_pk_fp8_f32 v17, v25, v35"]),
        // DPP, signs, packed operands.
        (
            Gfx942,
            all,
            "v_mov_b32_dpp v12, v20 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf",
            &["v_mov_b32_dpp v17, v25 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf"],
        ),
        (
            Gfx942,
            all,
            "v_add_f32_dpp v12, -v20, v30 row_shr:3 row_mask:0x3 bank_mask:0xf",
            &["v_add_f32_dpp v17, -v25, v35 row_shr:3 row_mask:0x3 bank_mask:0xf"],
        ),
        (Gfx942, all, "v_fma_f32 v12, -v20, |v30|, v40 mul:2", &["v_fma_f32 v17, -v25, |v35|, v45 mul:2"]),
        (
            Gfx942,
            all,
            "v_pk_fma_f16 v12, v20, v30, v40 op_sel:[1,0,0]",
            &["v_pk_fma_f16 v17, v25, v35, v45 op_sel:[1,0,0]"],
        ),
        (
            Gfx942,
            "SRC0,DST",
            "v_pk_mul_f32 v[12:13], v[20:21], v[30:31] op_sel_hi:[0,1]",
            &["v_pk_mul_f32 v[17:18], v[25:26], v[30:31] op_sel_hi:[0,1]"],
        ),
        (
            Gfx942,
            all,
            "v_mqsad_u32_u8 v[12:15], v[20:21], v30, v[40:43]",
            &["v_mqsad_u32_u8 v[17:20], v[25:26], v35, v[45:48]"],
        ),
        (
            Gfx950,
            all,
            "v_cvt_scalef32_pk_fp8_f32 v12, v20, v30, v40",
            &["v_cvt_scalef32_pk_fp8_f32 v17, v25, v35, v45"],
        ),
        // Instructions between lanes and scalars.
        (Gfx942, "SRC0", "v_readlane_b32 s8, v20, 7", &["v_readlane_b32 s8, v25, 7"]),
        (Gfx942, "SRC1,SRC2,DST", "v_readlane_b32 s8, v20, s9", &["v_readlane_b32 s8, v20, s9"]),
        (Gfx942, all, "v_readfirstlane_b32 s8, v20", &["v_readfirstlane_b32 s8, v25"]),
        (Gfx942, "DST", "v_readfirstlane_b32 s8, v20", &["v_readfirstlane_b32 s8, v20"]),
        (Gfx942, "DST", "v_writelane_b32 v12, s9, 7", &["v_writelane_b32 v17, s9, 7"]),
        (Gfx942, "SRC0,SRC1,SRC2", "v_writelane_b32 v12, s9, s10", &["v_writelane_b32 v12, s9, s10"]),
        (Gfx942, "DST", "v_swap_b32 v12, v20", &["v_swap_b32 v17, v20"]),
        (Gfx942, "SRC0", "v_swap_b32 v12, v20", &["v_swap_b32 v12, v25"]),
        (Gfx950, all, "v_permlane32_swap_b32 v12, v20", &["v_permlane32_swap_b32 v17, v25"]),
        // Accumulation registers are not indexed.
        (Gfx942, all, "v_accvgpr_read_b32 v12, a3", &["v_accvgpr_read_b32 v17, a3"]),
        (Gfx942, all, "v_accvgpr_write_b32 a3, v20", &["v_accvgpr_write_b32 a3, v25"]),
        (Gfx942, all, "v_accvgpr_mov_b32 a3, a9", &["v_accvgpr_mov_b32 a3, a9"]),
        // Matrix instructions.
        (
            Gfx942,
            all,
            "v_mfma_f32_16x16x4_f32 v[40:43], v10, v20, v[30:33]",
            &["v_mfma_f32_16x16x4_f32 v[45:48], v15, v25, v[35:38]"],
        ),
        (
            Gfx942,
            "SRC1",
            "v_mfma_f32_16x16x16_f16 v[40:43], v[10:11], v[20:21], v[30:33]",
            &["v_mfma_f32_16x16x16_f16 v[40:43], v[10:11], v[25:26], v[30:33]"],
        ),
        (
            Gfx942,
            all,
            "v_mfma_f32_16x16x4_f32 a[4:7], v10, a20, a[0:3]",
            &["v_mfma_f32_16x16x4_f32 a[4:7], v15, a20, a[0:3]"],
        ),
        (
            Gfx942,
            all,
            "v_mfma_f64_4x4x4_4b_f64 v[40:41], v[10:11], v[20:21], v[30:31]",
            &["v_mfma_f64_4x4x4_4b_f64 v[45:46], v[15:16], v[25:26], v[35:36]"],
        ),
        (
            Gfx942,
            all,
            "v_smfmac_f32_16x16x32_f16 v[40:43], v[10:11], v[20:23], v30",
            &["v_smfmac_f32_16x16x32_f16 v[45:48], v[15:16], v[25:28], v35"],
        ),
        // Memory instructions are not indexed.
        (Gfx942, all, "ds_write_b32 v2, v20", &["ds_write_b32 v2, v20"]),
        (Gfx942, all, "ds_read_b32 v12, v2 offset:16", &["ds_read_b32 v12, v2 offset:16"]),
        (Gfx942, all, "ds_bpermute_b32 v12, v2, v20", &["ds_bpermute_b32 v12, v2, v20"]),
        (
            Gfx942,
            all,
            "ds_swizzle_b32 v12, v20 offset:swizzle(SWAP,1)",
            &["ds_swizzle_b32 v12, v20 offset:swizzle(SWAP,1)"],
        ),
        // Out of range: a source is v0, a destination makes the instruction do nothing.
        (Gfx942, "SRC0", "v_mov_b32 v12, v59", &["v_mov_b32 v12, v0"]),
        (Gfx942, "DST", "v_mov_b32 v58, v20", &["v_mov_b32 v63, v20"]),
        (Gfx942, "DST", "v_mov_b32 v59, v20", &[]),
        (Gfx942, "DST", "v_writelane_b32 v59, s9, 7", &[]),
        (Gfx942, all, "v_mfma_f32_16x16x4_f32 v[56:59], v10, v20, v[30:33]", &[]),
    ];
    for (isa, operands, instruction, expected) in cases {
        let on = format!("s_set_gpr_idx_on s5, gpr_idx({operands})");
        same(*isa, &[&on, instruction, "s_set_gpr_idx_off"], expected);
        // After indexing ends, instructions execute as encoded.
        let still = [&on, "s_set_gpr_idx_off", instruction];
        same(*isa, &still, &[instruction]);
    }
}

#[test]
fn the_index_and_the_operands_change_while_it_is_on() {
    let lines = [
        "s_set_gpr_idx_on s5, gpr_idx(SRC0)",
        "v_mov_b32 v12, v20",
        "s_set_gpr_idx_idx s6",
        "v_mov_b32 v13, v20",
        "s_mov_b32 m0, 0x1002",
        "v_mov_b32 v14, v20",
        "s_set_gpr_idx_mode gpr_idx(DST)",
        "v_mov_b32 v15, v20",
        "s_set_gpr_idx_off",
        "v_mov_b32 v16, v20",
        // Index mode set directly in MODE.
        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 27, 1), 1",
        "v_mov_b32 v18, v20",
        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 27, 1), 0",
        "v_mov_b32 v19, v20",
    ];
    let expected = [
        "v_mov_b32 v12, v25",
        "v_mov_b32 v13, v26",
        "v_mov_b32 v14, v22",
        "v_mov_b32 v17, v20",
        "v_mov_b32 v16, v20",
        "v_mov_b32 v20, v20",
        "v_mov_b32 v19, v20",
    ];
    same(Isa::Gfx942, &lines, &expected);
}

#[test]
fn vector_instructions_are_skipped() {
    let skipped = [
        "v_mov_b32 v12, v20",
        "v_nop",
        "v_cmp_lt_f32 vcc, v20, v30",
        "v_cmpx_lt_f32 vcc, v20, v30",
        "v_readfirstlane_b32 s8, v20",
        "v_readlane_b32 s8, v20, 7",
        "v_add_u32_sdwa v12, v20, v30 dst_sel:WORD_1",
        "v_mov_b32_dpp v12, v20 row_shr:3 row_mask:0xf bank_mask:0xf",
        "v_mfma_f32_16x16x4_f32 v[40:43], v10, v20, v[30:33]",
        "v_accvgpr_write_b32 a3, v20",
        "v_pk_add_f16 v12, v20, v30",
        "ds_write_b32 v2, v20",
        "ds_bpermute_b32 v12, v2, v20",
        "global_load_dword v12, v[20:21], off",
        "flat_store_dword v[20:21], v30",
        "buffer_load_dword v12, v20, s[4:7], 0 offen",
        "scratch_load_dword v12, off, s4",
    ];
    let (on, off) = ("s_setvskip s4, 2", "s_setvskip 0, 0");
    for instruction in skipped {
        // Bit 2 of the value 4 is set: skip.
        let lines = [on, instruction, "s_add_u32 s9, s9, s10", "s_nop 0", "s_waitcnt vmcnt(0)", off];
        same(Isa::Gfx942, &lines, &["s_add_u32 s9, s9, s10"]);
        let counts = after(Isa::Gfx942, &lines).1.counts;
        let issued: Vec<u64> = counts.iter().map(|count| count[0]).collect();
        assert_eq!(issued, [1, 0, 1, 1, 1, 1, 1], "{instruction}");
    }
    // Bit 3 of the value 4 is clear: no skip.
    let execute =
        ["s_setvskip s4, 3", "v_mov_b32 v12, v20", on, "v_mov_b32 v13, v20", off, "v_mov_b32 v14, v20"];
    same(Isa::Gfx942, &execute, &["v_mov_b32 v12, v20", "v_mov_b32 v14, v20"]);
    // The kernel reads the skip bit in MODE, bit 28.
    let seen = ["s_setvskip 1, 0", "s_getreg_b32 s8, hwreg(HW_REG_MODE, 28, 1)", "s_setvskip 0, 0"];
    same(Isa::Gfx942, &seen, &["s_mov_b32 s8, 1"]);
}
