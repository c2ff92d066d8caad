//! JSON against its schema, CSV, SARIF.

use crate::run::{fixture, good, root, spilling};
use crate::schema::Schema;
use serde_json::Value;

fn document(args: &[&str]) -> Value {
    let mut all = vec!["inspect", "--format", "json"];
    all.extend(args);
    serde_json::from_str(&good(&all)).expect("JSON")
}

fn schema() -> Schema {
    Schema::of("inspect-1")
}

#[test]
fn json_follows_its_schema() {
    let schema = schema();
    for args in [vec![fixture("rules")], vec![spilling(), "--asm".to_owned()]] {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let document = document(&args);
        assert!(!document["kernels"].as_array().unwrap().is_empty());
        assert_eq!(schema.problems(&document), Vec::<String>::new());
    }
}

#[test]
fn json_of_made_up_values_follows_the_schema() {
    // The renderer's golden file uses every field.
    let path = root().join("crates/5-answer/render/tests/golden/inspect.json");
    let document: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(schema().problems(&document), Vec::<String>::new());
}

#[test]
fn the_schema_refuses_what_it_does_not_describe() {
    let schema = schema();
    let good = document(&[&spilling()]);
    for change in [
        |value: &mut Value| value["kernels"][0]["new_field"] = 1.into(),
        |value: &mut Value| value["kernels"][0]["resources"]["vgprs"] = "many".into(),
        |value: &mut Value| value["schema"] = "rockhound.inspect/2".into(),
        |value: &mut Value| value["kernels"][0]["findings"][0]["severity"] = "bad".into(),
        |value: &mut Value| drop(value["kernels"][0].as_object_mut().unwrap().remove("name")),
    ] {
        let mut bad = good.clone();
        change(&mut bad);
        assert_eq!(schema.problems(&bad).len(), 1, "{:?}", schema.problems(&bad));
    }
}

#[test]
fn summary_counts_what_is_there() {
    let document = document(&[&fixture("rules")]);
    let kernels = document["kernels"].as_array().unwrap();
    assert_eq!(document["summary"]["kernels"], kernels.len());
    let findings: usize = kernels.iter().map(|kernel| kernel["findings"].as_array().unwrap().len()).sum();
    let counted: u64 = document["summary"]["rules"]
        .as_object()
        .unwrap()
        .values()
        .map(|rule| rule["findings"].as_u64().unwrap())
        .sum();
    assert_eq!(findings as u64, counted);
}

#[test]
fn csv_agrees_with_json() {
    let fixtures = fixture("rules");
    let document = document(&[&fixtures]);
    let csv = good(&["inspect", "--format", "csv", &fixtures]);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().unwrap().clone();
    let at = |name: &str| header.iter().position(|column| column == name).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let kernels = document["kernels"].as_array().unwrap();
    assert_eq!(rows.len(), kernels.len());
    // Triton's IR says nothing of registers: an empty cell.
    let text = |value: &Value| if value.is_null() { String::new() } else { value.to_string() };
    for (row, kernel) in rows.iter().zip(kernels) {
        assert_eq!(&row[at("name")], kernel["name"].as_str().unwrap());
        assert_eq!(row[at("instructions")], text(&kernel["instructions"]));
        assert_eq!(row[at("vgprs")], text(&kernel["resources"]["vgprs"]));
        assert_eq!(row[at("valu")], text(&kernel["mix"]["valu"]));
    }
}

#[test]
fn sarif_is_what_code_scanning_takes() {
    let sarif: Value = serde_json::from_str(&good(&["inspect", "--format", "sarif", &spilling()])).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let run = &sarif["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let results = run["results"].as_array().unwrap();
    assert!(!results.is_empty());
    for result in results {
        assert!(rules.iter().any(|rule| rule["id"] == result["ruleId"]));
        let place = &result["locations"][0]["physicalLocation"];
        let file = place["artifactLocation"]["uri"].as_str().unwrap();
        assert!(file.ends_with("trigger.hip"), "debug information names the source: {file}");
        assert!(place["region"]["startLine"].as_u64().unwrap() > 1);
        assert!(result["partialFingerprints"]["primaryLocationLineHash"].is_string());
    }
}
