//! Files of Tensile as PyYAML and its older releases write them.

use rockhound_tunedb::{Detail, Format, read};

/// A list of 9 parts, with a value that solutions share and a line for each number of a size.
const OLD: &str = "- {MinimumRequiredVersion: 4.2.0}\n- vega10\n- gfx900\n- [Device 687f]\n- DataType: 0\n  TransposeA: 0\n\
    - - DepthU: 8\n    ThreadTile: &id001 [8, 2]\n    WorkGroup: &id002\n    - 16\n    - 4\n  - DepthU: 16\n    ThreadTile: *id001\n    WorkGroup: *id002\n\
    - - 2\n  - 3\n- - - - 256\n      - 64\n      - 1\n      - 32\n    - - 1\n      - 900.5\n  - - - 8\n      - 8\n      - 1\n      - 8\n    - - 0\n      - 2\n- null\n";

#[test]
fn lists_of_nine_parts_anchors_and_a_line_for_each_number() {
    let file = read("vega10_Cijk_Ailk_Bljk_SB.yaml", OLD.as_bytes()).unwrap();
    let Detail::Logic(logic) = &file.detail else { panic!("{:?}", file.detail) };
    assert_eq!((logic.library, logic.anchored), ("Matching", Some(7)));
    let values = |at: usize| ["ThreadTile", "WorkGroup"].map(|key| logic.solutions[at].value(key).unwrap());
    assert_eq!((values(0), values(1)), (["[8, 2]", "- 16\n    - 4"], values(0)));
    let sizes: Vec<_> =
        logic.sizes.iter().map(|it| (it.numbers.as_slice(), it.solution, it.efficiency, it.line)).collect();
    assert_eq!(sizes, [(&[256, 64, 1, 32][..], 1, 900.5, 17), (&[8, 8, 1, 8][..], 0, 2.0, 23)]);
    assert_eq!(file.rows[0].shape.as_ref().unwrap().to_string(), "256x64x32");
    for (from, to, words) in [
        ("- null\n", "", "without its part 9"),
        ("*id001", "*id003", "`*id003` has no anchor"),
        ("&id002", "&id001", "twice"),
        ("- 900.5", "- fast", "line 17: no size with its solution"),
        ("- vega10\n", "- ProblemSizes:\n", "line 2: solutions of a benchmark step"),
    ] {
        let error = read("logic.yaml", OLD.replace(from, to).as_bytes()).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn configurations_with_aliases_and_comments_that_follow_a_bracket() {
    let text = "BenchmarkProblems:\n- - DataType: s\n  - ForkParameters:\n    - DepthU: [8, 16]#[32]\n    - Groups:\n      - - a: 1\n        - a: 2\n      - - b: 1\n        - b: 2\n        - b: 3\n\
        \x20   BenchmarkFinalParameters:\n    - ProblemSizes:\n      - Exact: &id001 [64, 32, 1, 16]\n      - Exact: *id001\n";
    let file = read("config.yaml", text.as_bytes()).unwrap();
    assert_eq!(file.format, Format::TensileConfig);
    let shapes: Vec<String> = file.rows.iter().map(|it| it.shape.as_ref().unwrap().to_string()).collect();
    assert_eq!(shapes, ["64x32x16"; 2]);
    assert_eq!(file.rows[1].line, 14);
    assert!(file.versions[0].value.starts_with("12 "), "{}", file.versions[0].value);
}
