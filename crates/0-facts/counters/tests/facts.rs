//! The catalogue against the vendor's counter definitions, read from `../shared`; skipped loudly without it.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests read files and say what they skip"
)]

use std::collections::{BTreeMap, BTreeSet};

/// Counters whose targets differ from the vendor's list, each with the reason.
const DIFFERENT: &[(&str, &str)] = &[
    ("GRBM_COUNT", "listed under the family name"),
    ("GRBM_GUI_ACTIVE", "listed under the family name"),
    ("GRBM_SPI_BUSY", "listed under the family name"),
];

#[test]
fn counters_stand_on_the_targets_the_vendor_lists() {
    let Some(path) = testkit::shared("facts/counter-definitions.yaml") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let catalogue = rockhound_counters::catalogue();
    let mut listed: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let (mut name, mut targets, mut reading) = (String::new(), Vec::new(), false);
    for line in text.lines() {
        if let Some(n) = line.strip_prefix("  - name: ") {
            name = n.trim().to_string();
        } else if line.contains("architectures:") {
            (targets, reading) = (Vec::new(), true);
        } else if let Some(t) = line.strip_prefix("      - ").filter(|_| reading) {
            targets.push(t.trim().to_string());
        } else {
            reading = false;
            if line.trim_start().starts_with("block: ") {
                listed.entry(name.clone()).or_default().extend(targets.iter().cloned());
            }
        }
    }
    let mut differences = Vec::new();
    for d in catalogue.all() {
        let ours: BTreeSet<String> = catalogue.targets_of(d).map(str::to_string).collect();
        // Under the name that each target has for it.
        let lists = |target: &&String| {
            listed.get(&*catalogue.spelled_on(&d.name, target)).is_some_and(|on| on.contains(*target))
        };
        let theirs: BTreeSet<String> = catalogue.targets().iter().filter(lists).cloned().collect();
        if ours != theirs && !DIFFERENT.iter().any(|(n, _)| *n == d.name) {
            differences.push(format!("{}: ours {ours:?}, listed {theirs:?}", d.name));
        }
    }
    assert_eq!(differences, Vec::<String>::new());
}
