; Syntax of gfx950 alone.
  v_mfma_f32_16x16x32_f16 a[0:3], v[0:3], v[4:7], a[0:3]
  v_mfma_f32_16x16x128_f8f6f4 a[0:3], v[0:7], v[8:15], a[0:3]
  v_mfma_f32_16x16x128_f8f6f4 a[0:3], v[0:3], v[8:13], a[0:3] cbsz:4 blgp:2
  v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[20:23], v24, v25
  v_mfma_scale_f32_32x32x64_f8f6f4 v[0:15], v[16:21], v[22:27], v[28:43], v44, v45 op_sel:[1,0] op_sel_hi:[0,1] cbsz:2 blgp:3
  v_smfmac_f32_16x16x64_f16 a[0:3], v[4:7], v[8:15], v16
  v_permlane16_swap_b32 v0, v1
  v_permlane32_swap_b32_e64 v0, v1 bound_ctrl:1 fi:1
  v_permlane32_swap_b32_e64 v0, v1
  v_prng_b32 v0, v1
  v_bitop3_b32 v0, v1, v2, v3 bitop3:0x5a
  v_bitop3_b16 v0, v1, v2, v3 bitop3:0x9
  v_ashr_pk_i8_i32 v0, v1, v2, v3
  v_minimum3_f32 v0, v1, -v2, v3
  v_pk_minimum3_f16 v0, v1, v2, v3
  v_cvt_scalef32_pk_fp8_f32 v0, v1, v2, v3
  v_cvt_scalef32_pk32_f32_fp6 v[0:31], v[32:37], v38
  v_cvt_scalef32_sr_bf8_f16 v0, v1, v2, v3 op_sel:[0,0,0,1]
  v_cvt_pk_bf16_f32 v0, v1, v2
  v_dot2_f32_bf16 v0, v1, v2, v3
  v_cvt_pk_f16_f32 v0, v1, v2
  v_mad_u32_u16 v0, v1, v2, v3
  ds_read_b64_tr_b16 v[0:1], v2 offset:8
  ds_read_b96_tr_b6 v[0:2], v3
  global_load_lds_dwordx4 v[0:1], off
  global_load_lds_dwordx3 v0, s[2:3] offset:4
  buffer_load_dwordx4 off, s[0:3], 0 lds
  global_load_dword v0, v[2:3], off sc0 sc1 nt
  buffer_atomic_pk_add_bf16 v0, off, s[0:3], 0
  scratch_load_dword v0, v1, s2 offset:8 sc0
  v_mfma_scale_f32_16x16x128_f8f6f4 a[0:3], v[0:7], v[8:15], a[0:3], v16, v17 op_sel:[1,0,1] op_sel_hi:[0,1,1]
  ds_gws_barrier a2 offset:4 gds
