//! Severity of findings in small kernels written in assembly.
//!
//! Each pair of rows has the same instructions except for the one thing that makes a finding worth acting on.

use view::Severity::{self, Info, Warning};

/// One kernel.
struct Small {
    name: &'static str,
    /// Lines of the code without `s_endpgm`.
    code: &'static str,
    /// Work-items of the largest workgroup.
    workgroup: u32,
    rule: &'static str,
    /// The worst finding of the rule.
    expected: Option<Severity>,
}

const ATOMIC: &str = "v_and_b32 v1, 63, v0
    ds_write_b32 v0, v1
    v_mov_b32 v2, 0
    v_mov_b32 v3, 1
    global_atomic_add v2, v3, s[2:3]";

const ONE_LANE: &str = "v_and_b32 v1, 63, v0
    ds_write_b32 v0, v1
    v_mbcnt_lo_u32_b32 v4, exec_lo, 0
    v_mbcnt_hi_u32_b32 v4, exec_hi, v4
    v_cmp_ne_u32 vcc, 0, v4
    s_cbranch_vccnz skip
    v_mov_b32 v2, 0
    v_mov_b32 v3, 1
    global_atomic_add v2, v3, s[2:3]
    skip:";

const ASKS_NOTHING: &str = "v_mov_b32 v2, 0
    v_mov_b32 v3, 1
    global_atomic_add v2, v3, s[2:3]";

/// Four bytes side by side make one dword, three make two accesses in any case.
const FOUR_BYTES: &str = "v_mul_u32_u24 v1, 4, v0
    loop:
    global_load_ubyte v2, v1, s[2:3]
    global_load_ubyte v3, v1, s[2:3] offset:1
    global_load_ubyte v4, v1, s[2:3] offset:2
    global_load_ubyte v5, v1, s[2:3] offset:3
    s_waitcnt vmcnt(0)
    v_add3_u32 v6, v2, v3, v6
    v_add3_u32 v6, v4, v5, v6
    v_add_u32 v1, 0x4000, v1
    s_sub_u32 s4, s4, 1
    s_cmp_lg_u32 s4, 0
    s_cbranch_scc1 loop
    global_store_dword v0, v6, s[2:3]";

const THREE_BYTES: &str = "v_mul_u32_u24 v1, 3, v0
    loop:
    global_load_ushort v2, v1, s[2:3]
    global_load_ubyte v4, v1, s[2:3] offset:2
    s_waitcnt vmcnt(0)
    v_add3_u32 v6, v2, v4, v6
    v_add_u32 v1, 0x3000, v1
    s_sub_u32 s4, s4, 1
    s_cmp_lg_u32 s4, 0
    s_cbranch_scc1 loop
    global_store_dword v0, v6, s[2:3]";

const FLAT_LOADS: &str = "v_mov_b32 v2, s2
    v_mov_b32 v3, s3
    loop:
    flat_load_dword v4, v[2:3]
    s_waitcnt vmcnt(0) lgkmcnt(0)
    v_add_u32 v5, v4, v5
    v_add_u32 v2, 0x400, v2
    s_sub_u32 s4, s4, 1
    s_cmp_lg_u32 s4, 0
    s_cbranch_scc1 loop
    global_store_dword v0, v5, s[2:3]";

const FLAT_STORES: &str = "v_mov_b32 v2, s2
    v_mov_b32 v3, s3
    loop:
    flat_store_dword v[2:3], v0
    v_add_u32 v2, 0x400, v2
    s_sub_u32 s4, s4, 1
    s_cmp_lg_u32 s4, 0
    s_cbranch_scc1 loop";

/// Adjacent elements in one lane, stored by all lanes to one place, and by each lane to a separate one.
const TO_ONE_PLACE: &str = "v_mov_b32 v1, 0
    loop:
    global_store_dword v1, v0, s[2:3]
    global_store_dword v1, v0, s[2:3] offset:4
    global_store_dword v1, v0, s[2:3] offset:8
    global_store_dword v1, v0, s[2:3] offset:12
    s_add_u32 s2, s2, 16
    s_addc_u32 s3, s3, 0
    s_sub_u32 s4, s4, 1
    s_cmp_lg_u32 s4, 0
    s_cbranch_scc1 loop";

const TO_OWN_PLACES: &str = "v_lshlrev_b32 v1, 4, v0
    loop:
    global_store_dword v1, v0, s[2:3]
    global_store_dword v1, v0, s[2:3] offset:4
    global_store_dword v1, v0, s[2:3] offset:8
    global_store_dword v1, v0, s[2:3] offset:12
    v_add_u32 v1, 0x4000, v1
    s_sub_u32 s4, s4, 1
    s_cmp_lg_u32 s4, 0
    s_cbranch_scc1 loop";

const SMALL: &[Small] = &[
    Small { name: "all lanes", code: ATOMIC, workgroup: 64, rule: "LDS003", expected: Some(Warning) },
    Small { name: "one work-item", code: ATOMIC, workgroup: 1, rule: "LDS003", expected: None },
    Small { name: "one lane by a branch", code: ONE_LANE, workgroup: 64, rule: "LDS003", expected: None },
    Small { name: "reads no work-item", code: ASKS_NOTHING, workgroup: 64, rule: "LDS003", expected: None },
    Small { name: "four bytes", code: FOUR_BYTES, workgroup: 64, rule: "MEM001", expected: Some(Warning) },
    Small { name: "three bytes", code: THREE_BYTES, workgroup: 64, rule: "MEM001", expected: None },
    Small { name: "flat loads", code: FLAT_LOADS, workgroup: 64, rule: "MEM004", expected: Some(Warning) },
    Small { name: "flat stores", code: FLAT_STORES, workgroup: 64, rule: "MEM004", expected: Some(Info) },
    Small { name: "to one place", code: TO_ONE_PLACE, workgroup: 64, rule: "MEM002", expected: Some(Info) },
    Small {
        name: "to own places",
        code: TO_OWN_PLACES,
        workgroup: 64,
        rule: "MEM002",
        expected: Some(Warning),
    },
];

/// The whole file around the code of a kernel.
fn file(name: &str, code: &str, workgroup: u32) -> String {
    let lds = if code.contains("ds_") { 256 } else { 0 };
    format!(
        ".amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"
.text
.type {name},@function
{name}:
    {code}
    s_endpgm
.Lfunc_end0:
.amdhsa_kernel {name}
    .amdhsa_group_segment_fixed_size {lds}
    .amdhsa_private_segment_fixed_size 0
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_next_free_vgpr 16
    .amdhsa_next_free_sgpr 16
    .amdhsa_accum_offset 16
.end_amdhsa_kernel
.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: {name}
    .symbol: {name}.kd
    .kernarg_segment_size: 16
    .group_segment_fixed_size: {lds}
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 16
    .max_flat_workgroup_size: {workgroup}
.end_amdgpu_metadata
"
    )
}

/// The worst severity of a rule's findings.
fn worst(name: &str, code: &str, workgroup: u32, rule: &str) -> Option<Severity> {
    let text = file(name, code, workgroup);
    let objects = codeobj::read_text(&text).expect("assembly text");
    let kernel = objects[0].kernels.iter().find(|kernel| kernel.name == name).expect("a kernel");
    let file = analysis::TextFile::new(&text);
    let source = analysis::Source::Text { file: &file };
    let evidence = analysis::KernelEvidence::gather(&objects[0], kernel, source);
    assert_eq!(evidence.warnings, [] as [String; 0], "{text}");
    let findings = rockhound_rules::check(&evidence).0;
    findings.iter().filter(|finding| finding.rule == rule).map(|finding| finding.severity).max()
}

#[test]
fn what_is_worth_acting_on() {
    for one in SMALL {
        let found = worst("k", one.code, one.workgroup, one.rule);
        assert_eq!(found, one.expected, "{} {}", one.rule, one.name);
    }
}

#[test]
fn kernels_of_the_runtime_are_nobodys() {
    assert_eq!(worst("__amd_rocclr_fillBufferAligned", TO_OWN_PLACES, 64, "MEM002"), Some(Info));
}

#[test]
fn code_that_cannot_be_read_is_not_judged() {
    let text = file("k", &format!("{TO_OWN_PLACES}\n    v_not_there v0, v1"), 64);
    let objects = codeobj::read_text(&text).expect("assembly text");
    let file = analysis::TextFile::new(&text);
    let source = analysis::Source::Text { file: &file };
    let evidence = analysis::KernelEvidence::gather(&objects[0], &objects[0].kernels[0], source);
    let (findings, not_checked) = rockhound_rules::check(&evidence);
    assert!(findings.is_empty());
    assert!(not_checked.iter().any(|one| one.rule == "MEM002"));
}
