//! `rockhound guide` on the recording of the rules' tests, before and after changes.

use crate::run::{fixture, folder, good, rockhound, root};
use crate::schema::Schema;
use serde_json::Value;
use std::path::Path;

fn table(file: &str) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(fixture(&format!("recordings/{file}"))).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let mut fields = line.split('\t');
            (fields.next().unwrap().to_owned(), fields.next().unwrap().to_owned())
        })
        .collect()
}

/// A recording of three dispatches; `changes` of the made-up kernel's values, its times in percent.
pub(crate) fn recording(test: &str, changes: &[(&str, &str)], percent: u64) -> String {
    let dir = folder(test);
    let mut row = table("base.tsv");
    for (name, value) in changes {
        row.iter_mut().find(|(column, _)| column == name).expect(name).1 = (*value).to_owned();
    }
    let mut csv = row.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(",");
    for dispatch in 0..3u64 {
        let cell = |(name, value): &(String, String)| match name.as_str() {
            "Dispatch_ID" => dispatch.to_string(),
            // The dispatches scatter by some nanoseconds.
            "End_Timestamp" => (value.parse::<u64>().unwrap() * percent / 100 + dispatch).to_string(),
            _ => value.clone(),
        };
        csv += &format!("\n{}", row.iter().map(cell).collect::<Vec<_>>().join(","));
    }
    write(&dir, "pmc_perf.csv", &(csv + "\n"));
    let mut machine = table("machine.tsv");
    machine.push(("command".to_owned(), "./app --size 'a b'".to_owned()));
    let join = |of: fn(&(String, String)) -> &str| machine.iter().map(of).collect::<Vec<_>>().join(",");
    write(&dir, "sysinfo.csv", &format!("{}\n{}\n", join(|it| &it.0), join(|it| &it.1)));
    dir.display().to_string()
}

fn write(dir: &Path, name: &str, text: &str) {
    std::fs::write(dir.join(name), text).unwrap();
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&good(&[args, &["--format", "json"]].concat())).unwrap()
}

fn rules(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|it| it["rule"].as_str().unwrap()).collect()
}

/// Values with which MEM010 fires; see `fixtures/recordings/cases.tsv`.
pub(crate) const READS_AGAIN: &[(&str, &str)] =
    &[("TCC_EA_RDREQ_sum", "10400000"), ("TCP_TOTAL_READ_sum", "16000000")];

#[test]
fn a_recording_gets_a_verdict_findings_and_commands() {
    let dir = recording("guide_first", READS_AGAIN, 100);
    let guide = json(&["guide", &dir]);
    assert_eq!(guide["schema"], "rockhound.guide/1");
    assert!(guide["verdict"]["bound_by"].is_string(), "{guide}");
    assert!(guide["changes"].is_null(), "{guide}");
    let findings = guide["findings"].as_array().unwrap();
    assert!((1..=3).contains(&findings.len()), "{guide}");
    assert!(rules(&guide["findings"]).contains(&"MEM010"), "{guide}");
    assert!(!rules(&guide["findings"]).contains(&"CTR001"), "the verdict says it: {guide}");
    // Commands that name this recording run as they are.
    let mut ran = 0;
    for step in guide["steps"].as_array().unwrap() {
        let Some(command) = step["command"].as_str() else { continue };
        let words: Vec<&str> = command.split(' ').collect();
        if words[0] == "rockhound" && !matches!(words[1], "profile" | "guide") {
            good(&words[1..]);
            ran += 1;
        }
    }
    assert!(ran > 0, "{guide}");
    let text = good(&["guide", &dir, "--width", "80"]);
    for part in ["MEM010", "--base", "'a b'"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

/// Commands of a guide, in order.
fn commands(args: &[&str]) -> Vec<String> {
    let guide = json(args);
    let steps = guide["steps"].as_array().unwrap();
    steps.iter().filter_map(|step| Some(step["command"].as_str()?.to_owned())).collect()
}

#[test]
fn commands_look_at_what_was_looked_at() {
    let dir = recording("guide_part", READS_AGAIN, 100);
    let folder = Path::new(&dir);
    // Dispatch 0 is of `short`, the other two of `long<int>(int*)`.
    let csv = std::fs::read_to_string(folder.join("pmc_perf.csv")).unwrap();
    let (first, rest) = csv.split_at(csv.find("\n1,").expect("a second dispatch"));
    let csv = first.replace("made_up", "short") + &rest.replace("made_up", "long<int>(int*)");
    write(folder, "pmc_perf.csv", &csv);
    let machine = std::fs::read_to_string(folder.join("sysinfo.csv")).unwrap();
    let emulated = |command: &str| {
        let machine = machine.replace("made-up", "MI210").replace("./app --size 'a b'", command);
        let mut lines = machine.lines();
        let text = format!("emulated_by,{}\nrockhound,{}\n", lines.next().unwrap(), lines.next().unwrap());
        write(folder, "sysinfo.csv", &text);
    };
    let check = |selected: &[&str], expected: &[&str]| {
        let commands = commands(&[&["guide", &dir], selected].concat());
        let shown: Vec<String> = commands.iter().map(|command| command.replace(&dir, "DIR")).collect();
        for part in expected {
            assert!(shown.iter().any(|command| command.contains(part)), "{selected:?}: {part}: {shown:#?}");
        }
        // Commands that can be run unchanged find the kernels they name.
        for command in &commands {
            let words: Vec<&str> = command.split(' ').map(|word| word.trim_matches('\'')).collect();
            if words[..2] == ["rockhound", "analyze"] {
                good(&words[1..]);
            }
        }
        shown
    };
    // By another profiler, which knows parts of names and counts dispatches in its own way.
    let long = " -k 'long<int>(int*)' -d '>1'";
    let shown = check(
        &["-k", "0", "-d", ">1"],
        &[
            "rockhound analyze -p DIR -k 0 -d '>1' -b ",
            "rockhound profile --on gpu -n guide_part-2 -k long -- ./app",
            &format!("rockhound guide workloads/guide_part-2 --base DIR{long}"),
        ],
    );
    assert_eq!(shown.len(), 3 + usize::from(shown.len() > 3), "{shown:#?}");
    let shown = check(&[], &["rockhound analyze -p DIR -k 0 -b ", "guide_part-2 -- ./app", "--base DIR"]);
    assert!(shown.iter().all(|command| !command.ends_with(long)), "{shown:#?}");
    emulated("./app 1");
    let text = good(&["guide", &dir, "-k", "sh.*t", "--format", "json"]);
    assert!(text.contains(r#""selection": "-k 'sh.*t'""#), "{text}");
    check(
        &["-k", "sh.*t"],
        &[
            "rockhound analyze -p DIR -k 1 -b ",
            "rockhound inspect --asm --workload DIR -k short",
            "rockhound profile --breakdown --gpu mi210 -k 'sh.*t' -o DIR-limits -- ./app 1",
            "rockhound profile --gpu mi210 -k 'sh.*t' -o DIR-2 -- ./app 1",
            "rockhound guide DIR-2 --base DIR -k 'sh.*t'",
        ],
    );
    // The commands repeat the filters of the recording, unless the analysis selects less.
    emulated("rockhound profile -k 'long|short' -d '<9' -- ./app 1");
    check(
        &[],
        &[
            "rockhound analyze -p DIR -k 0 -b ",
            "rockhound profile --breakdown --gpu mi210 -k 'long|short' -d '<9' -o DIR-limits -- ./app 1",
            "rockhound profile --gpu mi210 -k 'long|short' -d '<9' -o DIR-2 -- ./app 1",
        ],
    );
    check(&["-d", "1"], &["--gpu mi210 -k 'long|short' -d 1 -o DIR-2 -- ./app 1", "--base DIR -d 1"]);
    emulated("rockhound profile LAUNCH.toml");
    check(&["-d", "1"], &["rockhound profile LAUNCH.toml -o DIR-2"]);
}

#[test]
fn a_second_recording_says_what_the_change_brought() {
    let before = recording("guide_before", READS_AGAIN, 100);
    let cases = [
        // Test, values, percent of the time, verdict, whether beyond noise.
        ("guide_faster", &[][..], 50, "better", true),
        ("guide_slower", READS_AGAIN, 120, "worse", true),
        ("guide_same", READS_AGAIN, 100, "neutral", false),
    ];
    for (test, changes, percent, verdict, beyond) in cases {
        let after = recording(test, changes, percent);
        let guide = json(&["guide", &after, "--base", &before]);
        let change = &guide["changes"]["kernels"][0];
        assert_eq!(change["verdict"], verdict, "{test}: {guide}");
        assert_eq!(change["beyond_noise"], beyond, "{test}: {guide}");
        let gone = rules(&guide["changes"]["gone"]);
        assert_eq!(gone.contains(&"MEM010"), changes.is_empty(), "{test}: {guide}");
        assert!(rules(&guide["changes"]["appeared"]).iter().all(|rule| *rule != "MEM010"), "{test}: {guide}");
        let text = good(&["guide", &after, "--base", &before, "--width", "80"]);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}

#[test]
fn half_a_comparison_is_none() {
    let dir = recording("guide_half", &[], 100);
    for args in [["guide", &dir, "--base", "/nowhere"], ["guide", "/nowhere", "--base", &dir]] {
        let ran = rockhound(&args);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("`/nowhere`"), "{}", ran.stderr);
    }
    let ran = rockhound(&["guide", &dir, "--match", "a=b"]);
    assert_eq!(ran.code, 64, "{}", ran.stderr);
}

#[test]
fn json_follows_its_schema() {
    let schema = Schema::of("guide-1");
    let base = recording("guide_schema_base", READS_AGAIN, 100);
    let new = recording("guide_schema_new", &[], 50);
    // The renderer's golden file uses every field.
    let made_up =
        std::fs::read_to_string(root().join("crates/5-answer/render/tests/golden/guide-second.json"));
    let made_up: Value = serde_json::from_str(&made_up.unwrap()).unwrap();
    let documents = [json(&["guide", &base]), json(&["guide", &new, "--base", &base]), made_up];
    for document in &documents {
        assert_eq!(schema.problems(document), Vec::<String>::new());
        for change in [
            |value: &mut Value| value["new_field"] = 1.into(),
            |value: &mut Value| value["verdict"]["gap"] = "large".into(),
            |value: &mut Value| value["findings"] = serde_json::json!([{"also_in": "many"}]),
            |value: &mut Value| drop(value.as_object_mut().unwrap().remove("steps")),
        ] {
            let mut bad = document.clone();
            change(&mut bad);
            assert!(!schema.problems(&bad).is_empty());
        }
    }
}
