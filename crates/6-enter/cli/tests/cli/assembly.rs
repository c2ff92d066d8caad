//! Assembly text, from files and from standard input.

use crate::run::{folder, good, rockhound_with_input};

/// Two kernels as a compiler's dump has them, one after the other.
const DUMP: &str = r#"	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.amdhsa_code_object_version 5
	.text
	.globl	first
	.p2align	8
	.type	first,@function
first:
	s_load_dwordx2 s[0:1], s[0:1], 0x0
	v_mov_b32_e32 v1, 0
.LBB0_1:
	global_load_dword v2, v0, s[0:1]
	s_waitcnt vmcnt(0)
	v_add_u32_e32 v1, v1, v2
	s_add_i32 s2, s2, -1
	s_cmp_lg_u32 s2, 0
	s_cbranch_scc1 .LBB0_1
	global_store_dword v0, v1, s[0:1]
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel first
		.amdhsa_group_segment_fixed_size 1024
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 8
		.amdhsa_next_free_vgpr 3
		.amdhsa_next_free_sgpr 3
		.amdhsa_accum_offset 4
	.end_amdhsa_kernel
	.text
	.globl	second
	.p2align	8
	.type	second,@function
second:
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel second
		.amdhsa_next_free_vgpr 1
		.amdhsa_next_free_sgpr 1
		.amdhsa_accum_offset 4
	.end_amdhsa_kernel
"#;

#[test]
fn a_dump_on_standard_input() {
    let ran = rockhound_with_input(&["inspect", "-"], DUMP.as_bytes());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    for part in [
        "\nsecond\n",
        "LDS 1 KiB",
        "#1 line 11 · 6 instructions",
        "waits vmcnt(0)\n",
        "code      10 instructions\n",
    ] {
        let text = format!("\n{}", ran.stdout);
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn listings_name_lines() {
    let path = folder("assembly").join("dump.s");
    std::fs::write(&path, DUMP).unwrap();
    let text = good(&["inspect", &path.display().to_string(), "--kernel", "first", "--asm"]);
    let listing = &text[text.find("     line  live").expect("lines, not addresses")..];
    assert!(listing.contains("       11     2  │     global_load_dword v2, v0, s[0:1]"), "{listing}");
    assert!(listing.contains("s_cbranch_scc1 L0\n"), "{listing}");
}
