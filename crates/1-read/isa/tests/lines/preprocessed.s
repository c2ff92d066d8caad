// What the assembler's preprocessor carries out: comments, constants, macros, repetitions, conditions.
/* a comment
   over lines */
.set vgprA, 4
.set vgprB, vgprA+2 /* and behind a directive */
.set sgprP, 0x8
.set wide, 1
v_mov_b32 v[vgprA], v[vgprB+1]
s_mov_b64 s[sgprP:sgprP+1], s[2:3]
v_mov_b32 v[vgprA*2], /* between operands */ s[sgprP]
s_mov_b32 s0, 0x20000001L
s_mov_b32 s1, 77U
.macro V_MAGIC dst:req, a:req, b:req, shift=3
    v_mul_hi_u32 v[\dst+1], \a, \b
    v_mul_lo_u32 v[\dst+0], \a, \b
    v_lshrrev_b32 v[\dst], \shift, v[\dst+1]
.endm
V_MAGIC 20, v[vgprA], v[vgprB]
V_MAGIC 22, v1, v2, 5
V_MAGIC dst=24 a=v1 b=v2
.macro pairs first, count
    .rept \count
        v_mov_b32 v\first\(), 0
    .endr
.endm
pairs 7, 3
.irp x, 1, 2, 30
    v_mov_b32 v\x, \x
.endr
.if wide == 1
    s_nop 1
    .ifdef narrow
        s_nop 2
    .else
        s_nop 3
    .endif
.elseif wide == 2
    s_nop 4
.else
    s_nop 5
.endif
.macro local n
L_\@:
    s_sub_u32 s4, s4, \n
    s_cbranch_scc1 L_\@
.endm
local 1
local 2
.set wide, 2
.ifeq wide-2
    s_nop 6
.endif
s_endpgm
