use super::*;
use view::{Place, Severity, SourceLine};

fn finding(rule: &'static str, severity: Severity, spills: u32) -> Finding {
    Finding::new(rule, severity, "message", "advice").with_evidence("VGPR spills", spills)
}

fn gate(flags: &[&str]) -> Gate {
    Gate::new(flags.iter().filter_map(|flag| FailOn::parse(flag)).collect(), Judges::Code)
}

/// The baseline of a run with these findings in one kernel.
fn baseline(findings: &[Finding]) -> String {
    let mut gate = gate(&[]).writing();
    gate.kernel("k", &mut findings.to_vec());
    serde_json::to_string(&gate.baseline("inspect")).unwrap()
}

fn state(finding: &Finding) -> Option<GateState> {
    finding.gate.as_ref().map(|gate| gate.state)
}

#[test]
fn only_what_is_new_or_worse_fails() {
    let known = [finding("RES001", Severity::Warning, 10), finding("MEM001", Severity::Warning, 0)];
    let text = baseline(&known);
    let cases: [(Finding, &str, GateState, usize); 6] = [
        (finding("RES001", Severity::Warning, 10), "k", GateState::Known, 0),
        (finding("RES001", Severity::Info, 4), "k", GateState::Known, 0),
        (finding("RES001", Severity::Warning, 11), "k", GateState::Worse, 1),
        (finding("RES001", Severity::Severe, 10), "k", GateState::Worse, 1),
        (finding("RES001", Severity::Warning, 10), "other", GateState::New, 1),
        (finding("LDS001", Severity::Info, 0), "k", GateState::New, 0),
    ];
    for (finding, kernel, expected, verdicts) in cases {
        let words = format!("{} {:?} in {kernel}", finding.rule, finding.severity);
        let mut gate = gate(&[]).with_baseline("b.json", &text).unwrap();
        let mut found = [finding];
        gate.kernel(kernel, &mut found);
        assert_eq!(state(&found[0]), Some(expected), "{words}");
        // Besides the condition each new or worse finding has a line.
        assert_eq!(gate.verdicts().len(), 2 * verdicts, "{words}: {:?}", gate.verdicts());
        let gone = gate.summary().unwrap().gone;
        assert!(gone.contains(&"MEM001 in k".to_owned()), "{words}: {gone:?}");
    }
    // A condition that is given replaces the usual one.
    let mut severe = gate(&["severe"]).with_baseline("b.json", &text).unwrap();
    severe.kernel("other", &mut [finding("RES001", Severity::Warning, 10)]);
    assert_eq!(severe.verdicts(), [""; 0]);
}

#[test]
fn one_more_of_the_same_is_worse() {
    let one = finding("MEM001", Severity::Warning, 0);
    let mut gate = gate(&[]).with_baseline("b.json", &baseline(std::slice::from_ref(&one))).unwrap();
    let mut found = [one.clone(), one];
    gate.kernel("k", &mut found);
    assert_eq!(found.each_ref().map(state), [Some(GateState::Known), Some(GateState::Worse)]);
}

#[test]
fn lines_and_absolute_folders_are_no_part_of_the_identity() {
    let at = |file: &str, line: u32| {
        let source = Some(SourceLine { file: file.to_owned(), line, function: None });
        finding("TUN006", Severity::Warning, 0).with_places([Place { source, ..Place::default() }])
    };
    let mut first = gate(&[]).writing();
    first.findings(&mut [at("/home/a/build/t.csv", 7), at("cfg/u.csv", 7)]);
    let text = serde_json::to_string(&first.baseline("tunedb lint")).unwrap();
    let mut second = gate(&[]).with_baseline("b.json", &text).unwrap();
    let mut found = [at("/srv/ci/t.csv", 90), at("./cfg/u.csv", 1), at("other/u.csv", 7)];
    second.findings(&mut found);
    let expected = [GateState::Known, GateState::Known, GateState::New].map(Some);
    assert_eq!(found.each_ref().map(state), expected);
}

#[test]
fn exceptions() {
    let text = r#"
        [[allow]]
        rule = "RES001"
        kernel = "acc*"
        reason = "runs once"
        until = 2030-01-31
        [[allow]]
        rule = "res*"
        kernel = "old"
        reason = "before the rewrite"
        until = "2026-01-31"
        [[allow]]
        rule = "LDS002"
        kernel = "nothing"
        reason = "a leftover"
        [[allow]]
        rule = "TUN001"
        where = "*.csv"
        reason = "of another command"
    "#;
    let exceptions = Exceptions::parse(text, "2026-11-28").unwrap();
    let mut gate = gate(&["RES001"]).with_exceptions("rockhound.toml", exceptions);
    for (kernel, expected) in [("acc_f32", Some(GateState::Allowed)), ("old", None), ("unlike acc", None)] {
        let mut found = [finding("RES001", Severity::Warning, 1)];
        gate.kernel(kernel, &mut found);
        assert_eq!(state(&found[0]), expected, "{kernel}");
    }
    let summary = gate.summary().unwrap();
    assert_eq!(summary.allowed, 1);
    let words = |list: &[view::IdleException]| -> Vec<String> {
        list.iter().map(|it| it.exception.clone()).collect()
    };
    assert_eq!(words(&summary.expired), ["res* in old"]);
    // The exception for tunings is no business of code.
    assert_eq!(words(&summary.unused), ["LDS002 in nothing"]);
    assert_eq!(gate.verdicts(), ["failed: `--fail-on RES001`: findings 2, kernels 2"]);
}

#[test]
fn the_last_day_counts() {
    let text = "[[allow]]\nrule = \"RES001\"\nkernel = \"*\"\nreason = \"r\"\nuntil = 2026-11-28\n";
    for (today, allowed) in [("2026-11-27", 1), ("2026-11-28", 1), ("2026-11-29", 0)] {
        let exceptions = Exceptions::parse(text, today).unwrap();
        let mut gate = gate(&[]).with_exceptions("rockhound.toml", exceptions);
        gate.kernel("k", &mut [finding("RES001", Severity::Info, 0)]);
        assert_eq!(gate.summary().unwrap().allowed, allowed, "{today}");
    }
}

#[test]
fn wrong_files_are_refused() {
    for (text, words) in [
        ("[[allow]]\nrule = \"RES001\"\nkernel = \"*\"\n", "reason"),
        ("[[allow]]\nrule = \"RES001\"\nkernel = \"*\"\nreason = \" \"\n", "needs a reason"),
        ("[[allow]]\nrule = \"RES001\"\nreason = \"r\"\n", "`kernel` or `where`"),
        ("[[allow]]\nrule = \"XYZ001\"\nkernel = \"*\"\nreason = \"r\"\n", "no such rule"),
        ("[[allow]]\nrule = \"RES001\"\nkernel = \"*\"\nreason = \"r\"\nuntil = \"soon\"\n", "no date"),
        ("[[allow]]\nrule = \"RES001\"\nkernels = \"*\"\nreason = \"r\"\n", "kernels"),
        ("allow = 1", "line 1"),
    ] {
        let error = Exceptions::parse(text, "2026-11-28").err().map(|it| it.to_string()).unwrap_or_default();
        assert!(error.contains(words), "{text}: {error}");
    }
    for text in ["", "{}", "{\"schema\":\"rockhound.trace/2\",\"command\":\"\",\"findings\":[]}"] {
        assert!(gate(&[]).with_baseline("b.json", text).is_err(), "{text}");
    }
}

#[test]
fn every_compared_value_is_of_a_rule() {
    let rows = include_str!("../../data/gate-values.tsv").lines().skip(2);
    for row in rows {
        let cells: Vec<&str> = row.split('\t').collect();
        assert!(rules::by_id(cells[0]).is_some() && ["more", "less"].contains(&cells[2]), "{row}");
    }
}
