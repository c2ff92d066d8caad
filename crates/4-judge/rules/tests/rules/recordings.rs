//! Rules on recordings: made-up kernels that must and must not trigger each, and findings on recorded ones.
//!
//! `fixtures/recordings/base.tsv` is a kernel on which every rule but CTR001 is silent; a case names the
//! values it changes, so that the trigger of a rule is one line.

use analysis::WorkloadEvidence;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use workload::{Options, Workload};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/recordings")
}

fn lines(file: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(fixtures().join(file)).expect(file);
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

/// The made-up recording with some values changed; `-` takes a column out.
fn made_up(changes: &str) -> Workload {
    made_up_with(changes, None)
}

/// The same as an emulated recording with these marks.
fn made_up_with(changes: &str, marks: Option<&str>) -> Workload {
    let mut row: Vec<(String, String)> =
        lines("base.tsv").into_iter().map(|line| (line[0].clone(), line[1].clone())).collect();
    let mut machine: Vec<(String, String)> =
        lines("machine.tsv").into_iter().map(|line| (line[0].clone(), line[1].clone())).collect();
    for change in changes.split_whitespace().filter(|change| *change != "base") {
        let (name, value) = change.split_once('=').unwrap_or_else(|| panic!("`{change}` is no change"));
        let place = row.iter_mut().chain(&mut machine).find(|(column, _)| column == name);
        place.unwrap_or_else(|| panic!("no column `{name}`")).1 = value.to_owned();
    }
    let csv = |columns: &[(String, String)]| {
        let kept: Vec<_> = columns.iter().filter(|(_, value)| value != "-").collect();
        let join = |f: fn(&(String, String)) -> &str| kept.iter().map(|c| f(c)).collect::<Vec<_>>().join(",");
        format!("{}\n{}\n", join(|c| &c.0), join(|c| &c.1)).into_bytes()
    };
    let mut folder = BTreeMap::new();
    folder.insert("pmc_perf.csv".to_owned(), csv(&row));
    folder.insert("sysinfo.csv".to_owned(), csv(&machine));
    folder.extend(marks.map(|text| ("pmc_marks.csv".to_owned(), text.as_bytes().to_vec())));
    workload::read(&folder, &Options::default()).unwrap()
}

/// Findings and unchecked rules of every kernel.
fn judge(
    workload: &Workload,
    base: Option<&Workload>,
) -> Vec<(String, Vec<view::Finding>, Vec<view::NotChecked>)> {
    let compile = |workload: &Workload| {
        metrics::Definitions::built_in().compile(workload.machine.target().expect("a target")).unwrap()
    };
    let rows = |workload: &Workload| (0..workload.dispatches.len() as u32).collect::<Vec<_>>();
    let compiled = compile(workload);
    let base_compiled = base.map(compile);
    let baselines = base
        .zip(base_compiled.as_ref())
        .map_or_else(Vec::new, |(base, compiled)| WorkloadEvidence::gather(compiled, base, &rows(base)));
    let kernels = WorkloadEvidence::gather(&compiled, workload, &rows(workload));
    kernels
        .into_iter()
        .map(|mut kernel| {
            kernel.baseline = baselines.iter().find(|other| other.kernel == kernel.kernel);
            let (findings, not_checked) = rockhound_rules::check_workload(&kernel);
            (kernel.kernel.to_owned(), findings, not_checked)
        })
        .collect()
}

#[test]
fn made_up_recordings_trigger_what_they_should() {
    let mut wrong = Vec::new();
    for case in lines("cases.tsv") {
        let [rule, expected, changes, why] = &case[..] else { panic!("four fields: {case:?}") };
        let all = changes;
        let (changes, base) = match changes.split_once(" against ") {
            Some((changes, base)) => (changes, Some(made_up(base))),
            None => (changes.as_str(), None),
        };
        let judged = judge(&made_up(changes), base.as_ref());
        let (_, findings, not_checked) = &judged[0];
        crate::words::are_well_said(findings);
        let found = match findings.iter().find(|finding| finding.rule == rule) {
            Some(finding) => finding.message.clone(),
            None => match not_checked.iter().find(|it| it.rule == rule) {
                Some(it) => format!("not checked: {}", it.needs.needed()),
                None => "-".to_owned(),
            },
        };
        if found != *expected {
            wrong.push(format!("{rule} ({why}): {all}\n  found    {found}\n  expected {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_base_is_silent_but_for_its_roof() {
    let judged = judge(&made_up("base"), None);
    let fired: Vec<&str> = judged[0].1.iter().map(|finding| finding.rule).collect();
    let unchecked: Vec<&str> = judged[0].2.iter().map(|it| it.rule).collect();
    assert_eq!((fired, unchecked), (vec!["CTR001"], vec!["CTR005"]), "{judged:?}");
}

#[test]
fn every_rule_on_recordings_has_a_trigger_a_near_miss_and_a_case_without_evidence() {
    let cases = lines("cases.tsv");
    for rule in rockhound_rules::all().iter().filter(|rule| rule.recording_check().is_some()) {
        let of_rule: Vec<&str> =
            cases.iter().filter(|case| case[0] == rule.id).map(|case| case[1].as_str()).collect();
        let unchecked = |text: &&&str| text.starts_with("not checked: ");
        assert!(
            of_rule.iter().any(|text| *text != "-" && !text.starts_with("not checked")),
            "{}: no trigger",
            rule.id
        );
        // Of CTR001 a near miss is another verdict.
        assert!(of_rule.contains(&"-") || rule.id == "CTR001", "{}: no near miss", rule.id);
        assert!(of_rule.iter().filter(unchecked).count() > 0, "{}: no case without evidence", rule.id);
    }
}

#[test]
fn findings_are_complete() {
    for case in lines("cases.tsv") {
        let changes = case[2].split(" against ").next().unwrap_or_default();
        if changes.contains("Timestamp=-") {
            continue;
        }
        for (_, findings, _) in judge(&made_up(changes), None) {
            for finding in findings {
                let rule = rockhound_rules::by_id(finding.rule).expect("a registered rule");
                assert!(finding.severity <= rule.severity, "{finding:?}");
                assert!(finding.message.bytes().any(|b| b.is_ascii_digit()), "no number: {finding:?}");
                assert!(!finding.advice.is_empty() && !finding.evidence.is_empty(), "{finding:?}");
                assert!(!finding.message.ends_with('.') && !finding.advice.ends_with('.'), "{finding:?}");
                // Only a hint to the caches has no separate cost.
                let lost = finding.time_lost_ns.filter(|_| finding.rule != "MEM005");
                assert!(lost.map_or(finding.rule == "MEM005", |ns| (0.0..=1e9).contains(&ns)), "{finding:?}");
            }
        }
    }
}

/// Marks of the base's columns, all the same, and of time.
fn marks(of_counters: &str, of_time: &str) -> String {
    let mut text = format!("Quantity,Mark,Error_Percent\ntime,{of_time}\n");
    for column in lines("base.tsv") {
        // As metrics name what the column holds.
        let name = column[0].trim_end_matches("_sum").trim_end_matches("_ACCUM");
        writeln!(text, "{},{of_counters}", name.replace("TCC_EA_", "TCC_EA0_")).unwrap();
    }
    text
}

/// Numbers that are modelled have the sign of their mark, and nothing else changes by it; the golden file is
/// read by eye.
#[test]
fn modelled_numbers_have_signs() {
    let mut text = String::from(
        "# rule, message, cost, evidence; ~ counters, ≈ time; update as recorded.tsv is updated\n",
    );
    let words = |finding: &view::Finding| {
        let evidence: Vec<String> =
            finding.evidence.iter().map(|it| format!("{}: {}", it.what, it.value)).collect();
        format!(
            "{}\t{}\t{}\t{}",
            finding.rule,
            finding.message,
            finding.cost.as_deref().unwrap_or_default(),
            evidence.join(" · ")
        )
    };
    for case in lines("cases.tsv") {
        let (changes, base) = match case[2].split_once(" against ") {
            Some((changes, base)) => (changes, Some(base)),
            None => (case[2].as_str(), None),
        };
        let judged = |marks: Option<&str>| {
            let base = base.map(|base| made_up_with(base, marks));
            judge(&made_up_with(changes, marks), base.as_ref()).remove(0).1
        };
        let (plain, exact) = (judged(None), judged(Some(&marks("exact,", "exact,"))));
        let said = |findings: &[view::Finding]| findings.iter().map(words).collect::<Vec<_>>();
        assert_eq!(said(&plain), said(&exact), "what is exact has no sign");
        assert!(exact.iter().all(|finding| finding.trust.is_empty()));
        let modelled = judged(Some(&marks("modelled,5", "modelled,20")));
        assert_eq!(modelled.len(), plain.len());
        for (finding, plain) in modelled.iter().zip(&plain) {
            let shown = words(finding);
            assert_eq!(shown.replace(['~', '≈'], ""), words(plain));
            for mark in [view::Mark::Modelled(Some(5.0)), view::Mark::Modelled(Some(20.0))] {
                assert_eq!(shown.contains(mark.sign()), finding.trust.contains(&mark), "{shown}");
            }
            if finding.rule == case[0] {
                writeln!(text, "{shown}").unwrap();
            }
        }
    }
    testkit::golden_file(fixtures().join("signed.tsv"), &text);
}

#[test]
fn odd_values_give_no_odd_words() {
    let columns: Vec<String> = lines("base.tsv").into_iter().map(|line| line[0].clone()).collect();
    let counters = columns.iter().filter(|name| !matches!(name.as_str(), "Dispatch_ID" | "Kernel_Name"));
    let counters: Vec<&String> = counters.collect();
    let machine: Vec<String> = lines("machine.tsv").into_iter().map(|line| line[0].clone()).collect();
    let mut changes: Vec<String> = Vec::new();
    for value in ["0", "-", "1e300", "-5", "0.001"] {
        changes.push(counters.iter().map(|name| format!("{name}={value} ")).collect());
        changes.extend(counters.iter().map(|name| format!("{name}={value}")));
    }
    for value in ["0", "-", "1e300", "-5", "many"] {
        let names = machine.iter().filter(|name| *name != "gpu_arch");
        changes.extend(names.map(|name| format!("{name}={value}")));
    }
    for change in &changes {
        for (_, findings, _) in judge(&made_up(change), None) {
            for finding in findings {
                let mut words =
                    format!("{} {}", finding.message, finding.cost.as_deref().unwrap_or_default());
                finding.evidence.iter().for_each(|it| words += &format!(" {}", it.value));
                let odd = words
                    .split(' ')
                    .any(|word| matches!(word.trim_matches(['(', ')', ',']), "inf" | "-inf" | "NaN"));
                assert!(!odd, "{change}: {words}");
                assert!(finding.time_lost_ns.is_none_or(f64::is_finite), "{change}: {finding:?}");
            }
        }
    }
}

/// Findings on recorded kernels, with their text; the golden file is reviewed by eye.
#[test]
fn recorded_kernels_give_the_expected_findings() {
    let Some(shared) = testkit::shared("workloads") else { return };
    let mut text = String::from(
        "# recording, kernel, rule, message, cost; update with UPDATE_GOLDEN=1 cargo test -p rockhound-rules\n",
    );
    for recording in [
        "dispatch_0_1/MI200",
        "ipblocks_SQ_TA/MI300X_A1",
        "mixbench/mi200",
        "vcopy/MI200",
        "vcopy/MI300X_A1",
        "vcopy/MI300X_A1_rocpd",
    ] {
        let mut workload =
            workload::read(&testkit::files(&shared.join(recording)), &Options::default()).unwrap();
        analysis::workload::fill(&mut workload.machine);
        for (kernel, findings, not_checked) in judge(&workload, None).into_iter().take(12) {
            crate::words::are_well_said(&findings);
            for finding in findings {
                let cost = finding.cost.as_deref().unwrap_or_default();
                writeln!(text, "{recording}\t{kernel}\t{}\t{}\t{cost}", finding.rule, finding.message)
                    .unwrap();
            }
            if !recording.starts_with("mixbench") {
                for it in not_checked {
                    writeln!(text, "{recording}\t{kernel}\t{}\tnot checked\t{}", it.rule, it.needs.needed())
                        .unwrap();
                }
            }
        }
    }
    testkit::golden_file(fixtures().join("recorded.tsv"), &text);
}
