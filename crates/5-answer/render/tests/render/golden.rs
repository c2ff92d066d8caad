//! Every renderer against a golden file in `tests/golden/`.
//!
//! `UPDATE_GOLDEN=1 cargo test -p rockhound-render` rewrites the files; read the difference before
//! committing.

use crate::golden_file::check;
use crate::guide_values::guide;
use crate::values::{
    comparison, errors, gemm, library, listing, measured_listing, occupancy, plain_copy, rules, summary,
};
use rockhound_render::{How, Style, csv, json, sarif, text};
use view::Format;

fn style(width: usize) -> Style {
    Style { width, ..Style::default() }
}

fn no_line_beyond(text: &str, width: usize) {
    for line in text.lines() {
        assert!(line.chars().count() <= width, "{} columns: {line}", line.chars().count());
    }
}

#[test]
fn cards() {
    for width in [80, 160] {
        for (name, kernel) in [("gemm", gemm()), ("copy", plain_copy())] {
            let card = text::card(&kernel, &style(width));
            no_line_beyond(&card, width);
            check(&format!("card-{name}-{width}.txt"), &card);
        }
    }
    check("card-gemm-color.txt", &text::card(&gemm(), &Style { color: true, ..style(80) }));
    check("card-gemm-full-names.txt", &text::card(&gemm(), &Style { full_names: true, ..style(80) }));
}

/// The guide of an emulated recording, whose numbers have signs.
fn emulated() -> view::Guide {
    let (time, rate) = (Some(view::Mark::Modelled(Some(46.1))), Some(view::Mark::Modelled(None)));
    let mut guide = guide(true);
    for it in &mut guide.kernels {
        (it.time_trust, it.percent_trust, it.roof_trust) = (time, time, rate);
    }
    let verdict = &mut guide.verdict;
    (verdict.roof_trust, verdict.trust) = (rate, rate);
    verdict.because = "?864 GB/s, ?62 % of the data sheet's 1389".to_owned();
    for it in guide.changes.iter_mut().flat_map(|changes| &mut changes.kernels) {
        (it.before_trust, it.after_trust) = (time, time);
        it.text = it.text.replace("3.", "≈3.");
    }
    guide
}

#[test]
fn guides() {
    for width in [80, 160] {
        for (name, value) in [("first", guide(false)), ("second", guide(true)), ("emulated", emulated())] {
            let text = text::guide(&value, &style(width));
            no_line_beyond(&text, width);
            check(&format!("guide-{name}-{width}.txt"), &text);
        }
    }
    check("guide-second.json", &json::guide(&guide(true)));
}

#[test]
fn colour_changes_nothing_but_colour() {
    let colored = text::card(&gemm(), &Style { color: true, ..style(80) });
    let mut stripped = String::new();
    let mut rest = colored.as_str();
    while let Some((before, after)) = rest.split_once("\x1b[") {
        stripped.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    stripped.push_str(rest);
    assert_eq!(stripped, text::card(&gemm(), &style(80)));
}

#[test]
fn tables() {
    for width in [80, 160] {
        let table = text::table(&mut library(), "severity", 20, &style(width));
        no_line_beyond(&table, width);
        check(&format!("table-{width}.txt"), &table);
    }
    check("table-top-2-by-vgprs.txt", &text::table(&mut library(), "vgprs", 2, &style(100)));
}

#[test]
fn every_sort_column_orders_rows() {
    for column in text::sort_columns() {
        let mut rows = library();
        let by = text::table(&mut rows, column, usize::MAX, &style(160));
        assert_eq!(by.lines().count(), rows.len() + 1, "{column}");
    }
    let mut rows = library();
    text::table(&mut rows, "name", usize::MAX, &style(160));
    assert!(rows.windows(2).all(|pair| pair[0].name <= pair[1].name));
    text::table(&mut rows, "vgprs", usize::MAX, &style(160));
    assert!(rows.windows(2).all(|pair| pair[0].vgprs >= pair[1].vgprs));
    text::table(&mut rows, "occupancy", usize::MAX, &style(160));
    let waves: Vec<f64> = rows.iter().filter_map(|row| row.waves_per_simd).collect();
    assert!(waves.windows(2).all(|pair| pair[0] <= pair[1]));
}

#[test]
fn summaries() {
    check("summary.txt", &text::summary(&summary(), &rules(), &style(80)));
    check("summary-empty.txt", &text::summary(&Default::default(), &rules(), &style(80)));
}

#[test]
fn listings() {
    for width in [80, 160] {
        check(&format!("listing-{width}.txt"), &text::listing(&listing(), &gemm().findings, &style(width)));
        let measured = text::listing(&measured_listing(), &gemm().findings, &style(width));
        check(&format!("listing-measured-{width}.txt"), &measured);
    }
    let color = Style { color: true, ..style(160) };
    check("listing-measured-color.txt", &text::listing(&measured_listing(), &gemm().findings, &color));
    check("listing-measured.json", &json::kernel(&gemm(), Some(&measured_listing())));
}

#[test]
fn findings_of_a_run() {
    let mut findings = gemm().findings;
    let repeated = findings[0].clone();
    findings.extend(std::iter::repeat_n(repeated, 9));
    for width in [80, 160] {
        let text = text::findings("ns::gemm<256u>(float const*)", &findings, &style(width));
        no_line_beyond(&text, width);
        check(&format!("findings-{width}.txt"), &text);
    }
}

#[test]
fn comparisons() {
    for width in [80, 160] {
        let how = How { decimals: 2, style: style(width), version: "0", rules: &[] };
        let text = rockhound_render::answer(&comparison(), Format::Text, &how);
        no_line_beyond(&text, width);
        check(&format!("comparison-{width}.txt"), &text);
    }
    let how = How { decimals: 2, style: style(80), version: "0", rules: &[] };
    for (format, ending) in [(Format::Json, "json"), (Format::Csv, "csv"), (Format::Markdown, "md")] {
        let text = rockhound_render::answer(&comparison(), format, &how);
        check(&format!("comparison.{ending}"), &text);
    }
}

#[test]
fn occupancies() {
    for width in [80, 160] {
        let how = How { decimals: 2, style: style(width), version: "0", rules: &[] };
        let text = rockhound_render::answer(&occupancy(), Format::Text, &how);
        no_line_beyond(&text, width);
        check(&format!("occupancy-{width}.txt"), &text);
    }
    check("occupancy.json", &json::answer(&occupancy()));
}

#[test]
fn rule_list() {
    check("rules.txt", &text::rules(&rules(), &style(80)));
    check("rules.json", &json::rules(&rules()));
}

#[test]
fn json_document() {
    let kernels = [json::kernel(&gemm(), Some(&listing())), json::kernel(&plain_copy(), None)];
    let document =
        json::begin("0.1.0") + &kernels.join(json::SEPARATOR) + &json::end(&summary(), None, &[], &errors());
    let value: serde_json::Value = serde_json::from_str(&document).unwrap();
    assert_eq!(value["kernels"].as_array().unwrap().len(), 2);
    assert_eq!(value["kernels"][0]["listing"]["lines"].as_array().unwrap().len(), listing().lines.len());
    assert_eq!(value["kernels"][1]["listing"], serde_json::Value::Null);
    check("inspect.json", &document);
    let empty = json::begin("0.1.0") + &json::end(&Default::default(), None, &[], &[]);
    serde_json::from_str::<serde_json::Value>(&empty).unwrap();
}

#[test]
fn csv_rows() {
    let text = csv::header() + &csv::kernel(&gemm()) + &csv::kernel(&plain_copy());
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let columns = reader.headers().unwrap().len();
    for record in reader.records() {
        assert_eq!(record.unwrap().len(), columns);
    }
    check("inspect.csv", &text);
}

#[test]
fn sarif_document() {
    let results = [sarif::kernel(&gemm()), sarif::kernel(&plain_copy())];
    assert_eq!(results[1], "", "a kernel without findings gives no results");
    let document = sarif::begin("0.1.0", &rules()) + &results[0] + &sarif::end(&errors());
    let value: serde_json::Value = serde_json::from_str(&document).unwrap();
    let run = &value["runs"][0];
    assert_eq!(run["results"].as_array().unwrap().len(), gemm().findings.len());
    for result in run["results"].as_array().unwrap() {
        // Fields that code scanning requires of a result.
        assert!(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].is_string());
        assert!(result["locations"][0]["physicalLocation"]["region"]["startLine"].as_u64().unwrap() >= 1);
        assert!(result["message"]["text"].is_string());
        let id = &result["ruleId"];
        assert!(run["tool"]["driver"]["rules"].as_array().unwrap().iter().any(|rule| rule["id"] == *id));
    }
    check("inspect.sarif", &(serde_json::to_string_pretty(&value).unwrap() + "\n"));
}

#[test]
fn hostile_names_cannot_steer_the_terminal() {
    let mut kernel = gemm();
    kernel.demangled = "evil\x1b]0;title\x07\nname".to_owned();
    kernel.file = "\x1b[2J".to_owned();
    kernel.findings[0].message = "m\x1b[31m".to_owned();
    let mut rows = vec![view::KernelRow::from(&kernel)];
    let text = text::card(&kernel, &style(80)) + &text::table(&mut rows, "severity", 9, &style(80));
    assert!(!text.contains('\x1b') && !text.contains('\x07'));
}

#[test]
fn absent_values_say_so() {
    let mut kernel = plain_copy();
    kernel.resources = Default::default();
    kernel.occupancy = None;
    kernel.mix = None;
    check("card-absent.txt", &text::card(&kernel, &style(80)));
}

/// The kernels of a Triton cache often have the name of one function.
#[test]
fn kernels_of_one_name_are_several_kernels_of_one_fact() {
    let mut summary = view::Summary::default();
    for _ in 0..3 {
        summary.add(&mut view::KernelRow::from(&gemm()));
    }
    let facts = summary.facts.shared();
    let fact = facts.iter().find(|fact| fact.rule == "SYN002").unwrap();
    assert_eq!((fact.kernels, fact.findings, fact.names.len()), (3, 3, 1));
    let text = text::summary(&summary, &rules(), &style(200));
    // One name, and no others to come.
    assert!(text.contains("SYN002  in 3 kernels (gemm<") && text.contains("> >): Wait with"), "{text}");
}
