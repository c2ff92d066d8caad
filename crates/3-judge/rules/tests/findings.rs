//! What the memory, LDS and synchronisation rules say of the fixture kernels.
//!
//! The one idea to keep in mind: one row per kernel and rule with the words of the finding, so that a change of the
//! arithmetic behind a message shows. Every kernel of a trigger file has a row for the rule of its folder.

#![allow(clippy::disallowed_methods, reason = "tests read the committed fixtures")]

use std::path::Path;

/// Fixture, kernel, message, cost.
const EXPECTED: &[(&str, &str, &str, &str)] = &[];

fn findings(rule: &str, kernel_name: &str) -> Vec<view::Finding> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/rules");
    let data = std::fs::read(folder.join(rule).join("trigger.hsaco")).unwrap();
    let object = codeobj::CodeObject::read(&data).unwrap();
    let lines = codeobj::LineTable::read(&data).unwrap();
    let kernel = object.kernels.iter().find(|kernel| kernel.name == kernel_name).expect(kernel_name);
    let source = analysis::Source::Binary { data: &data, lines: Some(&lines) };
    let evidence = analysis::KernelEvidence::gather(&object, kernel, source);
    let (mut findings, _) = rules::check(&evidence);
    findings.retain(|finding| finding.rule.eq_ignore_ascii_case(rule));
    findings
}

#[test]
fn messages_and_costs() {
    for (rule, kernel, message, cost) in EXPECTED {
        let findings = findings(rule, kernel);
        let found: Vec<(&str, &str)> = findings
            .iter()
            .map(|finding| (finding.message.as_str(), finding.cost.as_deref().unwrap_or_default()))
            .collect();
        assert_eq!(found, [(*message, *cost)], "{rule} {kernel}");
        for finding in &findings {
            let place = finding.places.first().expect("a place");
            assert!(
                place.source.as_ref().is_some_and(|source| source.file.ends_with("trigger.hip")),
                "{place:?}"
            );
        }
    }
}
