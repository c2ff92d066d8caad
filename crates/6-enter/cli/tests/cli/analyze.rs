//! `rockhound analyze` and `rockhound metrics` on small recordings made here, and on bad ones.

use crate::run::{Ran, folder, good, rockhound, root};
use crate::schema::Schema;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const HEADER: &str = "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES,GRBM_GUI_ACTIVE,TCC_HIT_sum,TCC_MISS_sum";
const SYSTEM: &str = "gpu_arch,gpu_model,cu_per_gpu\ngfx942,MI300X_A1,304\n";

/// A recording of three launches of `copy` and one of `scale`; `hits` of 100 requests hit in the L2.
fn recording(test: &str, name: &str, copy_ns: u64, hits: u64) -> String {
    let dir = folder(test).parent().unwrap().join(format!("{test}-{name}"));
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    let mut csv = String::from(HEADER);
    for i in 0..3u64 {
        let (start, end) = (1000 * i, 1000 * i + copy_ns + i);
        let _ = write!(
            csv,
            "\n{i},0,1024,64,\"copy(float*) [clone .kd]\",{start},{end},16,8000,{hits},{}",
            100 - hits
        );
    }
    let _ = write!(csv, "\n7,0,2048,64,scale,9000,9100,32,8000,50,50\n");
    write(&dir, "pmc_perf.csv", csv.as_bytes());
    write(&dir, "sysinfo.csv", SYSTEM.as_bytes());
    dir.display().to_string()
}

fn write(dir: &Path, name: &str, bytes: &[u8]) {
    std::fs::write(dir.join(name), bytes).unwrap();
}

/// Every value of the long CSV by row and column.
fn values(csv: &str) -> BTreeMap<(String, String, String), String> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let head = reader.headers().unwrap().clone();
    let at = |name: &str| head.iter().position(|h| h == name).unwrap();
    let (row, column, value, recording, table) =
        (at("row"), at("column"), at("value"), at("recording"), at("table"));
    reader
        .records()
        .map(|r| {
            let r = r.unwrap();
            let id =
                if r[row].contains('.') { r[row].to_owned() } else { format!("{}.{}", &r[table], &r[row]) };
            ((id, r[column].to_owned(), r[recording].to_owned()), r[value].to_owned())
        })
        .collect()
}

#[test]
fn the_overview_says_what_was_measured() {
    let dir = recording("overview", "a", 100, 25);
    let text = good(&["analyze", "-p", &dir, "--width", "100"]);
    for part in [
        "MI300X_A1 (gfx942)",
        "4 dispatches",
        "2 kernels",
        "0.1  Top Kernels",
        "2.1  System Speed-of-Light",
        "copy(float*)",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("7.1"), "panels that were not asked for: {text}");
    // A missing value states its reason and remedy, once.
    assert_eq!(text.matches("`-b 2`").count(), 1, "{text}");
    assert!(text.lines().all(|l| l.chars().count() <= 100), "{text}");
}

#[test]
fn numbers_are_exact_and_selections_select() {
    let dir = recording("exact", "a", 100, 25);
    let hit_rate = |flags: &[&str]| {
        let csv = good(&[&["analyze", "-p", &dir, "--format", "csv", "-b", "17.1"], flags].concat());
        values(&csv).into_iter().find(|((id, _, _), _)| id == "17.1.2").unwrap().1
    };
    for (flags, want) in [
        (&[][..], "31.25"),
        (&["-k", "copy(float*)"], "25"),
        (&["-k", "1"], "50"),
        (&["-k", "sc.*e"], "50"),
        (&["-d", "2", "7"], "37.5"),
        (&["-d", ">2"], "50"),
        (&["--average", "dispatches"], "31.25"),
        (&["--gpu-id", "0"], "31.25"),
    ] {
        assert_eq!(hit_rate(flags), want, "{flags:?}");
    }
    let csv = good(&["analyze", "-p", &dir, "--format", "csv", "-b", "0.1", "--time-unit", "us"]);
    let values = values(&csv);
    let get =
        |id: &str, column: &str| values[&(id.to_owned(), column.to_owned(), "exact-a".to_owned())].clone();
    assert_eq!((get("0.1.0", "sum").as_str(), get("0.1.0", "count").as_str()), ("0.303", "3"));
}

#[test]
fn normalisation_and_columns() {
    let dir = recording("norm", "a", 100, 25);
    let text = good(&["analyze", "-p", &dir, "-b", "l2.hits", "--normal-unit", "per_wave", "--cols", "max"]);
    assert!(text.contains("per wave") && text.contains("max") && !text.contains("avg"), "{text}");
}

#[test]
fn lists() {
    let dir = recording("lists", "a", 100, 25);
    let kernels = good(&["analyze", "-p", &dir, "--list-kernels"]);
    assert!(kernels.contains("copy(float*)") && kernels.contains("scale"), "{kernels}");
    let dispatches = good(&["analyze", "-p", &dir, "--list-dispatches", "--top", "2"]);
    assert!(dispatches.contains("2 more dispatches"), "{dispatches}");
    let metrics = good(&["analyze", "-p", &dir, "--list-metrics"]);
    assert!(metrics.contains("l2.hit_rate") && metrics.contains("17.1.2"), "{metrics}");
}

#[test]
fn wrong_values_are_answered_with_the_right_ones() {
    let dir = recording("wrong", "a", 100, 25);
    for flags in [
        &["-k", "gemm"][..],
        &["-d", "9"],
        &["--gpu-id", "3"],
        &["-b", "7.8"],
        &["-b", "17.3", "--cols", "mox"],
        &["--fail-on", "2.1.99 > 4"],
        &["--fail-on", "XYZ001"],
        &["--match", "a"],
        &["--arch", "mi1"],
    ] {
        let ran = rockhound(&[&["analyze", "-p", &dir], flags].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (64, ""), "{flags:?}");
        ran.golden(&flags.join(" "));
    }
}

#[test]
fn two_recordings_are_compared_with_the_first() {
    let (a, b) = (recording("compare", "a", 100, 25), recording("compare", "b", 200, 25));
    let text = good(&["analyze", "-p", &a, "-p", &b, "-b", "0.1", "17.1.2", "--width", "120"]);
    assert!(text.contains("base") && text.contains("compare-a") && text.contains("compare-b"), "{text}");
    // The time of `copy` doubles, beyond what its launches scatter; its hit rate stays.
    assert!(text.contains("+99.0 %*"), "{text}");
    let hit = text.lines().find(|l| l.contains("17.1.2")).unwrap();
    assert!(hit.contains('='), "{hit}");
    let hidden = good(&["analyze", "-p", &a, "-p", &b, "-b", "0.1", "17.1", "--threshold", "5"]);
    assert!(!hidden.contains("17.1.2"), "{hidden}");
}

#[test]
fn conditions_set_the_exit_code() {
    let (a, b) = (recording("gate", "a", 100, 25), recording("gate", "b", 200, 20));
    let run = |flags: &[&str]| rockhound(&[&["analyze", "-p", &a, "-p", &b, "-b", "0.1"], flags].concat());
    for (condition, code) in [
        ("l2.hit_rate < -5%", 2),
        ("l2.hit_rate < -50%", 0),
        ("17.1.2 < 30", 2),
        ("17.1.2 > 30", 0),
        ("0.1.0 > 50%", 2),
        ("0.1.0 > 200%", 0),
        // Not recorded: a gate that cannot be judged does not pass.
        ("2.1.9 > 5%", 1),
    ] {
        let Ran { code: got, stderr, stdout } = run(&["--fail-on", condition]);
        assert_eq!(got, code, "{condition}: {stderr}");
        assert_eq!(stderr.is_empty(), code == 0, "{condition}: {stderr}");
        assert!(!stdout.is_empty());
    }
    let ran = rockhound(&["analyze", "-p", &a, "--fail-on", "2.1.9 > 5%"]);
    assert_eq!(ran.code, 64);
}

#[test]
fn formats_and_files() {
    let dir = recording("files", "a", 100, 25);
    let out = folder("files-out");
    for (format, file) in [("text", "report.txt"), ("json", "report.json"), ("markdown", "report.md")] {
        let at = out.display().to_string();
        assert_eq!(good(&["analyze", "-p", &dir, "--format", format, "-o", &at]), "");
        assert!(std::fs::metadata(out.join(file)).unwrap().len() > 500, "{file}");
    }
    let at = out.join("tables");
    good(&["analyze", "-p", &dir, "--format", "csv", "-o", &at.display().to_string()]);
    let table = std::fs::read_to_string(at.join("17.1_l2_speed_of_light.csv")).unwrap();
    assert!(table.contains("17.1.2,Hit Rate,") && table.contains(",31.25"), "{table}");
    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(out.join("report.json")).unwrap()).unwrap();
    assert_eq!(json["schema"], "rockhound.analyze/2");
    let table = json["tables"].as_array().unwrap().iter().find(|t| t["id"] == "17.1").unwrap();
    assert_eq!(table["rows"][2]["cells"][0], 31.25);
    // A missing value carries its reason.
    let missing = json["tables"].as_array().unwrap().iter().find(|t| t["id"] == "2.1").unwrap();
    let reason = missing["rows"][0]["cells"][0]["missing"].as_str().unwrap();
    assert!(reason.starts_with("needs SQ_INSTS_VALU_ADD_F16"), "{reason}");
}

#[test]
fn json_follows_its_schema() {
    let schema = Schema::of("analyze-2");
    let (a, b) = (recording("schema", "a", 100, 25), recording("schema", "b", 200, 0));
    let example = root().join("examples/heat3d");
    let example = example.display().to_string();
    let runs: Vec<Vec<&str>> = vec![
        vec!["-p", &example],
        vec!["-p", &a],
        vec!["-p", &a, "-p", &b, "--fail-on", "l2.hit_rate > 1000%"],
        vec!["-p", &a, "--list-dispatches"],
    ];
    for flags in runs {
        let text = good(&[&["analyze", "--format", "json"], &flags[..]].concat());
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(schema.problems(&document), Vec::<String>::new(), "{flags:?}");
    }
}

#[test]
fn own_definitions_are_checked_and_used() {
    let dir = recording("own", "a", 100, 25);
    let out = folder("own-files");
    let file = |text: &str| {
        write(&out, "my.metrics", text.as_bytes());
        out.join("my.metrics").display().to_string()
    };
    let path = file(
        "metric my.hits_per_wave [hit/wave] = TCC_HIT / SQ_WAVES\ntable 90.1 stats \"Mine\" \"Mine\"\n    row \"Hits\" my.hits_per_wave\n",
    );
    let csv = good(&["analyze", "-p", &dir, "--metrics", &path, "-b", "90", "--format", "csv"]);
    assert!(
        values(&csv).iter().any(|((id, c, _), v)| id == "90.1.0" && c == "avg" && v == "1.5625"),
        "{csv}"
    );
    let ran = rockhound(&["analyze", "-p", &dir, "--metrics", &file("metric my.x [req] = TCC_HITS\n")]);
    assert_eq!(ran.code, 1);
    ran.golden("an unknown counter");
}

#[test]
fn the_documented_definitions_load() {
    let page = std::fs::read_to_string(root().join("docs/metric-definitions.md")).unwrap();
    let example = page.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    let out = folder("documented");
    write(&out, "my.metrics", example.as_bytes());
    let file = out.join("my.metrics").display().to_string();
    let text = good(&["metrics", "--metrics", &file, "my.l2_rate", "my.bytes_per_flop"]);
    assert!(text.contains("my_bytes / time"), "{text}");
}

#[test]
fn bad_recordings_give_one_clear_error_each_and_the_rest_goes_on() {
    let dir = folder("bad-recordings");
    let rows = "0,0,1024,64,copy,100,200,16,1000,1,1\n1,0,1024,64,copy,300,400,16,1100,1,1\n";
    let fine = format!("{HEADER}\n{rows}");
    let wide: String = (0..10_000).map(|i| format!(",C{i}")).collect();
    let ones = ",1".repeat(10_000);
    type Files = Vec<(&'static str, Vec<u8>)>;
    let csv = |text: String| -> Files {
        vec![("pmc_perf.csv", text.into_bytes()), ("sysinfo.csv", SYSTEM.as_bytes().to_vec())]
    };
    // Name, files, exit code, what the report still shows.
    let cases: Vec<(&str, Files, i32, &str)> = vec![
        ("empty", vec![], 1, ""),
        ("strange", vec![("notes.txt", b"x".to_vec())], 1, ""),
        ("header", csv(format!("{HEADER}\n")), 1, ""),
        ("nothing", csv(String::new()), 1, ""),
        ("ragged", csv(format!("{fine}2,0,1024,64,copy,500\n")), 1, "2 dispatches"),
        ("words", csv(fine.replace(",1100,", ",many,")), 1, "2 dispatches"),
        ("twice", csv(fine.replace("TCC_MISS_sum", "TCC_HIT_sum")), 1, "2 dispatches"),
        (
            "wide",
            csv(format!("{HEADER}{wide}\n0,0,1024,64,copy,100,200,16,1000,1,1{ones}\n")),
            0,
            "1 dispatch",
        ),
        ("mixed", csv(format!("{fine}2,1,1024,64,copy,500,600,16,1000,1,1\n")), 0, "2 GPUs (0, 1)"),
        ("bom", csv(format!("\u{feff}{}", fine.replace('\n', "\r\n"))), 0, "2 dispatches"),
        ("quote", csv(format!("{HEADER}\n0,0,1024,64,\"copy,100\n")), 1, ""),
        ("gzip", vec![("pmc_perf.csv.gz", b"\x1f\x8bxx".to_vec())], 1, ""),
    ];
    for (name, files, code, shown) in cases {
        let at = dir.join(name);
        std::fs::create_dir_all(&at).unwrap();
        files.iter().for_each(|(file, bytes)| write(&at, file, bytes));
        let ran = rockhound(&["analyze", "-p", &at.display().to_string(), "--width", "200"]);
        assert_eq!(ran.code, code, "{name}: {}", ran.stderr);
        ran.golden(&format!("recording: {name}"));
        assert!(ran.stdout.contains(shown), "{name}: {}", ran.stdout);
        let errors = ran.stderr.lines().filter(|l| l.starts_with("error: ")).count();
        assert_eq!(errors, usize::from(code == 1), "one error: {}", ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    }
    // One of two cannot be read: the other is reported.
    let fine = recording("bad-and-good", "fine", 100, 25);
    let ran = rockhound(&["analyze", "-p", &fine, "-p", &dir.join("empty").display().to_string()]);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("copy(float*)"), "{}", ran.stderr);
}

#[test]
fn a_recording_without_its_gpu_takes_it_from_the_command_line() {
    let dir = PathBuf::from(recording("no-gpu", "a", 100, 25));
    std::fs::remove_file(dir.join("sysinfo.csv")).unwrap();
    let path = dir.display().to_string();
    let text = good(&["analyze", "-p", &path]);
    assert!(text.contains("`--arch`") && text.contains("copy(float*)"), "{text}");
    let text = good(&["analyze", "-p", &path, "--arch", "mi300x", "-b", "17.1"]);
    assert!(text.contains("31.25") && text.contains("command line"), "{text}");
}

#[test]
fn metrics_explain_themselves() {
    let list = good(&["metrics", "--arch", "mi300x"]);
    assert!(list.contains("l2.hit_rate") && list.contains("gfx942  all: "), "{list}");
    let one = good(&["metrics", "l2.hit_rate"]);
    for part in ["formula", "TCC_HIT", "gfx90a", "runs"] {
        assert!(one.contains(part), "{part}: {one}");
    }
    let counter = good(&["metrics", "TCC_EA_RDREQ"]);
    assert!(counter.contains("TCC_EA0_RDREQ") && counter.contains("used by"), "{counter}");
    let json: serde_json::Value =
        serde_json::from_str(&good(&["metrics", "17.1", "--arch", "gfx90a", "--format", "json"])).unwrap();
    assert_eq!(json["schema"], "rockhound.metrics/2");
    assert_eq!(json["metrics"].as_array().unwrap().len(), 6);
    let ran = rockhound(&["metrics", "SQ_WAVEZ"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (64, ""));
}

/// Averages of a table of the reference by row label.
fn reference(folder: &Path, id: &str) -> Vec<(String, String)> {
    let file = std::fs::read_dir(folder)
        .unwrap()
        .flatten()
        .map(|f| f.path())
        .find(|p| p.file_name().unwrap().to_string_lossy().starts_with(&format!("{id}_")))
        .unwrap();
    let mut reader = csv::Reader::from_path(file).unwrap();
    let head = reader.headers().unwrap().clone();
    let at = |name: &str| head.iter().position(|h| h == name).unwrap();
    let (label, value) = (at("Metric"), at("Avg"));
    reader.records().map(|r| r.unwrap()).map(|r| (r[label].to_owned(), r[value].to_owned())).collect()
}

#[test]
fn the_command_gives_the_references_averages() {
    let Some(oracle) = testkit::shared("oracle") else { return };
    let shared = oracle.parent().expect("the folder of the shared data");
    let mut compared = 0;
    for (folder, recording, flags) in [
        ("vcopy_MI200", "vcopy/MI200", &[][..]),
        ("vcopy_MI200_d1", "vcopy/MI200", &["-d", "1"]),
        ("vcopy_MI200_per_wave", "vcopy/MI200", &["--normal-unit", "per_wave"]),
        ("vcopy_MI200_per_cycle", "vcopy/MI200", &["--normal-unit", "per_cycle"]),
        ("vcopy_MI200_per_second", "vcopy/MI200", &["--normal-unit", "per_second"]),
        ("vcopy_MI300X_A1_rocpd", "vcopy/MI300X_A1_rocpd", &[]),
    ] {
        let path = shared.join("workloads").join(recording).display().to_string();
        let tables = ["2.1", "7.1", "16.3", "17.3"];
        let csv = good(
            &[
                &["analyze", "-p", &path, "--average", "dispatches", "--format", "csv", "-b"],
                &tables[..],
                flags,
            ]
            .concat(),
        );
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let ours: Vec<csv::StringRecord> = reader.records().map(|r| r.unwrap()).collect();
        for id in tables {
            for (label, theirs) in reference(&shared.join("oracle").join(folder), id) {
                // The reference divides the level of one run by the cycles of another.
                if label == "Wavefront Occupancy" {
                    continue;
                }
                let row = ours.iter().find(|r| &r[1] == id && r[5] == label && &r[7] == "avg");
                let row = row.unwrap_or_else(|| panic!("{folder} {id} {label}"));
                match (theirs.parse::<f64>().ok().filter(|v| v.is_finite()), row[8].parse::<f64>().ok()) {
                    (Some(t), Some(o)) => {
                        assert!((t - o).abs() <= 1e-9 * t.abs().max(1e-3), "{folder} {id} {label}: {t}, {o}");
                        compared += 1;
                    }
                    (None, None) => {}
                    other => panic!("{folder} {id} {label}: {other:?}"),
                }
            }
        }
    }
    assert!(compared > 300, "{compared}");
}

/// What the vendor's tool printed, within the text of somebody who asks about it.
#[test]
fn a_pasted_report_is_a_recording_as_far_as_it_goes() {
    let dir = folder("analyze-pasted");
    let text = "My kernel is slow, this is what I get on an MI210:\n```\n\
        0. Top Stats\n0.1 Top Kernels\n\
        ╒════╤═══════════════╤═════════╤═══════════╤════════════╤══════════════╤════════╕\n\
        │    │ Kernel_Name   │   Count │   Sum(ns) │   Mean(ns) │   Median(ns) │    Pct │\n\
        ╞════╪═══════════════╪═════════╪═══════════╪════════════╪══════════════╪════════╡\n\
        │  0 │ slow(float*)  │    4.00 │ 400000.00 │  100000.00 │    100000.00 │ 100.00 │\n\
        ╘════╧═══════════════╧═════════╧═══════════╧════════════╧══════════════╧════════╛\n\
        2. System Speed-of-Light\n2.1 Speed-of-Light\n\
        ╒═══════════╤═══════════════════╤══════════╤═════════╤══════════╤═══════════════╕\n\
        │ Metric_ID │ Metric            │      Avg │ Unit    │     Peak │   Pct of Peak │\n\
        ╞═══════════╪═══════════════════╪══════════╪═════════╪══════════╪═══════════════╡\n\
        │ 2.1.8     │ Active CUs        │   104.00 │ Cus     │   104.00 │        100.00 │\n\
        ├───────────┼───────────────────┼──────────┼─────────┼──────────┼───────────────┤\n\
        │ 2.1.22    │ L2-Fabric Read BW │  1100.00 │ Gb/s    │  1638.40 │         67.14 │\n\
        ├───────────┼───────────────────┼──────────┼─────────┼──────────┼───────────────┤\n\
        │ 2.1.23    │ L2-Fabric Write BW│   300.00 │ Gb/s    │  1638.40 │         18.31 │\n\
        ╘═══════════╧═══════════════════╧══════════╧═════════╧══════════╧═══════════════╛\n```\n";
    let path = dir.join("question.md").display().to_string();
    std::fs::write(&path, text).unwrap();
    for words in [&["analyze", &path][..], &["analyze", "-p", &path]] {
        let report: serde_json::Value =
            serde_json::from_str(&good(&[words, &["--format", "json"]].concat())).unwrap();
        assert_eq!(report["inputs"][0]["target"], "gfx90a", "{report}");
        let text = report.to_string();
        assert!(text.contains("text of rocprof-compute analyze") && text.contains("1400"), "{text}");
    }
    let text = good(&["guide", &path]);
    assert!(text.contains("HBM") && text.contains("1400 GB/s"), "{text}");
    let refused = rockhound(&["trace", &path]);
    assert!(refused.code == 1 && refused.stderr.contains("rockhound analyze"), "{}", refused.stderr);
    // The same of two kernels is a verdict on neither.
    let row = "│  0 │ slow(float*)  │    4.00 │ 400000.00 │  100000.00 │    100000.00 │ 100.00 │\n";
    let two = format!("{row}{}", row.replace("slow", "fast"));
    std::fs::write(&path, std::fs::read_to_string(&path).unwrap().replace(row, &two)).unwrap();
    let text = good(&["analyze", &path]);
    assert!(text.contains("what stops it cannot be said") && !text.contains("bound by"), "{text}");
}
