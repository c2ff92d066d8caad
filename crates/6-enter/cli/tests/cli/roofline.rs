//! `rockhound roofline` on made-up recordings: text, JSON, and pictures of every kind.

use crate::guide::recording;
use crate::run::{folder, good, rockhound};
use crate::schema::Schema;
use serde_json::Value;

#[test]
fn one_recording_on_the_terminal() {
    let dir = recording("roofline_one", &[], 100);
    for width in ["80", "160"] {
        let text = good(&["roofline", &dir, "--width", width]);
        for part in ["Roofline", "HBM", "made_up", "flop/byte"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= width.parse().unwrap()), "{text}");
    }
}

#[test]
fn levels_and_types_are_picked() {
    let dir = recording("roofline_picked", &[], 100);
    let ran =
        rockhound(&["roofline", &dir, "--only", "hbm,l2", "--type", "fp16,fp64,fp4", "--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let all: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(all["notes"].as_array().map(Vec::len), Some(1), "no roof of f4: {all}");
    assert_eq!(all["schema"], "rockhound.roofline/2");
    let chart = &all["workloads"][0]["roofline"];
    let names = |list: &Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&chart["bandwidths"]), ["HBM", "L2"]);
    assert_eq!(names(&chart["rates"]), ["vector f16", "vector f64", "matrix f16", "matrix f64"]);
    assert_eq!(chart["kernels"][0]["levels"].as_array().unwrap().len(), 2);
    assert_eq!(rockhound(&["roofline", &dir, "--only", "hbm2"]).code, 64);
    assert_eq!(rockhound(&["roofline", &dir, "--type", "fp128"]).code, 64);
}

#[test]
fn several_recordings_share_a_plot() {
    let first = recording("roofline_first", &[], 100);
    let second = recording("roofline_second", &[], 50);
    let text = good(&["roofline", &first, &second, "--width", "80"]);
    assert!(text.contains("\n  A  ") && text.contains("\n  B  "), "{text}");
    assert!(text.contains("first: made_up") && text.contains("second: made_up"), "{text}");
    let all: Value = serde_json::from_str(&good(&["roofline", &first, &second, "--format", "json"])).unwrap();
    let marks: Vec<&str> = all["workloads"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["roofline"]["kernels"][0]["mark"].as_str().unwrap())
        .collect();
    assert_eq!(marks, ["A", "B"]);
    // The recordings that can be read are drawn, and the exit code says that one could not.
    let ran = rockhound(&["roofline", &first, "/nowhere"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stdout.contains("made_up"), "{}", ran.stdout);
}

/// Names are what a program chose.
const HOSTILE: &str = "<script>alert(1)</script>&\u{1b}[31m\u{202e}\u{5bd}日本";

#[test]
fn pictures_of_every_kind() {
    let dir = recording("roofline_pictures", &[("Kernel_Name", HOSTILE)], 100);
    let out = folder("roofline_files");
    let write = |name: &str, more: &[&str]| {
        let file = out.join(name);
        let path = file.display().to_string();
        let ran = rockhound(&[&["roofline", &dir, "--kernel-names", "-o", &path], more].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{name}: {}", ran.stderr);
        std::fs::read(&file).unwrap()
    };
    let svg = String::from_utf8(write("a.svg", &[])).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("&lt;script&gt;") && !svg.contains("<script"), "{svg}");
    let html = String::from_utf8(write("a.html", &["--dark"])).unwrap();
    assert!(html.contains("<svg") && html.contains("<pre") && !html.contains("<script"), "{html}");
    assert!(
        !html.contains("http://")
            || html.matches("http://").count() == html.matches("http://www.w3.org").count()
    );
    let png = write("a.png", &[]);
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    assert!(number(16) == 2000 && number(20) >= 1200, "{} x {}", number(16), number(20));
    let pdf = write("a.pdf", &[]);
    assert!(pdf.starts_with(b"%PDF-") && pdf.len() > 4000, "{} bytes", pdf.len());
    // Colours differ, and letters are drawn: without them much less of the picture is not ground.
    assert_ne!(write("dark.png", &["--dark"]), png);
    let ran = rockhound(&["roofline", &dir, "-o", "a.jpg"]);
    assert_eq!(ran.code, 64, "{}", ran.stderr);
    assert!(ran.stderr.contains(".svg"), "{}", ran.stderr);
    let nowhere = rockhound(&["roofline", &dir, "-o", "/nowhere/a.svg"]);
    assert_eq!(nowhere.code, 1, "{}", nowhere.stderr);
}

#[test]
fn json_follows_its_schema() {
    let schema = Schema::of("roofline-2");
    let first = recording("roofline_schema_first", &[], 100);
    let second = recording("roofline_schema_second", &[("TCC_EA_RDREQ_sum", "")], 50);
    for args in [vec![&first], vec![&first, &second]] {
        let args: Vec<&str> = args.into_iter().map(String::as_str).collect();
        let text = good(&[&["roofline", "--format", "json", "--type", "fp16"], &args[..]].concat());
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(schema.problems(&document), Vec::<String>::new());
        for change in [
            |value: &mut Value| value["workloads"][0]["roofline"]["machine"] = 1.into(),
            |value: &mut Value| value["workloads"][0]["roofline"]["kernels"][0]["mark"] = Value::Null,
            |value: &mut Value| drop(value["workloads"][0].as_object_mut().unwrap().remove("path")),
        ] {
            let mut bad = document.clone();
            change(&mut bad);
            assert!(!schema.problems(&bad).is_empty());
        }
    }
}

#[test]
fn roofs_are_measured() {
    let dir = folder("roofline_measured");
    let file = dir.join("roofline.csv");
    let file = file.to_str().unwrap();
    let ran = rockhound(&["roofline", "--measure", "--gpu", "mi210@1700", "-o", file, "--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let roofs: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(Schema::of("roofs-1").problems(&roofs), Vec::<String>::new());
    let written = std::fs::read_to_string(file).unwrap();
    for roof in roofs["roofs"].as_array().unwrap() {
        let value = roof["value"].as_f64().unwrap();
        let Some(promised) = roof["promised"].as_f64() else {
            // The data sheet gives the rate of packed instructions.
            assert!(roof["what"] == "vector f32, not packed" && value > 0.0, "{roof}");
            continue;
        };
        // Caches and memory reach less than they are wide; arithmetic does not wait for anything.
        let least = if roof["unit"] == "GB/s" { 0.55 } else { 0.95 };
        let share = value / promised;
        assert!(share > least && share < 1.01, "{share}: {roof}");
        assert!(roof["column"].as_str().is_none_or(|column| written.contains(column)), "{roof}: {written}");
    }
}

#[test]
fn a_gpu_is_measured_through_its_runtime() {
    // Rockhound's library replaces the vendor's: times between events are modelled, so the roofs are the
    // emulated GPU's.
    let dir = folder("roofline_gpu");
    let [file, out] = ["roofline.csv", "out"].map(|name| dir.join(name).display().to_string());
    let measured =
        [env!("CARGO_BIN_EXE_rockhound"), "roofline", "--measure", "--on", "gpu", "--gpu", "mi210"];
    let more = ["--repeat", "1", "--least-time", "0", "-o", &file, "--format", "json"];
    let profile = ["profile", "--gpu", "mi210", "-o", &out, "-b", "0.1", "--"];
    let ran = rockhound(&[&profile[..], &measured, &more].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let document = ran.stdout.lines().next().unwrap_or_default();
    let roofs: Value = serde_json::from_str(document).unwrap_or_else(|_| panic!("{}", ran.stdout));
    assert_eq!(Schema::of("roofs-1").problems(&roofs), Vec::<String>::new());
    assert_eq!(roofs["emulated"], false);
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(written.contains("HBMBw") && written.contains("MFMAF16Flops"), "{written}");
    for roof in roofs["roofs"].as_array().unwrap() {
        let value = roof["value"].as_f64().unwrap();
        assert!(roof["range"].is_null(), "measured once: {roof}");
        let Some(promised) = roof["promised"].as_f64() else { continue };
        // Lengths that differ little: the start and the end of waves are a part of the time.
        let least = if roof["unit"] == "GB/s" { 0.5 } else { 0.85 };
        assert!(value / promised > least && value / promised < 1.05, "{roof}");
    }
}

#[test]
fn what_cannot_be_measured_is_said() {
    for (args, code) in [
        (&["--gpu", "mi9"][..], 64),
        (&["--gpu", "mi210", "-o", "/tmp/roofs.svg"], 64),
        (&["--gpu", "mi100", "-o", "/tmp/roofs.csv"], 1),
        (&["--on", "gpu", "--gpu", "mi210", "--hip", "/nowhere.so"], 1),
        (&["--on", "gpu", "--gpu", "mi210", "--hip", "libc.so.6"], 1),
        (&["somewhere"], 64),
    ] {
        let ran = rockhound(&[&["roofline", "--measure"], args].concat());
        assert_eq!(ran.code, code, "{args:?}: {}", ran.stderr);
        ran.golden(&format!("--measure {}", args.join(" ")));
    }
}
