//! `export` and `accuracy`: recordings for other tools and other people.

use crate::run::{folder, golden, good, rockhound};
use crate::schema::Schema;
use std::path::Path;

/// A recording of a GPU and an emulated one of the same program: `a` agrees, `b` does not.
fn pair(dir: &Path) -> [String; 2] {
    let recording = |name: &str, facts: &str, waves: u32, marks: bool| {
        let folder = dir.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let counters = format!(
            "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES,TCC_HIT_sum,{}\n\
             0,1,64,64,secret_a(int),100,{},4,50,1\n1,1,128,64,secret_b(int),900,1500,{waves},7,2\n",
            if marks { "SQ_WAIT_ANY" } else { "SQ_HOT" },
            if marks { 220 } else { 200 },
        );
        std::fs::write(folder.join("pmc_perf.csv"), counters).unwrap();
        std::fs::write(folder.join("sysinfo.csv"), facts).unwrap();
        if marks {
            let marks = "Quantity,Mark,Error_Percent\nSQ_WAVES,exact,\nTCC_HIT_sum,modelled,3\n";
            std::fs::write(folder.join("pmc_marks.csv"), marks).unwrap();
        }
        folder.display().to_string()
    };
    let gpu =
        "gpu_arch,gpu_model,hostname,command,rocm_version\ngfx942,MI300X,secret-host,./secret-app,7.0.0\n";
    let emulated = "gpu_arch,gpu_model,emulated_by,command\ngfx942,MI300X,rockhound,./secret-app\n";
    [recording("gpu", gpu, 8, false), recording("emulated", emulated, 9, true)]
}

#[test]
fn agreement_is_counted_and_nothing_secret_is_written() {
    let dir = folder("accuracy");
    let [gpu, emulated] = pair(&dir);
    let file = dir.join("sent.json").display().to_string();
    let ran = rockhound(&["accuracy", &gpu, &emulated, "-o", &file]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    golden("agreement", &ran.stdout);
    let sent = std::fs::read_to_string(&file).unwrap();
    assert!(!sent.contains("secret"), "{sent}");
    let json: serde_json::Value = serde_json::from_str(&sent).unwrap();
    assert_eq!(json["schema"], "rockhound.accuracy/2");
    assert_eq!(Schema::of("accuracy-2").problems(&json), Vec::<String>::new());
    assert_eq!(json["gpu"]["rocm_version"], "7.0.0");
    let time = &json["kernels"][0]["quantities"][0];
    assert_eq!((&time["name"], &time["verdict"]), (&"time".into(), &"modelled".into()));
    assert_eq!(
        (time["error_percent"].as_f64(), &time["measured"]),
        (Some(20.0), &serde_json::json!([100.0]))
    );
    assert_eq!(json["kernels"][1]["quantities"][1]["verdict"], "not equal");
    assert_eq!(json["only_measured"], serde_json::json!(["SQ_HOT"]));
    // The emulated one beside it is found by its command; names are written when asked for.
    let ran = rockhound(&["accuracy", &gpu, "-o", &file, "--kernel-names", "--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("secret_a(int)") && !ran.stdout.contains("secret-"), "{}", ran.stdout);
    for args in [&[&emulated[..], &gpu][..], &[&gpu, &gpu], &[&gpu, &emulated, "-k", "nobody"]] {
        let ran = rockhound(&[&["accuracy"], args].concat());
        assert_eq!(ran.code, 64, "{args:?}: {}", ran.stderr);
        ran.golden(&args.join(" "));
    }
    std::fs::remove_dir_all(&emulated).unwrap();
    let ran = rockhound(&["accuracy", &gpu]);
    ran.golden("no emulated recording");
}

#[test]
fn every_format_that_is_exported_gives_the_same_report() {
    let Some(shared) = testkit::shared("workloads/vcopy/MI300X_A1_rocpd") else { return };
    let dir = folder("export");
    let own = shared.display().to_string();
    let numbers = |path: &str| {
        let csv = rockhound(&[
            "analyze", "-p", path, "--arch", "mi300x", "-b", "0.1", "0.2", "2.1", "10.1", "17.1", "--format",
            "csv",
        ])
        .stdout;
        // A level is divided by the time of the pass it was read in, which these formats do not keep.
        let lines = csv.lines().filter(|line| !line.contains("wave.occupancy"));
        let lines = lines.map(|line| line.split_once(',').map_or(line, |it| it.1).to_owned());
        lines.collect::<Vec<_>>()
    };
    let expected = numbers(&own);
    assert!(expected.len() > 20, "{expected:?}");
    for (to, name) in [("rocprof-compute", "long"), ("csv", "wide"), ("rocpd", "db"), ("rocpd", "one.db")] {
        let output = dir.join(name).display().to_string();
        let ran = rockhound(&["export", &own, "--to", to, "-o", &output]);
        assert_eq!(ran.code, 0, "{to}: {}", ran.stderr);
        // A database alone does not say how many scalar caches the GPU has.
        let known = |lines: &[String]| -> Vec<String> {
            let of_scalar = |line: &str| line.contains("sl1d.bandwidth") || line.contains("l1i.bandwidth");
            let is = |line: &&String| name != "one.db" || !of_scalar(line);
            lines.iter().filter(is).cloned().collect()
        };
        assert_eq!(known(&numbers(&output)), known(&expected), "{to}");
        let ran = rockhound(&["export", &own, "--to", to, "-o", &output]);
        assert_eq!(ran.code, 64, "{to}");
        ran.golden(&format!("{name} twice"));
    }
    // The timeline of the exported recording equals the recording's.
    let text = good(&["trace", &dir.join("one.db").display().to_string()]);
    assert!(text.contains("vecCopy"), "{text}");
    let python = "import sqlite3,sys; d=sqlite3.connect(sys.argv[1]); print(d.execute('pragma integrity_check').fetchone()[0], d.execute('select count(*) from kernels').fetchone()[0])";
    if testkit::needs(&["python3"]) {
        let ran = std::process::Command::new("python3")
            .args(["-c", python])
            .arg(dir.join("one.db"))
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&ran.stdout), "ok 3\n", "{ran:?}");
    }
}

#[test]
fn emulated_recordings_say_so_in_every_format() {
    let dir = folder("export-emulated");
    let [_, own] = pair(&dir);
    for (to, name) in [("rocprof-compute", "long"), ("csv", "wide"), ("rocpd", "db")] {
        let output = dir.join(name).display().to_string();
        let ran = rockhound(&["export", &own, "--to", to, "-o", &output]);
        assert_eq!(ran.code, 0, "{to}: {}", ran.stderr);
        let text = rockhound(&["analyze", "-p", &output, "-b", "0.1"]).stdout;
        assert!(text.contains("emulated"), "{to}: {text}");
    }
}
