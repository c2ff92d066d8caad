//! Layout of bodies: labels, data, sections, source positions, and lines that cannot be read.

use super::*;

fn body(text: &str) -> Body {
    parse_body(Isa::for_processor("gfx942").expect("a target of the tables"), text.lines())
}

/// Targets of branches, in order.
fn targets(body: &Body) -> Vec<i32> {
    let target = |operand: &Operand| match operand {
        Operand::Target(target) => Some(*target),
        _ => None,
    };
    body.insts.iter().flat_map(|inst| inst.operands()).filter_map(target).collect()
}

#[test]
fn labels_are_places_in_the_code() {
    let body = body(
        "f:
        s_mov_b32 s0, 0x1234   ; eight bytes
        .LBB0_1: s_nop 0
        s_cbranch_scc0 .LBB0_3
        s_cbranch_scc1 .LBB0_1
        1: s_branch 1f
        1: s_branch 1b
        s_branch 1b+4
        .LBB0_3:
        s_endpgm",
    );
    assert_eq!(body.errors, []);
    assert_eq!(targets(&body), [32, 8, 24, 24, 28]);
    let labels: Vec<_> = body.labels.iter().map(|label| (label.name.as_str(), label.offset)).collect();
    assert_eq!(labels, [("f", 0), (".LBB0_1", 8), (".LBB0_3", 32)]);
    assert_eq!(body.line_of, [1, 2, 3, 4, 5, 6, 7, 9]);
    assert_eq!(body.size, 36);
}

#[test]
fn what_only_the_linker_knows_is_listed() {
    let body = body(
        "s_getpc_b64 s[4:5]
        s_add_u32 s4, s4, f@rel32@lo+4
        s_addc_u32 s5, s5, f@rel32@hi+12
        .Lpost: s_add_u32 s0, s0, (.Lend-.Lpost)&4294967295
        .Lend: s_endpgm",
    );
    assert_eq!(body.errors, []);
    let listed: Vec<_> =
        body.symbols.iter().map(|symbol| (symbol.inst, symbol.operand, symbol.text.as_str())).collect();
    assert_eq!(listed, [(1, 2, "f@rel32@lo+4"), (2, 2, "f@rel32@hi+12")]);
    assert_eq!(body.insts[1].operands()[2], Operand::Literal(0));
    assert_eq!(body.insts[3].operands()[2], Operand::Literal(8));
}

#[test]
fn data_in_code_is_decoded() {
    let body = body(
        "s_nop 0
        .long 0xbf810000, 0xffffffff
        .p2align 5
        .short 0, 0xbf80
        s_endpgm",
    );
    assert_eq!(body.errors, []);
    let names: Vec<_> = body.insts.iter().map(|inst| (inst.offset, inst.op.info().name)).collect();
    assert_eq!(names[..2], [(0, "s_nop"), (4, "s_endpgm")]);
    assert_eq!(body.insts[2].encoding, crate::Encoding::Unknown);
    assert!(names[3..].iter().all(|(_, name)| *name != "unknown"));
    assert_eq!(names.last(), Some(&(36, "s_endpgm")));
    assert_eq!(body.size, 40);
}

#[test]
fn other_sections_and_descriptors_are_passed_over() {
    let body = body(
        "f:
        s_endpgm
        .section .rodata,\"a\",@progbits
        .p2align 6
        .amdhsa_kernel f
          .amdhsa_next_free_vgpr .amdgcn.next_free_vgpr
        .end_amdhsa_kernel
        not_code: .long 1
        .text
        .Lfunc_end0:
        .amdgpu_metadata
        s_made_up: [ 1 ]
        .end_amdgpu_metadata",
    );
    assert_eq!(body.errors, []);
    assert_eq!((body.insts.len(), body.size), (1, 4));
    assert_eq!(body.labels.len(), 2);
}

#[test]
fn bad_lines_are_errors_and_reading_goes_on() {
    let body = body(
        "s_nop 0
        s_made_up s0
          v_add_f32 v0, v1
        s_mov_b32 s0, s900 ; comment
        s_branch nowhere
        s_endpgm",
    );
    let found: Vec<_> = body
        .errors
        .iter()
        .map(|error| (error.line, error.column, error.problem, error.near.as_str()))
        .collect();
    let expected = [
        (1, 9, Problem::UnknownMnemonic, "s_made_up"),
        (2, 27, Problem::MissingOperand, ""),
        (3, 23, Problem::BadRegister, "s900"),
        (4, 18, Problem::UnknownLabel, "nowhere"),
    ];
    assert_eq!(found, expected);
    let first = body.errors[0].to_string();
    assert!(first.starts_with("line 2, column 9: ") && first.ends_with(": `s_made_up`"), "{first}");
    assert_eq!(body.line_of, [0, 4, 5]);
}

#[test]
fn source_positions_hold_until_the_next() {
    let body = body(
        ".file 1 \"/src\" \"k.hip\" md5 0x00
        .file 2 \"/abs/other.h\"
        .loc 1 12 5 prologue_end ; /src/k.hip:12:5
        s_nop 0
        s_nop 1
        .loc 1 13 0
        .loc 2 7
        s_nop 2
        .loc 1 0 0
        s_endpgm",
    );
    assert_eq!(body.errors, []);
    let at = |inst| body.location_of(inst).map(|location| (location.file, location.line, location.column));
    assert_eq!([at(0), at(1), at(2), at(3)], [Some((1, 12, 5)), Some((1, 12, 5)), Some((2, 7, 0)), None]);
    assert_eq!((body.file(1), body.file(2), body.file(3)), (Some("/src/k.hip"), Some("/abs/other.h"), None));
}

#[test]
fn constants_are_values_where_they_are_used() {
    let body = body(
        ".set four, 4
        five = four+1
        s_mov_b32 s0, five*20
        .set four, 40
        s_mov_b32 s0, four",
    );
    assert_eq!(body.errors, []);
    assert_eq!(body.insts[0].operands()[1], Operand::Literal(100));
    assert_eq!(body.insts[1].operands()[1], Operand::Int(40));
}

#[test]
fn registers_are_numbered_by_expressions() {
    let body = body(
        ".set vgprA, 4
        .set sgprB, vgprA*2 /* of
        two lines */
        v_mov_b32 v[vgprA+1], s[sgprB]
        s_mov_b64 s[sgprB:sgprB+1], s[2:3]
        .macro twice d
          v_add_u32 v[\\d], v[\\d], v[\\d]
        .endm
        twice vgprA
        v_mov_b32 v[unknown], 0
        v_mov_b32 v[vgprA-5], 0
        v_mov_b32 v[vgprA*64], 0",
    );
    let errors: Vec<_> = body.errors.iter().map(|error| (error.line, error.problem)).collect();
    assert_eq!(errors, [(9, Problem::UnknownName), (10, Problem::BadRegister), (11, Problem::BadRegister)]);
    let registers = |inst: usize| {
        let reg = |operand: &Operand| match operand {
            Operand::Reg(range) => Some((range.first, range.count)),
            _ => None,
        };
        body.insts[inst].operands().iter().filter_map(reg).collect::<Vec<_>>()
    };
    assert_eq!(registers(0), [(5, 1), (8, 1)]);
    assert_eq!(registers(1), [(8, 2), (2, 2)]);
    assert_eq!(registers(2), [(4, 1), (4, 1), (4, 1)]);
    assert_eq!(body.line_of, [3, 4, 8]);
}

#[test]
fn data_is_bounded() {
    for text in [".zero 0xffffffffffff", ".fill 0xfffffff, 8, 1", ".p2align 40", ".fill 4, 9", ".long 1 2"] {
        let body = body(text);
        assert_eq!((body.errors.len(), body.size), (1, if text == ".long 1 2" { 4 } else { 0 }), "{text}");
    }
    let many = ".zero 0x20000\n".repeat(10);
    let body = body(&many);
    assert_eq!(u64::from(body.size), MOST_DATA);
    assert_eq!(body.errors.len(), 2);
}
