//! Triton's IR in `inspect`, and `tile`.

use crate::run::{fixture, golden, good, rockhound, root};
use crate::schema::Schema;
use serde_json::Value;

fn file(name: &str) -> String {
    fixture(&format!("rules/{name}.ttgir"))
}

#[test]
fn ir_alone_is_a_card() {
    // Facts that only code has are not requested.
    golden("card", &good(&["inspect", "fixtures/rules/til007/trigger.ttgir", "--width", "120"]));
}

#[test]
fn ir_in_json_follows_the_schema() {
    let document = good(&["inspect", "--format", "json", &file("til002/trigger"), &file("lds004/trigger")]);
    let document: Value = serde_json::from_str(&document).expect("JSON");
    assert_eq!(Schema::of("inspect-1").problems(&document), Vec::<String>::new());
    let triton = &document["kernels"][0]["triton"];
    assert_eq!(triton["lds"]["bytes"], 8192);
    assert_eq!(triton["loops"][0]["prefetch"], serde_json::json!([1, 1]));
}

#[test]
fn ir_that_cannot_be_read_is_refused_with_its_line() {
    let scratch = testkit::Scratch::new("ir");
    let whole = std::fs::read_to_string(file("til002/trigger")).expect("the fixture");
    for (name, text) in [
        ("cut.ttgir", whole[..whole.len() / 2].to_owned()),
        ("cuda.ttgir", whole.replace("hip:gfx942", "cuda:90")),
        ("empty.ttgir", "module {\n  tt.func private @f() {\n    tt.return\n  }\n}\n".to_owned()),
    ] {
        let path = scratch.path(name);
        std::fs::write(&path, text).expect("a file");
        let ran = rockhound(&["inspect", &path.to_string_lossy()]);
        assert_eq!(ran.code, 1, "{name}");
        ran.golden(name);
    }
}

#[test]
fn one_pass_of_a_log_is_chosen() {
    let scratch = testkit::Scratch::new("passes");
    let text = std::fs::read_to_string(file("mem009/trigger")).expect("the fixture");
    let header = |name: &str| {
        format!("// -----// IR Dump Before {name} ({name}-pass) ('builtin.module' operation) //----- //\n")
    };
    let log = format!("noise\n{}{text}\n{}{text}\n", header("First"), header("Second"));
    let path = scratch.path("dump.log");
    std::fs::write(&path, log).expect("a file");
    let path = path.to_string_lossy();
    assert!(good(&["inspect", &path]).contains("before Second (line "));
    assert!(good(&["inspect", &path, "--pass", "first"]).contains("before First (line "));
    assert!(good(&["inspect", &path, "--pass", "all"]).contains("2 kernels"));
    let ran = rockhound(&["inspect", &path, "--pass", "third"]);
    assert_eq!(ran.code, 1);
    ran.golden("--pass third");
}

#[test]
fn tiles_stand_side_by_side() {
    let args = ["tile", "--mnk", "4096,4096,4096", "--tile", "128x64x64", "--width", "100"];
    let text = good(&args);
    for part in ["304 CUs, 8 XCDs", "96.2 %", "mean error 5.7 %"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let document = good(&[&args[..5], &["--format", "json"]].concat());
    let document: Value = serde_json::from_str(&document).expect("JSON");
    let tile = &document["problems"][0]["tiles"][0];
    assert_eq!(
        (&document["schema"], &tile["workgroups"], &tile["rounds"]),
        (&"rockhound.tile/3".into(), &2048.into(), &7.into())
    );
    // A name of an MX type, and scales that are asked for.
    for (more, scaled) in [(["--dtype", "mxfp8"], true), (["--dtype", "fp8"], false)] {
        let args = ["tile", "--gpu", "mi355x", "--mnk", "4096,4096,4096"];
        let text = good(&[&args[..], &more].concat());
        assert_eq!(text.contains("scales: MX"), scaled, "{text}");
        let text = good(&[&args[..], &more, &["--scales", "blocks"]].concat());
        assert!(text.contains("scales: ") && !text.contains("scales: MX"), "{text}");
    }
    // Nothing is known of this type on this GPU: ranges, and no tile is called better.
    let args = ["tile", "--gpu", "mi355x", "--dtype", "f6", "--mnk", "4096,4096,4096"];
    let text = good(&args);
    assert!(text.contains("largest first") && text.contains(" to ") && !text.contains("TIL"), "{text}");
    let document: Value =
        serde_json::from_str(&good(&[&args[..], &["--format", "json"]].concat())).expect("JSON");
    let time = &document["problems"][0]["tiles"][0]["time"];
    let range = &time["range_us"];
    assert!(range[0].as_f64() < range[1].as_f64() && time.get("total_us").is_none(), "{time}");
    let csv = good(&["tile", "--mnk", "64,256,7168", "--sweep", "1,2,3", "--format", "csv", "--top", "0"]);
    assert_eq!(csv.lines().count(), 4, "{csv}");
    let columns: Vec<usize> = csv.lines().map(|it| it.split(',').count()).collect();
    assert!(columns.windows(2).all(|pair| pair[0] == pair[1]), "{csv}");
}

#[test]
fn sweeps_fit_80_columns() {
    for more in [&[][..], &["--tile", "128x128x64"], &["--tile", "128x256x64", "--split-k", "4"]] {
        let args = ["tile", "--mnk", "1,151936,17408", "--sweep", "1,128,8192,16384", "--width", "80"];
        let text = good(&[&args[..], more].concat());
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        // Columns have room between them.
        assert!(text.split("matrix units").skip(1).all(|rest| rest.starts_with([' ', '\n'])), "{text}");
    }
}

#[test]
fn tile_refuses_what_is_no_product() {
    for args in [
        &["--mnk", "4096,4096"][..],
        &["--mnk", "0,1,1"],
        &["--mnk", "1,1,1", "--tile", "128x128"],
        &["--mnk", "1,1,1", "--dtype", "f12"],
        &["--mnk", "1,1,1", "--gpu", "h100"],
        &["--mnk", "1,1,1", "--sweep", "0"],
    ] {
        let ran = rockhound(&[&["tile"], args].concat());
        assert_eq!(ran.code, 64, "{args:?}");
        ran.golden(&args.join(" "));
    }
}

#[test]
fn documents_of_both_are_there() {
    for name in ["triton", "tile"] {
        assert!(root().join(format!("docs/{name}.md")).is_file());
    }
}
