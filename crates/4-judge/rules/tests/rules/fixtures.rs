//! Rules that fire on each fixture kernel.
//!
//! `fixtures/rules/<rule>/trigger*` must trigger the rule of its folder and `miss*` must not; other rules
//! that fire on each are listed in `expected.tsv`, so that no rule starts or stops firing unnoticed.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/rules")
}

/// Rules that fire on the kernels of one file, each with its findings' messages.
struct Judged {
    /// `res001/trigger`
    name: String,
    findings: Vec<view::Finding>,
}

impl Judged {
    /// Two rules with one cause give one finding, which names the other rule.
    fn fired(&self) -> BTreeSet<&'static str> {
        let of = |finding: &view::Finding| {
            [finding.rule].into_iter().chain(finding.joined.iter().copied()).collect::<Vec<_>>()
        };
        self.findings.iter().flat_map(of).collect()
    }
}

/// Reads every `.hsaco` of the fixtures with its companion file and runs all rules.
fn judge_all() -> Vec<Judged> {
    let mut files = Vec::new();
    for rule in std::fs::read_dir(folder()).expect("fixtures/rules").map(|entry| entry.unwrap().path()) {
        if rule.is_dir() {
            files.extend(std::fs::read_dir(rule).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "hsaco"));
    files.sort();
    files.iter().map(|path| judge(path)).collect()
}

fn judge(path: &Path) -> Judged {
    let data = std::fs::read(path).unwrap();
    let mut object =
        codeobj::CodeObject::read(&data).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if let Ok(text) = std::fs::read(path.with_extension("json")) {
        codeobj::apply_triton(&text, &mut object).expect("the companion file is valid");
    }
    let lines = codeobj::LineTable::read(&data).expect("the line table is valid");
    let mut findings = Vec::new();
    assert!(!object.kernels.is_empty(), "{}", path.display());
    for kernel in &object.kernels {
        let source = analysis::Source::Binary { data: &data, lines: Some(&lines) };
        let evidence = analysis::KernelEvidence::gather(&object, kernel, source);
        assert!(evidence.warnings.is_empty(), "{}: {:?}", path.display(), evidence.warnings);
        findings.extend(rockhound_rules::check(&evidence).0);
    }
    crate::words::are_well_said(&findings);
    let name = path.strip_prefix(folder()).unwrap().with_extension("");
    Judged { name: name.to_string_lossy().replace('\\', "/"), findings }
}

#[test]
fn triggers_fire_and_near_misses_do_not() {
    let judged = judge_all();
    let mut wrong = Vec::new();
    for one in &judged {
        let (rule, kernel) = one.name.split_once('/').unwrap();
        let fires = one.fired().contains(rule.to_uppercase().as_str());
        let should = kernel.starts_with("trigger");
        assert!(should || kernel.starts_with("miss"), "{}: neither trigger nor miss", one.name);
        if fires != should {
            wrong.push(format!("{}: fires {:?}", one.name, one.fired()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_has_a_trigger_and_a_near_miss() {
    for rule in rockhound_rules::all().iter().filter(|rule| rule.code_check().is_some()) {
        let files: Vec<String> = std::fs::read_dir(folder().join(rule.id.to_lowercase()))
            .map(|entries| {
                entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
            })
            .unwrap_or_default();
        for kind in ["trigger", "miss"] {
            assert!(
                files.iter().any(|file| file.starts_with(kind) && file.ends_with(".hsaco")),
                "{}: no {kind}*.hsaco",
                rule.id
            );
        }
    }
}

#[test]
fn exactly_the_expected_rules_fire() {
    let mut table = String::from(
        "# fixture\trules that fire; update with UPDATE_GOLDEN=1 cargo test -p rockhound-rules\n",
    );
    for one in judge_all() {
        let fired: Vec<&str> = one.fired().into_iter().collect();
        writeln!(table, "{}\t{}", one.name, fired.join(" ")).unwrap();
    }
    testkit::golden_file(folder().join("expected.tsv"), &table);
}

#[test]
fn findings_are_complete() {
    for one in judge_all() {
        for finding in &one.findings {
            let rule = rockhound_rules::by_id(finding.rule).expect("a registered rule");
            let context = format!("{}: {finding:?}", one.name);
            assert!(finding.severity <= rule.severity, "{context}");
            assert!(finding.message.bytes().any(|b| b.is_ascii_digit()), "no number: {context}");
            assert!(!finding.advice.is_empty() && !finding.evidence.is_empty(), "{context}");
            assert!(!finding.message.ends_with('.') && !finding.advice.ends_with('.'), "{context}");
            assert!(finding.places.iter().all(|place| place.address.is_some()), "{context}");
        }
    }
}

#[test]
fn assembly_text_gives_the_findings_of_its_machine_code() {
    let summary = |findings: &[view::Finding]| -> Vec<String> {
        let lines =
            findings.iter().map(|f| format!("{} {:?} {} | {:?}", f.rule, f.severity, f.message, f.cost));
        lines.collect()
    };
    let mut compared = 0;
    for machine_code in judge_all() {
        let path = folder().join(&machine_code.name).with_extension("s");
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let objects = codeobj::read_text(&text).expect("the compiler's text is valid");
        let file = analysis::TextFile::new(&text);
        let mut findings = Vec::new();
        for (object, kernel) in
            objects.iter().flat_map(|object| object.kernels.iter().map(move |k| (object, k)))
        {
            let evidence =
                analysis::KernelEvidence::gather(object, kernel, analysis::Source::Text { file: &file });
            assert!(evidence.warnings.is_empty(), "{}: {:?}", path.display(), evidence.warnings);
            findings.extend(rockhound_rules::check(&evidence).0);
        }
        assert_eq!(summary(&findings), summary(&machine_code.findings), "{}", machine_code.name);
        compared += 1;
    }
    assert!(compared >= 4, "only {compared} fixtures have assembly text");
}
