; Syntax that every target takes; llvm-mc assembles it and the decoder reads the bytes back.
start:
  s_nop 0
  S_NOP 0x3                       ; mnemonics in any case
  s_mov_b32 s0, s1
  s_mov_b32 s0, 64
  s_mov_b32 s0, -16
  s_mov_b32 s0, 65
  s_mov_b32 s0, -17
  s_mov_b32 s0, 0xffffffff
  s_mov_b32 s0, 1.0
  s_mov_b32 s0, -4.0
  s_mov_b32 s0, 0.15915494
  s_mov_b32 s0, 0x3e22f983
  s_mov_b32 s0, 1.5
  s_mov_b32 s0, 3.1415926
  s_mov_b32 s0, lit(0x3f800000)
  s_mov_b32 s0, lit(1)
  s_mov_b32 s0, 0b101
  s_mov_b32 s0, 017
  s_mov_b32 s0, 1+2*3
  s_mov_b32 s0, (1<<4)|1
  s_mov_b32 s0, vcc_lo
  s_mov_b32 vcc_hi, m0
  s_mov_b32 m0, exec_lo
  s_mov_b32 s0, src_shared_base
  s_mov_b32 s0, shared_limit
  s_mov_b32 s0, private_base
  s_mov_b32 s0, src_private_limit
  s_mov_b32 s0, scc
  s_mov_b32 s0, vccz
  s_mov_b32 s0, src_execz
  s_mov_b32 flat_scratch_lo, ttmp3
  s_mov_b32 xnack_mask_hi, s101
  s_mov_b64 s[0:1], vcc
  s_mov_b64 exec, -1
  s_mov_b64 s[2:3], 1.0
  s_mov_b64 s[2:3], 0x3ff0000000000000
  s_mov_b64 s[2:3], 0x12345678
  s_mov_b64 s[2:3], -17
  s_mov_b64 s[2:3], src_shared_base
  s_mov_b64 [s2,s3], flat_scratch
  s_mov_b64 ttmp[4:5], [s8, s9]
  s_not_b64 s[0:1], s[2:3]
  s_and_saveexec_b64 s[0:1], vcc
  s_getpc_b64 s[4:5]
  s_setpc_b64 s[30:31]
  s_swappc_b64 s[30:31], s[4:5]
  s_ff1_i32_b64 s0, exec
  s_bcnt1_i32_b64 s0, vcc
  s_movrels_b32 s0, s1
  s_quadmask_b64 s[0:1], exec
  s_add_u32 s0, s1, s2
  s_add_u32 s0, s1, 0x12345
  s_addc_u32 s0, 0x12345, s2
  s_and_b64 vcc, exec, vcc
  s_lshl_b64 s[0:1], s[2:3], 3
  s_lshl_b64 s[0:1], s[2:3], s4
  s_bfe_u32 s0, s1, 0x80010
  s_bfe_i64 s[0:1], s[2:3], 0x200000
  s_mul_hi_u32 s0, s1, s2
  s_cselect_b32 s0, s1, 2.0
  s_cselect_b64 s[0:1], -1, 0
  s_pack_ll_b32_b16 s0, s1, s2
  s_lshl3_add_u32 s0, s1, s2
  s_cmp_eq_u32 s0, 7
  s_cmp_lg_u64 s[0:1], 0
  s_bitcmp1_b32 s0, s1
  s_setvskip s0, s1
  s_set_gpr_idx_on s0, gpr_idx(SRC0,DST)
  s_set_gpr_idx_on s0, 15
  s_movk_i32 s0, 0xffff
  s_movk_i32 s0, -1
  s_movk_i32 s0, 0x7fff
  s_cmpk_eq_u32 s0, 0xffff
  s_cmpk_lt_i32 s0, -5
  s_addk_i32 s0, 0x8000
  s_mulk_i32 s0, 12
  s_cmovk_i32 s0, 1
  s_getreg_b32 s0, hwreg(HW_REG_MODE)
  s_getreg_b32 s0, hwreg(HW_REG_HW_ID, 8, 4)
  s_getreg_b32 s0, hwreg(5, 1, 2)
  s_getreg_b32 s0, 0x1801
  s_getreg_b32 s0, {id: 1, offset: 4, size: 2}
  s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s1
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0xff
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3
  s_call_b64 s[0:1], forward
  s_waitcnt vmcnt(0)
  s_waitcnt vmcnt(0) lgkmcnt(1)
  s_waitcnt lgkmcnt(0) & vmcnt(63), expcnt(2)
  s_waitcnt 0
  s_waitcnt 0xc07f
  s_barrier
  s_sleep 2
  s_sethalt 1
  s_setprio 3
  s_sendmsg sendmsg(MSG_INTERRUPT)
  s_sendmsg sendmsg(MSG_GS, GS_OP_EMIT, 1)
  s_sendmsg 0x4f
  s_sendmsghalt sendmsg(MSG_SYSMSG, SYSMSG_OP_REG_RD)
  s_trap 2
  s_icache_inv
  s_incperflevel 3
  s_ttracedata
  s_dcache_inv
  s_dcache_wb
  s_memtime s[0:1]
  s_memrealtime s[0:1]
  s_cbranch_scc0 forward
  s_cbranch_vccnz start
  s_cbranch_execz 22
  s_branch -2
1:
  s_cbranch_scc1 1b
  s_cbranch_scc1 1f
1:
  s_branch 1b
  .long 0xbf800001, 0x7e000301
  .p2align 4
forward: s_nop 1                  // a label before an instruction
  .set answer, 42
two = 2
  s_mov_b32 s0, answer
  s_mov_b32 s0, answer+two*50
  s_add_u32 s0, s0, (forward-start)&4294967295
  s_endpgm
  s_load_dword s0, s[2:3], 0x10
  s_load_dwordx2 s[0:1], s[2:3], 0x0
  s_load_dwordx4 s[0:3], s[4:5], s6
  s_load_dwordx8 s[0:7], s[8:9], -0x4
  s_load_dwordx16 s[0:15], s[16:17], 0xfffff glc
  s_load_dword s0, s[2:3], s4 offset:0x4
  s_load_dword vcc_lo, s[2:3], m0
  s_load_dwordx2 vcc, s[2:3], 8
  s_buffer_load_dword s0, s[4:7], 0x10
  s_buffer_load_dwordx4 s[0:3], s[4:7], s8
  v_nop
  v_mov_b32 v0, v1
  v_mov_b32_e32 v0, s1
  v_mov_b32_e64 v0, s1
  v_mov_b32 v255, 0x12345
  v_mov_b32 v0, -1
  v_mov_b32 v0, 1.0
  v_mov_b32_dpp v0, v1 row_shl:1 row_mask:0xf bank_mask:0xf
  v_mov_b32_dpp v0, v1 quad_perm:[1,0,3,2] row_mask:0xa bank_mask:0x3 bound_ctrl:0
  v_mov_b32 v0, v1 row_mirror
  v_mov_b32_sdwa v0, v1 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1
  v_mov_b32_sdwa v0, sext(v1) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2
  v_mov_b32 v0, v1 src0_sel:BYTE_1
  v_readfirstlane_b32 s0, v1
  v_cvt_f32_i32 v0, v1
  v_cvt_f64_f32 v[0:1], v2
  v_rcp_f32_e64 v0, -|v1|
  v_sqrt_f64 v[0:1], v[2:3]
  v_exp_f32 v0, v1
  v_ffbh_u32 v0, v1
  v_swap_b32 v0, v1
  v_add_f32 v0, v1, v2
  v_add_f32 v0, s1, v2
  v_add_f32 v0, v1, s2
  v_add_f32 v0, -v1, v2
  v_add_f32 v0, |v1|, -|v2|
  v_add_f32 v0, abs(v1), neg(v2)
  v_add_f32 v0, v1, v2 clamp
  v_add_f32 v0, v1, v2 mul:2
  v_add_f32 v0, v1, v2 div:2
  v_add_f32 v0, 0x41200000, v2
  v_add_f32 v0, 10.0, v2
  v_add_f32_e64 v0, neg(1.0), v2
  v_add_f32_e64 v0, |2.0|, v2
  v_add_f32 v0, lit(0x3f800000), v1
  v_add_f32_dpp v0, -v1, |v2| quad_perm:[0,1,2,3] row_mask:0x1 bank_mask:0x2
  v_add_f32_sdwa v0, -v1, |v2| dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:WORD_1
  v_add_f32_sdwa v0, s1, v2 clamp mul:2 dst_sel:WORD_0 dst_unused:UNUSED_SEXT src0_sel:WORD_0 src1_sel:DWORD
  v_add_f16 v0, 1.0, v1
  v_add_f16 v0, 0x3c00, v1
  v_add_f16 v0, 0x1234, v1
  v_add_f16 v0, 10.0, v1
  v_add_u16 v0, 0x3c00, v1
  v_add_u16 v0, -3, v1
  v_mul_lo_u16 v0, v1, v2
  v_and_b32 v0, 1.0, v1
  v_and_b32 v0, 0xffff, v1
  v_lshlrev_b32 v0, 2, v1
  v_lshlrev_b32_sdwa v0, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:BYTE_3
  v_subrev_f32 v0, s1, v2
  v_mul_u32_u24 v0, 3, v2
  v_fmac_f32 v0, v1, v2
  v_fmac_f32_e64 v0, v1, -v2
  v_cndmask_b32 v0, v1, v2, vcc
  v_cndmask_b32 v0, v1, v2, s[4:5]
  v_cndmask_b32_e64 v0, 0, -1, vcc
  v_add_co_u32 v0, vcc, v1, v2
  v_add_co_u32 v0, s[0:1], v1, v2
  v_addc_co_u32 v0, vcc, v1, v2, vcc
  v_addc_co_u32 v0, s[0:1], v1, v2, s[2:3]
  v_addc_co_u32_e32 v0, vcc, 0, v2, vcc
  v_addc_co_u32_sdwa v0, vcc, v1, v2, vcc dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:DWORD
  v_addc_co_u32_dpp v0, vcc, v1, v2, vcc row_shr:1 row_mask:0xf bank_mask:0xf
  v_subb_co_u32 v0, vcc, v1, v2, vcc
  v_add_u32 v0, v1, v2
  v_sub_u32_e64 v0, v1, s2
  v_cmp_eq_u32 vcc, v1, v2
  v_cmp_eq_u32 s[0:1], v1, v2
  v_cmp_lt_f32 vcc, |v1|, v2
  v_cmp_gt_i64 vcc, 0, v[2:3]
  v_cmpx_ne_u16 vcc, s1, v2
  v_cmp_class_f32 vcc, v1, v2
  v_cmp_class_f64 s[0:1], v[2:3], v4
  v_cmp_eq_f32_sdwa s[0:1], v1, v2 src0_sel:BYTE_1 src1_sel:WORD_0
  v_cmp_eq_u32_sdwa vcc, v1, v2 src0_sel:DWORD src1_sel:WORD_1
  v_cmp_o_f16 vcc, v1, v2
  v_fma_f32 v0, v1, v2, v3
  v_fma_f32 v0, -v1, |v2|, -|v3| clamp mul:4
  v_fma_f32 v0, s1, s1, 1.0
  v_fma_f64 v[0:1], v[2:3], -v[4:5], 0.5
  v_add_f64 v[0:1], v[2:3], s[4:5]
  v_mul_f64 v[0:1], |v[2:3]|, 2.0
  v_mad_u32_u24 v0, v1, v2, 12
  v_mad_u64_u32 v[0:1], vcc, v2, v3, v[4:5]
  v_mad_u64_u32 v[0:1], s[6:7], v2, s3, 0
  v_div_scale_f32 v0, vcc, v1, v2, v3
  v_div_scale_f64 v[0:1], s[2:3], v[2:3], v[4:5], v[6:7]
  v_div_fmas_f32 v0, v1, v2, v3
  v_div_fixup_f16 v0, v1, v2, v3
  v_bfe_u32 v0, v1, 8, 8
  v_alignbit_b32 v0, v1, v2, s3
  v_perm_b32 v0, v1, v2, s3
  v_lshl_add_u32 v0, v1, 2, v3
  v_add3_u32 v0, v1, v2, v3
  v_lshl_or_b32 v0, v1, v2, v3
  v_and_or_b32 v0, v1, v2, v3
  v_med3_f32 v0, v1, 1.0, s2
  v_mul_lo_u32 v0, v1, v2
  v_mul_hi_u32 v0, s1, v2
  v_lshlrev_b64 v[0:1], 3, v[2:3]
  v_readlane_b32 s0, v1, s2
  v_readlane_b32 s0, v1, 5
  v_writelane_b32 v0, s1, 3
  v_writelane_b32 v0, s1, m0
  v_writelane_b32 v0, 1, m0
  v_mbcnt_lo_u32_b32 v0, -1, 0
  v_mbcnt_hi_u32_b32 v0, s1, v0
  v_cvt_pkrtz_f16_f32 v0, v1, v2
  v_cvt_pk_u8_f32 v0, v1, v2, v3
  v_mad_i16 v0, v1, v2, v3 op_sel:[1,0,0,1]
  v_mad_f16 v0, v1, v2, v3 op_sel:[0,1,0,0] clamp
  v_pk_add_f16 v0, v1, v2
  v_pk_add_f16 v0, v1, v2 op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[1,0] neg_hi:[0,1] clamp
  v_pk_fma_f16 v0, v1, v2, v3 op_sel_hi:[1,0,1]
  v_pk_mul_lo_u16 v0, v1, 3
  v_pk_add_u16 v0, 1, v1
  v_pk_add_f16 v0, 1.0, v1
  v_pk_lshlrev_b16 v0, 2, v1 op_sel_hi:[0,1]
  v_dot4_i32_i8 v0, v1, v2, v3
  v_dot2_f32_f16 v0, v1, v2, v3 neg_lo:[1,0,0]
  v_accvgpr_read_b32 v0, a1
  v_accvgpr_write_b32 a0, v1
  v_accvgpr_write a0, 0
  v_mfma_f32_16x16x4f32 a[0:3], v0, v1, a[0:3]
  v_mfma_f32_32x32x1f32 a[0:31], v0, v1, 0 cbsz:1 abid:2 blgp:3
  v_mfma_f32_4x4x4f16 a[0:3], v[0:1], v[2:3], 1.0
  ds_read_b32 v0, v1
  ds_read_b32 v0, v1 offset:65535
  ds_read_b64 v[0:1], v2 offset:8
  ds_read_b128 v[0:3], v4
  ds_write_b32 v0, v1 offset:4
  ds_write_b128 v0, v[2:5]
  ds_read2_b32 v[0:1], v2 offset0:1 offset1:2
  ds_read2st64_b64 v[0:3], v4 offset1:255
  ds_write2_b64 v0, v[2:3], v[4:5] offset0:3 offset1:7
  ds_add_u32 v0, v1
  ds_add_rtn_u32 v0, v1, v2
  ds_cmpst_rtn_b32 v0, v1, v2, v3
  ds_wrxchg2_rtn_b32 v[0:1], v2, v3, v4 offset0:1
  ds_swizzle_b32 v0, v1 offset:swizzle(BROADCAST,8,3)
  ds_swizzle_b32 v0, v1 offset:swizzle(QUAD_PERM,3,2,1,0)
  ds_swizzle_b32 v0, v1 offset:0x401f
  ds_permute_b32 v0, v1, v2
  ds_bpermute_b32 v0, v1, v2 offset:4
  ds_read_u8_d16_hi v0, v1
  ds_append v0 offset:4
  ds_nop
  global_load_dword v0, v[2:3], off
  global_load_dword v0, v2, s[4:5]
  global_load_dwordx4 v[0:3], v[4:5], off offset:4095
  global_load_dwordx2 v[0:1], v[4:5], off offset:-4096
  global_load_ushort v0, v1, s[2:3] offset:-1
  global_load_short_d16_hi v0, v[2:3], off
  global_store_dword v[0:1], v2, off
  global_store_dwordx3 v0, v[2:4], s[6:7] offset:16
  global_atomic_add v[0:1], v2, off
  global_atomic_add_x2 v0, v[2:3], s[4:5]
  flat_load_dword v0, v[2:3]
  flat_load_dwordx4 v[0:3], v[4:5] offset:7
  flat_store_byte v[0:1], v2
  flat_atomic_cmpswap v[0:1], v[2:3]
  scratch_load_dword v0, off, s0
  scratch_load_dword v0, v1, off offset:8
  scratch_store_dword off, v0, s0 offset:-4
  buffer_load_dword v0, off, s[0:3], 0
  buffer_load_dword v0, off, s[0:3], s4 offset:4095
  buffer_load_dword v0, v1, s[0:3], s4 offen
  buffer_load_dword v0, v1, s[0:3], 0 idxen offset:4
  buffer_load_dwordx4 v[0:3], v[4:5], s[8:11], m0 idxen offen
  buffer_store_short v0, v1, s[0:3], -1 offen
  buffer_load_format_xyzw v[0:3], off, s[4:7], 0
  buffer_load_ubyte_d16_hi v0, off, s[4:7], 0
  buffer_atomic_add v0, off, s[0:3], 0
  buffer_atomic_cmpswap v[0:1], v2, s[0:3], 0 idxen
  buffer_wbl2
  tbuffer_load_format_x v0, off, s[0:3], 0
  tbuffer_load_format_xy v[0:1], off, s[0:3], 0 format:[BUF_DATA_FORMAT_32_32,BUF_NUM_FORMAT_FLOAT]
  tbuffer_store_format_xyzw v[0:3], v4, s[0:3], dfmt:14, nfmt:7, s5 idxen offset:8
  tbuffer_load_format_d16_x v0, off, s[0:3], 0 format:78
  v_mul_lo_i32 v0, v1, s2         ; another name of v_mul_lo_u32
  v_mul_lo_i32_e64 v0, v1, v2
  s_load_dword s0, s[2:3]         ; an offset that is not written is 0
  s_load_dwordx2 s[0:1], s[2:3] glc
  s_buffer_load_dwordx4 s[8:11], s[4:7]
  v_add_f32_e64 v0, -[ttmp0], v1
  v_add_f32_e64 v0, -|[s0]|, -[v1]
  v_fma_f64 v[0:1], -[s2,s3], v[2:3], v[4:5]
  ds_swizzle_b32 v0, v1 offset:swizzle(FFT,31)
  ds_swizzle_b32 v0, v1 offset:swizzle(ROTATE,1,4)
