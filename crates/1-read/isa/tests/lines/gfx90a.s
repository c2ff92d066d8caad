; Syntax of gfx90a alone.
  v_mac_f32 v0, v1, v2
  v_madmk_f32 v0, v1, 0x41200000, v2
  v_madak_f32 v0, v1, v2, 0x41200000
  v_mad_f32 v0, v1, -v2, |v3|
  v_fma_mix_f32 v0, v1, v2, v3
  v_fma_mixlo_f16 v0, v1, -v2, |v3| op_sel:[0,0,1] op_sel_hi:[1,1,1]
  v_fma_mixhi_f16 v0, v1, -v2, 1.0 clamp
  v_pk_fma_f32 v[0:1], v[0:1], 1.0, v[2:3]
  v_pk_mul_f32 v[0:1], v[2:3], s[4:5] op_sel_hi:[0,1]
  v_pk_add_f32 v[0:1], v[2:3], v[4:5] neg_lo:[1,0] neg_hi:[1,0]
  v_pk_mov_b32 v[0:1], v[2:3], v[4:5] op_sel:[1,0] op_sel_hi:[0,1]
  v_mfma_f32_32x32x8bf16_1k a[0:15], v[0:1], a[2:3], a[0:15]
  v_mfma_f32_32x32x8bf16_1k v[0:15], v[0:1], v[2:3], v[16:31] cbsz:1
  v_mfma_f64_16x16x4f64 a[0:7], v[0:1], a[2:3], a[0:7] blgp:5
  v_mfma_f64_4x4x4f64 v[0:1], v[2:3], v[4:5], v[6:7]
  v_mfma_i32_16x16x16i8 a[0:3], v0, a1, 2
  v_fmac_f64 v[0:1], v[2:3], v[4:5]
  v_fmac_f64_e64 v[0:1], -v[2:3], v[4:5]
  v_mov_b32_dpp v0, v1 row_newbcast:3 row_mask:0xf bank_mask:0xf
  v_mov_b32_dpp v0, v1 row_bcast:31 row_mask:0xc bank_mask:0xf
  v_mov_b32_dpp v0, v1 wave_shl:1 row_mask:0xc bank_mask:0xf
  v_accvgpr_mov_b32 a0, a1
  ds_read_b64 a[0:1], v2 offset:8
  ds_write_b32 v0, a1
  ds_write2_b64 v0, a[2:3], a[4:5] offset1:1
  ds_add_f64 v0, v[2:3]
  ds_swizzle_b32 v0, v1 offset:swizzle(FFT,3)
  global_load_dword a0, v[2:3], off
  global_load_dword v0, v[2:3], off glc slc scc
  global_store_dwordx4 v[0:1], a[2:5], off glc
  global_atomic_add v0, v[2:3], v4, off glc
  global_atomic_add_f64 v[0:1], v[2:3], off
  global_atomic_pk_add_f16 v[0:1], v2, off
  global_atomic_cmpswap_x2 v[0:1], v2, v[4:7], s[4:5] glc slc
  flat_atomic_add_f64 v[0:1], v[2:3], v[4:5] glc
  flat_load_dword v0, v[2:3] glc
  flat_load_dword a0, v[2:3] slc
  scratch_load_dword v0, off, s0 offset:4
  scratch_store_dword v0, a1, off
  buffer_load_dword v0, off, s[0:3], 0 glc slc scc
  buffer_load_dword a0, off, s[0:3], 0
  buffer_load_dword off, s[0:3], 0 lds
  buffer_load_dword v4, s[0:3], 0 idxen offset:4 lds
  buffer_atomic_add_f64 v[0:1], off, s[0:3], 0
  buffer_atomic_add v0, off, s[0:3], 0 glc
  buffer_wbinvl1
  buffer_wbinvl1_vol
  buffer_invl2
  s_load_dword s0, s[2:3], 0x10 glc
  s_dcache_inv_vol
  s_dcache_discard s[2:3], s4
  s_store_dword s0, s[2:3], 0x4
  s_scratch_load_dword s0, s[2:3], 0x4
  s_atomic_add s0, s[2:3], 0x4 glc
  s_buffer_store_dword s0, s[4:7], m0
  global_load_ubyte v[2:3], off offset:-8 lds
  global_load_ubyte v2, s[4:5] glc slc lds
  scratch_load_ubyte off, s4 offset:12 lds
  scratch_load_ubyte v4, off scc lds
  global_load_sbyte v[2:3], off offset:-8 lds
  global_load_sbyte v2, s[4:5] glc slc lds
  scratch_load_sbyte off, s4 offset:12 lds
  scratch_load_sbyte v4, off scc lds
  global_load_ushort v[2:3], off offset:-8 lds
  global_load_ushort v2, s[4:5] glc slc lds
  scratch_load_ushort off, s4 offset:12 lds
  scratch_load_ushort v4, off scc lds
  global_load_sshort v[2:3], off offset:-8 lds
  global_load_sshort v2, s[4:5] glc slc lds
  scratch_load_sshort off, s4 offset:12 lds
  scratch_load_sshort v4, off scc lds
  global_load_dword v[2:3], off offset:-8 lds
  global_load_dword v2, s[4:5] glc slc lds
  scratch_load_dword off, s4 offset:12 lds
  scratch_load_dword v4, off scc lds
  ds_gws_init a0 gds
  ds_gws_barrier a2 offset:4 gds
  ds_gws_sema_br a254 gds
