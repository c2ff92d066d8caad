; Syntax of gfx942 alone.
  global_load_dword v0, v[2:3], off sc0 sc1 nt
  global_load_dwordx4 a[0:3], v4, s[4:5] nt
  global_store_dword v[0:1], v2, off sc0 sc1
  global_atomic_add v0, v[2:3], v4, off sc0
  global_atomic_pk_add_bf16 v[0:1], v2, off sc1
  global_load_lds_dword v[0:1], off offset:16
  global_load_lds_dword v0, s[2:3] sc0
  flat_load_dword v0, v[2:3] sc1
  flat_atomic_pk_add_bf16 v[0:1], v2
  scratch_load_dword v0, v1, s2 offset:8 sc0
  scratch_load_lds_dword v1, off
  buffer_load_dword v0, off, s[0:3], 0 sc0 sc1 nt
  buffer_load_dword v4, s[0:3], 0 offen sc1 lds
  buffer_inv sc0 sc1
  buffer_wbl2 sc0 sc1
  buffer_atomic_pk_add_f16 v0, off, s[0:3], 0 nt
  v_mov_b64 v[0:1], v[2:3]
  v_mov_b64 v[0:1], 1.0
  v_mov_b64_dpp v[0:1], v[2:3] row_newbcast:1 row_mask:0xf bank_mask:0xf
  v_lshl_add_u64 v[0:1], v[2:3], 2, v[4:5]
  v_fmamk_f32 v0, v1, 0x41200000, v2
  v_fmaak_f32 v0, v1, v2, 0x41200000
  v_fma_mix_f32 v0, v1, v2, v3 op_sel_hi:[0,1,0]
  v_pk_fma_f32 v[0:1], v[0:1], 1.0, v[2:3]
  v_mfma_f32_16x16x32_fp8_bf8 v[0:3], v[4:5], v[6:7], v[0:3]
  v_mfma_f32_16x16x8_xf32 a[0:3], v[4:5], v[6:7], a[0:3]
  v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], a[2:3], a[0:15]
  v_mfma_f32_32x32x8f16 a[0:15], v[0:1], a[2:3], a[0:15]
  v_mfma_f64_16x16x4_f64 a[0:7], v[0:1], a[2:3], a[0:7] neg:[1,0,1]
  v_smfmac_f32_16x16x32_f16 a[0:3], v[4:5], v[6:9], v10 cbsz:1 abid:3
  v_smfmac_i32_32x32x32_i8 v[0:15], v[16:17], v[18:21], v22
  v_cvt_pk_fp8_f32 v0, v1, v2
  v_cvt_pk_fp8_f32 v0, v1, v2 op_sel:[0,0,1]
  v_cvt_sr_bf8_f32 v0, v1, v2 op_sel:[0,0,1,1]
  v_cvt_f32_fp8 v0, v1
  v_cvt_f32_fp8_sdwa v0, v1 src0_sel:BYTE_2
  v_cvt_pk_f32_bf8 v[0:1], v2
  ds_pk_add_f16 v0, v1
  ds_pk_add_rtn_bf16 v0, v1, v2
  ds_read_b32 a0, v1
  s_getreg_b32 s0, hwreg(HW_REG_XCC_ID)
  s_load_dword s0, s[2:3], 0x10 glc
  scratch_load_dword v0, off, off offset:4
  scratch_store_dword v0, v1, off
v_mfma_f32_16x16x16bf16_1k a[0:3], v[0:1], v[2:3], a[0:3]
v_mfma_f32_32x32x8bf16_1k a[0:15], v[0:1], v[2:3], a[0:15]
v_mfma_f32_32x32x4bf16_1k a[0:31], v[0:1], v[2:3], a[0:31]
v_mfma_f32_4x4x4bf16_1k a[0:3], v[0:1], v[2:3], a[0:3]
v_mfma_f32_16x16x16f16 a[0:3], v[0:1], v[2:3], a[0:3]
