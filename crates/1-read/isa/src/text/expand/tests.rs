//! Output of the preprocessor, and its termination.

use super::*;

fn lines(text: &str) -> String {
    let expanded = expand(&[], text.lines());
    assert_eq!(expanded.errors, [], "{text}");
    let lines: Vec<String> =
        expanded.lines.iter().map(|(number, line)| format!("{number} {}", line.trim())).collect();
    lines
        .iter()
        .filter(|line| line.contains(' ') && !line.ends_with(' '))
        .cloned()
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn text_becomes_what_the_assembler_reads() {
    let cases = [
        ("s_nop 0", "0 s_nop 0"),
        ("s_nop /* one */ 0", "0 s_nop   0"),
        ("s_nop 0 /* a\nb */ s_nop 1", "0 s_nop 0\n1 s_nop 1"),
        ("s_nop 0 // no /* begin\ns_nop 1", "0 s_nop 0 // no /* begin\n1 s_nop 1"),
        (".macro two a b:req\ns_nop \\a\ns_nop \\b+1\n.endm\ntwo 1, 2", "4 s_nop 1\n4 s_nop 2+1"),
        (".macro two a b\ns_nop \\a\ns_nop \\b\n.endm\ntwo s[1:2] 3", "4 s_nop s[1:2]\n4 s_nop 3"),
        (".macro one a=5\ns_nop \\a\n.endm\none\none a=6", "3 s_nop 5\n4 s_nop 6"),
        (".macro one a\nv_mov_b32 v\\a\\()1\n.endm\none 2", "3 v_mov_b32 v21"),
        (".set n, 2\n.rept n\ns_nop 0\n.endr", "0 .set n, 2\n2 s_nop 0\n2 s_nop 0"),
        (".irp x, 1, 2\ns_nop \\x\n.endr", "1 s_nop 1\n1 s_nop 2"),
        (".set n, 2\n.if n == 2\ns_nop 0\n.else\ns_nop 1\n.endif", "0 .set n, 2\n2 s_nop 0"),
        (".if 0\n.if 1\ns_nop 0\n.endif\n.elseif 1\ns_nop 1\n.endif", "5 s_nop 1"),
        (".ifdef n\ns_nop 0\n.endif\nn = 1\n.ifdef n\ns_nop 1\n.endif", "3 n = 1\n5 s_nop 1"),
        (
            ".macro in a\ns_nop \\a\n.endm\n.macro out a\n.if \\a > 1\nin \\a\n.endif\n.endm\nout 1\nout 2",
            "9 s_nop 2",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(lines(text), expected, "{text}");
    }
}

#[test]
fn what_stands_before_defines_and_gives_no_line() {
    let expanded = expand(&[".macro one", "s_nop 1", ".endm", "s_nop 9"], ["one"]);
    assert_eq!(expanded.lines, [(0, Cow::from("s_nop 1"))]);
}

#[test]
fn what_cannot_be_carried_out_is_said_and_ends() {
    let cases = [
        (".if unknown\ns_nop 0\n.endif", 0, Problem::UnknownName),
        (".rept unknown\ns_nop 0\n.endr", 0, Problem::BadNumber),
        (".macro again\nagain\n.endm\nagain", 3, Problem::TooManyLines),
        (".macro more\nmore\nmore\n.endm\nmore", 4, Problem::TooManyLines),
        (".rept 0x7fffffff\ns_nop 0\n.endr", 1, Problem::TooManyLines),
        (".rept 0x7fffffff\n.rept 0x7fffffff\ns_nop 0\n.endr\n.endr", 2, Problem::TooManyLines),
        (".macro", 0, Problem::MissingOperand),
    ];
    for (text, line, problem) in cases {
        let expanded = expand(&[], text.lines());
        let first = expanded.errors.first().map(|error| (error.line, error.problem));
        assert_eq!(first, Some((line, problem)), "{text}");
    }
    for text in [
        ".rept 3\ns_nop 0",
        ".if 1\ns_nop 0",
        "*/ s_nop 0",
        "/* s_nop 0",
        ".endif\n.endr\n.endm",
        ".rept 0x7fffffff\n.endr",
    ] {
        assert!(expand(&[], text.lines()).lines.len() <= 3, "{text}");
    }
}
