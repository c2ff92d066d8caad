//! `rockhound profile` and `rockhound launch-template` on the committed example.

use crate::run::{folder, golden, good, rockhound, root};
use crate::schema::Schema;
use std::path::Path;

const EXAMPLE: &str = "examples/vector_copy/LAUNCH.toml";

/// Compares errors, and what follows them, with a section of the golden file.
fn messages(section: &str, ran: &crate::run::Ran) {
    let starts = ["error: ", "failed: ", "hint: ", "  "];
    let lines = ran.stderr.lines().filter(|line| starts.iter().any(|it| line.starts_with(it)));
    golden(section, &lines.collect::<Vec<_>>().join("\n"));
}

/// Writes a launch file of the example with some text replaced, and runs it.
fn changed(folder: &Path, from: &str, to: &str) -> crate::run::Ran {
    changed_with(folder, &[(from, to)], &[])
}

/// The same with more options.
pub(crate) fn changed_with(folder: &Path, changes: &[(&str, &str)], options: &[&str]) -> crate::run::Ran {
    let text = std::fs::read_to_string(root().join(EXAMPLE)).unwrap();
    let code = root().join("examples/vector_copy/vector_copy.gfx942.hsaco").display().to_string();
    let mut text = text.replace("vector_copy.gfx942.hsaco", &code);
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let file = folder.join("LAUNCH.toml");
    std::fs::write(&file, text).unwrap();
    let (file, folder) = (file.display().to_string(), folder.display().to_string());
    rockhound(&[&["profile", &file, "-o", &folder, "--overwrite"][..], options].concat())
}

#[test]
fn the_example_leaves_a_recording_and_a_report() {
    let recording = folder("profile");
    let ran = rockhound(&["profile", EXAMPLE, "-o", &recording.display().to_string()]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("`c`: all 1048576 "), "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("recording: {}", recording.display())), "{}", ran.stderr);
    // The short report: findings, top kernels, speed of light; everything else on request.
    for part in ["CTR001", "0.1  Top Kernels", "2.1  System Speed-of-Light"] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    for part in ["Roofline", "Memory chart", "\n7.1", "CTR005"] {
        assert!(!ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    for line in ran.stdout.lines().chain(ran.stderr.lines().filter(|line| !line.contains('/'))) {
        assert!(line.chars().count() <= 100, "{line}");
    }
    let text = good(&["analyze", "-p", &recording.display().to_string(), "-b", "16.3"]);
    let row = text.lines().find(|line| line.contains("Cache Accesses")).unwrap();
    assert!(row.contains("524,288"), "{row}");
    let instructions = std::fs::read_to_string(recording.join("pmc_instructions.csv")).unwrap();
    assert!(instructions.contains("global_store_dwordx2"), "{instructions}");
    let again = rockhound(&["analyze", "-p", &recording.display().to_string(), "-b", "7.1"]);
    assert!(again.stdout.contains("16,384"), "{}", again.stdout);
}

#[test]
fn what_does_not_fit_is_said() {
    // (text of the launch file, its replacement, exit code)
    let cases = [
        ("expected = \"a\"", "expected = \"2 * a\"", 2),
        ("expected = \"a\"", "expected = \"b\"", 1),
        ("gpu = \"mi300x\"", "gpu = \"mi999\"", 64),
        ("gpu = \"mi300x\"", "gpu = \"mi210\"", 1),
        ("kernel = \"vecCopy\"", "kernel = \"other\"", 1),
        ("workgroup = [256]", "workgroup = [2048]", 1),
        ("workgroup = [256]", "workgroup = [0]", 1),
        ("workgroup = [256]", "workgroup = [256]\ndynamic_lds = 70000", 1),
        ("workgroup = [256]", "workgroups = [256]", 1),
        ("type = \"i32\"", "type = \"i64\"", 1),
        ("shape = [1048576]", "shape = [1048576]\nvalue = 1", 1),
        ("shape = [1048576]", "shape = [10]", 1),
        ("grid = [1048576]", "grid = [1048576]\nrepeat = 0", 0),
    ];
    for (number, (from, to, code)) in cases.into_iter().enumerate() {
        let ran = changed(&folder(&format!("profile_bad_{number}")), from, to);
        assert_eq!(ran.code, code, "{to}: {}", ran.stderr);
        messages(to, &ran);
    }
}

#[test]
fn triage_reads_the_fault_of_a_launch() {
    let dir = folder("profile_fault");
    let log = dir.join("fault.log");
    std::fs::write(&log, changed(&dir, "shape = [1048576]", "shape = [10]").stderr).unwrap();
    let told = good(&["triage", &log.display().to_string()]);
    let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["kernel vecCopy(", "stopped: load of 8 bytes at ", "global_load_dwordx2", "wave 0, lane 10"]
    {
        assert!(words.contains(part), "{part}: {told}");
    }
    assert!(!told.contains("HSA_TOOLS_LIB"), "{told}");
}

/// The part of a report that is one table.
fn table<'a>(text: &'a str, id: &str) -> &'a str {
    let start = text.find(&format!("\n{id}  ")).unwrap_or_else(|| panic!("no table {id}: {text}"));
    let rest = &text[start + 1..];
    rest.find("\n\n").map_or(rest, |end| &rest[..end])
}

#[test]
fn limits_and_changes_have_a_price() {
    let recording = folder("breakdown").display().to_string();
    let changes = ["--what-if", "waves_per_eu=1", "--what-if", "gpu.hbm_bandwidth=53e12,gpu=mi300a"];
    let run = |threads: &str| {
        let mut words =
            vec!["profile", "--breakdown", EXAMPLE, "-o", &recording, "--overwrite", "--threads", threads];
        words.extend(changes);
        let ran = rockhound(&words);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        (ran.stdout, std::fs::read_to_string(Path::new(&recording).join("pmc_predictions.csv")).unwrap())
    };
    let (text, file) = run("1");
    assert_eq!(run("3").1, file, "predictions do not depend on threads");
    let (limits, changed) = (table(&text, "0.3"), table(&text, "0.4"));
    for part in ["What Each Limit Is Worth", "vecCopy", "infinite memory", "less than 1 %"] {
        assert!(limits.contains(part), "{part}: {limits}");
    }
    for part in ["What If", "waves_per_eu=1", "gpu.hbm_bandwidth=53e12,gpu=mi300a"] {
        assert!(changed.contains(part), "{part}: {changed}");
    }
    assert!(text.contains("CTR001 "), "{text}");
    let told = good(&["guide", &recording]);
    assert!(told.contains("HBM bandwidth") && !told.contains("--breakdown"), "{told}");
    // With a slow engine it is not what a roof shows.
    let slow = folder("breakdown_slow").display().to_string();
    let ran = rockhound(&["profile", "--breakdown", EXAMPLE, "--gpu", "mi300x@500", "-o", &slow]);
    // The verdict says it, and the finding below has its numbers only.
    let told = good(&["guide", &slow, "--format", "json"]);
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    let headline = told["verdict"]["headline"].as_str().unwrap();
    golden("a slow engine", headline);
    assert_eq!(ran.stdout.matches(headline).count(), 1, "{}", ran.stdout);
    assert!(ran.stdout.contains("CTR001  "), "{}", ran.stdout);
    assert!(limits.lines().chain(changed.lines()).all(|line| line.chars().count() <= 100), "{text}");
    // A copy has no LDS, no barriers and few registers.
    let lines: Vec<Vec<&str>> = file.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines.len(), 1 + 12 + 2, "{file}");
    let time = |name: &str| {
        let line = file.lines().find(|line| line.contains(name)).unwrap();
        line.rsplit(',').nth(1).unwrap().parse::<u64>().unwrap()
    };
    for name in ["lds-conflicts", "lds-size", "barriers", "registers", "mfma"] {
        assert_eq!(time(&format!("\"{name}\"")), time("\"mfma\""), "{name}: {file}");
    }
    assert!(time("\"hbm\"") < time("\"mfma\""), "{file}");
    assert!(time("\"waves_per_eu=1\"") > time("\"mfma\""), "{file}");
    let json = good(&["analyze", "-p", &recording, "-b", "0.3", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["tables"][0]["id"], "0.3");
    let rows = json["tables"][0]["rows"].as_array().unwrap();
    // Programs get every limit by its name; only text folds.
    assert_eq!(rows.len(), 1 + 12, "{json}");
    for row in &rows[1..] {
        assert!(file.contains(&format!("limit,{},{}", row["metric"], row["label"])), "{row}");
        assert!(
            row["cells"][0].is_f64() && row["cells"][3].as_str().unwrap().starts_with("modelled"),
            "{row}"
        );
    }
    // A recording without predictions in the same folder has none of the last one.
    let again = rockhound(&["profile", EXAMPLE, "-o", &recording, "--overwrite"]);
    assert!(!again.stdout.contains("What Each Limit"), "{}", again.stdout);
    assert!(good(&["guide", &recording]).contains(" --breakdown"));
    // What is recorded next is recorded on the same GPU.
    let other = rockhound(&["profile", EXAMPLE, "--gpu", "mi300a", "-o", &recording, "--overwrite"]);
    assert_eq!(other.code, 0, "{}", other.stderr);
    assert!(good(&["guide", &recording]).contains(" --breakdown --gpu mi300a examples/"));
}

#[test]
fn predictions_of_kept_events_are_those_of_the_run() {
    let (kept, run) = (folder("kept"), folder("kept_run"));
    let (of_kept, of_run) = (kept.display().to_string(), run.display().to_string());
    let profile = |words: &[&str]| {
        let ran = rockhound(&[&["profile", EXAMPLE][..], words].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    };
    let file = |folder: &Path| std::fs::read_to_string(folder.join("pmc_predictions.csv")).unwrap();
    profile(&["--keep-events", "-o", &of_kept]);
    profile(&["--breakdown", "--what-if", "waves_per_eu=1", "-o", &of_run]);
    let text = good(&["breakdown", &of_kept, "--limits", "--what-if", "waves_per_eu=1"]);
    assert_eq!(file(&kept), file(&run));
    assert!(table(&text, "0.3").contains("infinite memory"), "{text}");
    assert!(table(&text, "0.4").contains("waves_per_eu=1"), "{text}");
    // Another prediction comes beside those that are there.
    good(&["breakdown", &of_kept, "--what-if", "lds=1024", "--threads", "1", "--format", "json"]);
    assert_eq!(file(&kept).lines().count(), file(&run).lines().count() + 1);

    // What cannot be used is said, and loses nothing.
    let before = file(&kept);
    let events = kept.join("events_0.zst");
    let bytes = std::fs::read(&events).unwrap();
    let older = zstd::encode_all(b"rockhound.ev/1\r\nand more".as_slice(), 1).unwrap();
    for (section, bytes) in [
        ("events of another version", &older[..]),
        ("events cut off", &bytes[..bytes.len() / 2]),
        ("events cut off", &bytes[..bytes.len() / 100]),
        ("events cut off", &bytes[..10]),
        ("events cut off", &bytes[..2]),
        ("no events", &[]),
        ("other data", b"no zstd at all, and long enough".as_slice()),
    ] {
        std::fs::write(&events, bytes).unwrap();
        let ran = rockhound(&["breakdown", &of_kept]);
        assert_eq!(ran.code, 1, "{}", ran.stderr);
        messages(section, &ran);
        assert_eq!(file(&kept), before);
    }
    let ran = rockhound(&["breakdown", &of_run]);
    assert_eq!(ran.code, 64, "{}", ran.stderr);
    messages("events not kept", &ran);
    // A recording made anew in the same folder keeps nothing of the old one, which may be the hardware's.
    let level = Path::new(&of_kept).join("SQ_IFETCH_LEVEL.csv");
    std::fs::copy(Path::new(&of_kept).join("SQ_LEVEL_WAVES.csv"), &level).unwrap();
    profile(&["-o", &of_kept, "--overwrite"]);
    assert!(!events.exists() && !level.exists());
}

#[test]
fn predictions_of_one_dispatch_are_those_in_the_whole() {
    let kept = folder("kept_several");
    let several = [("grid = [1048576]", "grid = [1048576]\nrepeat = 3"), ("1048576", "262144")];
    let ran = changed_with(&kept, &several, &["--keep-events"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let dir = kept.display().to_string();
    assert!(good(&["guide", &dir]).contains(&format!("rockhound breakdown {dir}\n")));
    let lines = |dispatch: &str| -> Vec<String> {
        let file = std::fs::read_to_string(kept.join("pmc_predictions.csv")).unwrap();
        file.lines().filter(|line| line.starts_with(dispatch)).map(str::to_owned).collect()
    };
    let change = ["--what-if", "gpu=mi300x", "--limits"];
    good(&[&["breakdown", &dir][..], &change].concat());
    let whole = lines("1,");
    std::fs::remove_file(kept.join("pmc_predictions.csv")).unwrap();
    let ran = rockhound(&[&["breakdown", &dir, "-d", "1"][..], &change].concat());
    assert!(!ran.stderr.contains("caches"), "{}", ran.stderr);
    assert_eq!((lines("1,"), lines("0,").len()), (whole, 0));
    // The same GPU is no change.
    let row = table(&ran.stdout, "0.4").lines().find(|line| line.contains("gpu=mi300x")).unwrap();
    assert!(row.split_whitespace().nth(3) == Some("0"), "{row}");
    // Beside the time of all, it is said of how many the prediction is.
    let text = good(&["analyze", "-p", &dir, "-b", "0.3", "0.4"]);
    assert!(table(&text, "0.4").contains("gpu=mi300x (1 of 3 dispatches)"), "{text}");
    assert!(table(&text, "0.3").contains("(1 of 3 dispatches)"), "{text}");
    // Without one before the caches are others.
    std::fs::remove_file(kept.join("events_0.zst")).unwrap();
    let ran = rockhound(&[&["breakdown", &dir, "-k", "vecCopy", "-d", "1"][..], &change].concat());
    assert!(ran.stderr.contains("caches") && ran.stderr.contains(": 1 dispatch"), "{}", ran.stderr);
    let ran = rockhound(&["breakdown", &dir, "-k", "gemm"]);
    assert_eq!(ran.code, 64, "{}", ran.stderr);
    messages("breakdown -k gemm", &ran);
}

#[test]
fn what_cannot_run_is_not_predicted() {
    let kept = folder("kept_large");
    let options = ["--keep-events", "--what-if", "waves_per_eu=3", "--what-if", "waves_per_eu=4"];
    let ran = changed_with(&kept, &[("workgroup = [256]", "workgroup = [1024]")], &options);
    assert!(ran.code == 0 && ran.stderr.contains("waves_per_eu=3: "), "{}", ran.stderr);
    let file = std::fs::read_to_string(kept.join("pmc_predictions.csv")).unwrap();
    assert!(file.contains("waves_per_eu=4") && !file.contains("waves_per_eu=3"), "{file}");
    let dir = kept.display().to_string();
    for (change, code) in [("waves_per_eu=3", 64), ("vgpr=129", 64), ("vgpr=0", 64), ("VGPR = 128", 0)] {
        let ran = rockhound(&["breakdown", &dir, "--what-if", change]);
        assert_eq!(ran.code, code, "{change}: {}", ran.stderr);
        messages(&format!("--what-if {change}"), &ran);
    }
    let file = std::fs::read_to_string(kept.join("pmc_predictions.csv")).unwrap();
    assert!(file.contains("\"vgpr=128\""), "{file}");
}

#[test]
fn values_say_how_far_to_trust_them() {
    let recording = folder("marks").display().to_string();
    let ran = rockhound(&["profile", EXAMPLE, "-o", &recording]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let text = good(&["analyze", "-p", &recording, "-b", "10.1", "2.1", "17.1"]);
    let row = |label: &str| {
        let of_row = |line: &&str| line.contains(label);
        text.lines().find(of_row).unwrap_or_else(|| panic!("{label}: {text}")).trim_end().to_string()
    };
    for (label, trust) in [
        ("VALU Active Threads", "exact"),
        ("L2 Cache Hit Rate", "modelled ±0.0 %"),
        ("VALU IOPs", " %"),
        ("L1I Fetch Latency", "n/a"),
        // Without an access to the LDS there is nothing to trust.
        (" 2.1.18 ", "n/a"),
    ] {
        assert!(row(label).ends_with(trust), "{}", row(label));
    }
    // A narrow terminal has the error alone.
    let narrow = good(&["analyze", "-p", &recording, "-b", "2.1", "--width", "80"]);
    for (label, trust) in [
        ("VALU Active Threads", " exact"),
        ("L2 Cache Hit Rate", " ±0.0 %"),
        // One of its counts is 0, in the model as on hardware.
        ("vL1D Cache Hit Rate", " ±0.0 %"),
    ] {
        assert!(narrow.lines().any(|it| it.contains(label) && it.trim_end().ends_with(trust)), "{narrow}");
    }
    assert!(narrow.contains("±? was") && !narrow.contains("modelled ±0"), "{narrow}");
    let json = good(&["guide", &recording, "--base", &recording, "--format", "json"]);
    let guide: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(Schema::of("guide-1").problems(&guide), Vec::<String>::new());
    assert!(guide["verdict"]["because"].as_str().is_some_and(|it| it.contains('≈')), "{json}");
    for trust in ["/kernels/0/time_trust", "/kernels/0/roof_trust", "/changes/kernels/0/before_trust"] {
        assert!(guide.pointer(trust).is_some(), "{trust}: {json}");
    }
    let json = good(&["analyze", "-p", &recording, "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(Schema::of("analyze-2").problems(&report), Vec::<String>::new());
    let mut checked = 0;
    for table in report["tables"].as_array().unwrap() {
        let Some(trust) = table["columns"].as_array().unwrap().iter().position(|c| c["kind"] == "trust")
        else {
            continue;
        };
        for row in table["rows"].as_array().unwrap() {
            let cells = row["cells"].as_array().unwrap();
            let numbers = || cells[..trust].iter().filter(|it| !it.is_string());
            // Rows of channels have several values, each of a counter of its own.
            let all =
                |test: fn(&serde_json::Value) -> bool| numbers().take(1).all(test) || numbers().all(test);
            match &cells[trust] {
                serde_json::Value::String(_) => assert!(!all(|it| it["missing"].is_string()), "{row}"),
                reason => {
                    assert!(reason["missing"].is_string() && all(|it| it["missing"].is_string()), "{row}")
                }
            }
            checked += 1;
        }
    }
    assert!(checked > 300, "{checked}");
    // What is in flight over time is, summed, the level that the counter sums.
    let kernel = &report["occupancy_over_time"]["kernels"][0];
    let waves: Vec<f64> = kernel["waves"].as_array().unwrap().iter().map(|it| it.as_f64().unwrap()).collect();
    let mean = waves.iter().sum::<f64>() / waves.len() as f64;
    // Numbers read back may differ in their last bit.
    let said = kernel["mean_waves"].as_f64().unwrap();
    assert!(waves.len() == 64 && (said - mean).abs() < 1e-9 * mean, "{said} {mean}");
    let level = good(&["analyze", "-p", &recording, "--format", "json", "-b", "wave.occupancy"]);
    let level: serde_json::Value = serde_json::from_str(&level).unwrap();
    let rows = level["tables"].as_array().unwrap().iter().flat_map(|it| it["rows"].as_array().unwrap());
    let row = rows.into_iter().find(|it| it["metric"] == "wave.occupancy").unwrap();
    let level = row["cells"][0].as_f64().unwrap();
    assert!((mean / level - 1.0).abs() < 1e-3, "{mean} {level}");
    let plot = good(&["analyze", "-p", &recording, "-b", "0.5"]);
    assert!(plot.contains(" 0┤"), "{plot}");
    assert!(!good(&["analyze", "-p", "examples/heat3d", "-b", "0.5"]).contains(" 0┤"));
    let link = &report["memory_chart"]["links"][6];
    assert!(
        link["requests"].is_number() && link["requests_trust"].as_str().unwrap().starts_with("modelled"),
        "{link}"
    );
    assert_eq!(report["roofline"]["kernels"][0]["flops_trust"], "exact");
    assert!(!ran.stdout.contains("XCDs standing") && !ran.stdout.contains("followed"), "{}", ran.stdout);
    assert!(ran.stdout.contains("modelled ±"), "{}", ran.stdout);
    // A measurement has no such column.
    assert!(!good(&["analyze", "-p", "examples/heat3d", "-b", "2.1"]).contains("trust"));
    // A sample is marked as such.
    let words = ["--sample-workgroups", "8", "--no-results", "-o", &recording, "--overwrite"];
    let ran = rockhound(&[&["profile", EXAMPLE][..], &words].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let text = good(&["analyze", "-p", &recording, "-b", "10.1"]);
    assert!(text.contains("sampled") && !text.contains("exact"), "{text}");
}

#[test]
fn changes_that_cannot_be_predicted_are_refused_before_anything_runs() {
    let file = folder("what_if").display().to_string();
    for words in [
        &["--what-if", "vgprs=96"][..],
        &["--what-if", "gpu=mi210"],
        &["--what-if", "vgpr"],
        &["--breakdown", "--sample-workgroups", "8"],
        &["--what-if", "vgpr=96", "--check", "races"],
    ] {
        let ran = rockhound(&[&["profile", EXAMPLE, "-o", &file], words].concat());
        assert_eq!(ran.code, 64, "{words:?}: {}", ran.stderr);
        ran.golden(&words.join(" "));
        assert!(ran.stdout.is_empty() && !ran.stderr.contains("emulating"), "{words:?}: {}", ran.stderr);
    }
}

#[test]
fn a_template_lists_the_arguments() {
    let ran = rockhound(&["launch-template", "examples/vector_copy/vector_copy.gfx942.hsaco"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(toml::from_str::<toml::Table>(&ran.stdout).is_ok(), "{}", ran.stdout);
    assert_eq!(ran.stdout.matches("[[argument]]").count(), 3);
    assert_eq!(ran.stdout.matches("type = \"f64\"").count(), 2);
    assert!(ran.stdout.contains("type = \"i32\"\nvalue = 1"), "{}", ran.stdout);
}

/// A number of a line of a listing in JSON.
fn number(line: &serde_json::Value, field: &str) -> f64 {
    line["run"][field].as_f64().unwrap_or_else(|| panic!("{field} of {line}"))
}

#[test]
fn a_recording_stands_beside_the_listing() {
    let recording = folder("profile_listing");
    let path = recording.display().to_string();
    let ran = rockhound(&["profile", EXAMPLE, "-o", &path]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);

    // 1,048,576 work-items are 16,384 waves; 64 lanes of 8 bytes are four lines of 128 bytes.
    let text = crate::run::good(&["inspect", "--asm", "--workload", &path, "--width", "80"]);
    assert!(text.contains("\n  311,296 instructions "), "{text}");
    assert!(text.contains("\n  address   count  lanes  lines  stall  loop\n"), "{text}");
    let load = text.lines().find(|line| line.contains("global_load_dwordx2")).unwrap();
    assert!(load.contains("   16384     64    4.0 "), "{load}");

    let json = crate::run::good(&["inspect", "--asm", "-w", &path, "-d", "0", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let listing = &json["kernels"][0]["listing"];
    assert_eq!(listing["run"]["issued"], 311_296);
    let lines = listing["lines"].as_array().unwrap();
    assert_eq!(lines.iter().map(|line| number(line, "count")).sum::<f64>(), 311_296.0);
    assert!((lines.iter().map(|line| number(line, "share")).sum::<f64>() - 100.0).abs() < 1e-9);

    let own = "examples/vector_copy/vector_copy.gfx942.hsaco";
    let given = crate::run::good(&["inspect", "--asm", "--workload", &path, own, "--width", "80"]);
    assert_eq!(given.split_once("\n\n").unwrap().1, text.split_once("\n\n").unwrap().1);

    let other_code = recording.join("other.hsaco").display().to_string();
    let mut changed = std::fs::read(root().join(own)).unwrap();
    // The instruction at 0x1950 is global_load_dwordx2 v[2:3], v[2:3], off; its destination becomes v[0:1].
    let at =
        changed.windows(8).position(|it| it == [0x00, 0x80, 0x54, 0xdc, 0x02, 0x00, 0x7f, 0x02]).unwrap();
    changed[at + 7] = 0;
    std::fs::write(&other_code, changed).unwrap();
    let heat3d = "examples/heat3d".to_owned();
    let without = folder("profile_listing_without_code");
    std::fs::create_dir_all(&without).unwrap();
    for name in ["pmc_perf.csv", "pmc_instructions.csv", "sysinfo.csv"] {
        std::fs::copy(recording.join(name), without.join(name)).unwrap();
    }
    let without = without.display().to_string();
    let refused: [(&[&str], i32); 7] = [
        (&[&path, &other_code], 1),
        (&[&path, "examples/tiled_matmul/tiled_matmul.gfx942.hsaco"], 1),
        (&[&path, "examples/vector_copy/vector_copy.gfx90a.hsaco"], 1),
        (&[&path, "-d", "3"], 64),
        (&[&path, "--format", "csv"], 64),
        (&[&heat3d], 1),
        (&[&without], 1),
    ];
    for (args, code) in refused {
        let args = [&["inspect", "--asm", "-w"], args].concat();
        let ran = rockhound(&args);
        assert_eq!(ran.code, code, "{args:?}: {}", ran.stderr);
        ran.golden(&args.join(" "));
        assert!(ran.stderr.matches("error: ").count() == 1, "{}", ran.stderr);
    }
}

#[test]
fn mistakes_are_looked_for() {
    let recording = folder("profile_check");
    let file = recording.join("LAUNCH.toml");
    let name = file.display().to_string();
    // (kernel, what is looked for, exit code, the rule)
    for (kernel, check, code_expected, said) in [
        ("lds_dma/no_wait", "races", 2, "CHK004 "),
        ("lds_dma/barrier_only", "races", 2, "CHK001 "),
        ("lds_dma/double_buffered", "races,uninit", 0, "nothing found"),
        ("lds_race", "races", 2, "CHK001 "),
        ("lds_right", "races,uninit", 0, "nothing found"),
        ("unwritten", "uninit", 2, "CHK003 "),
        ("unwritten", "races", 0, "nothing found"),
        ("written", "uninit", 0, "nothing found"),
    ] {
        let (source, kernel) = kernel.split_once('/').unwrap_or(("checks", kernel));
        let code = root().join(format!("fixtures/checks/{source}.gfx942.hsaco")).display().to_string();
        let more = "[[argument]]\nname = \"b\"\ntype = \"u32\"\nshape = [2048]\n";
        let (shape, more) = if source == "checks" { (2048, "") } else { (8 * 2048, more) };
        let text = format!(
            "code = \"{code}\"\nkernel = \"{kernel}\"\ngpu = \"mi300x\"\ngrid = [2048]\nworkgroup = [256]\n\
             [[argument]]\nname = \"a\"\ntype = \"u32\"\nshape = [{shape}]\n{more}"
        );
        std::fs::write(&file, text).unwrap();
        let ran = rockhound(&["profile", "--check", check, &name, "--width", "160"]);
        assert_eq!(ran.code, code_expected, "{kernel}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains(said), "{kernel}: {}", ran.stdout);
        golden(&format!("--check {check} {kernel}"), &ran.stdout);
        assert_eq!(ran.stdout.contains(&format!("{source}.hip:")), code_expected == 2, "{}", ran.stdout);
    }
    let ran = rockhound(&["profile", "--check", "speed", &name]);
    assert_eq!(ran.code, 64, "{}", ran.stderr);
    let example = rockhound(&["profile", "--check", "races,uninit", EXAMPLE]);
    assert!(example.code == 0 && example.stdout.contains("nothing found"), "{}", example.stdout);
}

/// Files of a folder by name.
fn contents(folder: &Path) -> std::collections::BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
    files.map(|file| (file.file_name().into_string().unwrap(), std::fs::read(file.path()).unwrap())).collect()
}

#[test]
fn recordings_are_the_same_whatever_the_threads_and_however_often() {
    let place = folder("profile_repeated");
    let file = "examples/triton/attention/gfx942.toml";
    let record = |threads: &str| {
        let _ = std::fs::remove_dir_all(place.join("recording"));
        let output = place.join("recording").display().to_string();
        let ran = rockhound(&["profile", file, "-o", &output, "--threads", threads]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        (contents(&place.join("recording")), ran.stdout)
    };
    let first = record("1");
    assert!(
        first.0.contains_key("pmc_perf.csv") && first.0.contains_key("sysinfo.csv"),
        "{:?}",
        first.0.keys()
    );
    for run in 0..40 {
        let threads = ["2", "1", "3", "0"][run % 4];
        assert!(record(threads) == first, "run {run} with {threads} threads");
    }
}

#[test]
fn what_comes_next_is_at_the_clock_that_was_asked_for() {
    let dir = folder("clocked");
    let path = dir.display().to_string();
    let example = root().join(EXAMPLE).display().to_string();
    let ran = rockhound(&["profile", &example, "--gpu", "mi300x@1500", "-o", &path]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("2100 MHz, times at 1500 MHz"), "{}", ran.stdout);
    let guide = rockhound(&["guide", &path]);
    assert!(guide.stdout.contains(" --gpu mi300x@1500 "), "{}", guide.stdout);
}
