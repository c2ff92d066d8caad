//! Rules that fire on Triton's IR: `fixtures/rules/RULE/trigger*.ttgir` and `miss*.ttgir`.

use codeobj::{Body, CodeObject, Kernel, Metadata, Target};
use std::path::{Path, PathBuf};
use view::Finding;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/rules")
}

/// Findings on the IR of a file, for code of 32 registers.
fn judge(path: &Path) -> Vec<Finding> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let dump = tritonir::read(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let kernel = tritonir::kernels(&dump.modules[0], None).remove(0);
    let object = CodeObject {
        origin: String::new(),
        target: Target::parse(kernel.processor.as_deref().expect("a target")).expect("known"),
        version: 5,
        lines: 0..0,
        kernels: vec![Kernel {
            name: kernel.name.clone(),
            demangled: kernel.name.clone(),
            body: Body::Absent,
            descriptor: None,
            metadata: Metadata {
                vgprs: Some(32),
                agprs: Some(0),
                sgprs: Some(32),
                launch_waves: kernel.waves,
                launch_lds_bytes: kernel.lds.total.clone().ok().and_then(|it| u32::try_from(it).ok()),
                ..Metadata::default()
            },
        }],
        functions: Vec::new(),
        formats: Vec::new(),
        warnings: Vec::new(),
    };
    let ir = analysis::TritonIr { file: path.display().to_string(), kernel };
    let file = analysis::TextFile::new("");
    let source = analysis::Source::Text { file: &file };
    let mut evidence = analysis::KernelEvidence::gather(&object, &object.kernels[0], source);
    evidence.ir = Some(&ir);
    let (findings, not_checked) = rockhound_rules::check(&evidence);
    crate::words::are_well_said(&findings);
    assert!(not_checked.is_empty(), "{}: {not_checked:?}", path.display());
    findings
}

fn files() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for rule in std::fs::read_dir(folder()).expect("fixtures/rules").map(|entry| entry.unwrap().path()) {
        if rule.is_dir() {
            let files = std::fs::read_dir(rule).unwrap().map(|entry| entry.unwrap().path());
            found.extend(files.filter(|it| it.extension().is_some_and(|it| it == "ttgir")));
        }
    }
    found.sort();
    found
}

#[test]
fn triggers_fire_and_near_misses_do_not() {
    for path in files() {
        let rule = path.parent().and_then(Path::file_name).unwrap().to_string_lossy().to_uppercase();
        let should = path.file_name().unwrap().to_string_lossy().starts_with("trigger");
        let findings = judge(&path);
        let fires = findings.iter().any(|it| it.rule == rule);
        assert_eq!(fires, should, "{}: {findings:#?}", path.display());
    }
}

#[test]
fn every_rule_on_ir_has_a_trigger_and_a_near_miss() {
    let files = files();
    let mut rules_on_ir = 0;
    for rule in rockhound_rules::all().iter().filter(|rule| rule.ir_check().is_some()) {
        rules_on_ir += 1;
        for kind in ["trigger", "miss"] {
            let start = folder().join(rule.id.to_lowercase());
            let is = |it: &&PathBuf| {
                it.starts_with(&start) && it.file_name().unwrap().to_string_lossy().starts_with(kind)
            };
            assert!(files.iter().any(|it| is(&it)), "{}: no {kind}*.ttgir", rule.id);
        }
    }
    assert_eq!(rules_on_ir, 8);
}

#[test]
fn findings_are_complete() {
    for finding in files().iter().flat_map(|path| judge(path)) {
        let rule = rockhound_rules::by_id(finding.rule).expect("a registered rule");
        let context = format!("{finding:?}");
        assert!(finding.severity <= rule.severity, "{context}");
        assert!(finding.message.bytes().any(|b| b.is_ascii_digit()), "no number: {context}");
        assert!(!finding.advice.is_empty() && !finding.evidence.is_empty(), "{context}");
        assert!(!finding.message.ends_with('.') && !finding.advice.ends_with('.'), "{context}");
        assert!(!finding.places.is_empty(), "{context}");
    }
}

/// An expert's verdict by reading: file of the shared dumps, rules that must fire.
const SHARED: &[(&str, &[&str])] = &[
    ("3.6.0/matmul-128x128x64-w4-s2.gfx942", &["MAT004"]),
    ("3.6.0/matmul-128x128x64-w4-s2-kpack2.gfx942", &[]),
    ("3.6.0/matmul-128x128x64-w4-s2.gfx950", &[]),
    ("3.6.0/matmul-128x128x64-w4-s1.gfx942", &["MAT004", "TIL007"]),
    ("3.6.0/matmul-128x128x32-w4-s3.gfx942", &["MAT004", "TIL002"]),
    ("3.6.0/matmul-128x128x64-w4-s3-async.gfx950", &[]),
    ("3.6.0/matmul-128x128x64-w4-s2-unaligned.gfx942", &["MAT004", "TIL007"]),
    ("3.6.0/attention-128x64-d128-w4-s1.gfx942", &[]),
    ("3.6.0/attention-64x32-d64-w4-s2.gfx942", &[]),
    ("3.6.0/made-transpose-64x64-w4.gfx942", &[]),
    ("3.4.0/made-transpose-64x64-w4.gfx942", &[]),
    ("3.6.0/made-row_sum_store-64x128-w4.gfx942", &[]),
    ("3.6.0/softmax-8192-w8.gfx942", &[]),
    ("3.6.0/layer_norm-4096-w4.gfx942", &[]),
];

#[test]
fn shared_dumps() {
    let Some(shared) = testkit::shared("triton-ir") else { return };
    for (file, expected) in SHARED {
        let findings = judge(&shared.join(format!("{file}.ttgir")));
        let mut fired: Vec<&str> = findings.iter().map(|it| it.rule).collect();
        fired.dedup();
        fired.sort_unstable();
        fired.dedup();
        assert_eq!(&fired, expected, "{file}: {findings:#?}");
    }
}
